/**
 * The compare-and-set of registers: every row, and the set of voters. This node's wishes are tried until they are
 * decided or overtaken: ask the voters for promises, go on from the newest value they know, have it accepted
 * by a quorum. What was begun and not finished by another node is finished here when it is met. Everything that
 * is asked of a voter in one turn travels as one message, so a dead node's hundreds of rows change together.
 *
 * Which voters make a quorum is the policy's affair (`core/membership/voters`); the way is the same for all.
 */
import { assert } from '../core/assert.js'
import { nextBallot, type Ballot } from '../core/agreement/ballot.js'
import type { NodeName } from '../core/ids.js'
import {
  decidesByMajority,
  isQuorum,
  type Voter,
  type VoterSet
} from '../core/membership/voters.js'
import {
  VOTERS_REGISTER,
  type AcceptAnswer,
  type AcceptAsk,
  type AgreementMessage,
  type PromiseAnswer,
  type RegisterValue,
  type RowValue
} from '../wire/peer/agreement.js'
import { Acceptor, type AcceptorHandlers } from './acceptor.js'
import { createAttempt, type Attempt } from './attempt.js'
import type { Cluster } from './cluster.js'
import { Electorate } from './electorate.js'
import { Gifts } from './gifts.js'
import type { Peer } from './peers.js'
import { hasAnswered, highestOf, newestOf } from './promises.js'
import { isNamed, isSame, numberOf } from './register-value.js'
import type { Decision, RegisterHandlers, Registers, Wish } from './registers.js'

export interface AgreementHandlers extends AcceptorHandlers, RegisterHandlers {
  /** Another node's attempt to take this bucket from here must be finished: it is not served from now on. */
  concede(bucket: number): void
  /** Another node cannot be heard, or has not got what the row says. */
  isGone(bucket: number, node: NodeName): boolean
}

/** After a collision the next try comes after up to this much, more after each. */
const COLLISION_MS = 8
const COLLISION_MS_MAX = 250
/** How many beats to wait for answers at the most; on slow links the first tries may be too short. */
const TIMEOUT_BEATS_MAX = 8

export class Agreement implements Registers {
  readonly #cluster: Cluster
  readonly #handlers: AgreementHandlers
  readonly #acceptor: Acceptor
  readonly #electorate: Electorate
  readonly #gifts: Gifts
  readonly #attempts = new Map<number, Attempt>()
  /** Ballots that a quorum has promised in advance, with the value to go on from. */
  readonly #granted = new Map<number, { ballot: Ballot; value: RegisterValue }>()
  /** Promises asked for before there is a wish. */
  readonly #ahead = new Map<number, Attempt>()
  #prepares: { register: number; round: number }[] = []
  #accepts: AcceptAsk[] = []
  #decisions: (Decision & { wish: Wish; own: boolean })[] = []
  readonly #isLive = (voter: Voter): boolean => this.#electorate.isLive(voter)
  #busy = 0
  #luck = { atMs: -Infinity, fraction: 0 }

  constructor(cluster: Cluster, voters: VoterSet, handlers: AgreementHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
    this.#acceptor = new Acceptor(cluster, voters, handlers)
    this.#electorate = new Electorate(cluster, this.#acceptor)
    this.#gifts = new Gifts(cluster, handlers)
  }

  get voters(): VoterSet {
    return this.#acceptor.voters
  }

  /** The newest voters that may be decided as far as this node knows. */
  get seen(): number {
    return this.#acceptor.seen
  }

  /** Somebody may be about to make this node a voter. */
  get mayBeNamed(): boolean {
    return this.#acceptor.mayBeNamed
  }

  seed(register: number, value: RegisterValue): void {
    this.#acceptor.seed(register, value)
  }

  isPending(register: number): boolean {
    return this.#attempts.has(register)
  }

  get pending(): number {
    return this.#attempts.size
  }

