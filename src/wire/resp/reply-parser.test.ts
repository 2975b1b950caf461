import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReplyParser, type ReplyParserOptions } from './reply-parser.js'
import { RespError, RespProtocolError, type ReplyValue } from './reply-value.js'
import { ReplyWriter } from './reply-writer.js'

type Options = Omit<ReplyParserOptions, 'onReply' | 'onPush'>

interface Outcome {
  readonly replies: ReplyValue[]
  readonly pushes: ReplyValue[][]
  readonly error: string | undefined
}

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf8'))

/** Pieces arrive in one buffer that is overwritten afterwards, as a socket's is. */
function feed(input: Uint8Array, cuts: readonly number[], options: Options = {}): Outcome {
  const replies: ReplyValue[] = []
  const pushes: ReplyValue[][] = []
  const parser = new ReplyParser({
    ...options,
    onReply: (value) => replies.push(value),
    onPush: (items) => pushes.push(items)
  })
  let from = 0
  for (const to of [...cuts, input.length]) {
    const piece = input.slice(from, to)
    from = to
    try {
      parser.push(piece)
    } catch (error) {
      if (!(error instanceof RespProtocolError)) throw error
      expect(() => parser.push(Uint8Array.of(0x2b))).toThrow(error.message)
      return { replies, pushes, error: error.message }
    }
    piece.fill(0xff)
  }
  return { replies, pushes, error: undefined }
}

const everyByte = (input: Uint8Array): number[] => Array.from(input.keys()).slice(1)

/** Whole and byte by byte, which must agree. */
function parse(text: string, options: Options = {}): Outcome {
  const input = bytesOf(text)
  const whole = feed(input, [], options)
  expect(feed(input, everyByte(input), options)).toEqual(whole)
  return whole
}

const valueOf = (text: string, options: Options = {}): ReplyValue => {
  const { replies, error } = parse(text, options)
  expect(error).toBeUndefined()
  expect(replies).toHaveLength(1)
  return replies[0]
}

