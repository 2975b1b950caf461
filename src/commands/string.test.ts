import { describe, expect, it } from 'vitest'
import { OneBucket } from '../../test/conformance/one-bucket.js'
import { RespError } from '../wire/resp/reply-value.js'

const WRONG_TYPE = new RespError(
  'WRONGTYPE Operation against a key holding the wrong kind of value'
)
const SYNTAX = new RespError('ERR syntax error')
const INTEGER = new RespError('ERR value is not an integer or out of range')

describe('SET and GET', () => {
  it('keep any bytes', () => {
    const db = new OneBucket()
    expect(db.run('GET', 'k')).toBeNull()
    expect(db.run('SET', 'k', 'a\r\n\0b')).toBe('OK')
    expect(db.execute('GET', 'k').reply).toBe('$5\r\na\r\n\0b\r\n')
    expect(db.run('set', 'k', '')).toBe('OK')
    expect(db.run('get', 'k')).toBe('')
    db.check()
  })

  it('NX and XX write only where they may, and change nothing otherwise', () => {
    const db = new OneBucket()
    expect(db.change('SET', 'k', 'a', 'XX')).toBeUndefined()
    expect(db.change('SET', 'k', 'a', 'NX')).toBe('set')
    expect(db.all('set k b nx', 'get k', 'set k c XX', 'get k')).toEqual([null, 'a', 'OK', 'c'])
    expect(db.all('set k d nx get', 'set k e xx get', 'get k')).toEqual(['c', 'c', 'e'])
    expect(db.all('set n v nx get', 'get n')).toEqual([null, 'v'])
    expect(db.all('set k v nx xx', 'set k v ex', 'set k v foo')).toEqual([SYNTAX, SYNTAX, SYNTAX])
  })

  it('IFEQ is a compare-and-set', () => {
    const db = new OneBucket()
    expect(db.change('SET', 'k', 'a', 'IFEQ', '')).toBeUndefined()
    expect(db.all('set k a', 'set k b ifeq x', 'get k')).toEqual(['OK', null, 'a'])
    expect(db.all('set k b ifeq a', 'get k', 'set k c ifeq b get')).toEqual(['OK', 'b', 'b'])
    expect(db.all('set k d ifeq x get', 'get k')).toEqual(['c', 'c'])
    expect(db.all('set k d ifeq c nx', 'set k d xx ifeq c')).toEqual([SYNTAX, SYNTAX])
    expect(db.all('set k d ifeq cc', 'set k d ifeq')).toEqual([null, SYNTAX])
    expect(db.all('set k d px 500 ifeq c', 'pttl k')).toEqual(['OK', 500])
  })

  it('set an expiry, keep it or drop it', () => {
    const db = new OneBucket()
    expect(db.all('set k v ex 10', 'pttl k')).toEqual(['OK', 10_000])
    expect(db.all('set k w keepttl', 'ttl k', 'set k x', 'ttl k')).toEqual(['OK', 10, 'OK', -1])
    expect(db.run('SET', 'k', 'v', 'PXAT', String(db.now + 5))).toBe('OK')
    expect(db.run('PTTL', 'k')).toBe(5)
    db.now += 5
    expect(db.run('GET', 'k')).toBeNull()
    expect(db.all('set k v nx', 'ttl k')).toEqual(['OK', -1])
    expect(db.all('set k v ex 1 px 1', 'set k v ex 1 keepttl')).toEqual([SYNTAX, SYNTAX])
    expect(db.all('set k v ex 1 ex 2', 'ttl k')).toEqual(['OK', 2])
  })

  it('refuse times that are none', () => {
    const db = new OneBucket()
    const invalid = new RespError("ERR invalid expire time in 'set' command")
    expect(db.all('set k v ex x', 'set k v ex 1.5')).toEqual([INTEGER, INTEGER])
    expect(db.all('set k v ex 0', 'set k v px -1')).toEqual([invalid, invalid])
    expect(db.run('SET', 'k', 'v', 'EX', '9223372036854775807')).toEqual(invalid)
    expect(db.run('SET', 'k', 'v', 'PX', '9223372036854775807')).toEqual(invalid)
    expect(db.run('SET', 'k', 'v', 'PX', '9223372036854775808')).toEqual(INTEGER)
    expect(db.run('SET', 'k', 'v', 'PXAT', '9223372036854775807')).toBe('OK')
    expect(db.run('PEXPIRETIME', 'k')).toBe(Number.MAX_SAFE_INTEGER)
  })

  it('with a time that is over delete', () => {
    const db = new OneBucket()
    expect(db.change('SET', 'k', 'v', 'EXAT', '1')).toBeUndefined()
    expect(db.run('SET', 'k', 'v')).toBe('OK')
    expect(db.change('SET', 'k', 'v', 'EXAT', '1')).toBe('deleted')
    expect(db.run('EXISTS', 'k')).toBe(0)
  })

  it('GETSET, GETDEL, SETNX, SETEX and PSETEX', () => {
    const db = new OneBucket()
    expect(db.all('getset k a', 'getset k b', 'get k')).toEqual([null, 'a', 'b'])
    expect(db.change('GETDEL', 'k')).toBe('deleted')
    expect(db.change('GETDEL', 'k')).toBeUndefined()
    expect(db.all('setnx k a', 'setnx k b', 'get k')).toEqual([1, 0, 'a'])
    expect(db.all('setex k 7 b', 'pttl k', 'get k')).toEqual(['OK', 7000, 'b'])
    expect(db.all('psetex k 7 c', 'pttl k', 'getset k d', 'ttl k')).toEqual(['OK', 7, 'c', -1])
    const invalid = new RespError("ERR invalid expire time in 'setex' command")
    expect(db.all('setex k 0 v', 'setex k x v')).toEqual([invalid, INTEGER])
    db.check()
  })

  it('GETEX changes the expiry only if it is told to', () => {
    const db = new OneBucket()
    db.run('SET', 'k', 'v')
    expect(db.change('GETEX', 'k')).toBeUndefined()
    expect(db.change('GETEX', 'k', 'PERSIST')).toBeUndefined()
    expect(db.all('getex k ex 5', 'ttl k', 'getex k persist', 'ttl k')).toEqual(['v', 5, 'v', -1])
    expect(db.run('GETEX', 'missing', 'EX', '0')).toBeNull()
    expect(db.all('getex k nx', 'getex k persist ex 1')).toEqual([SYNTAX, SYNTAX])
    expect(db.change('GETEX', 'k', 'PXAT', '1')).toBe('deleted')
  })

  it('refuse a key of another type', () => {
    const db = new OneBucket()
    db.run('SADD', 's', 'm')
    const lines = ['get s', 'getset s v', 'getdel s', 'getex s', 'set s v get', 'set s v ifeq v']
    for (const line of lines) expect([line, ...db.all(line)]).toEqual([line, WRONG_TYPE])
    expect(db.all('setnx s v', 'set s v', 'get s')).toEqual([0, 'OK', 'v'])
  })
})

