/** No key is lost over joins, removals and changed positions: at rest somebody holds the last acknowledged version or a later one. */
import { latin1String } from '../../../src/core/bytes.js'
import type { RingOperation } from '../workload.js'
import type { RingChecker, RingView } from './checker.js'

export class NoLossChecker implements RingChecker {
  readonly name = 'no key is lost over joins and removals'
  readonly #acknowledged = new Map<string, number>()

  onComplete({ call, reply }: RingOperation): void {
    if (call.kind === 'get' || (reply?.status !== 201 && reply?.status !== 202)) return
    const before = this.#acknowledged.get(call.key) ?? 0
    this.#acknowledged.set(call.key, Math.max(before, reply.version))
  }

  problem({ nodes }: RingView): string | undefined {
    const held = new Map<string, number>()
    for (const node of nodes) {
      for (const { key, version } of node.held()) {
        const text = latin1String(key, 0, key.length)
        held.set(text, Math.max(held.get(text) ?? 0, version))
      }
    }
    for (const [key, version] of this.#acknowledged) {
      const newest = held.get(key) ?? 0
      if (newest < version) return `${key}@${version} is nowhere, the newest form is ${newest}`
    }
    return undefined
  }
}
