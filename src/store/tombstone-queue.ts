/**
 * The tombstones of a bucket, oldest arrival first, linked through their records: taking those that
 * every copy has seen costs as much as there are. On a primary arrival is version order. Where a copy
 * brought them in another order, one with a higher version holds back lower ones behind it until it
 * has been seen too; that is later, never wrong, and cheaper than keeping them sorted.
 */
import type { Records } from './records.js'

export class TombstoneQueue {
  readonly #records: Records
  #first = 0
  #last = 0

  constructor(records: Records) {
    this.#records = records
  }

  get first(): number {
    return this.#first
  }

  add(ref: number): void {
    const records = this.#records
    records.setPrevious(ref, this.#last)
    records.setNext(ref, 0)
    if (this.#last === 0) this.#first = ref
    else records.setNext(this.#last, ref)
    this.#last = ref
  }

  remove(ref: number): void {
    const records = this.#records
    const previous = records.previousOf(ref)
    const next = records.nextOf(ref)
    if (previous === 0) this.#first = next
    else records.setNext(previous, next)
    if (next === 0) this.#last = previous
    else records.setPrevious(next, previous)
  }
}