describe('ReplyParser', () => {
  it.each<[string, ReplyValue]>([
    ['+OK\r\n', 'OK'],
    ['+\r\n', ''],
    ['-ERR no such key\r\n', new RespError('ERR no such key')],
    ['!8\r\nERR a\r\nb\r\n', new RespError('ERR a\r\nb')],
    [':42\r\n', 42],
    [':+42\r\n', 42],
    [':-9007199254740991\r\n', -9007199254740991],
    [':9223372036854775807\r\n', 9223372036854775807n],
    ['$5\r\nhello\r\n', 'hello'],
    ['$0\r\n\r\n', ''],
    ['$7\r\ncafé \n\r\n', 'café \n'],
    ['$-1\r\n', null],
    ['*-1\r\n', null],
    ['_\r\n', null],
    ['#t\r\n', true],
    ['#f\r\n', false],
    [',1.5\r\n', 1.5],
    [',10\r\n', 10],
    [',-1.2e+30\r\n', -1.2e30],
    [',inf\r\n', Infinity],
    [',-inf\r\n', -Infinity],
    [',nan\r\n', NaN],
    [
      '(-3492890328409238509324850943850943825024385\r\n',
      -3492890328409238509324850943850943825024385n
    ],
    ['=15\r\ntxt:Some string\r\n', 'Some string'],
    ['*0\r\n', []],
    ['*3\r\n:1\r\n*2\r\n$1\r\na\r\n_\r\n+b\r\n', [1, ['a', null], 'b']],
    [
      '%2\r\n+a\r\n:1\r\n+b\r\n*0\r\n',
      new Map<ReplyValue, ReplyValue>([
        ['a', 1],
        ['b', []]
      ])
    ],
    ['~3\r\n+a\r\n:1\r\n#t\r\n', new Set<ReplyValue>(['a', 1, true])],
    ['%0\r\n', new Map()],
    ['~0\r\n', new Set()],
    ['|1\r\n+ttl\r\n:3600\r\n$1\r\nv\r\n', 'v'],
    ['*2\r\n:1\r\n|1\r\n+ttl\r\n*1\r\n:1\r\n:2\r\n', [1, 2]],
    ['|0\r\n+x\r\n', 'x']
  ])('reads %j', (text, value) => {
    expect(valueOf(text)).toEqual(value)
  })

  it('tells the code of an error', () => {
    expect((valueOf('-MOVED 449 127.0.0.1:7804\r\n') as RespError).code).toBe('MOVED')
    expect((valueOf('-OOPS\r\n') as RespError).code).toBe('OOPS')
  })

  it('gives payloads as bytes of their own where that is asked for', () => {
    expect(valueOf('$3\r\na\r\n\r\n', { payload: 'bytes' })).toEqual(Uint8Array.of(0x61, 13, 10))
    expect(valueOf('=5\r\ntxt:a\r\n', { payload: 'bytes' })).toEqual(Uint8Array.of(0x61))
    expect(valueOf('+a\r\n', { payload: 'bytes' })).toBe('a')
    const both = [Uint8Array.of(0x61), Uint8Array.of(0x62)]
    expect(valueOf('*2\r\n$1\r\na\r\n$1\r\nb\r\n', { payload: 'bytes' })).toEqual(both)
  })

  it('keeps pushes apart from replies', () => {
    const text = '+a\r\n>2\r\n+message\r\n*1\r\n:1\r\n>0\r\n+b\r\n'
    expect(parse(text)).toEqual({
      replies: ['a', 'b'],
      pushes: [['message', [1]], []],
      error: undefined
    })
    const replies: ReplyValue[] = []
    new ReplyParser({ onReply: (value) => replies.push(value) }).push(bytesOf('>1\r\n+x\r\n'))
    expect(replies).toEqual([['x']])
  })

  it('keeps the first mark of a text: it is part of the value', () => {
    expect(valueOf('$4\r\n\ufeffa\r\n')).toBe('\ufeffa')
  })

  it.each([
    ['x\r\n', 'unknown type "x"'],
    ['\r\n', 'does not end in CR LF'],
    ['+OK\n', 'does not end in CR LF'],
    ['+O\rK\r\n', 'a CR inside a line'],
    [':1x\r\n', 'not an integer'],
    [':\r\n', 'not an integer'],
    [':9223372036854775808\r\n', 'more than 64 bits'],
    [`:${'1'.repeat(30)}\r\n`, 'not an integer'],
    ['$x\r\n', 'not a length'],
    ['$?\r\n', 'not a length'],
    ['$-2\r\n', 'not a length'],
    ['!-1\r\n', 'not a length'],
    ['%-1\r\n', 'not a length'],
    ['$536870913\r\n', 'more than'],
    ['$2\r\nabc\r\n', 'does not end in CR LF'],
    ['=3\r\ntxt\r\n', 'a verbatim without a format'],
    ['#x\r\n', 'neither t nor f'],
    ['_x\r\n', 'a nil with text'],
    [',1.x\r\n', 'not a double'],
    ['(1.5\r\n', 'not a big number'],
    ['*1\r\n>0\r\n', 'a push inside a reply']
  ])('refuses %j', (text, reason) => {
    expect(parse(`+before\r\n${text}`)).toEqual({
      replies: ['before'],
      pushes: [],
      error: expect.stringContaining(reason) as string
    })
  })

  it('keeps its limits', () => {
    const error = (text: string, options: Options): string => parse(text, options).error ?? 'none'
    expect(error('*1\r\n'.repeat(4), { maxDepth: 3 })).toContain('deeper than 3')
    expect(error(`${'*1\r\n'.repeat(3)}:1\r\n`, { maxDepth: 3 })).toBe('none')
    expect(error('$11\r\n', { maxBulkBytes: 10 })).toContain('more than 10')
    expect(error('*11\r\n', { maxItems: 10 })).toContain('more than 10')
    expect(error('%6\r\n', { maxItems: 10 })).toContain('more than 5')
    expect(error(`+${'a'.repeat(10)}`, { maxLineBytes: 10 })).toContain('longer than 10')
    expect(error('+12345678\r\n', { maxLineBytes: 10 })).toBe('none')
  })

  it('decodes a long double and a long number in time that fits their length', () => {
    expect(parse(`,${'1'.repeat(2000)}x\r\n`).error).toContain('not a double')
    expect(feed(bytesOf(`,${'1'.repeat(60_000)}x\r\n`), []).error).toContain('not a double')
  })

  it('does not make room for what was only announced', () => {
    const parser = new ReplyParser({ onReply: () => undefined })
    const before = process.memoryUsage().arrayBuffers
    parser.push(bytesOf('$500000000\r\nabc'))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000)
  })

  it('gathers a long payload from its pieces', () => {
    const payload = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 7) & 0x7f)
    const head = bytesOf(`*2\r\n$${payload.length}\r\n`)
    const input = new Uint8Array([...head, ...payload, ...bytesOf('\r\n:1\r\n')])
    const cuts = Array.from({ length: 45 }, (_, i) => (i + 1) * 65_537)
    const { replies } = feed(input, cuts, { payload: 'bytes' })
    const [[bytes, one]] = replies as [[Uint8Array, number]]
    expect(Buffer.compare(bytes, payload)).toBe(0)
    expect(one).toBe(1)
  })
})

