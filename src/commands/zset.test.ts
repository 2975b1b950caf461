import { describe, expect, it } from 'vitest'
import { OneBucket } from '../../test/conformance/one-bucket.js'
import { RespError } from '../wire/resp/reply-value.js'

const SYNTAX = new RespError('ERR syntax error')

function filled(): OneBucket {
  const db = new OneBucket()
  db.run('ZADD', 'z', '1', 'a', '2', 'b', '3', 'c', '4', 'd', '5', 'e')
  return db
}

describe('ZADD', () => {
  it('adds and changes', () => {
    const db = new OneBucket()
    expect(db.all('zadd z 1 a 2 b', 'zadd z 3 a 4 c', 'zadd z ch 3 a 5 b 6 d')).toEqual([2, 1, 2])
    expect(db.change('ZADD', 'z', '3', 'a')).toBeUndefined()
    expect(db.all('zscore z a', 'zmscore z a x d', 'zscore z x', 'zcard z')).toEqual([
      '3',
      ['3', null, '6'],
      null,
      4
    ])
    expect(db.all('zadd z inf a -inf b', 'zscore z a', 'zscore z b')).toEqual([0, 'inf', '-inf'])
    db.protocol = 3
    expect(db.execute('ZSCORE', 'z', 'c').reply).toBe(',4\r\n')
    db.check()
  })

  it('obeys its options', () => {
    const db = new OneBucket()
    expect(db.change('ZADD', 'z', 'XX', '1', 'a')).toBeUndefined()
    expect(db.all('zadd z nx 5 a', 'zadd z nx 6 a', 'zscore z a')).toEqual([1, 0, '5'])
    expect(db.all('zadd z xx 6 a 7 b', 'zcard z', 'zadd z gt 5 a', 'zadd z lt ch 5 a')).toEqual([
      0, 1, 0, 1
    ])
    expect(db.all('zadd z gt ch 9 a 1 new', 'zadd z xx gt ch 1 a 1 other')).toEqual([2, 0])
    expect(db.all('zadd z incr 2 a', 'zadd z nx incr 2 a', 'zadd z xx incr 2 q')).toEqual([
      '11',
      null,
      null
    ])
    expect(db.all('zadd z gt incr -1 a', 'zadd z lt incr -1 a')).toEqual([null, '10'])
    expect(db.all('zadd z gt incr 0 a', 'zadd z lt incr 0 a', 'zadd z incr 0 a')).toEqual([
      null,
      null,
      '10'
    ])
    expect(db.all('zadd z nx xx 1 a', 'zadd z gt nx 1 a', 'zadd z incr 1 a 2 b')).toEqual([
      new RespError('ERR XX and NX options at the same time are not compatible'),
      new RespError('ERR GT, LT, and/or NX options at the same time are not compatible'),
      new RespError('ERR INCR option supports a single increment-element pair')
    ])
    expect(db.all('zadd z 1 a 2', 'zadd z nx xx')).toEqual([SYNTAX, SYNTAX])
    const float = new RespError('ERR value is not a valid float')
    expect(db.all('zadd z 1 p x q', 'zadd z nan q', 'zscore z p')).toEqual([float, float, null])
  })

  it('ZINCRBY and ZREM', () => {
    const db = new OneBucket()
    expect(db.all('zincrby z 1.5 a', 'zincrby z 2 a', 'zadd z inf i')).toEqual(['1.5', '3.5', 1])
    const nan = new RespError('ERR resulting score is not a number (NaN)')
    expect(db.all('zincrby z -inf i', 'zscore z i')).toEqual([nan, 'inf'])
    expect(db.change('ZREM', 'z', 'x')).toBeUndefined()
    expect(db.all('zrem z a x', 'zrem none a')).toEqual([1, 0])
    expect(db.change('ZREM', 'z', 'i')).toBe('deleted')
    db.check()
  })
})

