import { describe, expect, it } from 'vitest'
import { RespError, type ReplyValue } from '../../wire/resp/reply-value.js'
import { MiniCluster, type MiniClient } from '../../../test/support/mini-cluster.js'
import { redisHash, md5Hash } from '../../core/hash/placement-hash.js'
import { RankOrder } from './rank.js'

const KEYS = Array.from({ length: 500 }, (_, i) => `key:${i}`)

function fill(client: MiniClient, keys: readonly string[] = KEYS): void {
  for (let at = 0; at < keys.length; at += 50) {
    const pairs = keys.slice(at, at + 50).flatMap((key) => [key, `v of ${key}`])
    expect(client.call('MSET', ...pairs)).toBe('OK')
  }
}

/** Goes through all keys; `between` is called after each step. */
function scan(client: MiniClient, options: string[] = [], between?: () => void): string[] {
  const found: string[] = []
  let cursor = '0'
  let steps = 0
  do {
    const reply = client.call('SCAN', cursor, ...options) as [string, string[]]
    cursor = reply[0]
    found.push(...reply[1])
    if (++steps > 5000) throw new Error('a scan without an end')
    between?.()
  } while (cursor !== '0')
  return found
}

function sorted(values: ReplyValue): string[] {
  return [...(values as string[])].sort()
}

describe('several keys', () => {
  const cluster = new MiniCluster()
  const [a] = cluster.startAll('a', 'b', 'c')
  const client = cluster.client(a)

  it('are written and read wherever they are', () => {
    fill(client)
    expect(client.call('MGET', ...KEYS, 'none')).toEqual([...KEYS.map((k) => `v of ${k}`), null])
    expect(client.call('EXISTS', ...KEYS, 'none', KEYS[0])).toBe(501)
    expect(client.call('TOUCH', 'none', KEYS[0])).toBe(1)
    client.call('LPUSH', 'list', 'x')
    expect(client.call('MGET', 'list', KEYS[1])).toEqual([null, `v of ${KEYS[1]}`])
    expect(client.call('DEL', 'list', 'none', ...KEYS.slice(0, 100))).toBe(101)
    expect(client.call('UNLINK', ...KEYS.slice(50, 200))).toBe(100)
    expect(client.call('EXISTS', ...KEYS)).toBe(300)
    expect(client.call('MSET', 'k', '1', 'k', '2', 'k', '3')).toBe('OK')
    expect(client.call('GET', 'k')).toBe('3')
    expect(client.call('MSET', 'k', '1', 'odd')).toEqual(
      new RespError("ERR wrong number of arguments for 'mset' command")
    )
  })

  it('with one hash are done in one go', () => {
    for (const tag of ['{x}', '{y}', '{z}', '{w}']) {
      expect(client.call('MSETNX', `${tag}1`, 'a', `${tag}2`, 'b')).toBe(1)
      expect(client.call('MSETNX', `${tag}2`, 'c', `${tag}3`, 'd')).toBe(0)
      expect(client.call('MGET', `${tag}1`, `${tag}2`, `${tag}3`)).toEqual(['a', 'b', null])
      expect(client.call('DEL', `${tag}1`, `${tag}2`, `${tag}3`)).toBe(2)
    }
    expect(client.call('MSETNX', 'a', '1', 'b', '2')).toEqual(
      new RespError("CROSSSLOT Keys in request don't hash to the same slot")
    )
    cluster.run(100)
    expect(cluster.differences()).toEqual([])
  })

  it('in RESP3 are nil as RESP3 says it', () => {
    const other = cluster.client(a)
    other.call('HELLO', '3')
    expect(other.call('MGET', 'none', '{x}none', 'k')).toEqual([null, null, '3'])
    expect(other.call('MGET', '{k}none', '{k}none2')).toEqual([null, null])
  })
})

