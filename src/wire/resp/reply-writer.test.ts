import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDouble, parseDouble } from './double-text.js'
import { ReplyLimitError, ReplyWriter, type Protocol } from './reply-writer.js'

const written = (protocol: Protocol, write: (writer: ReplyWriter) => void): string => {
  // A buffer too small for anything, so that every reply has to make its room.
  const writer = new ReplyWriter({ protocol, initialBytes: 1 })
  write(writer)
  return Buffer.from(writer.bytes.subarray(0, writer.length)).toString('latin1')
}

const bulk = (writer: ReplyWriter, text: string): void => {
  const bytes = new Uint8Array(Buffer.from(`<<<${text}>>>`, 'latin1'))
  writer.bulk(bytes, new DataView(bytes.buffer), 3, text.length)
}

const cases: [string, (writer: ReplyWriter) => void, string, string][] = [
  ['ok', (w) => w.ok(), '+OK\r\n', '+OK\r\n'],
  ['pong', (w) => w.pong(), '+PONG\r\n', '+PONG\r\n'],
  ['nil', (w) => w.nil(), '$-1\r\n', '_\r\n'],
  ['nil array', (w) => w.nilArray(), '*-1\r\n', '_\r\n'],
  ['simple', (w) => w.simple('QUEUED'), '+QUEUED\r\n', '+QUEUED\r\n'],
  ['error', (w) => w.error("ERR no '\r\n'"), "-ERR no '  '\r\n", "-ERR no '  '\r\n"],
  ['integer', (w) => w.integer(-42), ':-42\r\n', ':-42\r\n'],
  ['integer 0', (w) => w.integer(0), ':0\r\n', ':0\r\n'],
  [
    'long integer',
    (w) => w.longInteger(-(2n ** 63n)),
    ':-9223372036854775808\r\n',
    ':-9223372036854775808\r\n'
  ],
  ['bulk', (w) => bulk(w, 'va\r\nlue'), '$7\r\nva\r\nlue\r\n', '$7\r\nva\r\nlue\r\n'],
  ['empty bulk', (w) => bulk(w, ''), '$0\r\n\r\n', '$0\r\n\r\n'],
  ['bulk string', (w) => w.bulkString('caf\xe9'), '$4\r\ncaf\xe9\r\n', '$4\r\ncaf\xe9\r\n'],
  ['array', (w) => w.array(12), '*12\r\n', '*12\r\n'],
  ['map', (w) => w.map(3), '*6\r\n', '%3\r\n'],
  ['set', (w) => w.set(3), '*3\r\n', '~3\r\n'],
  ['push', (w) => w.push(3), '*3\r\n', '>3\r\n'],
  ['double', (w) => w.double(1.5), '$3\r\n1.5\r\n', ',1.5\r\n'],
  ['infinity', (w) => w.double(-Infinity), '$4\r\n-inf\r\n', ',-inf\r\n'],
  ['true', (w) => w.boolean(true), ':1\r\n', '#t\r\n'],
  ['false', (w) => w.boolean(false), ':0\r\n', '#f\r\n'],
  [
    'big number',
    (w) => w.bigNumber(10n ** 20n),
    `$21\r\n1${'0'.repeat(20)}\r\n`,
    `(1${'0'.repeat(20)}\r\n`
  ],
  ['verbatim', (w) => w.verbatim('txt', 'a:1'), '$3\r\na:1\r\n', '=7\r\ntxt:a:1\r\n'],
  ['raw', (w) => w.raw(Uint8Array.of(65, 66, 67, 68), 1, 2), 'BC', 'BC']
]

