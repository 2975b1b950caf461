/** Waiting between two attempts: longer each time, and never as long as everybody else. */
import { setTimeout as wait } from 'node:timers/promises'

const FIRST_MS = 10
const LONGEST_MS = 250

export class Pauses {
  #ms = FIRST_MS
  readonly #endMs: number

  constructor(waitMs: number) {
    this.#endMs = performance.now() + waitMs
  }

  /** False when the time is up. */
  async next(): Promise<boolean> {
    const leftMs = this.#endMs - performance.now()
    if (leftMs <= 0) return false
    await wait(Math.min(leftMs, this.#ms * (0.5 + Math.random() / 2)))
    this.#ms = Math.min(LONGEST_MS, this.#ms * 2)
    return true
  }
}