  /** Begins to change registers; those that are being changed already are left alone. */
  propose(wishes: readonly Wish[]): void {
    this.#enter(() => {
      for (const wish of wishes) {
        if (this.#attempts.has(wish.register)) {
          wish.done?.(false)
          continue
        }
        const attempt = createAttempt(wish)
        this.#attempts.set(wish.register, attempt)
        this.#ahead.delete(wish.register)
        this.#try(attempt)
      }
    })
  }

  /**
   * A change of this register will follow soon: promises are asked for now, so that it takes one round then. Should they
   * not come, or somebody else be faster, it takes two as any other.
   */
  prepare(register: number, reason: string): void {
    const expected = this.#acceptor.knownNumber(register)
    const granted = this.#granted.get(register)
    if (this.#attempts.has(register) || this.seen > this.voters.version) return
    if (granted !== undefined && numberOf(granted.value) === expected) return
    const attempt = createAttempt({ register, expected, reason })
    this.#ahead.set(register, attempt)
    this.#ask(attempt)
  }

  /** Somebody else's decision was learned: a wish that went out from an older value has its answer. */
  learned(register: number, value: RegisterValue): void {
    const attempt = this.#attempts.get(register)
    if (attempt === undefined || numberOf(value) <= attempt.wish.expected) return
    // A value that is only read is decided when the quorum has it, whoever else knows it.
    if (attempt.wish.next === undefined) return
    // Decided before what was conceded, which may follow it any moment.
    if (numberOf(value) < attempt.conceded) return
    this.#attempts.delete(register)
    attempt.wish.done?.(isSame(attempt.wish.next, value))
  }

  /**
   * A voter has accepted a row of this epoch. What is being tried here goes on to its end and counts only if it
   * was asked for after that; false if nothing is.
   */
  doubt(register: number, epoch: number): boolean {
    const attempt = this.#attempts.get(register)
    if (attempt === undefined) return false
    attempt.proposed = true
    attempt.conceded = Math.max(attempt.conceded, epoch)
    if (attempt.phase === 'accept') attempt.doubted = Math.max(attempt.doubted, epoch)
    return true
  }

  /** The voters are others now: what was promised to the old ones is asked for again. */
  votersChanged(voters: VoterSet): void {
    this.#acceptor.voters = voters
    this.#granted.clear()
    this.#ahead.clear()
    this.#acceptor.tellSeen()
    this.#enter(() => {
      for (const attempt of [...this.#attempts.values()]) this.#try(attempt)
    })
  }

  /** Every register of a row becomes several; what was under way is looked at again by those who wanted it. */
  split(old: number, mask: number): void {
    this.#granted.clear()
    this.#ahead.clear()
    const wishes: Wish[] = []
    for (const [register, attempt] of [...this.#attempts]) {
      if (register === VOTERS_REGISTER) continue
      this.#attempts.delete(register)
      wishes.push(attempt.wish)
    }
    this.#acceptor.split(old, mask)
    this.#prepares = this.#prepares.filter(({ register }) => register === VOTERS_REGISTER)
    this.#accepts = this.#accepts.filter(({ register }) => register === VOTERS_REGISTER)
    for (const wish of wishes) wish.done?.(false)
  }

  tick(now: number): void {
    this.#enter(() => {
      for (const attempt of [...this.#attempts.values()]) {
        if (attempt.retryMs <= now) this.#try(attempt)
      }
    })
  }

  get deadline(): number {
    let deadline = Infinity
    if (this.#attempts.size === 0) return deadline
    for (const { retryMs } of this.#attempts.values()) deadline = Math.min(deadline, retryMs)
    return deadline
  }

  /** The end of a turn: what has to be asked goes to all voters. */
  flush(): void {
    const { table, peers, now } = this.#cluster
    const { version } = this.voters
    const { mask } = table
    this.#acceptor.flush()
    const [prepares, accepts] = [this.#prepares, this.#accepts]
    if (prepares.length === 0 && accepts.length === 0) return
    this.#prepares = []
    this.#accepts = []
    // The voters apart from the rows: they are answered whatever is known of them.
    const isVoters = ({ register }: { register: number }): boolean => register === VOTERS_REGISTER
    const asked = this.#electorate.asked(this.#attempts, accepts, prepares.some(isVoters))
    for (const peer of asked) {
      for (const asks of [prepares.filter(isVoters), prepares.filter((ask) => !isVoters(ask))]) {
        if (asks.length > 0) peers.send(peer, { kind: 'prepare', version, mask, asks }, now)
      }
      for (const asks of [accepts.filter(isVoters), accepts.filter((ask) => !isVoters(ask))]) {
        if (asks.length > 0) peers.send(peer, { kind: 'propose', version, mask, asks }, now)
      }
    }
  }

  /** Whoever can be heard has changed, so a quorum of those may be complete. */
  livesChanged(): void {
    if (decidesByMajority(this.voters)) return
    // One that is back may know something newer than all who promised.
    this.#granted.clear()
    this.#ahead.clear()
    this.#enter(() => {
      for (const attempt of [...this.#attempts.values()]) this.#count(attempt)
    })
  }

  onMessage(peer: Peer, message: AgreementMessage): void {
    switch (message.kind) {
      case 'prepare':
        this.#acceptor.onPrepare(peer, message)
        return
      case 'propose':
        this.#acceptor.onPropose(peer, message)
        return
      case 'promise':
        this.#enter(() => {
          for (const answer of message.answers) this.#onPromise(peer, answer)
        })
        return
      case 'accepted':
        this.#enter(() => {
          for (const answer of message.answers) this.#onAccepted(peer, answer)
        })
    }
  }

  /** Decisions that follow from one input are told together, after it. */
  #enter(act: () => void): void {
    this.#busy++
    try {
      act()
    } finally {
      this.#busy--
    }
    if (this.#busy > 0) return
    while (this.#decisions.length > 0) {
      const decisions = this.#decisions
      this.#decisions = []
      this.#handlers.decided(decisions)
      for (const { wish, own } of decisions) wish.done?.(own)
    }
  }

  #try(attempt: Attempt): void {
    const { wish } = attempt
    const { config } = this.#cluster
    if (!attempt.proposed && wish.isWanted?.() === false) {
      this.#attempts.delete(wish.register)
      wish.done?.(false)
      return
    }
    attempt.answers.clear()
    attempt.refusals.clear()
    attempt.tries++
    this.#await(attempt)
    const granted = this.#granted.get(wish.register)
    this.#granted.delete(wish.register)
    if (granted !== undefined && wish.next !== undefined) {
      if (numberOf(granted.value) === wish.expected) {
        attempt.ballot = granted.ballot
        this.#acceptor.noteRound(wish.register, granted.ballot.round)
        this.#begin(attempt, this.#advance(wish, granted.value, wish.expected))
        return
      }
    }
    if (wish.register !== VOTERS_REGISTER && this.seen > this.voters.version) {
      this.#handlers.votersBehind()
      this.#rest(attempt, config.heartbeatMs)
      return
    }
    this.#ask(attempt)
  }

  /** Asks the voters for promises. */
  #ask(attempt: Attempt): void {
    const { wish } = attempt
    const { config } = this.#cluster
    const last = this.#acceptor.roundOf(wish.register)
    const round = config.sabotage === 'reuse-ballot' ? Math.max(1, last) : last + 1
    this.#acceptor.noteRound(wish.register, round)
    attempt.phase = 'prepare'
    attempt.ballot = { round, name: config.name, life: config.life }
    this.#prepares.push({ register: wish.register, round })
    if (this.#acceptor.isVoter) {
      const answer = this.#acceptor.promise(wish.register, attempt.ballot)
      if (answer.ok) attempt.answers.set(config.name, { life: config.life, promise: answer })
      else this.#outbid(attempt, config.name)
    }
    this.#count(attempt)
  }

  /** Whether the answers make a quorum, and what follows if they do. */
  #count(attempt: Attempt): void {
    if (attempt.phase === 'rest') return
    const has = (voter: Voter): boolean => hasAnswered(attempt.answers, voter)
    const isLive = this.#isLive
    const sets = [this.voters]
    // A set of voters counts only when both it and the one before it have accepted it; and it is only proposed
    // to those who have just answered, since a newcomer that is gone would be waited for for ever. Once others have
    // decided, or it is not wanted any more, the wish is not proposed, and those it names need not answer.
    const { wish } = attempt
    const named = attempt.phase === 'accept' ? attempt.value : wish.next
    const isPast = this.voters.version > wish.expected || wish.isWanted?.() === false
    if (named?.kind === 'voters' && !(attempt.phase === 'prepare' && isPast)) sets.push(named.set)
    const enough =
      this.#cluster.config.sabotage === 'skip-majority'
        ? attempt.answers.size > 0
        : sets.every((set) => isQuorum(set, { has, isLive })) &&
          this.#electorate.hasConsent(attempt)
    if (enough) {
      if (attempt.phase === 'prepare') this.#choose(attempt)
      else if (this.#electorate.isGivenAway(wish.register, attempt.value)) this.#rest(attempt)
      else this.#decide(attempt)
      return
    }
    const hopeless = sets.some(
      (set) => !isQuorum(set, { has: (voter) => !attempt.refusals.has(voter.name), isLive })
    )
    if (hopeless) this.#rest(attempt)
  }

  /** A quorum has promised: go on from the newest value that it knows. */
  #choose(attempt: Attempt): void {
    const { wish } = attempt
    const { answers } = attempt
    const { register } = wish
    const known = this.#acceptor.known(register)
    const current = newestOf({ register, answers, voters: this.voters, known })
    if (current === undefined) {
      this.#rest(attempt)
      return
    }
    const highest = highestOf(answers, current)
    if (this.#ahead.get(wish.register) === attempt) {
      this.#ahead.delete(wish.register)
      if (highest !== numberOf(current)) return
      this.#granted.set(wish.register, { ballot: attempt.ballot, value: current })
      return
    }
    const wanted = wish.isWanted?.() !== false
    const own = wanted && wish.next !== undefined && numberOf(current) === wish.expected
    const isOld =
      wish.next !== undefined && numberOf(current) <= this.#acceptor.knownNumber(register)
    // Decided long ago, and not what the wish went out from. If some voter may have accepted what was proposed before,
    // that is decided once more: only then is it certain that nobody will ever finish the other.
    if (!own && isOld && !attempt.proposed) {
      this.#attempts.delete(wish.register)
      wish.done?.(false)
      return
    }
    const gift = known?.kind === 'row' ? this.#gifts.find(known, current, answers) : undefined
    if (gift !== undefined && this.#gifts.isForGiver(attempt, gift)) {
      this.#nudge(gift.giver.name, register)
      this.#rest(attempt, this.#cluster.config.heartbeatMs * (1 + this.#drawFraction()))
      return
    }
    const value = own ? this.#advance(wish, current, highest) : this.#again(attempt, current)
    const isKept =
      known?.kind === 'row' &&
      (this.#electorate.isGivenAway(register, value) ||
        (gift !== undefined && this.#gifts.isTakenBack(wish, gift)))
    if (isKept) this.#begin(attempt, { ...known, row: { ...known.row, epoch: highest + 1 } })
    else if (own) this.#begin(attempt, value)
    else {
      this.#gifts.goOn(register, attempt.ballot, gift)
      this.#suggest(attempt, value)
    }
  }

  /** Something that nobody has proposed before. */
  #begin(attempt: Attempt, value: RegisterValue): void {
    this.#gifts.begin(attempt.wish.register, attempt.ballot, value)
    this.#suggest(attempt, value)
  }

  /** The value that the wish makes of the present one. */
  #advance(wish: Wish, current: RegisterValue, highest: number): RegisterValue {
    const { next } = wish
    assert(next !== undefined, 'a wish without a value')
    if (next.kind === 'voters')
      return { kind: 'voters', set: { ...next.set, version: highest + 1 } }
    assert(current.kind === 'row', 'a row follows a row')
    const row = { ...next.row, epoch: highest + 1 }
    const before = current.row.primary
    const self = this.#cluster.config.name
    const deposes = before === null || before === self || before === row.primary ? '' : before
    return { kind: 'row', row, deposes }
  }

  /** The present value once more, finishing what another node may have begun. */
  #again(attempt: Attempt, current: RegisterValue): RegisterValue {
    const { wish } = attempt
    if (current.kind === 'voters' || current.deposes === '') return current
    const settled: RowValue = { ...current, deposes: '' }
    if (current.row.epoch <= this.#acceptor.knownNumber(wish.register)) return settled
    if (current.deposes !== this.#cluster.config.name) return current
    attempt.conceded = Math.max(attempt.conceded, current.row.epoch)
    this.#handlers.concede(wish.register)
    return settled
  }

  #suggest(attempt: Attempt, value: RegisterValue): void {
    const { register } = attempt.wish
    const { name, life } = this.#cluster.config
    attempt.phase = 'accept'
    attempt.proposed = true
    attempt.doubted = 0
    this.#await(attempt)
    attempt.value = value
    attempt.answers.clear()
    attempt.refusals.clear()
    this.#accepts.push({ register, round: attempt.ballot.round, value })
    if (this.#acceptor.isVoter || isNamed(value, name)) {
      const answer = this.#acceptor.accept(register, attempt.ballot, value)
      if (answer.verdict === 'ok') attempt.answers.set(name, { life })
      else this.#refused(attempt, name, answer)
    }
    this.#count(attempt)
  }

  #decide(attempt: Attempt): void {
    const { wish, ballot, value } = attempt
    assert(value !== undefined, 'a decision without a value')
    if (attempt.doubted > numberOf(value) || this.#gifts.isTooLate(attempt, value)) {
      this.#try(attempt)
      return
    }
    this.#attempts.delete(wish.register)
    this.#gifts.end(wish.register)
    if (wish.register === VOTERS_REGISTER) {
      this.#acceptor.votersDecided(ballot.round)
    }
    const own = wish.next === undefined || isSame(wish.next, value)
    if (value.kind === 'row')
      this.#granted.set(wish.register, { ballot: nextBallot(ballot), value })
    this.#decisions.push({ register: wish.register, value, reason: wish.reason, wish, own })
  }

  /** Answers may be lost: after a while, longer each time, it is tried once more. */
  #await(attempt: Attempt): void {
    const { now, config } = this.#cluster
    const ms = config.heartbeatMs * Math.min(TIMEOUT_BEATS_MAX, 1 + attempt.tries)
    attempt.retryMs = now + ms * (1 + this.#drawFraction())
  }

  /**
   * The same for everything that happens at one time: hundreds of rows that were asked about in one message, and got no
   * answer or the same refusal, are asked about in one message again. Chance is needed between nodes only.
   */
  #drawFraction(): number {
    const { now, random } = this.#cluster
    if (this.#luck.atMs !== now) this.#luck = { atMs: now, fraction: random.fraction() }
    return this.#luck.fraction
  }

  /** Collided or refused: again a little later. */
  #rest(attempt: Attempt, ms?: number): void {
    const { now } = this.#cluster
    const most = Math.min(COLLISION_MS_MAX, COLLISION_MS * 2 ** Math.min(attempt.tries, 8))
    attempt.phase = 'rest'
    attempt.retryMs = now + (ms ?? 1 + this.#drawFraction() * most)
  }

  /**
   * A voter has promised a higher ballot. The others may still be enough, but are given a beat only: one that cannot hear,
   * or has ended, never answers, and whoever outbid this meanwhile goes on and on.
   */
  #outbid(attempt: Attempt, name: string): void {
    const { now, config } = this.#cluster
    attempt.refusals.add(name)
    const ms = config.heartbeatMs * (1 + this.#drawFraction())
    attempt.retryMs = Math.min(attempt.retryMs, now + ms)
  }

  #refused(attempt: Attempt, name: string, answer: AcceptAnswer): void {
    attempt.refusals.add(name)
    if (answer.verdict === 'ballot') {
      this.#acceptor.noteRound(answer.register, answer.number)
      this.#outbid(attempt, name)
    } else if (attempt.value?.kind === 'row') this.#nudge(attempt.value.deposes, answer.register)
    if (answer.verdict !== 'leased') return
    const hopeless = !isQuorum(this.voters, {
      has: (voter) => !attempt.refusals.has(voter.name),
      isLive: this.#isLive
    })
    if (!hopeless) return
    const { config } = this.#cluster
    if (attempt.wish.isWanted?.() !== false) {
      this.#rest(attempt, 1 + Math.min(answer.number, config.heartbeatMs))
      return
    }
    // The primary lives and was asked to end this: it must get the time between two of these attempts.
    const beats = Math.min(TIMEOUT_BEATS_MAX, attempt.tries)
    this.#rest(attempt, config.heartbeatMs * beats * (1 + this.#drawFraction()))
  }

  /** The primary lives: it alone can say what becomes of an attempt that somebody else left unfinished. */
  #nudge(primary: NodeName | '', register: number): void {
    const { peers, now, config } = this.#cluster
    const peer = primary === '' || primary === config.name ? undefined : peers.get(primary)
    if (peer !== undefined) peers.send(peer, { kind: 'resolve', register }, now)
  }

  #onPromise(peer: Peer, answer: PromiseAnswer): void {
    const attempt = this.#attempts.get(answer.register) ?? this.#ahead.get(answer.register)
    this.#acceptor.noteRound(answer.register, answer.highest)
    if (attempt?.phase !== 'prepare' || attempt.ballot.round !== answer.round) return
    const life = peer.stream.peerLife
    const { value } = answer
    if (value !== undefined && !this.#acceptor.isPossible(peer, answer.register, value)) return
    if (answer.ok) attempt.answers.set(peer.name, { life, promise: answer })
    else this.#outbid(attempt, peer.name)
    this.#count(attempt)
  }

  #onAccepted(peer: Peer, answer: AcceptAnswer): void {
    const attempt = this.#attempts.get(answer.register)
    if (attempt?.phase !== 'accept' || attempt.ballot.round !== answer.round) return
    const life = peer.stream.peerLife
    if (answer.verdict === 'ok') attempt.answers.set(peer.name, { life })
    else this.#refused(attempt, peer.name, answer)
    this.#count(attempt)
  }
}
