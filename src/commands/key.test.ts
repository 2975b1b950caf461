import { describe, expect, it } from 'vitest'
import { OneBucket } from '../../test/conformance/one-bucket.js'
import { RespError } from '../wire/resp/reply-value.js'

describe('keys', () => {
  it('DEL, UNLINK, EXISTS, TOUCH and TYPE', () => {
    const db = new OneBucket()
    expect(db.all('del k', 'exists k', 'type k')).toEqual([0, 0, 'none'])
    expect(db.all('set k v', 'exists k', 'touch k', 'type k')).toEqual(['OK', 1, 1, 'string'])
    expect(db.change('DEL', 'k')).toBe('deleted')
    expect(db.change('DEL', 'k')).toBeUndefined()
    expect(db.bucket.tombstones).toBe(1)
    expect(db.all('set k v', 'unlink k', 'unlink k')).toEqual(['OK', 1, 0])
    expect(db.run('DEL')).toEqual(new RespError("ERR wrong number of arguments for 'del' command"))
    db.check()
  })

  it('an expired item is not there for writes', () => {
    const db = new OneBucket()
    db.all('set k v px 10', 'sadd s m', 'pexpire s 10')
    db.now += 10
    expect(db.all('del k', 'type s', 'scard s', 'get s')).toEqual([0, 'none', 0, null])
    expect(db.change('EXPIRE', 'k', '5')).toBeUndefined()
    expect(db.all('incr s', 'ttl s', 'append k x', 'ttl k')).toEqual([1, -1, 1, -1])
    db.check()
  })

  it('oc.expire deletes only what has expired', () => {
    const db = new OneBucket()
    db.all('set k v px 10', 'set forever v')
    expect(db.change('OC.EXPIRE', 'k')).toBeUndefined()
    db.now += 10
    expect(db.change('oc.expire', 'forever')).toBeUndefined()
    expect(db.change('oc.expire', 'missing')).toBeUndefined()
    expect(db.change('oc.expire', 'k')).toBe('expired')
    expect(db.change('oc.expire', 'k')).toBeUndefined()
    expect([db.bucket.items, db.bucket.tombstones]).toEqual([1, 1])
    db.check()
  })
})

describe('expiry', () => {
  it('is set, asked for and taken away', () => {
    const db = new OneBucket()
    expect(db.all('ttl k', 'set k v', 'ttl k', 'pttl k')).toEqual([-2, 'OK', -1, -1])
    expect(db.all('expire k 100', 'ttl k', 'pttl k')).toEqual([1, 100, 100_000])
    expect(db.all('pexpire k 1499', 'ttl k', 'pttl k')).toEqual([1, 1, 1499])
    const seconds = db.now / 1000 + 60
    expect(db.all(`expireat k ${seconds}`, 'expiretime k', 'ttl k')).toEqual([1, seconds, 60])
    const at = db.now + 77
    expect(db.all(`pexpireat k ${at}`, 'pexpiretime k')).toEqual([1, at])
    expect(db.all('persist k', 'persist k', 'ttl k', 'persist none')).toEqual([1, 0, -1, 0])
    expect(db.all('expire none 1', 'expiretime none')).toEqual([0, -2])
    db.check()
  })

  it('in the past deletes at once', () => {
    const db = new OneBucket()
    for (const line of ['expire k 0', 'expire k -1', 'pexpireat k 0', 'expireat k 1']) {
      db.run('SET', 'k', 'v')
      expect(db.change(...line.split(' '))).toBe('deleted')
      expect(db.run('EXISTS', 'k')).toBe(0)
    }
    db.run('SET', 'k', 'v')
    expect(db.run('PEXPIREAT', 'k', '-9223372036854775808')).toBe(1)
    expect(db.run('EXISTS', 'k')).toBe(0)
  })

  it('obeys conditions', () => {
    const db = new OneBucket()
    db.run('SET', 'k', 'v')
    expect(db.all('expire k 10 xx', 'expire k 10 gt', 'ttl k')).toEqual([0, 0, -1])
    expect(db.all('expire k 10 lt', 'ttl k', 'expire k 20 nx', 'ttl k')).toEqual([1, 10, 0, 10])
    expect(db.all('expire k 5 gt', 'expire k 15 gt', 'expire k 15 gt')).toEqual([0, 1, 0])
    expect(db.all('expire k 20 lt', 'expire k 9 xx lt', 'ttl k')).toEqual([0, 1, 9])
    expect(db.all('persist k', 'expire k 9 xx lt', 'expire k 9 nx', 'ttl k')).toEqual([1, 0, 1, 9])
    expect(db.change('EXPIRE', 'k', '99', 'NX')).toBeUndefined()
    const both = 'ERR NX and XX, GT or LT options at the same time are not compatible'
    expect(db.run('EXPIRE', 'k', '1', 'NX', 'GT')).toEqual(new RespError(both))
    const opposite = 'ERR GT and LT options at the same time are not compatible'
    expect(db.run('EXPIRE', 'k', '1', 'GT', 'LT')).toEqual(new RespError(opposite))
    const unknown = 'ERR Unsupported option Foo'
    expect(db.run('EXPIRE', 'k', 'x', 'Foo')).toEqual(new RespError(unknown))
  })

  it('refuses times beyond 64 bits', () => {
    const db = new OneBucket()
    db.run('SET', 'k', 'v')
    const invalid = (command: string): RespError =>
      new RespError(`ERR invalid expire time in '${command}' command`)
    expect(db.run('EXPIRE', 'k', '9223372036854775807')).toEqual(invalid('expire'))
    expect(db.run('EXPIRE', 'k', '-9223372036854775807')).toEqual(invalid('expire'))
    expect(db.run('PEXPIRE', 'k', '9223372036854775807')).toEqual(invalid('pexpire'))
    expect(db.run('EXPIREAT', 'k', '9223372036854776')).toEqual(invalid('expireat'))
    expect(db.run('PEXPIRE', 'k', '9223370000000000000')).toBe(1)
    expect(db.run('TTL', 'k')).toBeGreaterThan(9e12)
  })
})
