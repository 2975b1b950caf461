import { describe, expect, it } from 'vitest'
import { OneBucket } from '../../test/conformance/one-bucket.js'
import { RespError } from '../wire/resp/reply-value.js'

const POSITIVE = new RespError('ERR value is out of range, must be positive')

describe('lists', () => {
  it('grow and shrink at both ends', () => {
    const db = new OneBucket()
    expect(db.all('lpushx l a', 'rpushx l a', 'exists l')).toEqual([0, 0, 0])
    expect(db.all('rpush l c d', 'lpush l b a', 'rpushx l e', 'lpushx l _')).toEqual([2, 4, 5, 6])
    expect(db.all('lrange l 0 -1', 'llen l')).toEqual([['_', 'a', 'b', 'c', 'd', 'e'], 6])
    expect(db.all('lpop l', 'rpop l', 'lpop l 2', 'rpop l 9')).toEqual([
      '_',
      'e',
      ['a', 'b'],
      ['d', 'c']
    ])
    expect(db.all('exists l', 'lpop l')).toEqual([0, null])
    expect(db.execute('LPOP', 'l', '1').reply).toBe('*-1\r\n')
    expect(db.all('rpush l a', 'lpop l -1', 'lpop l x')).toEqual([1, POSITIVE, POSITIVE])
    expect(db.change('LPOP', 'l', '0')).toBeUndefined()
    expect(db.change('LPOP', 'l', '1')).toBe('deleted')
    db.check()
  })

  it('are read by place', () => {
    const db = new OneBucket()
    db.run('RPUSH', 'l', ...'abcdef'.split(''))
    expect(db.all('lindex l 0', 'lindex l -1', 'lindex l 6', 'lindex l -7')).toEqual([
      'a',
      'f',
      null,
      null
    ])
    expect(db.all('lrange l 1 2', 'lrange l -2 100', 'lrange l 4 2', 'lrange l -100 -6')).toEqual([
      ['b', 'c'],
      ['e', 'f'],
      [],
      ['a']
    ])
    const integer = new RespError('ERR value is not an integer or out of range')
    expect(db.all('lindex none x', 'lindex l x', 'lrange none x 1')).toEqual([
      null,
      integer,
      integer
    ])
  })

  it('are changed in the middle', () => {
    const db = new OneBucket()
    db.run('RPUSH', 'l', ...'abcabc'.split(''))
    expect(db.all('lset l 0 A', 'lset l -1 C', 'lset l 6 x', 'lset none 0 x')).toEqual([
      'OK',
      'OK',
      new RespError('ERR index out of range'),
      new RespError('ERR no such key')
    ])
    expect(db.all('linsert l before b x', 'linsert l AFTER C y', 'linsert l after ? y')).toEqual([
      7, 8, -1
    ])
    expect(db.all('linsert none before a b', 'linsert l on a b')).toEqual([
      0,
      new RespError('ERR syntax error')
    ])
    expect(db.run('LRANGE', 'l', '0', '-1')).toEqual(['A', 'x', 'b', 'c', 'a', 'b', 'C', 'y'])
    expect(db.all('lrem l 1 b', 'lrem l 0 ?', 'lrem l -1 y', 'llen l')).toEqual([1, 0, 1, 6])
    expect(db.change('LREM', 'l', '0', '?')).toBeUndefined()
    expect(db.change('LTRIM', 'l', '0', '-1')).toBeUndefined()
    expect(db.all('ltrim l 1 -2', 'lrange l 0 -1')).toEqual(['OK', ['x', 'c', 'a', 'b']])
    expect(db.change('LTRIM', 'l', '5', '9')).toBe('deleted')
    db.run('RPUSH', 'l', 'a', 'a')
    expect(db.change('LREM', 'l', '0', 'a')).toBe('deleted')
    db.check()
  })

  it('LPOS finds the first, the last, the nth, some or all', () => {
    const db = new OneBucket()
    db.run('RPUSH', 'l', ...'abcabcab'.split(''))
    expect(db.all('lpos l b', 'lpos l b rank 2', 'lpos l b rank -1', 'lpos l z')).toEqual([
      1,
      4,
      7,
      null
    ])
    expect(db.all('lpos l b count 0', 'lpos l b count 2 rank -2', 'lpos l z count 0')).toEqual([
      [1, 4, 7],
      [4, 1],
      []
    ])
    expect(db.all('lpos l c maxlen 2', 'lpos l c maxlen 3', 'lpos l c count 0 maxlen 4')).toEqual([
      null,
      2,
      [2]
    ])
    expect(db.all('lpos l b count -1', 'lpos l b maxlen -1', 'lpos l b rank')).toEqual([
      new RespError("ERR COUNT can't be negative"),
      new RespError("ERR MAXLEN can't be negative"),
      new RespError('ERR syntax error')
    ])
    expect(db.all('lpos l a count 0 rank -1', 'lpos l a rank -3')).toEqual([[6, 3, 0], 0])
    expect(db.run('LPOS', 'l', 'b', 'RANK', '0')).toBeInstanceOf(RespError)
    expect(db.run('LPOS', 'l', 'b', 'RANK', '-9223372036854775808')).toBeInstanceOf(RespError)
    expect(db.run('LPOS', 'l', 'b', 'RANK', '-9223372036854775807')).toBeNull()
  })
})
