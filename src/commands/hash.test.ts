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
