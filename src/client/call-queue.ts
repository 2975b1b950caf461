/** Calls in order: a ring that doubles, because `Array.shift` costs the whole length from a few thousand on. */
import type { Call } from './call.js'

const INITIAL_SIZE = 64

export class CallQueue {
  #items: (Call | undefined)[] = new Array<Call | undefined>(INITIAL_SIZE)
  #mask = INITIAL_SIZE - 1
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(call: Call): void {
    if (this.#length > this.#mask) this.#grow()
    this.#items[(this.#head + this.#length++) & this.#mask] = call
  }

  shift(): Call | undefined {
    if (this.#length === 0) return undefined
    const call = this.#items[this.#head]
    this.#items[this.#head] = undefined
    this.#head = (this.#head + 1) & this.#mask
    this.#length--
    return call
  }

  at(place: number): Call | undefined {
    return place < this.#length ? this.#items[(this.#head + place) & this.#mask] : undefined
  }

  /** Takes out everything from `place` on. */
  takeFrom(place: number): Call[] {
    const taken: Call[] = []
    while (this.#length > place) {
      const at = (this.#head + --this.#length) & this.#mask
      const call = this.#items[at]
      this.#items[at] = undefined
      if (call !== undefined) taken.push(call)
    }
    return taken.reverse()
  }

  #grow(): void {
    const items = new Array<Call | undefined>(this.#items.length * 2)
    for (let place = 0; place < this.#length; place++) items[place] = this.at(place)
    this.#items = items
    this.#mask = items.length - 1
    this.#head = 0
  }
}
