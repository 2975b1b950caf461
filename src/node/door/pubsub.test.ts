import { describe, expect, it } from 'vitest'
import { latin1Bytes } from '../../core/bytes.js'
import { RespError } from '../../wire/resp/reply-value.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import { MiniCluster, type MiniClient, type MiniNode } from '../../../test/support/mini-cluster.js'

function trio(): { cluster: MiniCluster; nodes: MiniNode[]; clients: MiniClient[] } {
  const cluster = new MiniCluster()
  const nodes = cluster.startAll('a', 'b', 'c')
  return { cluster, nodes, clients: nodes.map((node) => cluster.client(node)) }
}

function pipeline(...commands: string[][]): Uint8Array {
  return Uint8Array.from(commands.flatMap((words) => [...encodeArguments(words.map(latin1Bytes))]))
}

describe('a listener', () => {
  it('hears what is published at any node, and publishers know how many heard it', () => {
    const { cluster, clients } = trio()
    const [a, b, c] = clients
    expect(a.call('SUBSCRIBE', 'news')).toEqual(['subscribe', 'news', 1])
    expect(b.call('PSUBSCRIBE', 'n?ws')).toEqual(['psubscribe', 'n?ws', 1])
    const writers = [c, cluster.client(a.at), cluster.client(b.at)]
    writers.forEach((writer, i) => expect(writer.call('PUBLISH', 'news', `m${i}`)).toBe(2))
    expect(c.call('PUBLISH', 'other', 'x')).toBe(0)
    expect(a.replies.slice(1)).toEqual(['m0', 'm1', 'm2'].map((m) => ['message', 'news', m]))
    expect(b.replies.slice(1)).toEqual(
      ['m0', 'm1', 'm2'].map((m) => ['pmessage', 'n?ws', 'news', m])
    )
  })

  it('hears messages of one publisher in their order', () => {
    const { cluster, clients } = trio()
    clients[0].call('SUBSCRIBE', 'news')
    const texts = Array.from({ length: 200 }, (_, i) => String(i))
    clients[1].sendRaw(pipeline(...texts.map((text) => ['PUBLISH', 'news', text])))
    cluster.run(10)
    expect(clients[1].replies).toEqual(texts.map(() => 1))
    expect(clients[0].replies.slice(1).map((reply) => (reply as string[])[2])).toEqual(texts)
  })

  it('that hears of a write sees the write', () => {
    const { cluster, clients } = trio()
    const [a, b] = clients
    const [key] = cluster.keysOn(cluster.nodes.get('c') ?? a.at, 1)
    a.call('SUBSCRIBE', 'news')
    const reader = cluster.client(a.at)
    b.sendRaw(pipeline(['SET', key, 'new'], ['PUBLISH', 'news', 'x']))
    cluster.runUntil(() => a.replies.length === 2)
    expect(reader.call('GET', key)).toBe('new')
  })

  it('is confirmed before it hears anything, and in its turn', () => {
    const { cluster, clients } = trio()
    const [a] = clients
    const keys = ['a', 'b', 'c'].flatMap((name) => {
      const node = cluster.nodes.get(name)
      return node === undefined ? [] : cluster.keysOn(node, 1)
    })
    const noise = clients[1]
    const writes = keys.map((key) => ['SET', key, 'x'])
    a.sendRaw(pipeline(...writes, ['SUBSCRIBE', 'n1', 'n2'], ['PING'], ['UNSUBSCRIBE'], ['PING']))
    for (let i = 0; i < 20; i++) {
      noise.send('PUBLISH', 'n1', 'x')
      cluster.run(0.2)
    }
    cluster.run(20)
    const heard = a.replies.filter((reply) => !(Array.isArray(reply) && reply[0] === 'message'))
    expect(heard).toEqual([
      ...['OK', 'OK', 'OK'],
      ['subscribe', 'n1', 1],
      ['subscribe', 'n2', 2],
      ['pong', ''],
      ['unsubscribe', 'n1', 1],
      ['unsubscribe', 'n2', 0],
      'PONG'
    ])
    const first = a.replies.findIndex((reply) => Array.isArray(reply) && reply[0] === 'message')
    expect(first === -1 || first > 3).toBe(true)
  })

  it('can say little else in RESP2, and everything in RESP3', () => {
    const { clients } = trio()
    const [a, b] = clients
    a.call('SUBSCRIBE', 'news')
    expect(a.call('GET', 'x')).toEqual(
      new RespError(
        "ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"
      )
    )
    expect(a.call('PING', 'hi')).toEqual(['pong', 'hi'])
    expect(a.call('RESET')).toBe('RESET')
    expect(a.call('GET', 'x')).toBe(null)
    expect(b.call('PUBLISH', 'news', 'x')).toBe(0)
    a.call('HELLO', '3')
    a.send('SUBSCRIBE', 'news')
    expect(a.call('GET', 'x')).toBe(null)
    expect(b.call('PUBLISH', 'news', 'x')).toBe(1)
    expect(a.pushes).toEqual([
      ['subscribe', 'news', 1],
      ['message', 'news', 'x']
    ])
  })

  it('is counted over the whole cluster', () => {
    const { cluster, clients } = trio()
    const [a, b, c] = clients
    a.call('SUBSCRIBE', 'one')
    b.call('SUBSCRIBE', 'one')
    b.call('SUBSCRIBE', 'two')
    b.call('PSUBSCRIBE', 'p*')
    cluster.client(a.at).call('PSUBSCRIBE', 'p*')
    cluster.client(a.at).call('SSUBSCRIBE', 'shard')
    expect((c.call('PUBSUB', 'CHANNELS') as string[]).sort()).toEqual(['one', 'two'])
    expect(c.call('PUBSUB', 'CHANNELS', 't*')).toEqual(['two'])
    expect(c.call('PUBSUB', 'NUMSUB', 'one', 'two', 'x')).toEqual(['one', 2, 'two', 1, 'x', 0])
    expect(c.call('PUBSUB', 'NUMPAT')).toBe(1)
    expect(c.call('PUBSUB', 'SHARDCHANNELS')).toEqual(['shard'])
    expect(c.call('PUBSUB', 'SHARDNUMSUB', 'shard')).toEqual(['shard', 1])
    b.close()
    cluster.run(5)
    expect(c.call('PUBSUB', 'NUMSUB', 'one', 'two')).toEqual(['one', 1, 'two', 0])
  })

  it('of a shard is sent to where it is, and told when it leaves, if it follows the topology', () => {
    const { cluster, clients } = trio()
    const [a, b] = clients
    const plain = cluster.client(a.at)
    const [far] = cluster.keysOn(b.at, 1)
    const near = cluster.keysOn(a.at, 30)
    expect(plain.call('SSUBSCRIBE', far)).toEqual(['ssubscribe', far, 1])
    a.call('CLUSTER', 'SLOTS')
    expect((a.call('SSUBSCRIBE', far) as RespError).text).toMatch(/^MOVED \d+ b$/)
    for (const key of near) expect(a.call('SSUBSCRIBE', key)).toContain('ssubscribe')
    expect(b.call('SPUBLISH', far, 'x')).toBe(1)
    expect(plain.replies.at(-1)).toEqual(['smessage', far, 'x'])
    const before = a.replies.length
    cluster.start('d')
    cluster.balance()
    const gone = near.filter((key) => cluster.primaryOf(key) !== a.at)
    expect(gone.length).toBeGreaterThan(0)
    const told = a.replies.slice(before) as [string, string, number][]
    expect(told.map(([word, name]) => `${word} ${name}`).sort()).toEqual(
      gone.map((name) => `sunsubscribe ${name}`).sort()
    )
  })

  it('that does not read is dropped', () => {
    const { clients } = trio()
    const [a, b] = clients
    a.call('SUBSCRIBE', 'news')
    a.unread = 33 * 1024 * 1024
    expect(b.call('PUBLISH', 'news', 'x')).toBe(0)
    expect(a.hungUp).toBe(true)
    expect(a.replies).toHaveLength(1)
    expect(b.call('PUBSUB', 'CHANNELS')).toEqual([])
  })

  it('is not waited for on a node that dies', () => {
    const { cluster, clients, nodes } = trio()
    const [a, b] = clients
    a.call('SUBSCRIBE', 'news')
    nodes[2].kill()
    expect(b.call('PUBLISH', 'news', 'x')).toBe(1)
    cluster.run(10)
    expect(a.replies.at(-1)).toEqual(['message', 'news', 'x'])
  })
})
