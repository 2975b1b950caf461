import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniNode } from '../../test/support/mini-cluster.js'

const digestOf = ({ node }: MiniNode): number => node.table.digest()

describe('rows that a node was not told', () => {
  it('come from somebody else who knows them, and only these', () => {
    const cluster = new MiniCluster({ deadAfterMs: 60_000, leaseMs: 40_000, buckets: 256 })
    const [, b, c] = cluster.startAll('a', 'b', 'c')
    cluster.cut('a', 'c')
    // It takes rows from all of them; what a decides cannot reach c.
    const d = cluster.start('d', { join: ['b'] })
    let largest = 0
    cluster.onPost = (from, to, envelope) => {
      if (from === 'b' && to === 'c') largest = Math.max(largest, envelope.length)
      return true
    }
    cluster.runUntil(() => d.primaries.length > 10)
    d.pause()
    cluster.runUntil(() => digestOf(c) === digestOf(b))
    const whole = 256 * 6
    expect(largest).toBeGreaterThan(0)
    expect(largest).toBeLessThan(whole)
  })
})
