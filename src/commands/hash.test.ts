import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OneBucket } from '../../test/conformance/one-bucket.js'
import { RespError } from '../wire/resp/reply-value.js'

const ARITY = new RespError("ERR wrong number of arguments for 'hset' command")

describe('hashes', () => {
  it('keep fields', () => {
    const db = new OneBucket()
    expect(db.all('hset h a 1 b 2', 'hset h a 3 c 4', 'hlen h')).toEqual([2, 1, 3])
    expect(db.all('hget h a', 'hget h x', 'hget none x')).toEqual(['3', null, null])
    expect(db.all('hmget h a x c', 'hmget none a b')).toEqual([
      ['3', null, '4'],
      [null, null]
    ])
    expect(db.all('hexists h a', 'hexists h x', 'hstrlen h a', 'hstrlen h x')).toEqual([1, 0, 1, 0])
    expect(db.all('hkeys h', 'hvals h')).toEqual([
      ['a', 'b', 'c'],
      ['3', '2', '4']
    ])
    expect(db.all('hmset h d 5', 'hsetnx h d 6', 'hsetnx h e 7')).toEqual(['OK', 0, 1])
    expect(db.run('HGETALL', 'h')).toHaveLength(10)
    db.protocol = 3
    expect(db.run('HGETALL', 'h')).toBeInstanceOf(Map)
    expect(db.execute('HGETALL', 'none').reply).toBe('%0\r\n')
    expect(db.all('hset h a', 'hset h a 1 b')).toEqual([ARITY, ARITY])
    db.check()
  })

  it('disappear with their last field, and keep their expiry until then', () => {
    const db = new OneBucket()
    db.all('hset h a 1 b 2', 'pexpire h 50')
    expect(db.change('HDEL', 'h', 'x')).toBeUndefined()
    expect(db.change('HDEL', 'none', 'x')).toBeUndefined()
    expect(db.all('hset h c 3', 'pttl h', 'hdel h a a c')).toEqual([1, 50, 2])
    expect(db.change('HDEL', 'h', 'b')).toBe('deleted')
    expect(db.all('exists h', 'type h')).toEqual([0, 'none'])
    expect(db.bucket.tombstones).toBe(1)
    db.check()
  })

  it('count', () => {
    const db = new OneBucket()
    expect(db.all('hincrby h n 5', 'hincrby h n -7', 'hget h n')).toEqual([5, -2, '-2'])
    expect(db.all('hset h t x', 'hincrby h t 1', 'hincrbyfloat h t 1')).toEqual([
      1,
      new RespError('ERR hash value is not an integer'),
      new RespError('ERR hash value is not a float')
    ])
    expect(db.all('hset h n 9223372036854775807', 'hincrby h n 1')).toEqual([
      0,
      new RespError('ERR increment or decrement would overflow')
    ])
    expect(db.all('hincrbyfloat h f 10.50', 'hincrbyfloat h f 0.1')).toEqual(['10.5', '10.6'])
    expect(db.run('HINCRBYFLOAT', 'h', 'f', 'inf')).toEqual(
      new RespError('ERR value is NaN or Infinity')
    )
    expect(db.change('HINCRBY', 'none', 'f', 'x')).toBeUndefined()
    db.check()
  })

  it('HRANDFIELD draws with and without repetition', () => {
    const db = new OneBucket()
    for (let i = 0; i < 20; i++) db.run('HSET', 'h', `f${i}`, String(i))
    expect(db.run('HRANDFIELD', 'h')).toMatch(/^f\d+$/)
    const different = db.run('HRANDFIELD', 'h', '15') as string[]
    expect(new Set(different).size).toBe(15)
    expect(db.run('HRANDFIELD', 'h', '50')).toHaveLength(20)
    expect(db.run('HRANDFIELD', 'h', '-50')).toHaveLength(50)
    expect(db.run('HRANDFIELD', 'h', '3', 'WITHVALUES')).toHaveLength(6)
    db.protocol = 3
    const pairs = db.run('HRANDFIELD', 'h', '3', 'withvalues') as string[][]
    for (const [field, value] of pairs) expect(field).toBe(`f${value}`)
    expect(db.all('hrandfield none', 'hrandfield none 3')).toEqual([null, []])
    expect(db.run('HRANDFIELD', 'h', '-9223372036854775807')).toBeInstanceOf(RespError)
  })

  it('HSCAN visits every field once while nothing changes', () => {
    const db = new OneBucket()
    for (let i = 0; i < 100; i++) db.run('HSET', 'h', `f${i}`, String(i))
    const seen: string[] = []
    let cursor = '0'
    do {
      const [next, texts] = db.run('HSCAN', 'h', cursor, 'COUNT', '7') as [string, string[]]
      for (let i = 0; i < texts.length; i += 2) {
        expect(texts[i]).toBe(`f${texts[i + 1]}`)
        seen.push(texts[i])
      }
      cursor = next
    } while (cursor !== '0')
    expect([seen.length, new Set(seen).size]).toEqual([100, 100])
    const [, matching] = db.run('HSCAN', 'h', '0', 'MATCH', 'f1?', 'COUNT', '1000') as [
      string,
      string[]
    ]
    expect(matching).toHaveLength(20)
    expect(db.all('hscan h x', 'hscan h 0 count 0', 'hscan none 0 foo')).toEqual([
      new RespError('ERR invalid cursor'),
      new RespError('ERR syntax error'),
      ['0', []]
    ])
  })
})

