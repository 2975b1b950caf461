import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniClient, type MiniNode } from '../../../test/support/mini-cluster.js'

function trio(): {
  cluster: MiniCluster
  nodes: MiniNode[]
  reader: MiniClient
  writer: MiniClient
} {
  const cluster = new MiniCluster()
  const nodes = cluster.startAll('a', 'b', 'c')
  const reader = cluster.client(nodes[0])
  reader.call('HELLO', '3')
  return { cluster, nodes, reader, writer: cluster.client(nodes[1]) }
}

function told({ pushes }: MiniClient): string[] {
  return pushes.flatMap(([word, keys]) =>
    (keys as string[]).map((key) => `${word as string} ${key}`)
  )
}

describe('a client that caches', () => {
  it('hears of writes to what it read, wherever that is, once', () => {
    const { cluster, nodes, reader, writer } = trio()
    reader.call('CLIENT', 'TRACKING', 'ON')
    const keys = nodes.flatMap((node) => cluster.keysOn(node, 3))
    for (const key of keys.slice(1)) reader.call('GET', key)
    for (const key of [...keys, ...keys]) writer.call('SET', key, 'x')
    cluster.run(10)
    expect(told(reader).sort()).toEqual(
      keys
        .slice(1)
        .map((key) => `invalidate ${key}`)
        .sort()
    )
  })

  it('that does not want to hear of its own writes hears of those that follow', () => {
    const { cluster, nodes, reader, writer } = trio()
    reader.call('CLIENT', 'TRACKING', 'ON', 'NOLOOP')
    const keys = nodes.flatMap((node) => cluster.keysOn(node, 3))
    for (const key of keys) {
      reader.call('GET', key)
      // The word of the write comes when the next read is under way.
      reader.send('SET', key, 'own')
      reader.send('GET', key)
    }
    cluster.run(100)
    expect(told(reader)).toEqual([])
    for (const key of keys) writer.call('SET', key, 'x')
    cluster.run(10)
    expect(told(reader).sort()).toEqual(keys.map((key) => `invalidate ${key}`).sort())
  })

  it('hears of expiry', () => {
    const { cluster, nodes, reader, writer } = trio()
    reader.call('CLIENT', 'TRACKING', 'ON')
    const keys = nodes.flatMap((node) => cluster.keysOn(node, 1))
    for (const key of keys) writer.call('SET', key, 'x', 'PX', '500')
    for (const key of keys) reader.call('GET', key)
    cluster.run(2000)
    expect(told(reader).sort()).toEqual(keys.map((key) => `invalidate ${key}`).sort())
  })

  it('is not left with an old value by a bucket that moves', () => {
    const { cluster, nodes, reader, writer } = trio()
    reader.call('CLIENT', 'TRACKING', 'ON')
    const keys = nodes.flatMap((node) => cluster.keysOn(node, 20))
    for (const key of keys) reader.call('GET', key)
    const before = new Map(keys.map((key) => [key, cluster.primaryOf(key)]))
    cluster.start('d')
    cluster.balance()
    cluster.run(100)
    const moved = keys.filter((key) => cluster.primaryOf(key) !== before.get(key))
    expect(moved.length).toBeGreaterThan(0)
    expect(told(reader).sort()).toEqual(moved.map((key) => `invalidate ${key}`).sort())
    for (const key of keys) writer.call('SET', key, 'x')
    cluster.run(10)
    expect(told(reader).sort()).toEqual(keys.map((key) => `invalidate ${key}`).sort())
  })

  it('is not left with an old value by a primary that dies', () => {
    const { cluster, nodes, reader } = trio()
    reader.call('CLIENT', 'TRACKING', 'ON')
    const keys = cluster.keysOn(nodes[1], 10)
    for (const key of keys) reader.call('GET', key)
    nodes[1].kill()
    cluster.run(3000)
    expect(told(reader).sort()).toEqual(keys.map((key) => `invalidate ${key}`).sort())
  })

  it('hears of an older write only behind the answer that shows it', () => {
    const { cluster, nodes, reader, writer } = trio()
    reader.call('CLIENT', 'TRACKING', 'ON')
    const [key] = cluster.keysOn(nodes[1], 1)
    for (let i = 0; i < 200; i++) {
      writer.send('SET', key, String(i))
      reader.send('GET', key)
      cluster.run(0.4)
    }
    cluster.run(50)
    // What is cached after each word of the server; in the end nothing, or what is there.
    let cached: unknown
    for (const word of reader.seen.slice(2)) {
      cached = word !== null && typeof word === 'object' && 'push' in word ? undefined : word
    }
    const current = cluster.client(nodes[2]).call('GET', key)
    expect([undefined, current]).toContain(cached)
    expect(told(reader).length).toBeGreaterThan(10)
  })

  it('by a prefix hears of all writes at all nodes, also after a fail-over', () => {
    const { cluster, nodes, reader, writer } = trio()
    expect(reader.call('CLIENT', 'TRACKING', 'ON', 'BCAST', 'PREFIX', 'key:')).toBe('OK')
    const keys = nodes.flatMap((node) => cluster.keysOn(node, 3))
    writer.call('SET', 'other', 'x')
    for (const key of keys) writer.call('SET', key, 'x')
    cluster.run(10)
    expect(told(reader).sort()).toEqual(keys.map((key) => `invalidate ${key}`).sort())
    nodes[2].kill()
    cluster.run(3000)
    reader.pushes.length = 0
    for (const key of keys) writer.call('SET', key, 'y')
    cluster.run(10)
    expect(told(reader).sort()).toEqual(keys.map((key) => `invalidate ${key}`).sort())
  })

  it('costs nothing when it is gone', () => {
    const { cluster, nodes, reader, writer } = trio()
    reader.call('CLIENT', 'TRACKING', 'ON')
    const [key] = cluster.keysOn(nodes[1], 1)
    reader.call('GET', key)
    reader.close()
    writer.call('SET', key, 'x')
    cluster.run(10)
    expect(told(reader)).toEqual([])
    expect(writer.call('INFO', 'clients')).toContain('tracking_clients:0')
  })
})