describe('parts of strings', () => {
  it('GETRANGE counts both ends in, and from the end', () => {
    const db = new OneBucket()
    db.run('SET', 'k', 'Hello World')
    const range = (from: string, to: string): unknown => db.run('GETRANGE', 'k', from, to)
    expect(range('0', '4')).toBe('Hello')
    expect(range('-5', '-1')).toBe('World')
    expect(range('-1', '-5')).toBe('')
    expect(range('5', '3')).toBe('')
    expect(range('-100', '100')).toBe('Hello World')
    expect(range('-200', '-100')).toBe('H')
    expect(range('11', '20')).toBe('')
    expect(range('0', '9223372036854775807')).toBe('Hello World')
    expect(range('0', 'x')).toEqual(INTEGER)
    expect(db.all('substr k 0 0', 'getrange none 0 -1')).toEqual(['H', ''])
  })

  it('SETRANGE writes into the middle and fills gaps with zeros', () => {
    const db = new OneBucket()
    expect(db.all('setrange k 3 ab', 'strlen k')).toEqual([5, 5])
    expect(db.run('GET', 'k')).toBe('\0\0\0ab')
    expect(db.all('setrange k 0 xyz', 'get k')).toEqual([5, 'xyzab'])
    expect(db.run('SETRANGE', 'k', '7', '!')).toBe(8)
    expect(db.run('GET', 'k')).toBe('xyzab\0\0!')
    expect(db.change('SETRANGE', 'k', '100', '')).toBeUndefined()
    expect(db.change('SETRANGE', 'none', '100', '')).toBeUndefined()
    expect(db.run('SETRANGE', 'k', '-1', 'a')).toEqual(new RespError('ERR offset is out of range'))
    const long = new RespError('ERR string exceeds maximum allowed size (proto-max-bulk-len)')
    expect(db.run('SETRANGE', 'k', '536870912', 'a')).toEqual(long)
    expect(db.run('SETRANGE', 'none', '9223372036854775807', 'a')).toEqual(long)
    db.check()
  })

  it('APPEND keeps the expiry', () => {
    const db = new OneBucket()
    expect(db.all('append k ab', 'expire k 9', 'append k cd')).toEqual([2, 1, 4])
    expect(db.all('get k', 'ttl k')).toEqual(['abcd', 9])
    expect(db.change('APPEND', 'k', '')).toBeUndefined()
    expect(db.run('APPEND', 'empty', '')).toBe(0)
    expect(db.run('EXISTS', 'empty')).toBe(1)
    db.check()
  })
})