describe('all keys', () => {
  it('are found, counted, drawn and deleted through any node', () => {
    const cluster = new MiniCluster()
    const nodes = cluster.startAll('a', 'b', 'c')
    const client = cluster.client(nodes[1])
    expect(client.call('DBSIZE')).toBe(0)
    expect(client.call('RANDOMKEY')).toBe(null)
    expect(client.call('SCAN', '0')).toEqual(['0', []])
    fill(client)
    for (const at of nodes) {
      const own = cluster.client(at)
      expect(own.call('DBSIZE')).toBe(500)
      expect(sorted(own.call('KEYS', '*'))).toEqual(sorted(KEYS))
      expect(sorted(own.call('KEYS', 'key:1?'))).toEqual(
        Array.from({ length: 10 }, (_, i) => `key:1${i}`)
      )
      expect(scan(own).sort()).toEqual(sorted(KEYS))
    }
    const drawn = new Set(Array.from({ length: 60 }, () => client.call('RANDOMKEY')))
    expect(drawn.size).toBeGreaterThan(40)
    for (const key of drawn) expect(KEYS).toContain(key)
    expect(client.call('FLUSHALL', 'SYNC')).toBe('OK')
    expect(client.call('DBSIZE')).toBe(0)
    cluster.run(100)
    expect(cluster.differences()).toEqual([])
    expect(client.call('FLUSHALL', 'NOW')).toEqual(new RespError('ERR syntax error'))
  })

  it('are scanned by pattern, type and count', () => {
    const cluster = new MiniCluster({ buckets: 256 })
    const [a] = cluster.startAll('a', 'b')
    const client = cluster.client(a)
    fill(client)
    client.call('SADD', 'set', 'x')
    expect(scan(client, ['TYPE', 'set'])).toEqual(['set'])
    expect(scan(client, ['MATCH', 'key:4*']).sort()).toEqual(
      sorted(KEYS.filter((k) => /^key:4/.test(k)))
    )
    let steps = 0
    scan(client, ['COUNT', '100'], () => steps++)
    expect(steps).toBeLessThan(8)
    const [, keys] = client.call('SCAN', '0', 'COUNT', '1000') as [string, string[]]
    expect(keys).toHaveLength(501)
    for (const words of [
      ['0', 'COUNT', '0'],
      ['0', 'COUNT'],
      ['0', 'X', '1']
    ]) {
      expect(client.call('SCAN', ...words)).toEqual(new RespError('ERR syntax error'))
    }
    expect(client.call('SCAN', 'x')).toEqual(new RespError('ERR invalid cursor'))
    expect(client.call('SCAN', '9007199254740991')).toBeInstanceOf(Array)
    expect(client.call('SCAN', '18446744073709551615')).toBeInstanceOf(Array)
  })

  it('that are there all the time are found while buckets move and split', () => {
    const cluster = new MiniCluster({ copyBatchBytes: 2000, copyWindowBytes: 2000 })
    const [a] = cluster.startAll('a', 'b')
    const client = cluster.client(a)
    const other = cluster.client(a)
    fill(client)
    let steps = 0
    const epochs = new Set<string>()
    const found = new Set(
      scan(client, ['COUNT', '3'], () => {
        steps++
        if (steps === 20) cluster.start('c')
        if (steps === 60) cluster.start('d', { splitAt: 16 })
        other.send('SET', `passing:${steps}`, 'x')
        other.send('DEL', `passing:${steps - 20}`)
        cluster.run(3)
        epochs.add(cluster.running.map(({ node }) => node.table.version).join())
      })
    )
    expect(epochs.size).toBeGreaterThan(20)
    expect(cluster.running.map(({ node }) => node.table.mask)).toEqual([255, 255, 255, 255])
    expect(KEYS.filter((key) => !found.has(key))).toEqual([])
  })

  it('are found although another node is primary of a bucket that was half scanned', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    const client = cluster.client(a)
    fill(client)
    const ranks = new RankOrder(redisHash)
    const found = new Set<string>()
    let cursor = '0'
    do {
      const reply = client.call('SCAN', cursor, 'COUNT', '3') as [string, string[]]
      cursor = reply[0]
      for (const key of reply[1]) found.add(key)
      const { rank, position } = ranks.fromCursor(Number(cursor))
      const state = b.node.buckets[ranks.reverse(rank) & b.node.table.mask]
      const halfWay = position > 2 ** 23
      if (b.state === 'running' && halfWay && state?.role === 'primary') b.kill()
    } while (cursor !== '0')
    expect(b.state).toBe('dead')
    expect(KEYS.filter((key) => !found.has(key))).toEqual([])
  })

  it('are counted and listed once each through a node that has split before the others', () => {
    const cluster = new MiniCluster({}, { delayMs: 30, jitterMs: 5 })
    const [a, b] = cluster.startAll('a', 'b')
    fill(cluster.client(a))
    const c = cluster.start('c', { splitAt: 16 })
    cluster.runUntil(() => c.node.joined)
    const clients = Array.from({ length: 40 }, () => cluster.client(c))
    let apart = 0
    for (let i = 0; i < 120; i++) {
      if (c.node.table.mask > b.node.table.mask) apart++
      clients[i % 40].send('DBSIZE')
      clients[(i + 20) % 40].send('KEYS', '*')
      cluster.run(10)
    }
    cluster.run(1000)
    expect(apart).toBeGreaterThan(0)
    expect(a.node.table.mask).toBe(255)
    for (const { replies } of clients) {
      expect(replies).toHaveLength(6)
      for (const reply of replies) {
        if (typeof reply === 'number') expect(reply).toBe(500)
        else expect(sorted(reply)).toEqual(sorted(KEYS))
      }
    }
  })

  it('are counted and listed once each, and deleted, while buckets move and split', () => {
    const cluster = new MiniCluster({ copyBatchBytes: 2000, copyWindowBytes: 2000 })
    const [a, b] = cluster.startAll('a', 'b')
    fill(cluster.client(a))
    const [one, two] = [cluster.client(a), cluster.client(b)]
    cluster.start('c', { splitAt: 16 })
    let turns = 0
    while (cluster.running.some(({ node }) => node.table.mask < 255) || turns < 100) {
      expect(one.call('DBSIZE')).toBe(500)
      expect(sorted(two.call('KEYS', '*'))).toEqual(sorted(KEYS))
      if (++turns > 500) throw new Error('no split')
    }
    cluster.start('d')
    cluster.run(20)
    expect(two.call('FLUSHALL')).toBe('OK')
    expect(one.call('DBSIZE')).toBe(0)
    cluster.balance()
    cluster.run(1500)
    expect(cluster.differences()).toEqual([])
  })
})

describe('the order of ranks', () => {
  it.each([redisHash, md5Hash])('has a place in every cursor', (hash) => {
    const ranks = new RankOrder(hash)
    for (const rank of [0, 1, 77, ranks.end - 1]) {
      expect(ranks.reverse(ranks.reverse(rank))).toBe(rank)
      for (const position of [1, 2 ** 24 - 1]) {
        for (const epoch of [0, 1, 8191]) {
          const cursor = ranks.toCursor({ rank, position, epoch })
          expect(Number.isSafeInteger(cursor)).toBe(true)
          expect(ranks.fromCursor(cursor)).toEqual({ rank, position, epoch })
        }
      }
    }
    expect(ranks.toCursor({ rank: 5, position: 0, epoch: 9 })).toBe(5)
  })

  it('keeps every bucket together at every mask', () => {
    const ranks = new RankOrder(redisHash)
    for (const mask of [15, 255, 4095]) {
      for (let bucket = 0; bucket <= mask; bucket += 7) {
        const start = ranks.reverse(bucket)
        expect(ranks.start(start, mask)).toBe(start)
        const last = start + ranks.width(mask) - 1
        expect(ranks.reverse(last) & mask).toBe(bucket)
      }
    }
  })
})
