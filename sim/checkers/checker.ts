/**
 * What a checker is: one promise, and the moments at which it looks. Safety is looked at while faults go on
 * (`onEvent`, `onInvoke`, `onComplete`, `onSample`) and once more when all is over (`onEnd`); what must be so at rest
 * is said by `problem`, which is asked again and again until it has nothing to say or time is up.
 */
import type { NodeEvent } from '../../src/node/outbox.js'
import type { ClusterView } from '../cluster-view.js'
import type { Operation } from '../operation.js'

export interface Checker {
  /** The promise, in the words of DESIGN.md. */
  readonly name: string
  onEvent?(node: string, event: NodeEvent, now: number): void
  /** The node is about to lose its memory. */
  onCrash?(node: string): void
  onInvoke?(operation: Operation): void
  onComplete?(operation: Operation): void
  /** Several times a second while the run goes on. */
  onSample?(view: ClusterView): void
  /** When the cluster has come to rest. */
  onRest?(view: ClusterView): void
  /** When everything has been read back and it has rested for a while. */
  onEnd?(view: ClusterView): void
}

export interface RestChecker extends Checker {
  /** What is not yet as it must be at rest, or undefined. */
  problem(view: ClusterView): string | undefined
  /** A problem that stays is a broken promise, not only a cluster that does not come to rest. */
  readonly isSafety: boolean
}

export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
  readonly promise: string

  constructor(promise: string, message: string) {
    super(message)
    this.promise = promise
  }
}
