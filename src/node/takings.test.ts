import { describe, expect, it } from 'vitest'
import { MiniCluster } from '../../test/support/mini-cluster.js'

describe('a primary that was silent for longer than its lease', () => {
  /** The others decided without it; the one that did cannot reach it, the one that agreed can. */
  it('hears of it from those who agreed before they grant it anything again', () => {
    const cluster = new MiniCluster({ policy: 'majority', deadAfterMs: 3000 })
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    cluster.runUntil(() => a.node.inspect().voters.voters.length === 3)
    const isCopied = (key: string): boolean => cluster.stateOf(key, a.node)?.role === 'backup'
    const key = cluster.keysOn(c, 100).find(isCopied) ?? ''
    expect(cluster.client(c).call('SET', key, 'old')).toBe('OK')
    cluster.cut('a', 'c')
    cluster.runUntil(() => a.eventsOf('died').length > 0)
    c.pause()
    expect(cluster.client(a).call('SET', key, 'new')).toBe('OK')
    c.resume()
    expect(b.eventsOf('died')).toEqual([])
    const reader = cluster.client(c)
    reader.send('GET', key)
    cluster.run(1000)
    expect(reader.replies).toEqual([])
    cluster.heal()
    cluster.runUntil(() => reader.replies.length > 0)
    expect(reader.replies).toEqual(['new'])
  })
})
