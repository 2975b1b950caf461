/**
 * Leases: why a primary that is cut off stops before another one begins. A node tells the others that it lives; a
 * voter that has heard it grants it some time, during which that voter helps nobody to take its buckets away. The
 * node counts from when it sent, on its own clock, and the voter from when it heard, on its own and a little longer,
 * so that clocks may go differently by `driftMax` and the holder's time still ends first. Only lengths
 * of time are compared, never two nodes' clocks.
 */
import { majorityOf, type Voter, type VoterSet } from './voters.js'

/** Beats on their way to one voter that are remembered; older ones count first, so later ones may be left out. */
const BEATS_MAX = 64

/** What one voter has granted to this node. */
export class Grant {
  /** When the last beat that the voter has processed was sent. */
  sentMs = -Infinity
  readonly #frames: number[] = []
  readonly #times: number[] = []

  /** A beat went out in this frame. */
  sent(frame: number, now: number): void {
    if (this.#frames.length >= BEATS_MAX) return
    this.#frames.push(frame)
    this.#times.push(now)
  }

  /** The voter has processed everything up to this frame; says whether that grants something new. */
  acked(frame: number, counts: boolean): boolean {
    let count = 0
    while (count < this.#frames.length && this.#frames[count] <= frame) count++
    if (count === 0) return false
    if (counts) this.sentMs = this.#times[count - 1]
    this.#frames.splice(0, count)
    this.#times.splice(0, count)
    return true
  }

  /** The voter's process is another one: what the former one granted is forgotten. */
  clear(): void {
    this.sentMs = -Infinity
    this.#frames.length = 0
    this.#times.length = 0
  }
}

/** Until when a majority has granted: the weakest of the strongest that make one. */
export function leaseEnd(
  set: VoterSet,
  leaseMs: number,
  sentMsOf: (voter: Voter) => number
): number {
  const times = set.voters.map(sentMsOf).sort((a, b) => b - a)
  const weakest = times[majorityOf(set) - 1] as number | undefined
  return weakest === undefined ? -Infinity : weakest + leaseMs
}

/** How long a voter waits for a lease that lasts `leaseMs` on its holder's clock. */
export function waitOf(leaseMs: number, driftMax: number): number {
  return (leaseMs * (1 + driftMax)) / (1 - driftMax)
}
