/**
 * How fast a copy travels while there are clients. A batch costs both ends time in which nobody is served, so after each
 * nothing is sent for several times as long as it was on its way: on a slow or busy machine it is on its way for longer, and
 * the copy gives way further. A fixed rate was rejected, since it is too much for one machine and too little for another.
 */

/** Longer than this is a lost message or a stopped process, and not the cost of a batch. */
const TRIP_MS_MAX = 10

export class Pace {
  /** How much of the time batches may be on their way. */
  readonly #share: number
  #sentMs = -Infinity
  #dueMs = -Infinity

  constructor(share: number) {
    this.#share = share
  }

  /** A batch is on its way, behind which nothing is sent until it has arrived. */
  sent(now: number): void {
    this.#sentMs = now
  }

  arrived(now: number): void {
    if (this.#sentMs === -Infinity) return
    const tripMs = Math.min(now - this.#sentMs, TRIP_MS_MAX)
    this.#sentMs = -Infinity
    this.#dueMs = now + tripMs * (1 / this.#share - 1)
  }

  /** When the next batch may go. */
  get dueMs(): number {
    return this.#dueMs
  }
}
