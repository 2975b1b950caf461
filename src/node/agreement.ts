/**
 * The compare-and-set of registers: every row, and the set of voters. This node's wishes are tried until they are
 * decided or overtaken: ask the voters for promises, go on from the newest value they know, have it accepted
 * by a quorum. What was begun and not finished by another node is finished here when it is met. Everything that
 * is asked of a voter in one turn travels as one message, so a dead node's hundreds of rows change together.
 *
 * Which voters make a quorum is the policy's affair (`core/membership/voters`); the way is the same for all.
 */
import { assert } from '../core/assert.js'
import { compareBallots, NO_BALLOT, nextBallot, type Ballot } from '../core/agreement/ballot.js'
import { Register } from '../core/agreement/register.js'
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
import type { Cluster } from './cluster.js'
import type { Peer } from './peers.js'

export interface Wish {
  readonly register: number
  /** The epoch, or version, that the change goes out from. */
  readonly expected: number
  /** Its epoch or version is given when it is proposed. Without it, whatever is there is decided once more. */
  readonly next?: RegisterValue
  readonly reason: string
  /** Whether it is still wanted; asked before each new try. Without it, it is tried to the end. */
  readonly isWanted?: () => boolean
  /** Called once: it was decided, or it is certain that it never will be. */
  readonly done?: (decided: boolean) => void
}

export interface Decision {
  readonly register: number
  readonly value: RegisterValue
  readonly reason: string
}

export interface AgreementHandlers {
  /** These were decided, in one turn. */
  decided(decisions: readonly Decision[]): void
  split(mask: number): void
  /** Why this node will not accept that its primary loses the bucket: milliseconds to wait; 0 if it will. */
  leased(bucket: number, deposes: NodeName): number
  /** Another node's attempt to take this bucket from here must be finished: it is not served from now on. */
  concede(bucket: number): void
  /** It goes, and should not be made a voter any more. */
  isLeaving(): boolean
  /** The newest voters that this node has accepted are of another version now. */
  votersSeen(version: number): void
  /** Somebody, perhaps this peer, knows newer voters than this node. */
  votersBehind(peer?: Peer): void
}

interface Attempt {
  readonly wish: Wish
  phase: 'prepare' | 'accept' | 'rest'
  ballot: Ballot
  /** Answers of this ballot by the name of the voter. */
  readonly answers: Map<string, PromiseAnswer | true>
  readonly refusals: Set<string>
  value: RegisterValue | undefined
  retryMs: number
  tries: number
  /** Some voter may have accepted it: from here on only the outcome ends it, wanted or not. */
  proposed: boolean
}

/** After a collision the next try comes after up to this much, more after each. */
const COLLISION_MS = 8
const COLLISION_MS_MAX = 250
/** How many beats to wait for answers at the most; on slow links the first tries may be too short. */
const TIMEOUT_BEATS_MAX = 8
/** Bounds what a lying or broken peer can do to the counting. */
const ROUND_MAX = 2 ** 48

export class Agreement {
  readonly #cluster: Cluster
  readonly #handlers: AgreementHandlers
  readonly #attempts = new Map<number, Attempt>()
  /** Registers as this voter has them. */
  readonly #registers = new Map<number, Register<RegisterValue>>()
  /** The highest round heard of, by register. */
  readonly #rounds = new Map<number, number>()
  /** Ballots that a quorum has promised in advance, with the value to go on from. */
  readonly #granted = new Map<number, { ballot: Ballot; value: RegisterValue }>()
  #prepares: { register: number; round: number }[] = []
  #accepts: AcceptAsk[] = []
  #decisions: (Decision & { wish: Wish; own: boolean })[] = []
  #busy = 0
  voters: VoterSet
  /** The newest version of the voters that anybody who asked something knew to be decided. */
  #heard = 0
  /** The round in which this node last had the voters decided: nothing older will be. */
  #votersRound = 0
  /** What the others were last told about `seen`. */
  #told = 0

  constructor(cluster: Cluster, voters: VoterSet, handlers: AgreementHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
    this.voters = voters
  }

  /**
   * The newest voters that may be decided as far as this node knows: with older ones it decides nothing. An accepted
   * set that was overtaken by another ballot counts no more, since it will never be decided.
   */
  get seen(): number {
    const accepted = this.#registers.get(VOTERS_REGISTER)?.value
    return Math.max(
      this.#heard,
      this.voters.version,
      accepted === undefined ? 0 : numberOf(accepted)
    )
  }

