/**
 * The order in which the whole cluster is gone through. A hash with its bits reversed is a rank: every bucket is one
 * range of ranks at every mask (of slots, with the Redis hash), and a split cuts ranges without moving
 * them. So a place in that order keeps its meaning while buckets move and split.
 *
 * A SCAN cursor is such a place, and inside a bucket the position in its primary's own order with the epoch of the
 * bucket's row: another primary has another order, and then the bucket is begun again.
 *
 *   cursor = (position * 2^13 + epoch mod 2^13) * 2^bits + rank           (at most 53 bits)
 */
import type { PlacementHash } from '../../core/hash/placement-hash.js'

const POSITION_BITS = 24
const EPOCH_BITS = 13
const EPOCHS = 2 ** EPOCH_BITS
/** The store's positions have 32 bits, a cursor's 24: this many of the store's are one. */
export const POSITION_STEP = 2 ** (32 - POSITION_BITS)

/** A place in the order of all keys. */
export interface Place {
  readonly rank: number
  /** In units of `POSITION_STEP`; 0 is the beginning of the bucket. */
  readonly position: number
  /** Modulo 2^13; means nothing at position 0. */
  readonly epoch: number
}

export class RankOrder {
  readonly #bits: number

  constructor(hash: PlacementHash) {
    this.#bits = hash.bits
  }

  /** One past the last rank. */
  get end(): number {
    return 2 ** this.#bits
  }

  /** The hash of a rank, and the rank of a hash. */
  reverse(value: number): number {
    let reversed = 0
    for (let bit = 0; bit < this.#bits; bit++)
      reversed |= ((value >>> bit) & 1) << (this.#bits - 1 - bit)
    return reversed
  }

  /** How many ranks a bucket has. */
  width(mask: number): number {
    return this.end / (mask + 1)
  }

  /** The first rank of the bucket that this rank is in. */
  start(rank: number, mask: number): number {
    const width = this.width(mask)
    return Math.floor(rank / width) * width
  }

  toCursor({ rank, position, epoch }: Place): number {
    const inBucket = position === 0 ? 0 : position * EPOCHS + (epoch % EPOCHS)
    return inBucket * this.end + rank
  }

  /** Any number is a place; one that was never given out may be past the end. */
  fromCursor(cursor: number): Place {
    const inBucket = Math.floor(cursor / this.end)
    const position = Math.floor(inBucket / EPOCHS) % 2 ** POSITION_BITS
    return { rank: cursor % this.end, position, epoch: inBucket % EPOCHS }
  }

  isSameEpoch(one: number, other: number): boolean {
    return one % EPOCHS === other % EPOCHS
  }
}
