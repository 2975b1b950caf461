import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OneBucket } from '../../test/conformance/one-bucket.js'
import { latin1Bytes } from '../core/bytes.js'
import { RespError } from '../wire/resp/reply-value.js'
import { addLongDoubles, formatLongDouble, parseLongDouble } from './long-double.js'
import { parseFiniteOrInfinite, parseInteger, parseLong } from './number-text.js'

const INTEGER = new RespError('ERR value is not an integer or out of range')
const FLOAT = new RespError('ERR value is not a valid float')
const OVERFLOW = new RespError('ERR increment or decrement would overflow')

describe('integers as text', () => {
  const LONG_MAX = 2n ** 63n - 1n

  it('are read if they would be written the same way', () => {
    const texts = ['0', '7', '-7', '123456789012345', '9223372036854775807', '-9223372036854775808']
    for (const text of texts) {
      expect(parseLong(latin1Bytes(text), 0, text.length)).toBe(BigInt(text))
      expect(parseInteger(latin1Bytes(text), 0, text.length)).toBe(Number(text))
    }
    const none = ['', '-', '+1', ' 1', '1 ', '01', '-0', '1.0', '1e3', '0x1', 'a', '--1']
    for (const text of [...none, '9223372036854775808', '-9223372036854775809', '1'.repeat(30)]) {
      expect(parseLong(latin1Bytes(text), 0, text.length)).toBeUndefined()
      expect(parseInteger(latin1Bytes(text), 0, text.length)).toBeNaN()
    }
  })

  it('round-trip', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -LONG_MAX - 1n, max: LONG_MAX }), (value) => {
        const bytes = latin1Bytes(`x${value}y`)
        expect(parseLong(bytes, 1, bytes.length - 2)).toBe(value)
        expect(parseInteger(bytes, 1, bytes.length - 2)).toBe(Number(value))
      })
    )
  })
})

describe('floats as text', () => {
  it('are what strtod takes', () => {
    const texts: Record<string, number> = {
      '1': 1,
      '+1.5': 1.5,
      '.5': 0.5,
      '5.': 5,
      '1e3': 1000,
      '0x10': 16,
      '-0x1.8p1': -3,
      inf: Infinity,
      '-Infinity': -Infinity,
      '0e999': 0,
      '5e-324': 5e-324
    }
    for (const [text, value] of Object.entries(texts)) {
      expect([text, parseFiniteOrInfinite(text)]).toEqual([text, value])
    }
    for (const text of ['', 'nan', '1 ', ' 1', '1e', '.', 'e5', '1e400', '1e-400', '0x', 'infi']) {
      expect([text, parseFiniteOrInfinite(text)]).toEqual([text, NaN])
    }
  })
})

describe('INCR and its kin', () => {
  it('count', () => {
    const db = new OneBucket()
    expect(db.all('incr k', 'incrby k 41', 'decr k', 'decrby k 50')).toEqual([1, 42, 41, -9])
    expect(db.all('get k', 'type k', 'pexpire k 5', 'incr k', 'pttl k')).toEqual([
      '-9',
      'string',
      1,
      -8,
      5
    ])
    db.check()
  })

  it('have 64 bits', () => {
    const db = new OneBucket()
    expect(db.all('set k 9007199254740991', 'incr k', 'incr k')).toEqual([
      'OK',
      9007199254740992n,
      9007199254740993n
    ])
    expect(db.all('decrby k 2', 'get k')).toEqual([9007199254740991, '9007199254740991'])
    expect(db.all('set k 9223372036854775806', 'incr k', 'incr k', 'get k')).toEqual([
      'OK',
      9223372036854775807n,
      OVERFLOW,
      '9223372036854775807'
    ])
    expect(db.run('DECRBY', 'k', '-9223372036854775808')).toEqual(
      new RespError('ERR decrement would overflow')
    )
    expect(db.all('set k -9223372036854775807', 'decr k', 'decr k')).toEqual([
      'OK',
      -9223372036854775808n,
      OVERFLOW
    ])
    expect(db.run('INCRBY', 'n', '9223372036854775807')).toBe(9223372036854775807n)
  })

  it('refuse what is no integer and leave it alone', () => {
    const db = new OneBucket()
    for (const value of ['', ' 1', '01', '1.0', 'a', '9223372036854775808']) {
      db.run('SET', 'k', value)
      expect(db.run('INCR', 'k')).toEqual(INTEGER)
      expect(db.run('INCRBY', 'n', value)).toEqual(INTEGER)
    }
    expect(db.run('EXISTS', 'n')).toBe(0)
  })
})

describe('INCRBYFLOAT', () => {
  it('adds as Redis does', () => {
    const db = new OneBucket()
    expect(db.all('incrbyfloat k 0.1', 'incrbyfloat k 0.2', 'get k')).toEqual(['0.1', '0.3', '0.3'])
    expect(db.all('set k 3.0', 'incrbyfloat k 1.000000000000000005')).toEqual([
      'OK',
      '4.00000000000000001'
    ])
    expect(db.all('set k 1.5', 'incrbyfloat k 1.5')).toEqual(['OK', '3'])
    expect(db.all('set k 5.0e3', 'incrbyfloat k 200')).toEqual(['OK', '5200'])
    expect(db.all('set k 17179869184', 'incrbyfloat k 1.5')).toEqual(['OK', '17179869185.5'])
    expect(db.all('set k 0', 'incrbyfloat k -1.1', 'incrbyfloat k 1.1')).toEqual([
      'OK',
      '-1.1',
      '0'
    ])
    expect(db.all('set k 1e20', 'incrbyfloat k 1')).toEqual(['OK', '100000000000000000000'])
    // All 64 bits of the mantissa count, and the tie behind them goes to even.
    expect(db.all('set k 18446744073709551614', 'incrbyfloat k 1')).toEqual([
      'OK',
      '18446744073709551615'
    ])
    expect(db.all('incrbyfloat k 1.5', 'incrbyfloat k 1')).toEqual([
      '18446744073709551616',
      '18446744073709551616'
    ])
    expect(db.run('INCRBYFLOAT', 'k', 'inf')).toEqual(
      new RespError('ERR increment would produce NaN or Infinity')
    )
    expect(db.all('incrbyfloat k x', 'set k x', 'incrbyfloat k 1')).toEqual([FLOAT, 'OK', FLOAT])
    expect(db.all('incrbyfloat n 1e5000', 'incrbyfloat n nan')).toEqual([FLOAT, FLOAT])
  })

  it('is exact for sums of two short decimals', () => {
    const hundredths = fc.integer({ min: -1e9, max: 1e9 })
    fc.assert(
      fc.property(hundredths, hundredths, (a, b) => {
        const left = parseLongDouble((a / 100).toFixed(2))!
        const right = parseLongDouble((b / 100).toFixed(2))!
        const sum = formatLongDouble(addLongDoubles(left, right))
        // 64 bits leave eleven of the seventeen digits to numbers of this size.
        expect(Number(sum)).toBeCloseTo((a + b) / 100, 8)
        expect(Math.round(Number(sum) * 100)).toBe(a + b)
      })
    )
  })
})
