// The client against real processes, one and several, while nothing goes wrong.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, ReplyError, type Client } from '../../src/index.js'
import { Processes, until } from './process.js'

describe.each([
  ['one node', ['a']],
  ['three nodes', ['a', 'b', 'c']]
])('%s', (_, names) => {
  const processes = new Processes()
  let db: Client
  beforeAll(async () => {
    const nodes = await processes.cluster(names)
    db = await connect(nodes[0].address)
    await until('connections to all', () => db.view().connected.length === names.length)
  })
  afterAll(async () => {
    await db.close()
    await processes.end()
  })

  test('texts, numbers, bytes and JSON', async () => {
    expect(await db.get('nothing')).toBe(null)
    expect(await db.set('text', 'Grüße 😀')).toBe(true)
    expect(await db.get('text')).toBe('Grüße 😀')
    const bytes = Buffer.from([0, 255, 13, 10, 128])
    await db.set('bytes', bytes)
    expect(await db.getBuffer('bytes')).toEqual(bytes)
    await db.set('number', 1.25)
    expect(await db.getNumber('number')).toBe(1.25)
    await db.setJson('json', { name: 'Ada', tags: ['x'] })
    expect(await db.getJson<{ name: string }>('json')).toEqual({ name: 'Ada', tags: ['x'] })
    await expect(db.getNumber('text')).rejects.toMatchObject({ code: 'OC_BAD_VALUE' })
    await expect(db.getJson('text')).rejects.toMatchObject({ code: 'OC_BAD_VALUE' })
    const large = 'ä'.repeat(1_000_000)
    await db.set('large', large)
    expect(await db.get('large')).toBe(large)
  })

  test('conditions and expiry', async () => {
    expect(await db.set('if', '1', { xx: true })).toBe(false)
    expect(await db.set('if', '1', { nx: true, ttlMs: 60_000 })).toBe(true)
    expect(await db.set('if', '2', { nx: true })).toBe(false)
    expect(await db.set('if', '2', { keepTtl: true })).toBe(true)
    expect(await db.ttl('if')).toBeGreaterThan(50_000)
    expect(await db.persist('if')).toBe(true)
    expect(await db.ttl('if')).toBe(Infinity)
    expect(await db.ttl('nothing')).toBe(null)
    expect(await db.expire('if', 1)).toBe(true)
    await until('it to expire', async () => (await db.exists('if')) === 0)
    expect(await db.compareAndSet('cas', null, 'a')).toBe(true)
    expect(await db.compareAndSet('cas', null, 'b')).toBe(false)
    expect(await db.compareAndSet('cas', 'x', 'b')).toBe(false)
    expect(await db.compareAndSet('cas', 'a', 'b')).toBe(true)
    expect(await db.compareAndDelete('cas', 'a')).toBe(false)
    expect(await db.compareAndDelete('cas', 'b')).toBe(true)
    expect(await db.get('cas')).toBe(null)
  })

  test('counting and appending', async () => {
    expect(await db.incr('n')).toBe(1)
    expect(await db.incrBy('n', 41)).toBe(42)
    expect(await db.decr('n')).toBe(41)
    expect(await db.incrByFloat('n', 0.5)).toBe(41.5)
    expect(await db.append('s', 'ab')).toBe(2)
    expect(await db.append('s', 'c')).toBe(3)
    expect(await db.strlen('s')).toBe(3)
    expect(await db.type('s')).toBe('string')
    expect(await db.getAndDelete('s')).toBe('abc')
    await db.set('text', 'x')
    await expect(db.incr('text')).rejects.toThrow(ReplyError)
  })

  test('hashes, lists, sets and sorted sets', async () => {
    expect(await db.hset('h', { a: 1, b: 'two' })).toBe(2)
    expect(await db.hgetall('h')).toEqual(new Map(Object.entries({ a: '1', b: 'two' })))
    expect(await db.hmget('h', 'b', 'c')).toEqual(['two', null])
    expect(await db.hincrBy('h', 'a', 2)).toBe(3)
    expect([await db.hlen('h'), await db.hexists('h', 'a'), await db.hdel('h', 'a')]).toEqual([
      2,
      true,
      1
    ])
    expect(await db.rpush('l', 'a', 'b', 'c')).toBe(3)
    expect(await db.lpop('l')).toBe('a')
    expect(await db.lrange('l')).toEqual(['b', 'c'])
    expect(await db.llen('l')).toBe(2)
    expect(await db.sadd('set', 'x', 'y', 'x')).toBe(2)
    expect(await db.smembers('set')).toEqual(new Set(['x', 'y']))
    expect([await db.sismember('set', 'x'), await db.sismember('set', 'z')]).toEqual([true, false])
    const entries = [
      { member: 'low', score: -Infinity },
      { member: 'high', score: 1.5 }
    ]
    expect(await db.zadd('z', ...entries)).toBe(2)
    expect(await db.zrangeWithScores('z')).toEqual(entries)
    expect(await db.zrange('z', 0, -1, { reverse: true })).toEqual(['high', 'low'])
    expect(await db.zincrBy('z', 1, 'high')).toBe(2.5)
    expect(await db.zpopmin('z')).toEqual([entries[0]])
    expect(await db.zrank('z', 'nobody')).toBe(null)
    await expect(db.get('h')).rejects.toMatchObject({ code: 'OC_REFUSED', kind: 'WRONGTYPE' })
  })

  test('many keys at once, and all of them', async () => {
    const keys = Array.from({ length: 500 }, (_, i) => `many:${i}`)
    await db.mset(keys.map((key) => [key, key.toUpperCase()] as const))
    expect(await db.mget(...keys, 'nothing')).toEqual([...keys.map((k) => k.toUpperCase()), null])
    expect((await db.mgetBuffer('many:7'))[0]?.toString()).toBe('MANY:7')
    const found = new Set<string>()
    for await (const key of db.scan({ match: 'many:*', count: 50 })) found.add(key)
    expect([...found].sort()).toEqual([...keys].sort())
    expect(await db.exists(...keys)).toBe(500)
    expect(await db.del(...keys)).toBe(500)
  })

  test('any command', async () => {
    expect(await db.command('set', 'raw', 'v')).toBe('OK')
    expect(await db.command('GETRANGE', 'raw', 0, 0)).toBe('v')
    expect(await db.commandBytes('GET', 'raw')).toEqual(new Uint8Array([0x76]))
    await expect(db.command('NONSENSE', 'x')).rejects.toThrow('unknown command')
    await db.ping()
  })

  test('a write under a token is done once', async () => {
    const token = { token: 'order 7' }
    expect(await db.once(token, 'INCRBY', 'once', 5)).toBe(5)
    expect(await db.once(token, 'INCRBY', 'once', 5)).toBe(5)
    expect(await db.getNumber('once')).toBe(5)
    // A command that was refused did nothing: the token is free.
    await db.set('text', 'x')
    const other = { token: 'order 8' }
    await expect(db.once(other, 'INCR', 'text')).rejects.toThrow(ReplyError)
    await db.del('text')
    expect(await db.once(other, 'INCR', 'text')).toBe(1)
  })

  test('counters and maps', async () => {
    const counter = db.counter('visits')
    await Promise.all(Array.from({ length: 100 }, () => counter.add(2)))
    expect(await counter.value()).toBe(200)
    expect(await counter.add(1, { token: 't' })).toBe(201)
    expect(await counter.add(1, { token: 't' })).toBe(201)
    expect(await counter.reset()).toBe(201)
    expect(await counter.value()).toBe(0)

    const map = db.map<{ points: number }>('players')
    await map.set('ada', { points: 1 })
    expect(await map.add('ada', { points: 9 })).toBe(false)
    expect(await map.get('ada')).toEqual({ points: 1 })
    const raise = (): Promise<unknown> =>
      map.update('ada', (player) => ({ points: (player?.points ?? 0) + 1 }))
    await Promise.all(Array.from({ length: 20 }, raise))
    await map.set('bob', { points: 3 })
    const entries = new Map<string, { points: number }>()
    for await (const [name, player] of map) entries.set(name, player)
    expect(entries).toEqual(
      new Map([
        ['ada', { points: 21 }],
        ['bob', { points: 3 }]
      ])
    )
    expect([await map.has('bob'), await map.delete('bob'), await map.has('bob')]).toEqual([
      true,
      true,
      false
    ])
  })

  test('a queue gives each item to one, and to another if that one does not finish', async () => {
    const queue = db.queue<number>('work')
    for (let i = 0; i < 20; i++) await queue.push(i)
    expect(await queue.length()).toBe(20)
    const taken: number[] = []
    const worker = async (): Promise<void> => {
      for (;;) {
        const item = await queue.take()
        if (item === null) return
        taken.push(item.value)
        expect(await item.done()).toBe(true)
      }
    }
    await Promise.all([worker(), worker(), worker()])
    expect(taken.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (__, i) => i))
    await queue.push(99)
    const stuck = await queue.take({ hideMs: 100 })
    expect(stuck?.value).toBe(99)
    expect(await queue.take()).toBe(null)
    const second = await queue.take({ waitMs: 10_000 })
    expect(second?.value).toBe(99)
    expect(await stuck?.keep()).toBe(false)
    await second?.giveBack()
    const third = await queue.take()
    expect([await third?.done(), await queue.length()]).toEqual([true, 0])
  })

  test('a lock has one holder, and each holder a larger token', async () => {
    const lock = db.lock('door', { ttlMs: 10_000 })
    let [inside, highest] = [0, 0]
    const enter = (): Promise<void> =>
      lock.use(async ({ token }) => {
        expect(++inside).toBe(1)
        expect(token).toBeGreaterThan(highest)
        highest = token
        await db.ping()
        inside--
      })
    await Promise.all([enter(), enter(), enter(), enter()])

    const short = db.lock('gate', { ttlMs: 150 })
    const first = await short.acquire()
    expect(await short.tryAcquire()).toBe(null)
    await first?.renew()
    // It stalls, and another one gets the lock: the resource knows by the token who is late.
    const second = await short.acquire({ waitMs: 10_000 })
    expect(second?.token).toBeGreaterThan(first?.token ?? Infinity)
    expect(first?.isHeld).toBe(false)
    await expect(first?.renew()).rejects.toMatchObject({ code: 'OC_LOCK_LOST' })
    expect(await first?.release()).toBe(false)
  })

  test('a watch tells what happens', async () => {
    const stream = db.watch('watched:*')
    await stream.ready
    await db.set('watched:1', 'v')
    await db.set('other', 'v')
    await db.del('watched:1')
    await db.set('watched:2', 'v', { ttlMs: 50 })
    const seen: string[] = []
    for await (const event of stream) {
      seen.push(event.kind === 'gap' ? 'gap' : `${event.kind} ${event.key}`)
      if (event.kind === 'expired') break
    }
    expect(seen).toEqual([
      'set watched:1',
      'deleted watched:1',
      'set watched:2',
      'expired watched:2'
    ])
  })
})
