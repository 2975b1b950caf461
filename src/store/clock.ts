/**
 * The hybrid logical clock: one double a version, `ms * 2048 + counter`. It follows the node's time
 * while that moves on, counts up within a millisecond (and past it, when more than 2048 writes come),
 * never goes back, and never falls behind a version it was shown. 2^53 holds until the year 2109.
 */
const COUNTS_PER_MS = 2048

export class HybridClock {
  #last = 0

  /** A version above every version given out or observed before. */
  next(now: number): number {
    const fromTime = Math.floor(now) * COUNTS_PER_MS
    this.#last = fromTime > this.#last ? fromTime : this.#last + 1
    return this.#last
  }

  observe(version: number): void {
    if (version > this.#last) this.#last = version
  }

  get last(): number {
    return this.#last
  }

  static toMs(version: number): number {
    return Math.floor(version / COUNTS_PER_MS)
  }

  /** The lowest version of a millisecond. */
  static fromMs(ms: number): number {
    return Math.floor(ms) * COUNTS_PER_MS
  }
}
