/**
 * The longest time in which the process could do nothing else: the length of turns, and how late the timer of the node's
 * next deadline came, which shows what happened between turns. Both are read off clocks that are looked at anyway. A
 * timer only for this (`monitorEventLoopDelay`) wakes an idle process a hundred times a second, which was half of
 * what a node took of a processor at rest.
 */

/** Timers are set in whole milliseconds and are that late by themselves. */
const TIMER_MS = 1

export class Stall {
  #longestMs = 0

  /** A turn took from then till then. */
  worked(fromMs: number, toMs: number): void {
    if (toMs - fromMs > this.#longestMs) this.#longestMs = toMs - fromMs
  }

  /** A timer that was due then came then. */
  woke(dueMs: number, nowMs: number): void {
    this.worked(dueMs + TIMER_MS, nowMs)
  }

  /** In milliseconds, since it was last taken. */
  take(): number {
    const longestMs = this.#longestMs
    this.#longestMs = 0
    return longestMs
  }
}
