/**
 * A node's own idea of the time: off by some milliseconds, and a little too fast or too slow. It never goes
 * back, and it starts at a date of our days, because that is where doubles lose their small digits.
 */
import type { Random } from '../src/core/random.js'

/** Some day in 2026. */
export const EPOCH_MS = 1_780_000_000_000

export interface ClockBounds {
  /** How far from the true time a clock may start, either way. */
  readonly offsetMsMax: number
  /** How much too fast or slow it may go: 0.001 is a second in a quarter of an hour. */
  readonly driftMax: number
}

export class DriftingClock {
  readonly #offset: number
  readonly #rate: number
  #last = 0

  constructor(bounds: ClockBounds, random: Random) {
    this.#offset = EPOCH_MS + (random.fraction() * 2 - 1) * bounds.offsetMsMax
    this.#rate = 1 + (random.fraction() * 2 - 1) * bounds.driftMax
  }

  /** What it shows at that true time. */
  read(time: number): number {
    this.#last = Math.max(this.#last, this.#offset + time * this.#rate)
    return this.#last
  }

  /** It is at least so late: a timer that was set to it has fired. */
  push(shown: number): void {
    if (shown > this.#last) this.#last = shown
  }

  /** The true time at which it shows this. */
  timeOf(shown: number): number {
    return (shown - this.#offset) / this.#rate
  }
}
