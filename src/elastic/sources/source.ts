/**
 * A source asks a scheduler once and translates the answer into facts. What it cannot read it refuses with a
 * FactsError: half an answer must never look like an empty queue. What is only an aid (accounting, reasons) may be
 * missing; then it says so in a note and the facts are without it.
 */
import type { Facts } from '../../core/scaling/facts.js'

export type SourceFacts = Omit<Facts, 'provider'>

export interface Reading {
  readonly facts: SourceFacts
  /** What was missing but is not needed, one line each. */
  readonly notes: readonly string[]
}

export interface ReadOptions {
  /** The balancer's clock. */
  readonly now: number
  /** How far back finished jobs are wanted. */
  readonly lookbackMs: number
  readonly signal?: AbortSignal | undefined
}

export interface Source {
  /** `sge at user@host`, for messages. */
  readonly label: string
  read(options: ReadOptions): Promise<Reading>
}
