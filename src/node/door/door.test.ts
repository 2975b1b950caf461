import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { latin1Bytes, latin1String } from '../../core/bytes.js'
import { redisHash } from '../../core/hash/placement-hash.js'
import { RespError } from '../../wire/resp/reply-value.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import { MiniCluster, type MiniClient, type MiniNode } from '../../../test/support/mini-cluster.js'

function trio(): { cluster: MiniCluster; a: MiniNode; b: MiniNode; c: MiniNode } {
  const cluster = new MiniCluster()
  const [a, b, c] = cluster.startAll('a', 'b', 'c')
  return { cluster, a, b, c }
}

function bucketOf(at: MiniNode, key: string): number {
  return redisHash.hash(latin1Bytes(key), 0, key.length) & at.node.table.mask
}

/** One read with all these commands. */
function pipeline(client: MiniClient, ...commands: string[][]): void {
  const requests = commands.map((words) => encodeArguments(words.map(latin1Bytes)))
  const bytes = new Uint8Array(requests.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const request of requests) {
    bytes.set(request, at)
    at += request.length
  }
  client.sendRaw(bytes)
}

describe('a reply that is too long', () => {
  it('is an error for its client wherever the key is, and the node goes on', () => {
    const cluster = new MiniCluster({ maxReplyBytes: 100_000 })
    const [a, b] = cluster.startAll('a', 'b')
    const client = cluster.client(a)
    for (const at of [a, b]) {
      const [key] = cluster.keysOn(at, 1)
      for (let i = 0; i < 30; i++) client.call('RPUSH', key, 'x'.repeat(5000))
      const replies = [client.call('LRANGE', key, '0', '-1'), client.call('LPOP', key, '30')]
      for (const reply of replies) expect(reply).toEqual(new RespError('ERR the reply is too long'))
      expect(client.call('PING')).toBe('PONG')
    }
    cluster.run(2000)
    expect(cluster.differences()).toEqual([])
  })
})

describe('a pipeline over several nodes', () => {
  it('is under way all at once', () => {
    const { cluster, a } = trio()
    const client = cluster.client(a)
    const commands = Array.from({ length: 200 }, (_, i) => ['SET', `key:${i}`, String(i)])
    const start = cluster.now
    pipeline(client, ...commands)
    cluster.runUntil(() => client.replies.length === 200)
    // There and back, and once more there and back for the backup.
    expect(cluster.now - start).toBeLessThan(8)
    expect(new Set(client.replies)).toEqual(new Set(['OK']))
  })

  it('is answered in order, and what happens to a key happens in order', () => {
    const { cluster, a } = trio()
    const client = cluster.client(a)
    const commands: string[][] = []
    const expected: string[] = []
    for (let i = 0; i < 300; i++) {
      const key = `key:${i % 7}`
      commands.push(['APPEND', key, String(i % 10)], ['GET', key])
      expected[i] = (i >= 7 ? expected[i - 7] : '') + String(i % 10)
    }
    pipeline(client, ...commands)
    cluster.runUntil(() => client.replies.length === 600)
    expect(client.replies.filter((_, i) => i % 2 === 1)).toEqual(expected)
  })

  it('keeps its order while buckets move, switch and split', () => {
    const cluster = new MiniCluster({}, { delayMs: 5, jitterMs: 2 })
    const [a, b] = cluster.startAll('a', 'b')
    const clients = [a, b, a, b].map((at) => cluster.client(at))
    const counts = clients.map(() => 0)
    cluster.start('c', { splitAt: 16 })
    let c: MiniNode | undefined
    for (let round = 0; round < 300; round++) {
      clients.forEach((client, i) => {
        // Each has keys of its own, so that it knows what must come back.
        const keys = Array.from({ length: 5 }, (_, k) => `client ${i} key ${k}`)
        pipeline(client, ...keys.map((key) => ['INCR', key]), ['GET', keys[round % 5]])
        counts[i]++
      })
      cluster.run(4)
      if (round === 150) c = cluster.start('d')
    }
    cluster.run(3000)
    expect(c?.node.joined).toBe(true)
    clients.forEach((client, i) => {
      expect(client.replies).toHaveLength(6 * counts[i])
      for (let round = 0; round < counts[i]; round++) {
        const replies = client.replies.slice(round * 6, round * 6 + 6)
        const n = round + 1
        expect(replies).toEqual([n, n, n, n, n, String(n)])
      }
    })
    expect(cluster.running.map(({ node }) => node.table.mask)).toEqual([255, 255, 255, 255])
  })

  it('keeps its order when a bucket has a new primary and what was sent to the old one is late', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    const client = cluster.client(a)
    let key: string | undefined
    cluster.onEvent = (at, event) => {
      if (key !== undefined || at !== b || event.kind !== 'row' || event.primary !== 'c') return
      // By the table of the client's node, the bucket is still b's.
      if (a.node.table.row(event.bucket).primary !== 'b') return
      for (let i = 0; key === undefined; i++) {
        const hash = redisHash.hash(latin1Bytes(`key:${i}`), 0, `key:${i}`.length)
        if ((hash & at.node.table.mask) === event.bucket) key = `key:${i}`
      }
      client.send('INCR', key)
    }
    // What b passes on gets lost for a while.
    cluster.onPost = (from, to, envelope) =>
      from !== 'b' || to !== 'c' || !latin1String(envelope, 0, envelope.length).includes('INCR')
    const c = cluster.start('c')
    cluster.runUntil(() => key !== undefined && cluster.stateOf(key, c.node)?.role === 'primary')
    cluster.runUntil(() => a.node.table.primaryOf(bucketOf(a, key!)) === a.node.table.indexOf('c'))
    client.send('INCR', key!)
    cluster.run(100)
    expect(client.replies).toEqual([])
    cluster.onPost = undefined
    cluster.run(500)
    expect(client.replies).toEqual([1, 2])
  })

  it('does not let a read pass a write that waits for room', () => {
    const cluster = new MiniCluster({ streamWindowBytes: 2000 })
    const [a] = cluster.startAll('a', 'b')
    const [key] = cluster.keysOn(a, 1)
    const client = cluster.client(a)
    cluster.cut('a', 'b')
    for (let i = 0; i < 50; i++) {
      client.send('SET', key, `${i} ${'x'.repeat(200)}`)
      client.send('STRLEN', key)
      client.send('GETRANGE', key, '0', '1')
      cluster.run(1)
    }
    cluster.heal()
    cluster.run(1000)
    expect(client.replies).toHaveLength(150)
    client.replies.forEach((reply, i) => {
      if (i % 3 === 2) expect(reply).toBe(`${Math.floor(i / 3)} `.slice(0, 2))
    })
  })

  it('goes on behind a node that dies: everything is answered, in order', () => {
    const { cluster, a, b, c } = trio()
    const [ofA] = cluster.keysOn(a, 1)
    const [ofB] = cluster.keysOn(b, 1)
    const [ofC] = cluster.keysOn(c, 1)
    const client = cluster.client(a)
    for (const key of [ofA, ofB, ofC]) expect(client.call('SET', key, 'v')).toBe('OK')
    b.kill()
    pipeline(client, ['GET', ofA], ['SET', ofB, 'w'], ['GET', ofB], ['GET', ofC], ['GET', ofA])
    cluster.run(3000)
    expect(client.replies.slice(3)).toEqual(['v', 'OK', 'w', 'v', 'v'])
  })

  it('that is too long is not read on until it is shorter', () => {
    const { cluster, a, b } = trio()
    const [key] = cluster.keysOn(b, 1)
    const client = cluster.client(a)
    cluster.cut('a', 'b')
    const value = 'x'.repeat(10_000)
    for (let i = 0; i < 700; i++) client.send('SET', key, value)
    expect(client.paused).toBe(true)
    cluster.heal()
    cluster.runUntil(() => client.replies.length === 700)
    expect(client.paused).toBe(false)
    expect(new Set(client.replies)).toEqual(new Set(['OK']))
  })
})

