import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INCOMPLETE, PROTOCOL_ERROR, RequestParser, type RequestLimits } from './request-parser.js'

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'))
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

const encode = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`

interface Outcome {
  readonly commands: string[][]
  readonly error: string | undefined
  /** Bytes of a command that is not complete. */
  readonly left: number
}

/**
 * A connection as a real one works: a piece is appended to what is left, and parsed only when as much
 * has come as was said to be needed. What is left moves to another place of another buffer each time.
 */
function feed(input: Uint8Array, cuts: readonly number[], limits: RequestLimits = {}): Outcome {
  const parser = new RequestParser(limits)
  const commands: string[][] = []
  let rest = new Uint8Array(0)
  let needed = 1
  let from = 0
  for (const [turn, to] of [...cuts, input.length].entries()) {
    const piece = input.subarray(from, to)
    from = to
    const before = (turn * 7) % 5
    const bytes = new Uint8Array(before + rest.length + piece.length)
    bytes.set(rest, before)
    bytes.set(piece, before + rest.length)
    needed -= piece.length
    let offset = before
    while (needed <= 0 && offset < bytes.length) {
      const after = parser.parse(bytes, new DataView(bytes.buffer), offset, bytes.length)
      if (after === PROTOCOL_ERROR) return { commands, error: parser.errorText, left: 0 }
      if (after === INCOMPLETE) {
        expect(parser.needed).toBeGreaterThan(0)
        needed = parser.needed
        break
      }
      expect(after).toBeGreaterThan(offset)
      if (parser.count > 0) commands.push(wordsOf(parser, bytes))
      offset = after
    }
    if (offset === bytes.length) needed = 1
    rest = bytes.slice(offset)
  }
  return { commands, error: undefined, left: rest.length }
}

function wordsOf(parser: RequestParser, bytes: Uint8Array): string[] {
  return Array.from({ length: parser.count }, (_, i) => {
    const offset = parser.offsets[i]
    return textOf(bytes.subarray(offset, offset + parser.lengths[i]))
  })
}

const everyByte = (input: Uint8Array, step = 1): number[] =>
  Array.from({ length: Math.ceil(input.length / step) }, (_, i) => i * step).slice(1)

/** Whole and byte by byte (long ones in larger bites), which must agree. */
function parse(text: string, limits: RequestLimits = {}): Outcome {
  const whole = feed(bytesOf(text), [], limits)
  const step = text.length > 4096 ? 997 : 1
  expect(feed(bytesOf(text), everyByte(bytesOf(text), step), limits)).toEqual(whole)
  return whole
}

const done = (...commands: string[][]): Outcome => ({ commands, error: undefined, left: 0 })

describe('multibulk requests', () => {
  it('are cut into their arguments', () => {
    expect(parse('*2\r\n$3\r\nGET\r\n$2\r\nk0\r\n')).toEqual(done(['GET', 'k0']))
    expect(parse('*1\r\n$0\r\n\r\n')).toEqual(done(['']))
    expect(parse('*1\r\n$4\r\n\r\n\r\n\r\n')).toEqual(done(['\r\n\r\n']))
  })

  it('come in pipelines, mixed with inline ones', () => {
    const set = ['SET', 'k', 'v'.repeat(1234)]
    const text = `${encode(set)}PING\r\n${encode(['GET', 'k'])}get k\n`
    expect(parse(text)).toEqual(done(set, ['PING'], ['GET', 'k'], ['get', 'k']))
  })

  it('have as many arguments as they like, up to the limit', () => {
    const words = Array.from({ length: 300 }, (_, i) => 'x'.repeat(i % 13))
    expect(parse(encode(words))).toEqual(done(words))
    expect(parse(encode(['a', 'b', 'c']), { maxArguments: 3 })).toEqual(done(['a', 'b', 'c']))
    expect(parse(encode(['a', 'b', 'c']), { maxArguments: 2 }).error).toBe(
      'ERR Protocol error: invalid multibulk length'
    )
  })

  it('may be empty, and are then passed over', () => {
    const text = `*0\r\n*-1\r\n\r\n\n*-10\r\n   \r\n${encode(['PING'])}`
    expect(parse(text)).toEqual(done(['PING']))
  })

  it('leave what is not complete', () => {
    const text = encode(['SET', 'k', 'value'])
    for (let length = 1; length < text.length; length++) {
      const outcome = parse(text.slice(0, length))
      expect(outcome).toEqual({ commands: [], error: undefined, left: length })
    }
  })

  it('are refused in the words of Redis', () => {
    const error = (text: string, limits?: RequestLimits): string | undefined =>
      parse(text, limits).error?.replace('ERR Protocol error: ', '')
    const set = '*3\r\n$3\r\nSET\r\n$1\r\nx\r\n'
    expect(error('*3000000000\r\n')).toBe('invalid multibulk length')
    expect(error('*1048577\r\n')).toBe('invalid multibulk length')
    expect(error('*x\r\n')).toBe('invalid multibulk length')
    expect(error('*\r\n')).toBe('invalid multibulk length')
    expect(error('*01\r\n')).toBe('invalid multibulk length')
    expect(error('*+1\r\n$4\r\nPING\r\n')).toBe('invalid multibulk length')
    expect(error('*-0\r\n')).toBe('invalid multibulk length')
    expect(error(`*1/\r\n${'$1\r\nx\r\n'.repeat(9)}`)).toBe('invalid multibulk length')
    expect(error(`${set}$-0\r\n\r\n`)).toBe('invalid bulk length')
    expect(error(`*${'9'.repeat(400)}\r\n`)).toBe('invalid multibulk length')
    expect(error(`${set}fooz\r\n`)).toBe("expected '$', got 'f'")
    expect(error('*1\r\nfoo\r\n')).toBe("expected '$', got 'f'")
    expect(error(`${set}$-10\r\n`)).toBe('invalid bulk length')
    expect(error(`${set}$2000000000\r\n`)).toBe('invalid bulk length')
    expect(error(`${set}$blabla\r\n`)).toBe('invalid bulk length')
    expect(error(`${set}$00\r\n\r\n`)).toBe('invalid bulk length')
    expect(error(`${set}$4\r\nabcd\r\n`, { maxBulkBytes: 3 })).toBe('invalid bulk length')
    expect(error(`${set}$10\r\nabcdefghij\r\n`, { maxBulkBytes: 9 })).toBe('invalid bulk length')
    expect(error(`*${'1'.repeat(65535)}`)).toBe('too big mbulk count string')
    expect(error(`*1\r\n$${'1'.repeat(65535)}`)).toBe('too big bulk count string')
    expect(error(`*\0${'A'.repeat(65535)}\n`)).toBe('too big mbulk count string')
  })

  it('end at an error, and what came before it counts', () => {
    const outcome = parse(`${encode(['PING'])}*1\r\nfoo\r\n${encode(['PING'])}`)
    expect(outcome.commands).toEqual([['PING']])
    expect(outcome.error).toBe("ERR Protocol error: expected '$', got 'f'")
  })
})

describe('inline requests', () => {
  it.each<[string, string[]]>([
    ['PING\r\n', ['PING']],
    ['  set  k\tv \n', ['set', 'k', 'v']],
    ['set k "a b"\r\n', ['set', 'k', 'a b']],
    ['set k ""\r\n', ['set', 'k', '']],
    ["set k ''\r\n", ['set', 'k', '']],
    ['set k "\\x41\\xfF\\n\\r\\t\\b\\a\\"\\\\\\q"\r\n', ['set', 'k', 'A\xff\n\r\t\b\x07"\\q']],
    ['set k "\\x4"\r\n', ['set', 'k', 'x4']],
    ["set k 'it\\'s \\n'\r\n", ['set', 'k', "it's \\n"]],
    ['set pre"fix"\r\n', ['set', 'prefix']],
    ['a\vb\v c\r\n', ['a\vb\v', 'c']],
    ['a\rb\n', ['a', 'b']],
    ['$4\r\n', ['$4']]
  ])('%j', (text, words) => {
    expect(parse(text)).toEqual(done(words))
  })

  it.each(['"', 'set k "v\r\n', "set k 'v\r\n", 'set """k""" v\r\n', '"a"b\r\n', "'\\'\n", '"\\'])(
    '%j is unbalanced',
    (text) => {
      expect(parse(`${text}\n`).error).toBe('ERR Protocol error: unbalanced quotes in request')
    }
  )

  it('say that they are inline, so that nobody forwards their bytes', () => {
    const parser = new RequestParser()
    const bytes = bytesOf(`PING\r\n${encode(['PING'])}`)
    const view = new DataView(bytes.buffer)
    const after = parser.parse(bytes, view, 0, bytes.length)
    expect(parser.inline).toBe(true)
    parser.parse(bytes, view, after, bytes.length)
    expect(parser.inline).toBe(false)
  })

  it('are not longer than the limit', () => {
    const error = 'ERR Protocol error: too big inline request'
    expect(parse('A'.repeat(64 * 1024)).error).toBe(error)
    expect(parse(`${'A'.repeat(64 * 1024)}\n`).error).toBe(error)
    expect(parse(`${'A'.repeat(64 * 1024 - 1)}\n`).commands).toHaveLength(1)
    expect(parse('abcdefgh\n', { maxInlineBytes: 8 }).error).toBe(error)
  })

  it('never end after a NUL, as in Redis', () => {
    expect(parse(`\0${'A\n'.repeat(100)}`).commands).toEqual([])
    expect(parse(`\0${'A\n'.repeat(40000)}`).error).toBe(
      'ERR Protocol error: too big inline request'
    )
  })
})

describe('any bytes', () => {
  const word = fc.string({ unit: 'binary-ascii', maxLength: 120 })
  const cuts = fc.array(fc.nat(400), { maxLength: 8 })
  const clip = (places: number[], length: number): number[] =>
    places.map((place) => Math.min(place, length)).sort((a, b) => a - b)

  it('of well-formed commands give these commands, however they are cut', () => {
    const commands = fc.array(fc.array(word, { minLength: 1, maxLength: 20 }), { maxLength: 6 })
    fc.assert(
      fc.property(commands, cuts, (list, places) => {
        const input = bytesOf(list.map(encode).join(''))
        expect(feed(input, clip(places, input.length))).toEqual(done(...list))
        expect(feed(input, everyByte(input))).toEqual(done(...list))
      }),
      { numRuns: 60 }
    )
  })

  it('of anything give the same result however they are cut, and nothing is thrown', () => {
    const token = fc.oneof(
      fc.constantFrom('*', '$', '\r\n', '\n', '\r', '"', "'", '\\', '\\x', ' ', '-', '\0'),
      fc.constantFrom(
        '*1\r\n',
        '*2\r\n',
        '*10\r\n',
        '$1\r\n',
        '$3\r\nGET\r\n',
        '$11\r\n',
        '*0\r\n'
      ),
      fc.nat(20).map(String),
      fc.string({ unit: 'binary-ascii', maxLength: 4 })
    )
    const input = fc.array(token, { maxLength: 40 }).map((tokens) => bytesOf(tokens.join('')))
    const limits = { maxArguments: 11, maxBulkBytes: 12, maxInlineBytes: 24 }
    fc.assert(
      fc.property(input, cuts, (bytes, places) => {
        const whole = feed(bytes, [], limits)
        expect(feed(bytes, clip(places, bytes.length), limits)).toEqual(whole)
        expect(feed(bytes, everyByte(bytes), limits)).toEqual(whole)
      }),
      { numRuns: 3000 }
    )
  })
})

describe('work', () => {
  /** Counts how often a byte is looked at. */
  const counted = (bytes: Uint8Array): { bytes: Uint8Array; reads: () => number } => {
    let reads = 0
    const proxy = new Proxy(bytes, {
      get: (target, name) => {
        reads++
        return target[name as unknown as number]
      }
    })
    return { bytes: proxy, reads: () => reads }
  }

  it('on a value of 100 MB in pieces of 64 KB does not grow with the value', () => {
    const piece = 64 * 1024
    const memory = new Uint8Array(100 * 1024 * 1024)
    memory.set(bytesOf(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$${memory.length - 100}\r\n`))
    const view = new DataView(memory.buffer)
    const { bytes, reads } = counted(memory)
    const parser = new RequestParser()
    expect(parser.parse(bytes, view, 0, piece)).toBe(INCOMPLETE)
    const total = piece + parser.needed
    for (let end = 2 * piece; end < total; end += piece) {
      expect(parser.parse(bytes, view, 0, end)).toBe(INCOMPLETE)
      expect(parser.needed).toBe(total - end)
    }
    expect(parser.parse(bytes, view, 0, total)).toBe(total)
    expect(parser.count).toBe(3)
    expect(reads()).toBeLessThan((memory.length / piece) * 50)
  })

  it('on many arguments in many pieces grows with the bytes, not with the pieces', () => {
    const words = Array.from({ length: 5000 }, (_, i) => `key:${i}`)
    const memory = bytesOf(encode(words))
    const { bytes, reads } = counted(memory)
    const parser = new RequestParser()
    const view = new DataView(memory.buffer)
    for (let end = 7; end < memory.length; end += 7) {
      expect(parser.parse(bytes, view, 0, end)).toBe(INCOMPLETE)
    }
    expect(parser.parse(bytes, view, 0, memory.length)).toBe(memory.length)
    expect(wordsOf(parser, memory)).toEqual(words)
    expect(reads()).toBeLessThan(memory.length * 5)
  })

  it.each(['*', '*1\r\n$', 'inline '])(
    'on a long line after %j looks at each byte once',
    (head) => {
      const memory = bytesOf(head + '1'.repeat(60_000))
      const { bytes, reads } = counted(memory)
      const parser = new RequestParser()
      const view = new DataView(memory.buffer)
      for (let end = head.length; end < memory.length; end += 100) {
        expect(parser.parse(bytes, view, 0, end)).toBe(INCOMPLETE)
      }
      expect(reads()).toBeLessThan(memory.length * 4)
    }
  )

  it('forgets an incomplete command when told to', () => {
    const parser = new RequestParser()
    const partial = bytesOf('*2\r\n$3\r\nGET\r\n$2\r\n')
    const view = new DataView(partial.buffer)
    expect(parser.parse(partial, view, 0, partial.length)).toBe(INCOMPLETE)
    parser.reset()
    const other = bytesOf(encode(['PING']))
    expect(parser.parse(other, new DataView(other.buffer), 0, other.length)).toBe(other.length)
    expect(wordsOf(parser, other)).toEqual(['PING'])
  })
})