describe('ranks and ranges', () => {
  it('ZRANK and ZREVRANK, with and without the score', () => {
    const db = filled()
    expect(db.all('zrank z b', 'zrevrank z b', 'zrank z x', 'zrank none b')).toEqual([
      1,
      3,
      null,
      null
    ])
    expect(db.all('zrank z b withscore', 'zrevrank z e WITHSCORE')).toEqual([
      [1, '2'],
      [0, '5']
    ])
    expect(db.execute('ZRANK', 'z', 'x', 'WITHSCORE').reply).toBe('*-1\r\n')
    expect(db.all('zrank z b foo', 'zrank z b withscore x')).toEqual([
      SYNTAX,
      new RespError("ERR wrong number of arguments for 'zrank' command")
    ])
  })

  it.each([
    ['zrange z 0 -1', 'abcde'],
    ['zrange z 1 2', 'bc'],
    ['zrange z -2 10', 'de'],
    ['zrange z 3 1', ''],
    ['zrange z 0 1 rev', 'ed'],
    ['zrevrange z 1 -2', 'dcb'],
    ['zrange z (1 3 byscore', 'bc'],
    ['zrange z 3 (1 byscore rev', 'cb'],
    ['zrange z -inf +inf byscore limit 1 2', 'bc'],
    ['zrange z +inf -inf byscore rev limit 1 2', 'dc'],
    ['zrange z -inf +inf byscore limit 1 -1', 'bcde'],
    ['zrange z -inf +inf byscore limit -1 2', ''],
    ['zrange z -inf +inf byscore limit 9 2', ''],
    ['zrangebyscore z 2 (4', 'bc'],
    ['zrangebyscore z 2 4 limit 0 1', 'b'],
    ['zrangebyscore z 5 1', ''],
    ['zrevrangebyscore z 4 2 limit 1 1', 'c'],
    ['zrevrangebyscore z +inf (3', 'ed'],
    ['zrange none 0 -1', ''],
    ['zrangebylex none - +', '']
  ])('%s', (line, expected) => {
    expect(filled().all(line)[0]).toEqual(expected.split(''))
  })

  it.each([
    ['zrangebylex z - +', 'abcde'],
    ['zrangebylex z [b (d', 'bc'],
    ['zrangebylex z (b + limit 1 1', 'd'],
    ['zrevrangebylex z + [c', 'edc'],
    ['zrange z [d - bylex rev', 'dcba'],
    ['zrangebylex z + -', ''],
    ['zrangebylex z [bb [cc', 'c']
  ])('%s', (line, expected) => {
    const db = new OneBucket()
    db.run('ZADD', 'z', ...'edcba'.split('').flatMap((member) => ['0', member]))
    expect(db.all(line)[0]).toEqual(expected.split(''))
  })

  it('scores come in pairs in RESP3', () => {
    const db = filled()
    expect(db.run('ZRANGE', 'z', '0', '1', 'WITHSCORES')).toEqual(['a', '1', 'b', '2'])
    db.protocol = 3
    expect(db.execute('ZRANGE', 'z', '0', '0', 'WITHSCORES').reply).toBe(
      '*1\r\n*2\r\n$1\r\na\r\n,1\r\n'
    )
    expect(db.execute('ZPOPMIN', 'z').reply).toBe('*2\r\n$1\r\na\r\n,1\r\n')
    expect(db.execute('ZPOPMIN', 'z', '1').reply).toBe('*1\r\n*2\r\n$1\r\nb\r\n,2\r\n')
  })

  it('refuses what does not go together', () => {
    const db = filled()
    const limit =
      'ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX'
    expect(db.all('zrange z 0 1 limit 0 1')).toEqual([new RespError(limit)])
    const scores = 'ERR syntax error, WITHSCORES not supported in combination with BYLEX'
    expect(db.all('zrange z - + bylex withscores')).toEqual([new RespError(scores)])
    expect(db.all('zrevrange z 0 1 rev', 'zrangebyscore z 0 1 bylex')).toEqual([SYNTAX, SYNTAX])
    expect(db.all('zrange z a b byscore', 'zrange z a b bylex', 'zrange z a b')).toEqual([
      new RespError('ERR min or max is not a float'),
      new RespError('ERR min or max not valid string range item'),
      new RespError('ERR value is not an integer or out of range')
    ])
  })

  it('counts and removes', () => {
    const db = filled()
    expect(db.all('zcount z 2 (5', 'zcount z -inf +inf', 'zcount none 0 1')).toEqual([3, 5, 0])
    expect(db.all('zremrangebyrank z 0 0', 'zremrangebyscore z (4 9')).toEqual([1, 1])
    expect(db.change('ZREMRANGEBYSCORE', 'z', '100', '200')).toBeUndefined()
    expect(db.all('zrange z 0 -1', 'zlexcount z - +')).toEqual([['b', 'c', 'd'], 3])
    expect(db.change('ZREMRANGEBYRANK', 'z', '0', '-1')).toBe('deleted')
    db.all('zadd l 0 a 0 b 0 c', 'zremrangebylex l [a (c')
    expect(db.run('ZRANGE', 'l', '0', '-1')).toEqual(['c'])
    expect(db.run('ZLEXCOUNT', 'l', '(c', '+')).toBe(0)
    db.check()
  })
})

describe('taking members', () => {
  it('ZPOPMIN and ZPOPMAX', () => {
    const db = filled()
    expect(db.all('zpopmin z', 'zpopmax z 2', 'zpopmin none', 'zpopmin z 0')).toEqual([
      ['a', '1'],
      ['e', '5', 'd', '4'],
      [],
      []
    ])
    expect(db.change('ZPOPMIN', 'z', '0')).toBeUndefined()
    expect(db.change('ZPOPMAX', 'z', '9')).toBe('deleted')
    db.check()
  })

  it('ZRANDMEMBER', () => {
    const db = filled()
    expect('abcde').toContain(db.run('ZRANDMEMBER', 'z'))
    expect(new Set(db.run('ZRANDMEMBER', 'z', '4') as string[]).size).toBe(4)
    expect(db.run('ZRANDMEMBER', 'z', '-7', 'WITHSCORES')).toHaveLength(14)
    expect(db.all('zrandmember none', 'zrandmember none 1')).toEqual([null, []])
  })

  it('ZSCAN misses nothing, though scores change', () => {
    const db = new OneBucket()
    const members = Array.from({ length: 500 }, (_, i) => `member${i}`)
    members.forEach((member, i) => db.run('ZADD', 'z', String(i), member))
    const seen = new Map<string, number>()
    let cursor = '0'
    let steps = 0
    do {
      const [next, texts] = db.run('ZSCAN', 'z', cursor) as [string, string[]]
      for (let i = 0; i < texts.length; i += 2) seen.set(texts[i], (seen.get(texts[i]) ?? 0) + 1)
      db.run('ZADD', 'z', String(1000 * steps), members[(steps * 37) % 500])
      steps++
      cursor = next
    } while (cursor !== '0')
    expect([seen.size, steps > 10, Math.max(...seen.values())]).toEqual([500, true, 1])
    const [, matching] = db.run('ZSCAN', 'z', '0', 'MATCH', '*9', 'COUNT', '1000') as [
      string,
      string[]
    ]
    expect(matching).toHaveLength(100)
  })
})
