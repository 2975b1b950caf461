/**
 * Where rows and the set of voters are kept and changed, whatever does it. A register holds a value
 * with a number: a row and its epoch, or the voters and their version. `rows` and `voting` wish for
 * changes and follow decisions; how these come about is behind this interface. With `Agreement` the
 * voters make them. Every implementation holds this:
 *
 * - A wish is decided only from the value whose number it expected. Where others were faster, it is
 *   not decided; should the register hold what it wished for all the same, made by others, it may
 *   be told as if it were.
 * - For one register and one number there is one value, at every node and for ever. Only where
 *   those who can be heard decide may two sides of a cut decide apart; whoever hears both makes
 *   something newer of the two.
 * - The wishes of one call are asked for together and decided each for itself: that one of them is
 *   overtaken stops no other.
 * - `done` is called exactly once for each wish, perhaps before `propose` returns, and only when it
 *   is certain: after `done(false)` the wish will never be decided. A question whose answer was
 *   lost is therefore asked again until there is one. A split alone ends what is under way as
 *   refused without knowing; whoever cares looks at the pieces.
 * - What is under way is left alone: a wish for a register that this node is changing already is
 *   refused at once.
 * - What follows from one input is told by one call of `decided`, before any `done` of it.
 * - A row that takes a bucket from a primary without its consent is decided by a majority only when
 *   that primary has stopped serving.
 * - Nothing blocks: what has to be asked leaves at `flush`, and answers are inputs of later turns.
 *
 * An engine outside the cluster, as etcd, fits behind it. A wish is a transaction that compares the
 * number, and its answer comes in as an input. It has no use for the messages prepare, promise,
 * propose, accepted, resolve and taken: nobody sends them, and `onMessage` ignores them. `prepare`,
 * `doubt` and `livesChanged` have nothing to do then. `rows` and `voters` are sent as before, since
 * they spread decisions and make none.
 */
import type { VoterSet } from '../core/membership/voters.js'
import type { AgreementMessage, RegisterValue } from '../wire/peer/agreement.js'
import type { Peer } from './peers.js'

export interface Wish {
  readonly register: number
  /** The epoch, or version, that the change goes out from. */
  readonly expected: number
  /** It gets its number when it is proposed. Without it, what is there is decided once more. */
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

/** What the registers tell their node, whoever keeps them. */
export interface RegisterHandlers {
  /** These were decided, in one turn. */
  decided(decisions: readonly Decision[]): void
}

export interface Registers {
  readonly voters: VoterSet
  /** The newest voters that may be decided as far as this node knows. */
  readonly seen: number
  /** Somebody may be about to make this node a voter. */
  readonly mayBeNamed: boolean
  /** How many registers this node is changing. */
  readonly pending: number
  /** When `tick` has something to do. */
  readonly deadline: number

  /** What is there from the beginning, without having been decided. */
  seed(register: number, value: RegisterValue): void
  isPending(register: number): boolean
  /** Begins to change registers; those that are being changed already are left alone. */
  propose(wishes: readonly Wish[]): void
  /** A change of this register will follow soon: whatever makes it faster then may be done now. */
  prepare(register: number, reason: string): void
  /** Somebody else's decision was learned: a wish from an older value has its answer. */
  learned(register: number, value: RegisterValue): void
  /**
   * Somebody has accepted a row of this epoch. What is being tried here goes on to its end and
   * counts only if it was asked for after that; false if nothing is.
   */
  doubt(register: number, epoch: number): boolean
  /** The voters are others now. */
  votersChanged(voters: VoterSet): void
  /** Every register of a row becomes several; what was under way is refused. */
  split(old: number, mask: number): void
  /** Whoever can be heard has changed. */
  livesChanged(): void

  onMessage(peer: Peer, message: AgreementMessage): void
  tick(now: number): void
  /** The end of a turn: what has to be asked goes out, all of it together. */
  flush(): void
}