describe('input', () => {
  it('in very many pieces is put together once', () => {
    const cluster = new MiniCluster()
    const client = cluster.client(cluster.start('a'))
    const value = Array.from({ length: 300_000 }, (_, i) => String.fromCharCode(97 + (i % 26)))
    const bytes = encodeArguments(['SET', 'k', value.join('')].map(latin1Bytes))
    for (let at = 0; at < bytes.length; at += 1000) client.sendRaw(bytes.slice(at, at + 1000))
    expect(client.call('GET', 'k')).toBe(value.join(''))
  })

  it('of many commands is the same however it is cut', () => {
    const sizes = fc.array(
      fc.oneof(fc.nat(20), fc.integer({ min: 400, max: 3000 }), fc.nat(90_000)),
      {
        minLength: 1,
        maxLength: 12
      }
    )
    const cuts = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(sizes, cuts, (lengths, pieces) => {
        const cluster = new MiniCluster()
        const client = cluster.client(cluster.start('a'))
        const values = lengths.map((length, i) => String.fromCharCode(97 + (i % 26)).repeat(length))
        const sent = values.flatMap((value, i) => [
          ...encodeArguments(['SET', `k${i}`, value].map(latin1Bytes))
        ])
        const bytes = Uint8Array.from(sent)
        for (let at = 0, i = 0; at < bytes.length; at += pieces[i++ % pieces.length]) {
          // As the driver does it: what was read is overwritten by what comes next.
          const read = bytes.slice(at, at + pieces[i % pieces.length])
          client.sendRaw(read)
          cluster.run(0)
          read.fill(0)
        }
        cluster.run(1)
        expect(client.replies).toEqual(values.map(() => 'OK'))
        values.forEach((value, i) => expect(client.call('GET', `k${i}`)).toBe(value))
      }),
      { numRuns: 40 }
    )
  })

  it('of one command with very many arguments is looked at once', () => {
    const cluster = new MiniCluster()
    const client = cluster.client(cluster.start('a'))
    const members = Array.from({ length: 50_000 }, (_, i) => `member ${i}`)
    const bytes = encodeArguments(['SADD', 'k', ...members].map(latin1Bytes))
    for (let at = 0; at < bytes.length; at += 5000) client.sendRaw(bytes.slice(at, at + 5000))
    expect(client.replies).toEqual([50_000])
    expect(client.call('SCARD', 'k')).toBe(50_000)
  })

  it('that is no protocol is answered behind what came before it, and then the line is cut', () => {
    const { cluster, a, b } = trio()
    const [key] = cluster.keysOn(b, 1)
    const client = cluster.client(a)
    client.sendRaw(latin1Bytes(`SET ${key} 1\r\n*1\r\n+x\r\n`))
    expect(client.hungUp).toBe(false)
    cluster.run(50)
    const error = new RespError("ERR Protocol error: expected '$', got '+'")
    expect(client.replies).toEqual(['OK', error])
    expect(client.hungUp).toBe(true)
  })
})
