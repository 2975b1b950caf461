/**
 * What becomes of a primary's proposal to give its bucket away of which nobody knows whether it was decided. Such a value may
 * never be passed over by others; but carried out after its taker has ended it takes the bucket from the only node that has
 * it. Its giver alone can have learned that it was decided (`giftOf`). So the giver puts its own row in that place where the
 * taker is gone; and others, if nobody else has the bucket, leave it to the giver for as long as a lost bucket is waited for.
 *
 * The giver takes back only what it has begun itself, and gone on from itself since then (`gift-chain.ts`): what another node has
 * begun, or gone on from, may have been decided and acted on there.
 */
import type { Ballot } from '../core/agreement/ballot.js'
import type { NodeName } from '../core/ids.js'
import type { Voter } from '../core/membership/voters.js'
import type { Row } from '../core/table.js'
import type { RegisterValue, RowValue } from '../wire/peer/agreement.js'
import type { Attempt } from './attempt.js'
import type { Cluster } from './cluster.js'
import { GiftChains } from './gift-chain.js'
import { giftOf, type Answers } from './promises.js'
import type { Wish } from './registers.js'

export interface Gift {
  readonly giver: Voter
  /** By which the giver has proposed it. */
  readonly ballot: Ballot
  /** As the giver wants it. */
  readonly row: Row
}

export interface GiftHandlers {
  /** Another node cannot be heard, or has not got what the row says. */
  isGone(bucket: number, node: NodeName): boolean
}

export class Gifts {
  readonly #cluster: Cluster
  readonly #handlers: GiftHandlers
  readonly #chains = new GiftChains()

  constructor(cluster: Cluster, handlers: GiftHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
  }

  find(known: RowValue, newest: RegisterValue, answers: Answers): Gift | undefined {
    const ballot = giftOf(answers, known, newest)
    const { primary } = known.row
    if (ballot === undefined || primary === null || newest.kind !== 'row') return undefined
    return { giver: { name: primary, life: ballot.life }, ballot, row: newest.row }
  }

  /** This node proposes something of its own. */
  begin(register: number, ballot: Ballot, value: RegisterValue): void {
    const isGift = value.kind === 'row' && value.row.primary !== this.#cluster.config.name
    if (isGift) this.#chains.begin(register, ballot)
    else this.#chains.end(register)
  }

  /** This node goes on from the newest value that it has found. */
  goOn(register: number, ballot: Ballot, gift: Gift | undefined): void {
    this.#chains.goOn(register, ballot, gift?.ballot)
  }

  /** Nothing is open any more. */
  end(register: number): void {
    this.#chains.end(register)
  }

  /** It is this process's own, and the move that it was for is over or has lost its target: nobody acts by it. */
  isTakenBack({ register, next, isWanted }: Wish, { ballot, row }: Gift): boolean {
    if (!this.#chains.isOwn(register, ballot)) return false
    const isWish = next?.kind === 'row' && next.row.primary === row.primary
    return !isWish || isWanted?.() === false
  }

  /** It is decided, which nobody but this node learns, and the taker is gone: what `isTakenBack` does then is done at once. */
  isTooLate({ wish, ballot }: Attempt, value: RegisterValue): boolean {
    const { register, isWanted } = wish
    const { config, table } = this.#cluster
    if (value.kind !== 'row' || value.row.primary === config.name) return false
    if (!this.#chains.isOwn(register, ballot)) return false
    return isWanted?.() === false && table.row(register).primary === config.name
  }

  /** Whether to wait for the giver's word. It counts from the first time on. */
  isForGiver(attempt: Attempt, { giver, row }: Gift): boolean {
    const { register } = attempt.wish
    const { byMajority, config, now } = this.#cluster
    if (!byMajority || this.#isSelf(giver) || this.#hasEnded(giver)) return false
    // It has its copy afterwards as before.
    if (row.backups.some((name) => name === giver.name)) return false
    if (this.#isHeld(register, row)) return false
    attempt.giverMs = Math.min(attempt.giverMs, now)
    return now - attempt.giverMs < config.lostAfterMs
  }

  /** By others than the giver, as far as can be known: of the taker, whose copy is in no row yet, only by itself. */
  #isHeld(bucket: number, { primary, backups }: Row): boolean {
    const { config, buckets } = this.#cluster
    const state = buckets[bucket]
    const isNamed = primary === config.name || backups.some((name) => name === config.name)
    if (isNamed && state !== undefined && (state.role !== 'incoming' || state.caughtUp)) return true
    return backups.some((name) => name !== config.name && !this.#handlers.isGone(bucket, name))
  }

  #isSelf({ name, life }: Voter): boolean {
    const { config } = this.#cluster
    return name === config.name && life === config.life
  }

  /** There is another process of that name, or none will be again. */
  #hasEnded({ name, life }: Voter): boolean {
    const { config, peers, members } = this.#cluster
    if (name === config.name || members.get(name)?.state === 'left') return true
    const peer = peers.get(name)
    return peer !== undefined && peer.stream.peerLife > life
  }
}