describe('writer and parser', () => {
  const text = fc.string({
    unit: fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCharCode(code)),
    maxLength: 60
  })
  const line = text.map((value) => value.replace(/[\r\n]/g, ' '))
  const leaf: fc.Arbitrary<ReplyValue> = fc.oneof(
    text,
    fc.maxSafeInteger(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 200n }),
    line.map((value) => new RespError(value))
  )
  const { value } = fc.letrec<{ value: ReplyValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.array(fc.tuple(leaf, tie('value')), { maxLength: 5 }).map((pairs) => new Map(pairs)),
      fc.array(leaf, { maxLength: 5 }).map((items) => new Set(items))
    )
  }))

  function write(writer: ReplyWriter, reply: ReplyValue): void {
    if (reply === null) writer.nil()
    else if (typeof reply === 'string') writer.bulkString(reply)
    else if (typeof reply === 'boolean') writer.boolean(reply)
    else if (typeof reply === 'bigint') writer.bigNumber(reply)
    else if (reply instanceof RespError) writer.error(reply.text)
    else if (typeof reply === 'number') {
      if (Number.isSafeInteger(reply) && !Object.is(reply, -0)) writer.integer(reply)
      else writer.double(reply)
    } else if (Array.isArray(reply)) {
      writer.array(reply.length)
      for (const item of reply) write(writer, item)
    } else if (reply instanceof Map) {
      writer.map(reply.size)
      for (const entry of reply) for (const item of entry) write(writer, item)
    } else if (reply instanceof Set) {
      writer.set(reply.size)
      for (const item of reply) write(writer, item)
    }
  }

  it('give back what was written, whole and in pieces', () => {
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 4 }),
        fc.integer({ min: 1, max: 30 }),
        (list, step) => {
          const writer = new ReplyWriter({ protocol: 3, initialBytes: 16 })
          for (const reply of list) write(writer, reply)
          const input = writer.bytes.slice(0, writer.length)
          const cuts = everyByte(input).filter((place) => place % step === 0)
          const expected = { replies: list, pushes: [], error: undefined }
          expect(feed(input, [])).toEqual(expected)
          expect(feed(input, cuts)).toEqual(expected)
        }
      ),
      { numRuns: 300 }
    )
  })

  it('agree on RESP2, where types are fewer', () => {
    const writer = new ReplyWriter({ protocol: 2 })
    for (const reply of [
      new Map<ReplyValue, ReplyValue>([['a', 1.5]]),
      new Set<ReplyValue>(['b']),
      true,
      null
    ]) {
      write(writer, reply)
    }
    const { replies } = feed(writer.bytes.slice(0, writer.length), [])
    expect(replies).toEqual([['a', '1.5'], ['b'], 1, null])
  })

  it('never do anything but answer or refuse, whatever the bytes, however they are cut', () => {
    const token = fc.oneof(
      fc.constantFrom('+', '-', ':', '_', '#', ',', '(', '$', '!', '=', '*', '%', '~', '>', '|'),
      fc.constantFrom(
        '\r\n',
        '\r',
        '\n',
        '*2\r\n',
        '%1\r\n',
        '~1\r\n',
        '|1\r\n',
        ':1\r\n',
        '$1\r\na\r\n',
        '=5\r\ntxt:a\r\n'
      ),
      fc.nat(6).map(String),
      fc.string({ unit: 'binary', maxLength: 3 })
    )
    const input = fc.array(token, { maxLength: 30 }).map((tokens) => bytesOf(tokens.join('')))
    const options = { maxDepth: 4, maxBulkBytes: 20, maxLineBytes: 12, maxItems: 8 }
    fc.assert(
      fc.property(input, (bytes) => {
        expect(feed(bytes, everyByte(bytes), options)).toEqual(feed(bytes, [], options))
      }),
      { numRuns: 3000 }
    )
  })
})