/** Small ones are bytes in their record, large ones are on the heap; nobody can tell. */
describe('hashes of any size', () => {
  const field = fc.nat(80).map((n) => (n > 75 ? '' : `field${n}`))
  const value = fc.oneof(
    { weight: 6, arbitrary: fc.nat(5).map((n) => 'v'.repeat(n)) },
    { weight: 3, arbitrary: fc.constantFrom(126, 127, 128, 129, 300).map((n) => 'w'.repeat(n)) },
    { weight: 1, arbitrary: fc.constantFrom(2000, 2040, 2048, 5000).map((n) => 'x'.repeat(n)) }
  )
  const pairs = fc.array(fc.tuple(field, value), { minLength: 1, maxLength: 20 })
  const step = fc.oneof(
    { weight: 4, arbitrary: pairs.map((it) => ['HSET', ...it.flat()]) },
    { weight: 2, arbitrary: fc.tuple(field, value).map((it) => ['HSETNX', ...it]) },
    { weight: 2, arbitrary: fc.array(field, { minLength: 1 }).map((it) => ['HDEL', ...it]) },
    { weight: 1, arbitrary: fc.constantFrom(['PEXPIRE', '100000'], ['PERSIST']) }
  )

  it('hold what a Map would', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const db = new OneBucket()
        const model = new Map<string, string>()
        let expiry = 0
        for (const [name, ...args] of steps) {
          const reply = db.run(name, 'h', ...args)
          const before = model.size
          if (name === 'HDEL') {
            expect(reply).toBe(new Set(args.filter((it) => model.has(it))).size)
            for (const it of args) model.delete(it)
          } else if (name.startsWith('HSET')) {
            for (let i = 0; i < args.length; i += 2) {
              if (name === 'HSET' || !model.has(args[i])) model.set(args[i], args[i + 1])
            }
            expect(reply).toBe(model.size - before)
          } else if (model.size > 0) expiry = name === 'PEXPIRE' ? 100000 : 0
          if (model.size === 0) expiry = 0
          expect(db.run('HLEN', 'h')).toBe(model.size)
          expect(db.run('PTTL', 'h')).toBe(model.size === 0 ? -2 : expiry === 0 ? -1 : expiry)
        }
        const all = db.run('HGETALL', 'h') as string[]
        expect(new Map(all.flatMap((it, i) => (i % 2 === 0 ? [[it, all[i + 1]]] : [])))).toEqual(
          model
        )
        expect(db.run('HKEYS', 'h')).toEqual(all.filter((_, i) => i % 2 === 0))
        expect(db.run('HVALS', 'h')).toEqual(all.filter((_, i) => i % 2 === 1))
        for (const it of ['', 'field1', 'field2', 'nothing', ...model.keys()]) {
          const held = model.get(it)
          expect(db.run('HGET', 'h', it)).toBe(held ?? null)
          expect(db.run('HSTRLEN', 'h', it)).toBe(held?.length ?? 0)
          expect(db.run('HEXISTS', 'h', it)).toBe(held === undefined ? 0 : 1)
        }
        db.check()
      }),
      { numRuns: 150 }
    )
  })

  it('are small until they have too many fields or bytes', () => {
    const db = new OneBucket()
    const isPacked = (): boolean => {
      const { bucket } = db
      let packed = false
      bucket.scan(0, 10, 0, (ref) => (packed = bucket.isPacked(ref)))
      return packed
    }
    for (let i = 0; i < 64; i++) db.run('HSET', 'h', `f${i}`, 'v')
    expect(isPacked()).toBe(true)
    db.run('HSET', 'h', 'one more', 'v')
    expect(isPacked()).toBe(false)
    db.run('HDEL', 'h', 'one more', 'f1')
    expect(isPacked()).toBe(false)
    db.run('DEL', 'h')
    db.run('HSET', 'h', 'f', 'v'.repeat(2000))
    expect(isPacked()).toBe(true)
    db.run('HSET', 'h', 'g', 'v'.repeat(100))
    expect(isPacked()).toBe(false)
    expect(db.run('HSTRLEN', 'h', 'f')).toBe(2000)
    db.check()
  })
})
