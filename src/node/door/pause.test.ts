import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniNode } from '../../../test/support/mini-cluster.js'

function trio(): { cluster: MiniCluster; nodes: MiniNode[] } {
  const cluster = new MiniCluster()
  return { cluster, nodes: cluster.startAll('a', 'b', 'c') }
}

describe('a pause', () => {
  it('is for the clients of all nodes and writes to all buckets', () => {
    const { cluster, nodes } = trio()
    const clients = nodes.map((node) => cluster.client(node))
    const keys = nodes.map((node) => cluster.keysOn(node, 1)[0])
    expect(clients[0].call('CLIENT', 'PAUSE', '60000', 'WRITE')).toBe('OK')
    for (const client of clients) {
      for (const key of keys) expect(client.call('GET', key)).toBeNull()
      client.send('SET', keys[0], 'x')
    }
    const other = cluster.client(nodes[0])
    other.send('SET', keys[1], 'x')
    cluster.run(5000)
    expect(other.replies).toEqual([])
    expect(cluster.client(nodes[0]).call('INFO', 'clients')).toMatch(/blocked_clients:2\r/)
    expect(cluster.client(nodes[2]).call('CLIENT', 'UNPAUSE')).toBe('OK')
    cluster.runUntil(() => other.replies.length > 0)
    expect(other.replies).toEqual(['OK'])
    cluster.runUntil(() => clients.every(({ replies }) => replies.at(-1) === 'OK'))
  })

  it('holds also at a node that came later', () => {
    const { cluster, nodes } = trio()
    expect(cluster.client(nodes[0]).call('CLIENT', 'PAUSE', '60000', 'WRITE')).toBe('OK')
    const late = cluster.start('d', { join: [nodes[0].name] })
    cluster.run(2000)
    const client = cluster.client(late)
    client.send('SET', 'key', 'x')
    cluster.run(3000)
    expect(client.replies).toEqual([])
    expect(cluster.client(nodes[1]).call('CLIENT', 'UNPAUSE')).toBe('OK')
    cluster.runUntil(() => client.replies.length > 0)
    expect(client.replies).toEqual(['OK'])
  })

  it('is not shortened by another, and ends by itself', () => {
    const { cluster, nodes } = trio()
    const client = cluster.client(nodes[0])
    client.call('CLIENT', 'PAUSE', '3000', 'WRITE')
    client.call('CLIENT', 'PAUSE', '10', 'WRITE')
    const before = cluster.now
    expect(cluster.client(nodes[1]).call('SET', 'key', 'x')).toBe('OK')
    expect(cluster.now - before).toBeGreaterThan(2900)
    expect(cluster.now - before).toBeLessThan(3500)
  })
})
