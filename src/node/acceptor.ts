/**
 * This node as a voter: the registers as it has them, what it has promised and accepted, and whom it answers. It never
 * proposes anything; that is `agreement`.
 */
import { nextBallot, NO_BALLOT, type Ballot } from '../core/agreement/ballot.js'
import { Register } from '../core/agreement/register.js'
import type { NodeName } from '../core/ids.js'
import { decidesByMajority, isVoter, type VoterSet } from '../core/membership/voters.js'
import {
  VOTERS_REGISTER,
  type AcceptAnswer,
  type AgreementMessage,
  type PromiseAnswer,
  type RegisterValue
} from '../wire/peer/agreement.js'
import type { Cluster } from './cluster.js'
import type { Peer } from './peers.js'
import { isSame, numberOf } from './register-value.js'
import { Takings } from './takings.js'

export interface AcceptorHandlers {
  split(mask: number): void
  /** Why this node will not accept that its primary loses the bucket: milliseconds to wait; 0 if it will. */
  leased(bucket: number, deposes: NodeName): number
  /** It goes, and should not be made a voter any more. */
  isLeaving(): boolean
  /** The newest voters that this node has accepted are of another version now. */
  votersSeen(version: number): void
  /** Somebody, perhaps this peer, knows newer voters than this node. */
  votersBehind(peer?: Peer): void
  /** Whether a row can have this epoch; if not, the peer is told. */
  isPossible(peer: Peer, bucket: number, epoch: number): boolean
  /** This node itself has accepted that a bucket, which it may be primary of, is another's. */
  doubt(bucket: number, epoch: number): void
}

/** Bounds what a lying or broken peer can do to the counting. */
const ROUND_MAX = 2 ** 48

export class Acceptor {
  readonly #cluster: Cluster
  readonly #handlers: AcceptorHandlers
  readonly #registers = new Map<number, Register<RegisterValue>>()
  /** The highest round heard of, by register. */
  readonly #rounds = new Map<number, number>()
  readonly #takings: Takings
  voters: VoterSet
  /** The newest version of the voters that anybody who asked something knew to be decided. */
  #heard = 0
  /** The round in which this node last had the voters decided: nothing older will be. */
  #votersRound = 0
  /** What the others were last told about `seen`. */
  #told = 0

