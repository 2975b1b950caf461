/**
 * What has a time limit is there until its time is over, and not afterwards; what has none is there until somebody
 * deletes it. Clocks differ, so around the end both are right. Values are written once, so a value says which write it is;
 * nothing says only which version, and two writers may have given out one version in the same moment.
 */
import { BrokenPromise } from '../../checkers/checker.js'
import { TTL_SLACK_MS, type RingOperation } from '../workload.js'
import type { RingChecker } from './checker.js'

/** Writes that are further apart than this do not get one version. */
const SAME_VERSION_MS = 5000
/** A node that was stopped for a while takes up what came meanwhile. */
const LATE_MS_MAX = 15_000

export class TimeLimitChecker implements RingChecker {
  readonly name = 'a value is there until its time is over, and not longer'
  readonly #puts = new Map<string, RingOperation>()
  /** By key and version, those that were acknowledged. */
  readonly #acknowledged = new Map<string, RingOperation>()
  /** When a time limit was last asked for. */
  readonly #timedMs = new Map<string, number>()

  onInvoke(operation: RingOperation): void {
    const { call, invokedMs } = operation
    if (call.kind !== 'put') return
    this.#puts.set(call.value, operation)
    if (call.ttlMs > 0) this.#timedMs.set(call.key, invokedMs)
  }

  onComplete(operation: RingOperation): void {
    const { call, reply } = operation
    if (reply === undefined || reply.status === 400 || reply.status === 504) return
    const name = `${call.key}@${reply.version}`
    if (call.kind === 'put') this.#acknowledged.set(name, operation)
    else if (call.kind === 'get' && reply.value !== null) this.#checkValue(operation, reply.value)
    else if (call.kind === 'get') this.#checkNothing(operation, this.#acknowledged.get(name))
  }

  #checkValue({ invokedMs }: RingOperation, value: string): void {
    const put = this.#puts.get(value)
    if (put === undefined || put.call.ttlMs === 0) return
    // Its time begins when a node takes it up, which is before the answer; if there was none, nobody knows when.
    const begunMs = put.reply === undefined ? put.invokedMs + LATE_MS_MAX : put.completedMs
    const goneMs = begunMs + put.call.ttlMs + TTL_SLACK_MS
    if (invokedMs <= goneMs) return
    this.#fail(put, `was read ${(invokedMs - goneMs).toFixed(0)} ms after its time`)
  }

  #checkNothing({ completedMs }: RingOperation, put: RingOperation | undefined): void {
    if (put === undefined) return
    const { call, invokedMs } = put
    if (call.ttlMs > 0) {
      if (completedMs >= invokedMs + call.ttlMs - TTL_SLACK_MS) return
      this.#fail(put, 'was gone before its time')
    }
    const timedMs = this.#timedMs.get(call.key) ?? -Infinity
    if (Math.abs(timedMs - invokedMs) < SAME_VERSION_MS) return
    this.#fail(put, 'was gone, and nobody had deleted it')
  }

  #fail({ call, reply }: RingOperation, what: string): never {
    const text = `${call.key}=${call.value}@${reply?.version ?? '?'} with ${call.ttlMs} ms`
    throw new BrokenPromise(this.name, `${text} ${what}`)
  }
}
