/**
 * Everything that will happen, in the order in which it happens: a binary heap by time, and by insertion
 * among events of the same time, so that two runs never differ by the heap's whim. What will not happen after
 * all is cancelled and passed over when its time comes; taking it out of the middle would cost more.
 */
import { assert, fail } from '../src/core/assert.js'

export interface QueuedEvent {
  readonly time: number
  readonly order: number
  /** Cleared by `cancel`. */
  act: (() => void) | undefined
}

export class EventQueue {
  #heap: QueuedEvent[] = []
  #orders = 0
  #now = 0

  /** The time of the last event that was taken. */
  get now(): number {
    return this.#now
  }

  get length(): number {
    return this.#heap.length
  }

  /** When the next event happens, or Infinity. */
  get nextTime(): number {
    return this.#heap.length === 0 ? Infinity : this.#heap[0].time
  }

  at(time: number, act: () => void): QueuedEvent {
    if (!(time >= this.#now)) fail(`an event at ${time}, but it is ${this.#now} already`)
    assert(time < Infinity, 'an event that never happens')
    const event: QueuedEvent = { time, order: this.#orders++, act }
    this.#rise(event)
    return event
  }

  after(delay: number, act: () => void): QueuedEvent {
    return this.at(this.#now + delay, act)
  }

  cancel(event: QueuedEvent): void {
    event.act = undefined
  }

  /** Takes the next event and lets it act; false where there is none up to that time. */
  step(until: number): boolean {
    const heap = this.#heap
    if (heap.length === 0 || heap[0].time > until) return false
    const event = heap[0]
    const last = heap.pop()
    if (last !== undefined && heap.length > 0) this.#sink(last)
    this.#now = event.time
    event.act?.()
    return true
  }

  /** Nothing happens until then; the clock moves on. */
  advance(time: number): void {
    assert(this.nextTime >= time, 'an event would be passed over')
    if (time > this.#now) this.#now = time
  }

  #rise(event: QueuedEvent): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(event)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(event, heap[parent])) break
      heap[at] = heap[parent]
      at = parent
    }
    heap[at] = event
  }

  #sink(event: QueuedEvent): void {
    const heap = this.#heap
    const length = heap.length
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= length) break
      if (child + 1 < length && isBefore(heap[child + 1], heap[child])) child++
      if (!isBefore(heap[child], event)) break
      heap[at] = heap[child]
      at = child
    }
    heap[at] = event
  }
}

function isBefore(a: QueuedEvent, b: QueuedEvent): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order)
}
