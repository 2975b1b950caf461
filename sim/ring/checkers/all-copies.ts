/** At rest every record is on all nodes that should hold it, the same on each. */
import { latin1String } from '../../../src/core/bytes.js'
import { ringOf } from '../../../src/core/placement/ring-configuration.js'
import type { RingChecker, RingView } from './checker.js'

export class AllCopiesChecker implements RingChecker {
  readonly name = 'every record reaches its copies, and they are equal'

  problem({ nodes }: RingView): string | undefined {
    const byNode = new Map(
      nodes.map(({ name, held }) => [
        name,
        new Map(held().map((record) => [latin1String(record.key, 0, record.key.length), record]))
      ])
    )
    for (const { name, configuration } of nodes) {
      const ring = ringOf(configuration, 'positions')
      for (const [key, record] of byNode.get(name) ?? []) {
        for (const other of ring.replicas(record.position, record.from)) {
          const held = byNode.get(other)?.get(key)
          if (held === undefined) return `${other} lacks ${key}, which ${name} holds`
          if (held.digest !== record.digest) return `${other} and ${name} differ in ${key}`
        }
      }
    }
    return undefined
  }
}
