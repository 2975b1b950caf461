import { describe, expect, it } from 'vitest'
import { RespError } from '../../wire/resp/reply-value.js'
import { MiniCluster, type MiniClient, type MiniNode } from '../../../test/support/mini-cluster.js'

function trio(): { cluster: MiniCluster; nodes: MiniNode[] } {
  const cluster = new MiniCluster()
  return { cluster, nodes: cluster.startAll('a', 'b', 'c') }
}

/** Takes one from each of two accounts and gives it to the other, again and again, if nobody interferes. */
function transfer(client: MiniClient, tag: string): void {
  client.send('MULTI')
  client.send('DECR', `{${tag}}one`)
  client.send('INCR', `{${tag}}two`)
  client.send('EXEC')
}

describe('a transaction', () => {
  it('is executed in one go wherever its keys are, and whatever moves', () => {
    const cluster = new MiniCluster({ copyBatchBytes: 500, copyWindowBytes: 500 })
    const [a, b] = cluster.startAll('a', 'b')
    const tags = Array.from({ length: 20 }, (_, i) => `account ${i}`)
    const writers = [a, b].map((at) => cluster.client(at))
    const reader = cluster.client(a)
    const seen: number[] = []
    for (let round = 0; round < 60; round++) {
      for (const tag of tags) {
        for (const writer of writers) transfer(writer, tag)
        reader.send('MGET', `{${tag}}one`, `{${tag}}two`)
      }
      if (round === 10) cluster.start('c', { splitAt: 16 })
      if (round === 30) cluster.start('d')
      cluster.run(20)
    }
    cluster.run(2000)
    for (const reply of reader.replies) {
      const [one, two] = reply as (string | null)[]
      seen.push(Number(one) + Number(two))
    }
    expect(seen).toHaveLength(1200)
    expect(new Set(seen)).toEqual(new Set([0]))
    for (const tag of tags) {
      expect(reader.call('MGET', `{${tag}}one`, `{${tag}}two`)).toEqual(['-120', '120'])
    }
    cluster.balance()
    cluster.run(1500)
    expect(cluster.differences()).toEqual([])
  })

  it('about keys of several slots is executed slot by slot for a client that does not care', () => {
    const { cluster, nodes } = trio()
    const client = cluster.client(nodes[0])
    const keys = nodes.flatMap((node) => cluster.keysOn(node, 2))
    client.call('MULTI')
    for (const key of keys) expect(client.call('INCR', key)).toBe('QUEUED')
    expect(client.call('MGET', ...keys)).toBe('QUEUED')
    client.call('PING')
    for (const key of keys) client.call('INCR', key)
    expect(client.call('EXEC')).toEqual([
      ...keys.map(() => 1),
      keys.map(() => '1'),
      'PONG',
      ...keys.map(() => 2)
    ])
  })

  it('about keys of several slots is refused where it watches, and none of it is executed', () => {
    const { cluster, nodes } = trio()
    const client = cluster.client(nodes[0])
    client.call('WATCH', 'a')
    client.call('MULTI')
    expect(client.call('SET', 'a', '1')).toBe('QUEUED')
    expect(client.call('SET', 'b', '1')).toEqual(
      new RespError("CROSSSLOT Keys in request don't hash to the same slot")
    )
    expect(client.call('EXEC')).toEqual(
      new RespError('EXECABORT Transaction discarded because of previous errors.')
    )
    expect(client.call('EXISTS', 'a')).toBe(0)
  })

  it('that watches is not executed when another client was faster', () => {
    const { cluster, nodes } = trio()
    const [client, other] = [cluster.client(nodes[0]), cluster.client(nodes[1])]
    for (let i = 0; i < 20; i++) {
      const key = `key:${i}`
      client.call('SET', key, '1')
      expect(client.call('WATCH', key)).toBe('OK')
      if (i % 2 === 0) other.call('INCR', key)
      client.call('MULTI')
      client.call('INCR', key)
      expect(client.call('EXEC')).toEqual(i % 2 === 0 ? null : [2])
    }
  })

  it.each(['moves', 'dies'])('that watches knows who was faster when the primary %s', (what) => {
    const cluster = new MiniCluster()
    const nodes = cluster.startAll('a', 'b', 'c')
    const keys = cluster.keysOn(nodes[2], 8)
    const other = cluster.client(nodes[1])
    // Alternately at the node itself, where that stays, and at another.
    const clients = keys.map((_, i) => cluster.client(nodes[what === 'moves' && i % 4 < 2 ? 2 : 0]))
    keys.forEach((key, i) => {
      other.call('SET', key, '1')
      expect(clients[i].call('WATCH', key)).toBe('OK')
      if (i % 2 === 0) other.call('INCR', key)
    })
    if (what === 'dies') nodes[2].kill()
    else for (const name of ['d', 'e', 'f', 'g']) cluster.start(name)
    cluster.run(3000)
    cluster.balance()
    expect(keys.some((key) => cluster.primaryOf(key) !== nodes[2])).toBe(true)
    const executed = keys.map((key, i) => {
      clients[i].call('MULTI')
      clients[i].call('INCR', key)
      return clients[i].call('EXEC')
    })
    expect(executed).toEqual(keys.map((_, i) => (i % 2 === 0 ? null : [2])))
  })

  it('by hand and wrong is refused, and harms nobody', () => {
    const { cluster, nodes } = trio()
    const client = cluster.client(nodes[0])
    const set = '*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n'
    const refused = new RespError('ERR not a transaction')
    for (const request of [
      '',
      'x',
      'SET a 1\r\n',
      '*1\r\n',
      '*1\r\n$4\r\nPING\r\n',
      set,
      set + set
    ]) {
      expect(client.call('OC.EXEC', '0', '1', '0', request)).toEqual(refused)
    }
    expect(client.call('OC.EXEC', '0', '1', '5', set)).toEqual(refused)
    expect(client.call('OC.EXEC', 'x', 'x', 'x', set)).toEqual(refused)
    expect(client.call('OC.PUT', 'k', 'hash', '0', 'garbage')).toBeInstanceOf(RespError)
    expect(client.call('OC.PUT', 'k', 'stream', '0', '')).toBeInstanceOf(RespError)
    expect(client.call('OC.SCAN', '99999', '0', '0', 'x', '', '')).toBeInstanceOf(RespError)
    expect(client.call('DBSIZE')).toBe(0)
  })

  it('may be sent as one pipeline', () => {
    const { cluster, nodes } = trio()
    const client = cluster.client(nodes[2])
    for (const words of [
      'WATCH {t}a',
      'MULTI',
      'SET {t}a 1',
      'INCR {t}a',
      'PING',
      'EXEC',
      'GET {t}a'
    ]) {
      client.send(...words.split(' '))
    }
    cluster.run(100)
    const queued = ['QUEUED', 'QUEUED', 'QUEUED']
    expect(client.replies).toEqual(['OK', 'OK', ...queued, ['OK', 2, 'PONG'], '2'])
  })
})

