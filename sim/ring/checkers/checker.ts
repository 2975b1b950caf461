/** A promise of the ring, and the moments at which it is looked at. */
import type { RingInspection } from '../../../src/node/ring/inspection.js'
import type { RingOperation } from '../workload.js'

export interface RingView {
  readonly now: number
  /** Every node that has memory. */
  readonly nodes: readonly RingInspection[]
  /** Up, and not leaving. */
  readonly staying: readonly string[]
}

export interface RingChecker {
  readonly name: string
  onInvoke?(operation: RingOperation): void
  onComplete?(operation: RingOperation): void
  /** Every so often while clients ask. */
  onSample?(view: RingView): void
  /** What is not yet as it must be at rest, or undefined. */
  problem?(view: RingView): string | undefined
}
