/**
 * A split in progress: the index of the old bucket, from which its children take their entries
 * segment by segment. Whoever needs a key that has not been taken over yet pulls its segment first (at
 * most about 800 entries), and `Store.maintain` pulls the rest. Records stay where they are.
 *
 * The queues of the old bucket are simply left behind: each record joins a queue of its new bucket as
 * it is taken over, and nobody asks for expired items or old tombstones before all are.
 */
import type { Bucket, EntrySource } from './bucket.js'
import { type KeyIndex, POSITIONS } from './key-index.js'
import type { Records } from './records.js'

export class BucketSplit implements EntrySource {
  readonly #index: KeyIndex
  readonly #children: readonly Bucket[]
  readonly #records: Records
  readonly #newMask: number
  readonly #shift: number
  /** How many entries a segment of a child is prepared for. */
  readonly #expected: number
  /** Everything below has been taken over by `step`. */
  #position = 0

  /** The first child is the old bucket itself. */
  constructor(records: Records, children: readonly Bucket[], oldMask: number, newMask: number) {
    this.#records = records
    this.#children = children
    this.#newMask = newMask
    this.#shift = 32 - Math.clz32(oldMask)
    this.#index = children[0].beginSplit()
    const depth = Math.max(0, this.#index.depth - (31 - Math.clz32(children.length)))
    this.#expected = Math.ceil(this.#index.entries / children.length / 2 ** depth)
    for (const child of children) child.expectFrom(this, depth)
    this.#endIfEmpty()
  }

  get done(): boolean {
    return this.#index.entries === 0
  }

  /** Hands over the segment that covers a position; returns the position at which it ends. */
  pull(position: number): number {
    const end = this.#index.segmentEnd(position)
    this.#pull(position)
    return end
  }

  #pull(position: number): number {
    const taken = this.#index.takeSegment(position, (hash, ref) => {
      const id = this.#records.placementHash(ref) & this.#newMask
      this.#children[id >>> this.#shift].adopt(hash, ref, this.#expected)
    })
    if (taken > 0) this.#endIfEmpty()
    return taken
  }

  /** Goes on for about `budget` entries; returns what is left of it. */
  step(budget: number): number {
    while (budget > 0 && this.#position < POSITIONS && !this.done) {
      const end = this.#index.segmentEnd(this.#position)
      budget -= this.#pull(this.#position) + 1
      this.#position = end
    }
    return budget
  }

  finish(): void {
    this.step(Infinity)
  }

  #endIfEmpty(): void {
    if (!this.done) return
    for (const child of this.#children) child.expectFrom(null, 0)
  }
}
