import { describe, expect, it } from 'vitest'
import { OneBucket } from '../../test/conformance/one-bucket.js'
import { RespError } from '../wire/resp/reply-value.js'

describe('sets', () => {
  it('keep members', () => {
    const db = new OneBucket()
    expect(db.all('sadd s a b a', 'sadd s b c', 'scard s')).toEqual([2, 1, 3])
    expect(db.change('SADD', 's', 'a', 'b')).toBeUndefined()
    expect(db.all('sismember s a', 'sismember s x', 'smismember s a x c')).toEqual([
      1,
      0,
      [1, 0, 1]
    ])
    expect(db.all('smismember none a b', 'smembers none')).toEqual([[0, 0], []])
    expect(db.run('SMEMBERS', 's')).toEqual(['a', 'b', 'c'])
    db.protocol = 3
    expect(db.run('SMEMBERS', 's')).toEqual(new Set(['a', 'b', 'c']))
    expect(db.all('srem s a x', 'srem none a')).toEqual([1, 0])
    expect(db.change('SREM', 's', 'x')).toBeUndefined()
    expect(db.change('SREM', 's', 'b', 'c')).toBe('deleted')
    db.check()
  })

  it('SPOP leaves the backups its choice', () => {
    const db = new OneBucket()
    db.run('SADD', 's', ...'abcdefgh'.split(''))
    const one = db.execute('SPOP', 's')
    expect(one.rewritten).toEqual(['SREM', 's', one.reply.slice(4, 5)])
    const some = db.execute('SPOP', 's', '3')
    expect(some.rewritten).toHaveLength(5)
    expect([some.change, db.run('SCARD', 's')]).toEqual(['set', 4])
    db.protocol = 3
    const rest = db.execute('SPOP', 's', '100')
    expect(rest.reply.startsWith('~4\r\n')).toBe(true)
    expect([rest.rewritten, rest.change]).toEqual([['DEL', 's'], 'deleted'])
    db.protocol = 2
    expect(db.all('spop s', 'spop s 2', 'spop s 1 2')).toEqual([
      null,
      [],
      new RespError('ERR syntax error')
    ])
    db.run('SADD', 's', 'a')
    expect(db.change('SPOP', 's', '0')).toBeUndefined()
    expect(db.execute('SPOP', 's').rewritten).toEqual(['DEL', 's'])
    db.check()
  })

  it('every member has the same chance', () => {
    const counts = new Map<string, number>()
    const db = new OneBucket(7)
    db.run('SADD', 's', ...'abcdefgh'.split(''))
    for (let i = 0; i < 4000; i++) {
      for (const member of db.run('SRANDMEMBER', 's', '2') as string[]) {
        counts.set(member, (counts.get(member) ?? 0) + 1)
      }
    }
    expect(counts.size).toBe(8)
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })

  it('SRANDMEMBER takes nothing', () => {
    const db = new OneBucket()
    db.run('SADD', 's', ...'abc'.split(''))
    expect(db.change('SRANDMEMBER', 's')).toBeUndefined()
    expect(db.run('SRANDMEMBER', 's', '-9')).toHaveLength(9)
    expect(new Set(db.run('SRANDMEMBER', 's', '9') as string[]).size).toBe(3)
    expect(db.all('srandmember none', 'srandmember none 5')).toEqual([null, []])
  })

  it('SSCAN misses nothing that stays, though others go', () => {
    const db = new OneBucket()
    const stay = Array.from({ length: 60 }, (_, i) => `stay${i}`)
    for (let i = 0; i < 60; i++) db.run('SADD', 's', `go${i}`, stay[i])
    const seen = new Set<string>()
    let cursor = '0'
    let step = 0
    do {
      const [next, members] = db.run('SSCAN', 's', cursor, 'COUNT', '5') as [string, string[]]
      for (const member of members) seen.add(member)
      db.run('SREM', 's', `go${step}`, `go${59 - step}`)
      step++
      cursor = next
    } while (cursor !== '0')
    for (const member of stay) expect(seen).toContain(member)
  })
})
