import { describe, expect, it } from 'vitest'
import type { EvictionPolicy } from '../core/eviction-policy.js'
import { MiniCluster, type MiniClient, type MiniNode } from '../../test/support/mini-cluster.js'
import { RespError } from '../wire/resp/reply-value.js'

const OOM = new RespError("OOM command not allowed when used memory > 'maxmemory'.")
const VALUE = 'x'.repeat(1000)

function start(eviction: EvictionPolicy, nodes = ['a']): { cluster: MiniCluster; at: MiniNode[] } {
  const cluster = new MiniCluster({ maxMemory: 200_000, eviction })
  return { cluster, at: cluster.startAll(...nodes) }
}

/** Writes until the limit has been reached several times over; gives what was answered last. */
function flood(client: MiniClient, count = 600, ...options: string[]): unknown {
  let last: unknown
  for (let i = 0; i < count; i++) last = client.call('SET', `flood:${i}`, VALUE, ...options)
  return last
}

describe('a node at its limit of memory', () => {
  it('refuses what takes more, and does everything else', () => {
    const { cluster, at } = start('noeviction')
    const client = cluster.client(at[0])
    expect(flood(client)).toEqual(OOM)
    expect(client.call('GET', 'flood:0')).toBe(VALUE)
    expect(client.call('DEL', 'flood:0', 'flood:1', 'flood:2')).toBe(3)
    // What is deleted is forgotten once all copies have seen it.
    cluster.run(3000)
    expect(client.call('SET', 'again', 'v')).toBe('OK')
  })

  it('lets keys go on all copies, tells it, and stays below', () => {
    const { cluster, at } = start('allkeys-random', ['a', 'b'])
    const client = cluster.client(at[0])
    const watcher = cluster.client(at[1])
    expect(watcher.call('OC.WATCH', 'w', '*')).toBe('OK')
    expect(flood(client)).toBe('OK')
    cluster.run(2000)
    expect(cluster.differences()).toEqual([])
    for (const { node } of at) expect(node.store.usedBytes).toBeLessThan(260_000)
    expect(JSON.stringify(watcher.pushes)).toContain('evicted')
    expect(JSON.stringify(client.call('INFO', 'stats'))).toMatch(/evicted_keys:[1-9]/)
  })

  it('lets the oldest go first under lru', () => {
    const { cluster, at } = start('allkeys-lru')
    const client = cluster.client(at[0])
    flood(client, 400)
    const kept = (from: number, to: number): number => {
      let count = 0
      for (let i = from; i < to; i++) if (client.call('EXISTS', `flood:${i}`) === 1) count++
      return count
    }
    expect(kept(350, 400)).toBeGreaterThan(kept(0, 50) + 20)
  })

  it('lets only keys go that expire under volatile', () => {
    const { cluster, at } = start('volatile-ttl')
    const client = cluster.client(at[0])
    expect(client.call('SET', 'kept', VALUE)).toBe('OK')
    expect(flood(client, 600, 'PX', '1000000')).toBe('OK')
    expect(client.call('GET', 'kept')).toBe(VALUE)
    const other = start('volatile-ttl')
    expect(flood(other.cluster.client(other.at[0]))).toEqual(OOM)
  })

  it('is told another limit while it runs', () => {
    const { cluster, at } = start('noeviction')
    const client = cluster.client(at[0])
    expect(flood(client)).toEqual(OOM)
    expect(client.call('CONFIG', 'SET', 'maxmemory', '400000')).toBe('OK')
    expect(client.call('SET', 'more', VALUE)).toBe('OK')
    expect(client.call('CONFIG', 'SET', 'maxmemory', '1000')).toBe('OK')
    expect(client.call('SET', 'more', VALUE)).toEqual(OOM)
    expect(client.call('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')).toBe('OK')
    expect(client.call('CONFIG', 'SET', 'maxmemory', '100000')).toBe('OK')
    for (let i = 0; i < 20; i++) client.call('SET', 'more', VALUE)
    expect(client.call('SET', 'more', VALUE)).toBe('OK')
  })
})
