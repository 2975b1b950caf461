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

describe('a node that was restarted with nothing', () => {
  it('does not take a bucket for lost of which others have a copy that it is told of late', () => {
    const cluster = new MiniCluster({ policy: 'majority', buckets: 256 })
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    cluster.runUntil(() => a.node.inspect().voters.voters.length === 3)
    const client = cluster.client(b)
    const keys = Array.from({ length: 200 }, (_, i) => `key${i}`)
    for (const key of keys) client.call('SET', key, key)
    const alone = (at: MiniNode): number[] =>
      at.node
        .inspect()
        .rows.flatMap(({ primary, backups }, i) =>
          primary === 'b' && backups.length === 0 ? [i] : []
        )
    // What a knows: b is the only one to have these. It does not hear that c has them again.
    c.pause()
    cluster.runUntil(() => alone(a).length > 0)
    a.pause()
    c.resume()
    cluster.runUntil(() => alone(b).length === 0)
    const known = alone(a)
    expect(known.length).toBeGreaterThan(0)
    b.kill()
    c.pause()
    a.resume()
    cluster.start('b', { join: ['a'] })
    cluster.runUntil(() => b.node.joined)
    expect(alone(b)).toEqual(known)
    cluster.run(5000)
    c.resume()
    cluster.run(1000)
    cluster.balance()
    expect([a, b, c].flatMap((at) => at.eventsOf('lost'))).toEqual([])
    for (const key of keys) expect(cluster.client(a).call('GET', key)).toBe(key)
  })
})