  constructor(cluster: Cluster, voters: VoterSet, handlers: AcceptorHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
    this.#takings = new Takings(cluster, {
      accepted: (bucket) => {
        const value = this.#registers.get(bucket)?.value
        return value?.kind === 'row' ? value.row : undefined
      },
      doubt: (bucket, epoch) => handlers.doubt(bucket, epoch)
    })
    this.voters = voters
  }

  /**
   * The newest voters that may be decided as far as this node knows: with older ones it decides nothing. An accepted
   * set that was overtaken by another ballot counts no more, since it will never be decided; nobody but this node itself
   * tells it so where that set alone would have made it a voter.
   */
  get seen(): number {
    const state = this.#registers.get(VOTERS_REGISTER)
    const value = (state?.accepted.round ?? 0) < this.#votersRound ? undefined : state?.value
    return Math.max(this.#heard, this.voters.version, value === undefined ? 0 : numberOf(value))
  }

  /**
   * Somebody may be about to make this node a voter: it asked for a promise, and nothing that was decided since rules
   * it out. A node that went now would be waited for, perhaps for ever.
   */
  get mayBeNamed(): boolean {
    const promised = this.#registers.get(VOTERS_REGISTER)?.promised.round ?? 0
    return promised > this.#votersRound
  }

  get isVoter(): boolean {
    const { name, life } = this.#cluster.config
    return isVoter(this.voters, { name, life })
  }

  /** The first node's rows, and those that a split makes, are there without having been asked for. */
  seed(register: number, value: RegisterValue): void {
    const state = this.#registerOf(register)
    state.value ??= value
  }

  /** Every register of a row becomes several. */
  split(old: number, mask: number): void {
    this.#takings.split(old, mask)
    for (let bucket = old + 1; bucket <= mask; bucket++) {
      const parent = this.#registers.get(bucket & old)
      if (parent !== undefined) this.#registers.set(bucket, parent.clone())
      const round = this.#rounds.get(bucket & old)
      if (round !== undefined) this.#rounds.set(bucket, round)
    }
  }

  /** This node had the voters decided in that round. */
  votersDecided(round: number): void {
    this.#votersRound = Math.max(this.#votersRound, round)
  }

  roundOf(register: number): number {
    return this.#rounds.get(register) ?? 0
  }

  noteRound(register: number, round: number): void {
    if (round > this.roundOf(register)) this.#rounds.set(register, round)
  }

  /** What this node has learned to be decided. */
  known(register: number): RegisterValue | undefined {
    if (register === VOTERS_REGISTER) return { kind: 'voters', set: this.voters }
    const { table } = this.#cluster
    if (register > table.mask || table.epochOf(register) === 0) return undefined
    return { kind: 'row', row: table.row(register), deposes: '' }
  }

  knownNumber(register: number): number {
    const known = this.known(register)
    return known === undefined ? 0 : numberOf(known)
  }

  onPrepare(peer: Peer, message: Extract<AgreementMessage, { kind: 'prepare' }>): void {
    if (!this.#isCurrent(peer, message)) return
    const life = peer.stream.peerLife
    const answers = message.asks.map(({ register, round }) =>
      this.promise(register, { round, name: peer.name, life })
    )
    this.#cluster.peers.send(peer, { kind: 'promise', answers }, this.#cluster.now)
  }

  onPropose(peer: Peer, message: Extract<AgreementMessage, { kind: 'propose' }>): void {
    if (!this.#isCurrent(peer, message)) return
    const life = peer.stream.peerLife
    const answers = message.asks.map(({ register, round, value }): AcceptAnswer => {
      if (!this.isPossible(peer, register, value)) {
        return { register, round, verdict: 'ballot', number: this.roundOf(register) }
      }
      return this.accept(register, { round, name: peer.name, life }, value)
    })
    this.#cluster.peers.send(peer, { kind: 'accepted', answers }, this.#cluster.now)
  }

  /** False, and told to both, if no such row can ever have been. */
  isPossible(peer: Peer, register: number, value: RegisterValue): boolean {
    return value.kind !== 'row' || this.#handlers.isPossible(peer, register, value.row.epoch)
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

  promise(register: number, ballot: Ballot): PromiseAnswer {
    const state = this.#registerOf(register)
    const ok = ballot.round <= ROUND_MAX && !this.#declines(register) && state.prepare(ballot)
    this.noteRound(register, state.promised.round)
    const { accepted } = state
    const value = this.#newest(register, state.value)
    const highest = Math.max(state.promised.round, this.roundOf(register))
    return { register, round: ballot.round, ok, highest, accepted, value: ok ? value : undefined }
  }

  /**
   * Voters can be known that no ballot has made, when others were struck by hand; and rows, where those who can be heard
   * decide: what the other side of a cut has decided is told, not asked about.
   */
  #newest(register: number, accepted: RegisterValue | undefined): RegisterValue | undefined {
    const known = this.known(register)
    if (accepted === undefined || known === undefined) return accepted ?? known
    if (register !== VOTERS_REGISTER && decidesByMajority(this.voters)) return accepted
    const ahead = numberOf(known) - numberOf(accepted)
    // Of two rows of one epoch the one that is known was decided, and no other will be accepted here.
    return ahead > 0 || (ahead === 0 && register !== VOTERS_REGISTER) ? known : accepted
  }

  /** Asked about the voters without being one: somebody wants to make it one, and it is on its way out. */
  #declines(register: number): boolean {
    if (register !== VOTERS_REGISTER || !this.#handlers.isLeaving()) return false
    return !this.isVoter && this.seen === this.voters.version
  }

  accept(register: number, ballot: Ballot, value: RegisterValue): AcceptAnswer {
    const state = this.#registerOf(register)
    const { sabotage } = this.#cluster.config
    const { round } = ballot
    if (!state.mayAccept(ballot) && sabotage !== 'forget-promise') {
      return { register, round, verdict: 'ballot', number: state.promised.round }
    }
    if (this.#knowsBetter(register, value)) {
      return { register, round, verdict: 'ballot', number: state.promised.round }
    }
    const has =
      state.value !== undefined &&
      numberOf(state.value) === numberOf(value) &&
      isSame(state.value, value)
    if (value.kind === 'row' && value.deposes !== '' && !has && sabotage !== 'skip-lease') {
      const wait = this.#handlers.leased(register, value.deposes)
      if (wait > 0) {
        // Those who do accept it have promised the ballot after it, which must be outbid to end this.
        this.noteRound(register, nextBallot(ballot).round)
        return { register, round, verdict: 'leased', number: Math.ceil(wait) }
      }
    }
    if (sabotage === 'forget-promise') state.promised = NO_BALLOT
    const before = state.value
    state.accept(ballot, value)
    if (value.kind === 'row') {
      const known = before?.kind === 'row' ? before.row : undefined
      this.#takings.note(register, { before: known, value, by: ballot.name })
    }
    this.noteRound(register, state.promised.round)
    if (value.kind === 'voters') this.tellSeen()
    return { register, round, verdict: 'ok', number: 0 }
  }

  /** Where those who can be heard decide: another row of that epoch, or a later one, was decided by others and told here. */
  #knowsBetter(register: number, value: RegisterValue): boolean {
    if (value.kind !== 'row' || decidesByMajority(this.voters)) return false
    const known = this.known(register)
    if (known?.kind !== 'row' || known.row.epoch < value.row.epoch) return false
    return known.row.epoch > value.row.epoch || !isSame(known, value)
  }

  /** The end of a turn: whoever lost something by what was accepted here hears of it before any acknowledgement. */
  flush(): void {
    if (decidesByMajority(this.voters)) this.#takings.flush()
  }

  tellSeen(): void {
    const { seen } = this
    if (seen === this.#told) return
    this.#told = seen
    this.#handlers.votersSeen(seen)
  }

  #registerOf(register: number): Register<RegisterValue> {
    const known = this.#registers.get(register)
    if (known !== undefined) return known
    const state = new Register<RegisterValue>()
    this.#registers.set(register, state)
    return state
  }
}