describe('a client that asked for the topology', () => {
  it('is sent to where keys are, and refused what spans slots', () => {
    const { cluster, nodes } = trio()
    const [a, b] = nodes
    const [here] = cluster.keysOn(a, 1)
    const [there] = cluster.keysOn(b, 1)
    const client = cluster.client(a)
    expect(client.call('SET', there, '1')).toBe('OK')
    const slots = client.call('CLUSTER', 'SLOTS') as [number, number, unknown[]][]
    expect(slots[0][0]).toBe(0)
    expect(slots.at(-1)?.[1]).toBe(16383)
    slots.slice(1).forEach(([first], i) => expect(first).toBe(slots[i][1] + 1))
    const slot = client.call('CLUSTER', 'KEYSLOT', there) as number
    expect(client.call('GET', there)).toEqual(new RespError(`MOVED ${slot} b`))
    expect(client.call('GET', here)).toBe(null)
    expect(client.call('MGET', here, there)).toEqual(
      new RespError("CROSSSLOT Keys in request don't hash to the same slot")
    )
    client.call('MULTI')
    expect(client.call('GET', there)).toEqual(new RespError(`MOVED ${slot} b`))
    expect((client.call('EXEC') as RespError).code).toBe('EXECABORT')
    expect(client.call('CLUSTER', 'COUNTKEYSINSLOT', String(slot))).toEqual(
      new RespError(`MOVED ${slot} b`)
    )
    const other = cluster.client(a)
    expect(other.call('CLUSTER', 'COUNTKEYSINSLOT', String(slot))).toBe(1)
    expect(other.call('CLUSTER', 'GETKEYSINSLOT', String(slot), '10')).toEqual([there])
    expect(other.call('CLUSTER', 'GETKEYSINSLOT', String(slot), '0')).toEqual([])
    expect(client.call('RESET')).toBe('RESET')
    expect(client.call('GET', there)).toBe('1')
  })

  it('sees every node with its slots', () => {
    const { cluster, nodes } = trio()
    const client = cluster.client(nodes[0])
    const text = client.call('CLUSTER', 'NODES') as string
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(/^[\da-f]{40} .* myself,master - 0 0 \d+ connected( \d+(-\d+)?)+$/)
    expect(text.startsWith(client.call('CLUSTER', 'MYID') as string)).toBe(true)
    expect(client.call('CLUSTER', 'INFO')).toMatch(/^cluster_state:ok\r\n/)
    expect(client.call('CLUSTER', 'SHARDS')).toHaveLength(3)
    expect((client.call('CLUSTER', 'MEET', 'x') as RespError).text).toMatch(/automatically/)
  })
})
