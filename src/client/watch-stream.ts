/**
 * One `watch`: what happens to the keys of a pattern, as an async iterator. Events wait here until they are asked for,
 * up to a limit; beyond it the oldest go, and a `gap` takes their place. A `gap` says that something may have been missed:
 * whoever keeps a copy of the keys reads them again.
 */
export interface KeyEvent {
  readonly kind: 'set' | 'deleted' | 'expired' | 'evicted'
  readonly key: string
  /** Where it happened, and the number of the write in its bucket. */
  readonly bucket: number
  readonly seq: number
}

/** Something may have been missed before this: read again what must be right. */
export interface GapEvent {
  readonly kind: 'gap'
  readonly reason: string
}

/** What a watcher is told. */
export type WatchEvent = KeyEvent | GapEvent

/** Events of a pattern, for `for await`. Made by `client.watch`. */
export class WatchStream implements AsyncIterableIterator<WatchEvent, undefined> {
  readonly pattern: string
  /** Resolves when the nodes know of it: what happens from then on is told. */
  readonly ready: Promise<void>
  readonly #maxEvents: number
  readonly #onEnd: (stream: WatchStream) => void
  #events: WatchEvent[] = []
  #next = 0
  #waiter: ((result: IteratorResult<WatchEvent, undefined> | Promise<never>) => void) | undefined
  #failure: Error | undefined
  #ended = false
  #setReady: () => void = () => undefined

  constructor(pattern: string, maxEvents: number, onEnd: (stream: WatchStream) => void) {
    this.pattern = pattern
    this.#maxEvents = maxEvents
    this.#onEnd = onEnd
    this.ready = new Promise((resolve) => (this.#setReady = resolve))
  }

  /** The nodes know of the pattern. */
  markReady(): void {
    this.#setReady()
  }

  /** An event for whoever reads. */
  put(event: WatchEvent): void {
    if (this.#ended) return
    if (this.#waiter !== undefined) {
      const waiter = this.#waiter
      this.#waiter = undefined
      waiter({ value: event, done: false })
      return
    }
    if (this.#events.length - this.#next >= this.#maxEvents) {
      this.#next++
      this.#events[this.#next] = { kind: 'gap', reason: 'the events were not taken fast enough' }
    }
    this.#events.push(event)
    this.#compact()
  }

  /** The next event, when there is one. */
  next(): Promise<IteratorResult<WatchEvent, undefined>> {
    if (this.#next < this.#events.length) {
      const value = this.#events[this.#next++]
      this.#compact()
      return Promise.resolve({ value, done: false })
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#ended) return Promise.resolve({ value: undefined, done: true })
    if (this.#waiter !== undefined) throw new Error('one event is awaited at a time')
    return new Promise((resolve) => (this.#waiter = resolve))
  }

  /** Ends it; a loop that is left by `break` does so by itself. */
  return(): Promise<IteratorResult<WatchEvent, undefined>> {
    this.end()
    this.#events = []
    this.#next = 0
    return Promise.resolve({ value: undefined, done: true })
  }

  /** What has come can still be taken. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#setReady()
    this.#onEnd(this)
    this.#waiter?.({ value: undefined, done: true })
    this.#waiter = undefined
  }

  /** It cannot go on: whoever takes the next event gets the error. */
  fail(error: Error): void {
    if (this.#ended) return
    this.#failure = error
    this.#waiter?.(Promise.reject(error))
    this.#waiter = undefined
    this.end()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Taken events are let go in one go, not one by one. */
  #compact(): void {
    if (this.#next < 1024 || this.#next * 2 < this.#events.length) return
    this.#events.splice(0, this.#next)
    this.#next = 0
  }
}
