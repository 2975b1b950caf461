/** One line of the result. The names of its fields are relied on by programs that read the JSON. */
import type { Latency } from './histogram.js'

/** A figure of ours and the same of a peer's. */
export interface Pair {
  readonly ours: number
  readonly theirs: number
  readonly ratio: number
}

export interface Place {
  /** What is drawn, over what. */
  readonly series: string
  readonly x: number
}

export interface Row {
  readonly group: string
  readonly name: string
  /** Whom ours is compared with. */
  readonly peer: string
  readonly unit: string
  /** Which is better. */
  readonly better: 'more' | 'less'
  /** Medians over the rounds. Null where there is no figure: no peer, or an error. */
  readonly ours: number | null
  readonly theirs: number | null
  readonly ratio: number | null
  /** Half of the distance between the lowest and the highest ratio of a round, as a part of the ratio. */
  readonly spread: number | null
  readonly rounds: number
  /** Microseconds of the servers' processor time an operation. */
  readonly cpu?: Pair
  /** In milliseconds. */
  readonly latency?: { readonly ours: Latency; readonly theirs: Latency | null }
  /** Parts of one processor: what the generator used and what the servers used. */
  readonly shares?: { readonly generator: number; readonly ours: number; readonly theirs: number }
  /** The part of the machine's processor time that its host gave to others, in the round in which that was most. */
  readonly stolen?: number
  /** Its place on a line of rows that differ in one size only. */
  readonly at?: Place
  readonly note?: string
  readonly error?: string
}

/** What identifies a row from run to run. */
export function keyOf({ name, peer }: Row): string {
  return `${name} / ${peer}`
}