describe('ReplyWriter', () => {
  it.each(cases)('writes %s', (_, write, resp2, resp3) => {
    expect(written(2, write)).toBe(resp2)
    expect(written(3, write)).toBe(resp3)
  })

  it('writes every safe integer as its digits', () => {
    const edges = [9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 1e10, Number.MAX_SAFE_INTEGER]
    for (const edge of edges) {
      expect(written(2, (w) => w.integer(edge))).toBe(`:${edge}\r\n`)
      expect(written(2, (w) => w.integer(-edge))).toBe(`:${-edge}\r\n`)
    }
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(written(2, (w) => w.integer(value))).toBe(`:${value}\r\n`)
      })
    )
  })

  it('writes what no exact integer is as the nearest of 64 bits, and never fails', () => {
    const texts = [2 ** 53, 2 ** 70, -(2 ** 70), Infinity, -Infinity, NaN, 1e19].map((value) =>
      written(2, (w) => w.integer(value))
    )
    const [most, least] = [2n ** 63n - 1n, -(2n ** 63n)]
    const expected = [2n ** 53n, most, least, most, least, 0n, most]
    expect(texts).toEqual(expected.map((value) => `:${value}\r\n`))
  })

  it('writes payloads of every length around its two ways of copying', () => {
    for (let length = 0; length < 400; length++) {
      const text = String.fromCharCode(
        ...Array.from({ length }, (_, i) => (i * 31 + length) & 0xff)
      )
      expect(written(2, (w) => bulk(w, text))).toBe(`$${length}\r\n${text}\r\n`)
    }
  })

  it('keeps what is there when it grows, and can take back and start over', () => {
    const writer = new ReplyWriter({ initialBytes: 8 })
    for (let i = 0; i < 50; i++) writer.integer(i)
    const all = Array.from({ length: 50 }, (_, i) => `:${i}\r\n`).join('')
    expect(Buffer.from(writer.bytes.subarray(0, writer.length)).toString()).toBe(all)
    writer.truncate(4)
    writer.ok()
    expect(Buffer.from(writer.bytes.subarray(0, writer.length)).toString()).toBe(':0\r\n+OK\r\n')
    expect(() => writer.truncate(writer.length + 1)).toThrow(RangeError)
    writer.reset()
    expect(writer.length).toBe(0)
  })

  it('gives its buffer away and never touches it again', () => {
    const writer = new ReplyWriter({ initialBytes: 16 })
    writer.ok()
    const given = writer.release()
    writer.pong()
    expect(Buffer.from(given).toString()).toBe('+OK\r\n')
    expect(writer.length).toBe(7)
  })

  it('does not keep the memory of one large turn', () => {
    const writer = new ReplyWriter({ initialBytes: 16 })
    writer.bulkString('x'.repeat(10_000))
    writer.reset()
    expect(writer.bytes.length).toBe(16)
  })

  it('stops at its limit with what was written before intact', () => {
    const writer = new ReplyWriter({ initialBytes: 16, maxBytes: 1000 })
    const fill = (): void => {
      for (let i = 0; i < 1000; i++) writer.bulkString('0123456789')
    }
    expect(fill).toThrow(ReplyLimitError)
    expect(fill).toThrow(/replies of \d+ bytes exceed 1000/)
    expect(writer.length % 17).toBe(0)
    expect(writer.length).toBeGreaterThan(900)
    expect(writer.bytes.length).toBeLessThan(1100)
  })
})

describe('doubles as text', () => {
  it.each([
    [0, '0'],
    [-0, '-0'],
    [3, '3'],
    [-3, '-3'],
    [0.1, '0.1'],
    [1.1, '1.1'],
    [3.0000000000000004, '3.0000000000000004'],
    [1e16, '10000000000000000'],
    [1e17, '1e+17'],
    [-1.5e300, '-1.5e+300'],
    [1e-7, '1e-7'],
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
    [NaN, 'nan']
  ])('%d is %s', (value, text) => {
    expect(formatDouble(value)).toBe(text)
  })

  it('read back as the same double', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(parseDouble(formatDouble(value))).toBe(value)
      })
    )
  })

  it('are nothing else', () => {
    for (const text of ['', '.', '1e', '0x10', '1_0', ' 1', '1 ', 'Infinity', '--1', '1.2.3']) {
      expect(parseDouble(text)).toBeUndefined()
    }
  })
})