  /**
   * Somebody may be about to make this node a voter: it asked for a promise, and nothing that was decided since rules
   * it out. A node that went now would be waited for, perhaps for ever.
   */
  get mayBeNamed(): boolean {
    const promised = this.#registers.get(VOTERS_REGISTER)?.promised.round ?? 0
    return promised > this.#votersRound
  }

  /** The first node's rows, and those that a split makes, are there without having been asked for. */
  seed(register: number, value: RegisterValue): void {
    const state = this.#registerOf(register)
    state.value ??= value
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
        const attempt: Attempt = {
          wish,
          phase: 'rest',
          ballot: NO_BALLOT,
          answers: new Map(),
          refusals: new Set(),
          value: undefined,
          retryMs: 0,
          tries: 0,
          proposed: false
        }
        this.#attempts.set(wish.register, attempt)
        this.#try(attempt)
      }
    })
  }

  /** Somebody else's decision was learned: a wish that went out from an older value has its answer. */
  learned(register: number, value: RegisterValue): void {
    const attempt = this.#attempts.get(register)
    if (attempt === undefined || numberOf(value) <= attempt.wish.expected) return
    // A value that is only read is decided when the quorum has it, whoever else knows it.
    if (attempt.wish.next === undefined) return
    this.#attempts.delete(register)
    attempt.wish.done?.(isSame(attempt.wish.next, value))
  }

  /** The voters are others now: what was promised to the old ones is asked for again. */
  votersChanged(voters: VoterSet): void {
    this.voters = voters
    this.#granted.clear()
    this.#tellSeen()
    this.#enter(() => {
      for (const attempt of [...this.#attempts.values()]) this.#try(attempt)
    })
  }

  /** Every register of a row becomes several; what was under way is looked at again by those who wanted it. */
  split(old: number, mask: number): void {
    this.#granted.clear()
    const wishes: Wish[] = []
    for (const [register, attempt] of [...this.#attempts]) {
      if (register === VOTERS_REGISTER) continue
      this.#attempts.delete(register)
      wishes.push(attempt.wish)
    }
    for (let bucket = old + 1; bucket <= mask; bucket++) {
      const parent = this.#registers.get(bucket & old)
      if (parent !== undefined) this.#registers.set(bucket, parent.clone())
      const round = this.#rounds.get(bucket & old)
      if (round !== undefined) this.#rounds.set(bucket, round)
    }
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
    for (const { retryMs } of this.#attempts.values()) deadline = Math.min(deadline, retryMs)
    return deadline
  }

  /** The end of a turn: what has to be asked goes to all voters. */
  flush(): void {
    const { table, peers, now } = this.#cluster
    const { version } = this.voters
    const { mask } = table
    const [prepares, accepts] = [this.#prepares, this.#accepts]
    if (prepares.length === 0 && accepts.length === 0) return
    this.#prepares = []
    this.#accepts = []
    // The voters apart from the rows: they are answered whatever is known of them.
    const isVoters = ({ register }: { register: number }): boolean => register === VOTERS_REGISTER
    for (const peer of this.#voterPeers(accepts, prepares.some(isVoters))) {
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
    this.#enter(() => {
      for (const attempt of [...this.#attempts.values()]) this.#count(attempt)
    })
  }

  onMessage(peer: Peer, message: AgreementMessage): void {
    switch (message.kind) {
      case 'prepare':
        this.#onPrepare(peer, message)
        return
      case 'propose':
        this.#onAccept(peer, message)
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
        this.#noteRound(wish.register, granted.ballot.round)
        this.#ask(attempt, this.#advance(wish, granted.value, wish.expected))
        return
      }
    }
    if (wish.register !== VOTERS_REGISTER && this.seen > this.voters.version) {
      this.#handlers.votersBehind()
      this.#rest(attempt, config.heartbeatMs)
      return
    }
    const last = this.#rounds.get(wish.register) ?? 0
    const round = config.sabotage === 'reuse-ballot' ? Math.max(1, last) : last + 1
    this.#noteRound(wish.register, round)
    attempt.phase = 'prepare'
    attempt.ballot = { round, name: config.name, life: config.life }
    this.#prepares.push({ register: wish.register, round })
    if (this.#isVoter()) {
      const answer = this.#promise(wish.register, attempt.ballot)
      if (answer.ok) attempt.answers.set(config.name, answer)
      else attempt.refusals.add(config.name)
    }
    this.#count(attempt)
  }

  /** Whether the answers make a quorum, and what follows if they do. */
  #count(attempt: Attempt): void {
    if (attempt.phase === 'rest') return
    const has = (voter: Voter): boolean => attempt.answers.has(voter.name)
    const isLive = (voter: Voter): boolean => this.#isLive(voter)
    const sets = [this.voters]
    // A set of voters counts only when both it and the one before it have accepted it; and it is only proposed
    // to those who have just answered, since a newcomer that is gone would be waited for for ever.
    const named = attempt.phase === 'accept' ? attempt.value : attempt.wish.next
    if (named?.kind === 'voters') sets.push(named.set)
    const enough =
      this.#cluster.config.sabotage === 'skip-majority'
        ? attempt.answers.size > 0
        : sets.every((set) => isQuorum(set, { has, isLive }))
    if (enough) {
      if (attempt.phase === 'prepare') this.#choose(attempt)
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
    const current = this.#newest(attempt)
    if (current === undefined) {
      this.#rest(attempt)
      return
    }
    let highest = numberOf(current)
    for (const answer of attempt.answers.values()) {
      if (answer !== true && answer.value !== undefined) {
        highest = Math.max(highest, numberOf(answer.value))
      }
    }
    const own = wish.next !== undefined && numberOf(current) === wish.expected
    const known = this.#knownNumber(wish.register)
    if (!own && wish.next !== undefined && numberOf(current) <= known) {
      // Decided long ago, and not what the wish went out from.
      this.#attempts.delete(wish.register)
      wish.done?.(false)
      return
    }
    this.#ask(attempt, own ? this.#advance(wish, current, highest) : this.#again(wish, current))
  }

  /** The newest of what the quorum knows: by ballot; where those who can be heard decide alone, by number first. */
  #newest(attempt: Attempt): RegisterValue | undefined {
    const byNumber = !decidesByMajority(this.voters)
    let best: { accepted: Ballot; value: RegisterValue } | undefined
    const consider = (accepted: Ballot, value: RegisterValue): void => {
      const news =
        best === undefined
          ? 1
          : (byNumber ? numberOf(value) - numberOf(best.value) : 0) ||
            compareBallots(accepted, best.accepted)
      if (news > 0) best = { accepted, value }
    }
    for (const answer of attempt.answers.values()) {
      if (answer !== true && answer.value !== undefined) consider(answer.accepted, answer.value)
    }
    const own = this.#known(attempt.wish.register)
    if (own !== undefined && (byNumber || best === undefined)) consider(NO_BALLOT, own)
    return best?.value
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
  #again(wish: Wish, current: RegisterValue): RegisterValue {
    if (current.kind === 'voters' || current.deposes === '') return current
    const settled: RowValue = { ...current, deposes: '' }
    if (current.row.epoch <= this.#knownNumber(wish.register)) return settled
    if (current.deposes !== this.#cluster.config.name) return current
    this.#handlers.concede(wish.register)
    return settled
  }

  #ask(attempt: Attempt, value: RegisterValue): void {
    const { register } = attempt.wish
    const { name } = this.#cluster.config
    attempt.phase = 'accept'
    attempt.proposed = true
    this.#await(attempt)
    attempt.value = value
    attempt.answers.clear()
    attempt.refusals.clear()
    this.#accepts.push({ register, round: attempt.ballot.round, value })
    if (this.#isVoter() || isNamed(value, name)) {
      const answer = this.#accept(register, attempt.ballot, value)
      if (answer.verdict === 'ok') attempt.answers.set(name, true)
      else this.#refused(attempt, name, answer)
    }
    this.#count(attempt)
  }

  #decide(attempt: Attempt): void {
    const { wish, ballot, value } = attempt
    assert(value !== undefined, 'a decision without a value')
    this.#attempts.delete(wish.register)
    if (wish.register === VOTERS_REGISTER) {
      this.#votersRound = Math.max(this.#votersRound, ballot.round)
    }
    const own = wish.next === undefined || isSame(wish.next, value)
    if (value.kind === 'row')
      this.#granted.set(wish.register, { ballot: nextBallot(ballot), value })
    this.#decisions.push({ register: wish.register, value, reason: wish.reason, wish, own })
  }

  /** Answers may be lost: after a while, longer each time, it is tried once more. */
  #await(attempt: Attempt): void {
    const { now, config, random } = this.#cluster
    const ms = config.heartbeatMs * Math.min(TIMEOUT_BEATS_MAX, 1 + attempt.tries)
    attempt.retryMs = now + ms * (1 + random.fraction())
  }

  /** Collided or refused: again a little later. */
  #rest(attempt: Attempt, ms?: number): void {
    const { now, random } = this.#cluster
    const most = Math.min(COLLISION_MS_MAX, COLLISION_MS * 2 ** Math.min(attempt.tries, 8))
    attempt.phase = 'rest'
    attempt.retryMs = now + (ms ?? 1 + random.fraction() * most)
  }

  #refused(attempt: Attempt, name: string, answer: AcceptAnswer): void {
    attempt.refusals.add(name)
    if (answer.verdict === 'ballot') this.#noteRound(answer.register, answer.number)
    else if (attempt.value?.kind === 'row') this.#nudge(attempt.value.deposes, answer.register)
    if (answer.verdict !== 'leased') return
    const hopeless = !isQuorum(this.voters, {
      has: (voter) => !attempt.refusals.has(voter.name),
      isLive: (voter) => this.#isLive(voter)
    })
    const { heartbeatMs } = this.#cluster.config
    if (hopeless) this.#rest(attempt, 1 + Math.min(answer.number, heartbeatMs))
  }

  /** The primary lives: it alone can say what becomes of an attempt that somebody else left unfinished. */
  #nudge(primary: NodeName | '', register: number): void {
    const { peers, now, config } = this.#cluster
    const peer = primary === '' || primary === config.name ? undefined : peers.get(primary)
    if (peer !== undefined) peers.send(peer, { kind: 'resolve', register }, now)
  }

  #onPromise(peer: Peer, answer: PromiseAnswer): void {
    const attempt = this.#attempts.get(answer.register)
    this.#noteRound(answer.register, answer.highest)
    if (attempt?.phase !== 'prepare' || attempt.ballot.round !== answer.round) return
    if (answer.ok) attempt.answers.set(peer.name, answer)
    else attempt.refusals.add(peer.name)
    this.#count(attempt)
  }

  #onAccepted(peer: Peer, answer: AcceptAnswer): void {
    const attempt = this.#attempts.get(answer.register)
    if (attempt?.phase !== 'accept' || attempt.ballot.round !== answer.round) return
    if (answer.verdict === 'ok') attempt.answers.set(peer.name, true)
    else this.#refused(attempt, peer.name, answer)
    this.#count(attempt)
  }

  #onPrepare(peer: Peer, message: Extract<AgreementMessage, { kind: 'prepare' }>): void {
    if (!this.#isCurrent(peer, message)) return
    const life = peer.stream.peerLife
    const answers = message.asks.map(({ register, round }) =>
      this.#promise(register, { round, name: peer.name, life })
    )
    this.#cluster.peers.send(peer, { kind: 'promise', answers }, this.#cluster.now)
  }

  #onAccept(peer: Peer, message: Extract<AgreementMessage, { kind: 'propose' }>): void {
    if (!this.#isCurrent(peer, message)) return
    const life = peer.stream.peerLife
    const answers = message.asks.map(({ register, round, value }) =>
      this.#accept(register, { round, name: peer.name, life }, value)
    )
    this.#cluster.peers.send(peer, { kind: 'accepted', answers }, this.#cluster.now)
  }

  /** Asked by one who knows the same voters and the same number of buckets, or is told better. */
  #isCurrent(
    peer: Peer,
    message: { version: number; mask: number; asks: readonly { register: number }[] }
  ): boolean {
    const { peers, now } = this.#cluster
    if (message.mask > this.#cluster.table.mask) this.#handlers.split(message.mask)
    const { table } = this.#cluster
    if (message.mask < table.mask) {
      peers.send(peer, { kind: 'rows', mask: table.mask, rows: [] }, now)
      return false
    }
    // The voters themselves can be asked about by one who knows only older ones: that is how it learns.
    const onVoters = message.asks.every(({ register }) => register === VOTERS_REGISTER)
    if (message.version < this.seen && !onVoters) {
      if (this.voters.version > message.version) {
        peers.send(peer, { kind: 'voters', set: this.voters }, now)
      }
      peers.send(peer, { kind: 'votersSeen', version: this.seen }, now)
      return false
    }
    if (message.version > this.#heard) this.#heard = message.version
    if (message.version > this.voters.version) this.#handlers.votersBehind(peer)
    return true
  }

  #promise(register: number, ballot: Ballot): PromiseAnswer {
    const state = this.#registerOf(register)
    const ok = ballot.round <= ROUND_MAX && !this.#declines(register) && state.prepare(ballot)
    this.#noteRound(register, state.promised.round)
    const { accepted } = state
    const value = state.value ?? this.#known(register)
    const highest = Math.max(state.promised.round, this.#rounds.get(register) ?? 0)
    return { register, round: ballot.round, ok, highest, accepted, value: ok ? value : undefined }
  }

  /** Asked about the voters without being one: somebody wants to make it one, and it is on its way out. */
  #declines(register: number): boolean {
    if (register !== VOTERS_REGISTER || !this.#handlers.isLeaving()) return false
    return !this.#isVoter() && this.seen === this.voters.version
  }

  #accept(register: number, ballot: Ballot, value: RegisterValue): AcceptAnswer {
    const state = this.#registerOf(register)
    const { sabotage } = this.#cluster.config
    const { round } = ballot
    if (!state.mayAccept(ballot) && sabotage !== 'forget-promise') {
      return { register, round, verdict: 'ballot', number: state.promised.round }
    }
    const has =
      state.value !== undefined &&
      numberOf(state.value) === numberOf(value) &&
      isSame(state.value, value)
    if (value.kind === 'row' && value.deposes !== '' && !has && sabotage !== 'skip-lease') {
      const wait = this.#handlers.leased(register, value.deposes)
      if (wait > 0) return { register, round, verdict: 'leased', number: Math.ceil(wait) }
    }
    if (sabotage === 'forget-promise') state.promised = NO_BALLOT
    state.accept(ballot, value)
    this.#noteRound(register, state.promised.round)
    if (value.kind === 'voters') this.#tellSeen()
    return { register, round, verdict: 'ok', number: 0 }
  }

  #tellSeen(): void {
    const { seen } = this
    if (seen === this.#told) return
    this.#told = seen
    this.#handlers.votersSeen(seen)
  }

  #isVoter(): boolean {
    const { name, life } = this.#cluster.config
    return this.voters.voters.some((voter) => voter.name === name && voter.life === life)
  }

  #isLive(voter: Voter): boolean {
    const { config, peers } = this.#cluster
    if (voter.name === config.name) return voter.life === config.life
    const peer = peers.get(voter.name)
    return peer?.isOpen === true && peer.stream.peerLife === voter.life
  }

  /** Those to be asked: the voters, and with a new set of voters those that it names. */
  #voterPeers(accepts: readonly AcceptAsk[], withWished: boolean): Peer[] {
    const { peers, config } = this.#cluster
    const sets = [this.voters]
    for (const { value } of accepts) if (value.kind === 'voters') sets.push(value.set)
    const wished = this.#attempts.get(VOTERS_REGISTER)?.wish.next
    if (withWished && wished?.kind === 'voters') sets.push(wished.set)
    const found = new Set<Peer>()
    for (const { voters } of sets) {
      for (const { name, life } of voters) {
        const peer = name === config.name ? undefined : peers.get(name)
        if (peer?.isOpen === true && peer.stream.peerLife === life) found.add(peer)
      }
    }
    return [...found]
  }

  /** What this node has learned to be decided. */
  #known(register: number): RegisterValue | undefined {
    if (register === VOTERS_REGISTER) return { kind: 'voters', set: this.voters }
    const { table } = this.#cluster
    if (register > table.mask || table.epochOf(register) === 0) return undefined
    return { kind: 'row', row: table.row(register), deposes: '' }
  }

  #knownNumber(register: number): number {
    const known = this.#known(register)
    return known === undefined ? 0 : numberOf(known)
  }

  #registerOf(register: number): Register<RegisterValue> {
    const known = this.#registers.get(register)
    if (known !== undefined) return known
    const state = new Register<RegisterValue>()
    this.#registers.set(register, state)
    return state
  }

  #noteRound(register: number, round: number): void {
    if (round > (this.#rounds.get(register) ?? 0)) this.#rounds.set(register, round)
  }
}

/** The epoch of a row, the version of a set of voters. */
export function numberOf(value: RegisterValue): number {
  return value.kind === 'row' ? value.row.epoch : value.set.version
}

function isNamed(value: RegisterValue, name: string): boolean {
  return value.kind === 'voters' && value.set.voters.some((voter) => voter.name === name)
}

/** The same holders, or the same voters, whatever the number. */
function isSame(a: RegisterValue, b: RegisterValue): boolean {
  if (a.kind === 'row') {
    return (
      b.kind === 'row' &&
      a.row.primary === b.row.primary &&
      a.row.backups.length === b.row.backups.length &&
      a.row.backups.every((name, i) => name === b.row.backups[i])
    )
  }
  return (
    b.kind === 'voters' &&
    a.set.settled === b.set.settled &&
    a.set.voters.length === b.set.voters.length &&
    a.set.voters.every(({ name, life }, i) => {
      const other = b.set.voters[i]
      return name === other.name && life === other.life
    })
  )
}
