/**
 * A write stores at most `from` copies: of a version that was written and acknowledged by one and the same
 * configuration, at rest, no more than `from` nodes ever hold it while that configuration lasts.
 */
import { latin1String } from '../../../src/core/bytes.js'
import { BrokenPromise } from '../../checkers/checker.js'
import type { RingOperation } from '../workload.js'
import type { RingChecker, RingView } from './checker.js'

export class CopiesAtMostChecker implements RingChecker {
  readonly name = 'at most `from` copies'
  /** The version of the configuration that all nodes are at rest with, or 0. */
  readonly #settled: () => number
  readonly #begun = new Map<RingOperation, number>()
  #configuration = 0
  #written = new Map<string, { version: number; from: number }>()

  constructor(settled: () => number) {
    this.#settled = settled
  }

  onInvoke(operation: RingOperation): void {
    if (operation.call.kind !== 'get') this.#begun.set(operation, this.#settled())
  }

  onComplete(operation: RingOperation): void {
    const { call, reply } = operation
    const begun = this.#begun.get(operation)
    this.#begun.delete(operation)
    if (begun === undefined || begun === 0 || begun !== this.#settled()) return
    if (reply?.status !== 201 && reply?.status !== 202) return
    if (begun !== this.#configuration) this.#written = new Map()
    this.#configuration = begun
    this.#written.set(call.key, { version: reply.version, from: call.from })
  }

  onSample({ nodes }: RingView): void {
    if (this.#settled() !== this.#configuration) return
    const counts = new Map<string, number>()
    for (const node of nodes) {
      for (const { key, version } of node.held()) {
        const text = latin1String(key, 0, key.length)
        if (this.#written.get(text)?.version !== version) continue
        counts.set(text, (counts.get(text) ?? 0) + 1)
      }
    }
    for (const [key, count] of counts) {
      const from = this.#written.get(key)?.from ?? count
      if (count <= from) continue
      throw new BrokenPromise(this.name, `${key} has ${count} copies, from=${from}`)
    }
  }
}
