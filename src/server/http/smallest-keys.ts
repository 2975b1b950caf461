/** The smallest of many keys, each once, up to a number and a size: a heap with the largest on top, which goes first. */
import { compareBytes } from '../../core/bytes.js'

export class SmallestKeys {
  readonly #limits: { readonly keys: number; readonly bytes: number }
  readonly #heap: Uint8Array[] = []
  #bytes = 0
  /** Whether there were more than these. */
  dropped = false

  constructor(limits: { readonly keys: number; readonly bytes: number }) {
    this.#limits = limits
  }

  add(key: Uint8Array): void {
    const heap = this.#heap
    if (this.dropped && heap.length > 0 && compareBytes(key, heap[0]) > 0) return
    this.#bytes += key.length
    heap.push(key)
    this.#rise(heap.length - 1)
    while (
      heap.length > this.#limits.keys ||
      (this.#bytes > this.#limits.bytes && heap.length > 1)
    ) {
      this.#pop()
      this.dropped = true
    }
  }

  sorted(): Uint8Array[] {
    // A walk may come by one key twice, while its bucket moves.
    return this.#heap
      .sort(compareBytes)
      .filter((key, at, all) => at === 0 || compareBytes(all[at - 1], key) !== 0)
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined) return
    const top = heap.length === 0 ? last : heap[0]
    this.#bytes -= top.length
    if (heap.length === 0) return
    heap[0] = last
    this.#sink()
  }

  #rise(from: number): void {
    const heap = this.#heap
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1
      if (compareBytes(heap[at], heap[parent]) <= 0) return
      ;[heap[at], heap[parent]] = [heap[parent], heap[at]]
      at = parent
    }
  }

  #sink(): void {
    const heap = this.#heap
    for (let at = 0; ;) {
      const left = 2 * at + 1
      if (left >= heap.length) return
      const right = left + 1
      const larger = right < heap.length && compareBytes(heap[right], heap[left]) > 0 ? right : left
      if (compareBytes(heap[larger], heap[at]) <= 0) return
      ;[heap[at], heap[larger]] = [heap[larger], heap[at]]
      at = larger
    }
  }
}
