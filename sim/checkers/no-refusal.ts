/**
 * No request is refused because of a move, a split, a join or a leave. Errors that say that nobody knows, and requests
 * that are never answered, are right only where nodes crash or are cut off; a client whose own connection was cut
 * cannot expect an answer. Nothing that the workload does is wrong use, so every other error is a refusal.
 */
import { describeOperation, type Operation } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'

export class NoRefusalChecker implements Checker {
  readonly name = 'no request is refused'
  readonly #doubtAllowed: () => boolean

  /** `doubtAllowed`: whether a fault that can leave a request without an answer has been in this run. */
  constructor(doubtAllowed: () => boolean) {
    this.#doubtAllowed = doubtAllowed
  }

  onComplete(operation: Operation): void {
    const { outcome } = operation
    if (outcome.kind === 'error') {
      throw new BrokenPromise(this.name, describeOperation(operation))
    }
    if (outcome.kind !== 'unknown' || outcome.why === 'cut' || this.#doubtAllowed()) return
    throw new BrokenPromise(this.name, describeOperation(operation))
  }
}
