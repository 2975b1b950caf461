import { describe, expect, it } from 'vitest'
import { RespError } from '../../wire/resp/reply-value.js'
import { MiniCluster, type MiniClient, type MiniNode } from '../../../test/support/mini-cluster.js'

function trio(): { cluster: MiniCluster; nodes: MiniNode[]; clients: MiniClient[] } {
  const cluster = new MiniCluster()
  const nodes = cluster.startAll('a', 'b', 'c')
  return { cluster, nodes, clients: nodes.map((node) => cluster.client(node)) }
}

/** A key of which one node is the primary and another has the copy. */
function keyOf(cluster: MiniCluster, primary: MiniNode, backup?: MiniNode): string {
  const keys = cluster.keysOn(primary, 200)
  const found = keys.find((key) => backup === undefined || cluster.backupOf(key) === backup)
  if (found === undefined) throw new Error('no such key')
  return found
}

describe('a client that waits', () => {
  it('is given what is put there by a client of any node, once', () => {
    const { cluster, nodes, clients } = trio()
    for (const node of nodes) {
      const key = keyOf(cluster, node)
      for (const client of clients) client.send('BLPOP', key, '0')
      cluster.run(10)
      const writer = cluster.client(nodes[1])
      expect(writer.call('RPUSH', key, '1', '2', '3', '4')).toBe(4)
      cluster.run(10)
      expect(clients.map(({ replies }) => (replies.at(-1) as string[])[1]).sort()).toEqual([
        '1',
        '2',
        '3'
      ])
      expect(writer.call('LRANGE', key, '0', '-1')).toEqual(['4'])
    }
    cluster.run(2000)
    expect(cluster.differences()).toEqual([])
  })

  it('waits as long as it said and no longer, wherever the key is', () => {
    const { cluster, nodes, clients } = trio()
    for (const node of nodes) {
      const key = keyOf(cluster, node)
      clients[0].send('BLPOP', key, '0.5')
      cluster.run(480)
      const before = clients[0].replies.length
      cluster.run(50)
      expect(clients[0].replies.slice(before)).toEqual([null])
      expect(clients[1].call('RPUSH', key, 'x')).toBe(1)
      expect(clients[1].call('LLEN', key)).toBe(1)
    }
  })

  it('can be told to wait no longer', () => {
    const { cluster, nodes, clients } = trio()
    const id = `${clients[0].call('CLIENT', 'ID') as number}`
    const other = cluster.client(nodes[0])
    for (const node of nodes) {
      const key = keyOf(cluster, node)
      const before = clients[0].replies.length
      expect(other.call('CLIENT', 'UNBLOCK', id)).toBe(0)
      clients[0].send('BLPOP', key, '0')
      cluster.run(5)
      expect(other.call('CLIENT', 'UNBLOCK', id)).toBe(1)
      cluster.run(5)
      clients[0].send('BRPOP', key, '0')
      cluster.run(5)
      expect(other.call('CLIENT', 'UNBLOCK', id, 'ERROR')).toBe(1)
      cluster.run(5)
      expect(clients[0].replies.slice(before)).toEqual([
        null,
        new RespError('UNBLOCKED client unblocked via CLIENT UNBLOCK')
      ])
      expect(clients[1].call('RPUSH', key, 'x')).toBe(1)
      expect(clients[1].call('LLEN', key)).toBe(1)
    }
  })

  it('and goes away takes nothing', () => {
    const { cluster, nodes, clients } = trio()
    const keys = nodes.map((node) => keyOf(cluster, node))
    for (const key of keys) {
      const client = cluster.client(nodes[0])
      client.send('BLPOP', key, '0')
      cluster.run(5)
      client.close()
    }
    cluster.run(5)
    for (const key of keys) {
      clients[1].call('RPUSH', key, 'x')
      expect(clients[1].call('LLEN', key)).toBe(1)
    }
  })

  it('goes after its key when the bucket moves', () => {
    const { cluster, nodes, clients } = trio()
    const keys = cluster.keysOn(nodes[1], 40)
    const waiting = keys.map((key, i) => {
      const client = cluster.client(nodes[i % 3])
      client.send('BLPOP', key, '0')
      return client
    })
    cluster.run(10)
    cluster.start('d')
    cluster.start('e')
    cluster.balance()
    expect(keys.some((key) => cluster.primaryOf(key) !== nodes[1])).toBe(true)
    keys.forEach((key) => clients[0].call('RPUSH', key, `of ${key}`))
    cluster.run(50)
    expect(waiting.map(({ replies }) => replies)).toEqual(keys.map((key) => [[key, `of ${key}`]]))
    cluster.run(2000)
    expect(cluster.differences()).toEqual([])
  })

  it('goes after its key when the primary dies', () => {
    const { cluster, nodes, clients } = trio()
    const [a, b, c] = nodes
    const [ofA, ofC] = [keyOf(cluster, b, a), keyOf(cluster, b, c)]
    clients[0].send('BLPOP', ofA, '0')
    clients[2].send('BLPOP', ofC, '0')
    const timed = cluster.client(a)
    timed.send('BLPOP', ofC, '3')
    cluster.run(10)
    b.kill()
    cluster.run(2000)
    const writer = cluster.client(a)
    expect(writer.call('RPUSH', ofA, 'x')).toBe(1)
    expect(writer.call('RPUSH', ofC, 'y')).toBe(1)
    cluster.run(2000)
    expect([clients[0].replies, clients[2].replies]).toEqual([[[ofA, 'x']], [[ofC, 'y']]])
    expect(timed.replies).toEqual([null])
  })

  it('gets what was taken for it just before the primary died', () => {
    const { cluster, nodes, clients } = trio()
    const [a, b, c] = nodes
    const key = keyOf(cluster, b, c)
    clients[0].send('BLPOP', key, '0')
    cluster.run(10)
    const writer = cluster.client(c)
    cluster.onPost = (from, to) => !(from === 'b' && to === 'a')
    writer.send('RPUSH', key, 'x')
    cluster.run(10)
    b.kill()
    cluster.onPost = undefined
    cluster.run(4000)
    expect(clients[0].replies).toEqual([[key, 'x']])
    expect(cluster.client(a).call('LLEN', key)).toBe(0)
  })

  it('for keys that live apart gets what comes first, and nothing else is taken', () => {
    const { cluster, nodes, clients } = trio()
    const keys = nodes.map((node) => keyOf(cluster, node))
    const [waiting, writer] = clients
    keys.forEach((key, i) => {
      waiting.send('BRPOP', ...keys, '0')
      cluster.run(20)
      expect(waiting.replies).toHaveLength(i)
      expect(writer.call('RPUSH', key, 'x', 'y')).toBe(2)
      cluster.run(20)
      expect(waiting.replies.at(-1)).toEqual([key, 'y'])
      expect(writer.call('LPOP', key)).toBe('x')
    })
    waiting.send('BZPOPMIN', ...keys, '0.4')
    cluster.run(500)
    expect(waiting.replies.at(-1)).toBe(null)
    waiting.send('BLMPOP', '0', '3', ...keys, 'LEFT', 'COUNT', '2')
    cluster.run(20)
    cluster.start('d')
    cluster.balance()
    // A node that is new serves when a majority knows it.
    cluster.run(500)
    waiting.send('PING')
    writer.call('RPUSH', keys[2], '1', '2', '3')
    cluster.run(20)
    expect(waiting.replies.pop()).toBe('PONG')
    expect(waiting.replies.at(-1)).toEqual([keys[2], ['1', '2']])
    waiting.send('BLMOVE', keys[0], keys[1], 'LEFT', 'RIGHT', '0')
    cluster.run(20)
    writer.call('RPUSH', keys[0], 'moved')
    cluster.run(20)
    expect(waiting.replies.at(-1)).toBe('moved')
    expect(writer.call('LRANGE', keys[1], '0', '-1')).toEqual(['moved'])
    expect(writer.call('EXISTS', keys[0])).toBe(0)
  })

  it('of a client that follows the topology is sent to where the key is', () => {
    const { cluster, nodes, clients } = trio()
    const [near, far] = [keyOf(cluster, nodes[0]), keyOf(cluster, nodes[1])]
    clients[0].call('CLUSTER', 'SLOTS')
    expect((clients[0].call('BLPOP', far, '0') as RespError).text).toMatch(/^MOVED \d+ b$/)
    expect((clients[0].call('BLPOP', far, near, '0') as RespError).text).toMatch(/^CROSSSLOT/)
    clients[0].send('BLPOP', near, '0')
    cluster.run(5)
    clients[1].call('RPUSH', near, 'x')
    expect(clients[0].replies.at(-1)).toEqual([near, 'x'])
  })
})
