/**
 * What becomes of a primary's proposal to give its bucket away of which nobody knows whether it was decided. Such a value may
 * never be passed over by others; but carried out after its taker has ended it takes the bucket from the only node that has
 * it. Its giver alone can have learned that it was decided (`giverOf`). So the giver puts its own row in that place where the
 * taker is gone; and others, if nobody else has the bucket, leave it to the giver for as long as a lost bucket is waited for.
 */
import type { NodeName } from '../core/ids.js'
import type { Voter } from '../core/membership/voters.js'
import type { Row } from '../core/table.js'
import type { RegisterValue, RowValue } from '../wire/peer/agreement.js'
import type { Attempt } from './attempt.js'
import type { Cluster } from './cluster.js'
import { giverOf, type Answers } from './promises.js'
import type { Wish } from './registers.js'

export interface Gift {
  readonly giver: Voter
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

  constructor(cluster: Cluster, handlers: GiftHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
  }

  find(known: RowValue, newest: RegisterValue, answers: Answers): Gift | undefined {
    const giver = giverOf(answers, known, newest)
    if (giver === undefined || newest.kind !== 'row') return undefined
    return { giver, row: newest.row }
  }

  /** It is this process's own, and the move that it was for is over or has lost its target: nobody acts by it. */
  isTakenBack({ next, isWanted }: Wish, { giver, row }: Gift): boolean {
    if (!this.#isOwn(giver)) return false
    const isWish = next?.kind === 'row' && next.row.primary === row.primary
    return !isWish || isWanted?.() === false
  }

  /** It is decided, which nobody but this node learns, and the taker is gone: what `isTakenBack` does then is done at once. */
  isTooLate({ register, isWanted }: Wish, value: RegisterValue): boolean {
    const { config, table } = this.#cluster
    if (value.kind !== 'row' || value.row.primary === config.name) return false
    return isWanted?.() === false && table.row(register).primary === config.name
  }

  /** Whether to wait for the giver's word. It counts from the first time on. */
  isForGiver(attempt: Attempt, { giver, row }: Gift): boolean {
    const { register } = attempt.wish
    const { byMajority, config, now } = this.#cluster
    if (!byMajority || this.#isOwn(giver) || this.#hasEnded(giver)) return false
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

  #isOwn({ name, life }: Voter): boolean {
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
