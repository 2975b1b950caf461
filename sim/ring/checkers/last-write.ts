/**
 * With ack(write) + ack(read) > from, a read sees the last acknowledged write, or a later one; and of two
 * acknowledged writes the one that began after the other had ended is the later one. Both by version, which an
 * answer tells: a read has at least the highest version that was acknowledged before it began, and a value that
 * somebody has written. Read back at rest, it says that no key was lost over joins, removals and crashes.
 */
import { BrokenPromise } from '../../checkers/checker.js'
import type { RingOperation } from '../workload.js'
import type { RingChecker } from './checker.js'

interface KeyHistory {
  acknowledged: number
  /** What was highest when an operation began. */
  readonly atInvoke: Map<RingOperation, number>
  /** Everything that anybody has tried to write. */
  readonly values: Set<string | null>
}

export class LastWriteChecker implements RingChecker {
  readonly name = 'a read sees the last acknowledged write'
  readonly #keys = new Map<string, KeyHistory>()

  onInvoke(operation: RingOperation): void {
    const history = this.#history(operation.call.key)
    history.atInvoke.set(operation, history.acknowledged)
    if (operation.call.kind === 'put') history.values.add(operation.call.value)
  }

  onComplete(operation: RingOperation): void {
    const { call, reply } = operation
    const history = this.#history(call.key)
    const before = history.atInvoke.get(operation) ?? 0
    history.atInvoke.delete(operation)
    if (reply === undefined || reply.status === 400 || reply.status === 504) return
    const { version } = reply
    if (call.kind === 'get') {
      if (version < before) {
        this.#fail(operation, `version ${version} was read, ${before} had been acknowledged`)
      }
      if (!history.values.has(reply.value)) {
        this.#fail(operation, `${reply.value ?? 'nothing'} was read and never written`)
      }
      return
    }
    // Two deletions of one version are one record.
    if (version < before || (version === before && call.kind === 'put')) {
      this.#fail(operation, `version ${version} was given out, ${before} had been acknowledged`)
    }
    history.acknowledged = Math.max(history.acknowledged, version)
  }

  #fail({ call, client, invokedMs }: RingOperation, text: string): never {
    const when = `${(invokedMs / 1000).toFixed(6)} client ${client}`
    const { kind, key, ack, from } = call
    throw new BrokenPromise(this.name, `${when} ${kind} ${key} ${ack}/${from}: ${text}`)
  }

  #history(key: string): KeyHistory {
    let history = this.#keys.get(key)
    if (history === undefined) {
      history = { acknowledged: 0, atInvoke: new Map(), values: new Set([null]) }
      this.#keys.set(key, history)
    }
    return history
  }
}
