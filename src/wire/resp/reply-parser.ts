/**
 * Replies of RESP2 and RESP3 as they arrive, in any pieces, made into values. What has been read is
 * never read again: open arrays, maps and sets wait on a stack, a line cut by the end of a piece waits
 * in a small buffer, and a large payload is gathered as it comes. So a long reply costs its
 * length, however it is cut.
 *
 *   line      `+` text · `-` error · `:` integer · `_` nil · `#` t|f · `,` double · `(` big number
 *   payload   `$` bulk · `!` error · `=` verbatim (its three letters and colon are dropped)
 *   nested    `*` array · `%` map · `~` set · `>` push (at the top only) · `|` attribute (dropped)
 *
 * Streamed strings and aggregates (`$?`, `*?`) are not part of what any server sends, and are refused.
 */
import { parseDouble } from './double-text.js'
import { RespError, RespProtocolError, type ReplyValue } from './reply-value.js'

export interface ReplyParserOptions {
  /** Called with each reply, in order. */
  readonly onReply: (value: ReplyValue) => void
  /** Called with each push; without it pushes go to `onReply` as arrays. */
  readonly onPush?: (items: ReplyValue[]) => void
  /** Payloads as `text` (UTF-8, the default) or as `bytes` of their own. */
  readonly payload?: 'text' | 'bytes'
  readonly maxDepth?: number
  readonly maxBulkBytes?: number
  readonly maxLineBytes?: number
  /** In one array, set or push; a map counts two an entry. */
  readonly maxItems?: number
}

/** An array, map, set, push or attribute that is not complete yet. */
interface Frame {
  readonly type: number
  readonly items: ReplyValue[]
  missing: number
}

const CR = 0x0d
const LF = 0x0a

const SIMPLE = 0x2b // +
const ERROR = 0x2d // -
const INTEGER = 0x3a // :
const NIL = 0x5f // _
const BOOLEAN = 0x23 // #
const DOUBLE = 0x2c // ,
const BIG_NUMBER = 0x28 // (
const BULK = 0x24 // $
const BULK_ERROR = 0x21 // !
const VERBATIM = 0x3d // =
const ARRAY = 0x2a // *
const MAP = 0x25 // %
const SET = 0x7e // ~
const PUSH = 0x3e // >
const ATTRIBUTE = 0x7c // |

const LINE_BUFFER_BYTES = 256
/** The longest string V8 can make. */
const STRING_LENGTH_MAX = 0x1fff_ffe8
const GATHER_BYTES = 64 * 1024

const WHOLE_NUMBER = /^[+-]?\d+$/

export class ReplyParser {
  readonly #onReply: (value: ReplyValue) => void
  readonly #onPush: (items: ReplyValue[]) => void
  readonly #asText: boolean
  readonly #maxDepth: number
  readonly #maxBulkBytes: number
  readonly #maxLineBytes: number
  readonly #maxItems: number
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #stack: Frame[] = []

  /** A line whose end has not come. */
  #line = new Uint8Array(LINE_BUFFER_BYTES)
  #lineLength = 0

  /** The type of the payload being read, 0 for none, its length, and what of it and its CRLF has come. */
  #payloadType = 0
  #payloadLength = 0
  #gathered = new Uint8Array(0)
  #gatheredLength = 0

  #failure: RespProtocolError | undefined

  constructor(options: ReplyParserOptions) {
    this.#onReply = options.onReply
    this.#onPush = options.onPush ?? options.onReply
    this.#asText = options.payload !== 'bytes'
    this.#maxDepth = options.maxDepth ?? 64
    const maxBulkBytes = options.maxBulkBytes ?? 512 * 1024 * 1024
    this.#maxBulkBytes = this.#asText ? Math.min(maxBulkBytes, STRING_LENGTH_MAX) : maxBulkBytes
    this.#maxLineBytes = options.maxLineBytes ?? 64 * 1024
    this.#maxItems = options.maxItems ?? 16 * 1024 * 1024
  }

  /** Takes the next piece; it may be reused afterwards. Throws `RespProtocolError`, then and ever after. */
  push(piece: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure
    let p = 0
    while (p < piece.length) {
      p = this.#payloadType === 0 ? this.#takeLine(piece, p) : this.#takePayload(piece, p)
    }
  }

  #takeLine(piece: Uint8Array, start: number): number {
    let p = start
    while (p < piece.length && piece[p] !== LF) p++
    const length = this.#lineLength + p - start
    if (length > this.#maxLineBytes) this.#fail(`a line longer than ${this.#maxLineBytes} bytes`)
    if (p === piece.length) {
      this.#keepLine(piece, start, p)
      return p
    }
    if (this.#lineLength === 0) {
      this.#readLine(piece, start, p)
    } else {
      this.#keepLine(piece, start, p)
      this.#lineLength = 0
      this.#readLine(this.#line, 0, length)
    }
    return p + 1
  }

  #keepLine(piece: Uint8Array, start: number, end: number): void {
    const length = this.#lineLength + end - start
    if (length > this.#line.length) {
      const larger = new Uint8Array(Math.max(length, this.#line.length * 2))
      larger.set(this.#line.subarray(0, this.#lineLength))
      this.#line = larger
    }
    this.#line.set(piece.subarray(start, end), this.#lineLength)
    this.#lineLength = length
  }

  /** One line without its LF, but with its CR. */
  #readLine(bytes: Uint8Array, start: number, lineFeed: number): void {
    const end = lineFeed - 1
    if (end <= start || bytes[end] !== CR) this.#fail('a line that does not end in CR LF')
    const type = bytes[start]
    switch (type) {
      case BULK:
      case BULK_ERROR:
      case VERBATIM:
        this.#openPayload(type, bytes, start + 1, end)
        return
      case ARRAY:
      case MAP:
      case SET:
      case PUSH:
      case ATTRIBUTE:
        this.#openFrame(type, bytes, start + 1, end)
        return
      case INTEGER:
        this.#deliver(this.#integer(bytes, start + 1, end))
        return
      default:
        this.#deliver(this.#lineValue(type, this.#text(bytes, start + 1, end)))
    }
  }

  #lineValue(type: number, text: string): ReplyValue {
    switch (type) {
      case SIMPLE:
        if (text.includes('\r')) this.#fail('a CR inside a line')
        return text
      case ERROR:
        if (text.includes('\r')) this.#fail('a CR inside a line')
        return new RespError(text)
      case NIL:
        if (text !== '') this.#fail('a nil with text')
        return null
      case BOOLEAN:
        if (text !== 't' && text !== 'f') this.#fail('a boolean that is neither t nor f')
        return text === 't'
      case DOUBLE:
        return parseDouble(text) ?? this.#fail('not a double')
      case BIG_NUMBER:
        if (!WHOLE_NUMBER.test(text)) this.#fail('not a big number')
        return BigInt(text.startsWith('+') ? text.slice(1) : text)
      default:
        return this.#fail(`unknown type ${JSON.stringify(String.fromCharCode(type))}`)
    }
  }

  #integer(bytes: Uint8Array, start: number, end: number): number | bigint {
    if (end - start <= 15) {
      const number = readWholeNumber(bytes, start, end)
      return Number.isNaN(number) ? this.#fail('not an integer') : number
    }
    const text = this.#text(bytes, start, end)
    if (end - start > 20 || !WHOLE_NUMBER.test(text)) this.#fail('not an integer')
    const long = BigInt(text.startsWith('+') ? text.slice(1) : text)
    if (BigInt.asIntN(64, long) !== long) this.#fail('an integer of more than 64 bits')
    const number = Number(long)
    return Number.isSafeInteger(number) ? number : long
  }

  /** The number after a type; -1 only where a nil may be. */
  #size(bytes: Uint8Array, start: number, end: number, limit: number): number {
    const size = end - start <= 15 ? readWholeNumber(bytes, start, end) : NaN
    if (Number.isNaN(size) || size < -1) this.#fail('not a length')
    if (size > limit) this.#fail(`a length of ${size}, more than ${limit}`)
    return size
  }

  #openPayload(type: number, bytes: Uint8Array, start: number, end: number): void {
    const length = this.#size(bytes, start, end, this.#maxBulkBytes)
    if (length === -1) {
      if (type !== BULK) this.#fail('not a length')
      this.#deliver(null)
      return
    }
    this.#payloadType = type
    this.#payloadLength = length
    this.#gatheredLength = 0
  }

  #openFrame(type: number, bytes: Uint8Array, start: number, end: number): void {
    const each = type === MAP || type === ATTRIBUTE ? 2 : 1
    const size = this.#size(bytes, start, end, this.#maxItems / each)
    if (size === -1) {
      if (type !== ARRAY) this.#fail('not a length')
      this.#deliver(null)
      return
    }
    if (type === PUSH && this.#stack.length > 0) this.#fail('a push inside a reply')
    if (this.#stack.length >= this.#maxDepth) this.#fail(`nested deeper than ${this.#maxDepth}`)
    const frame = { type, items: [], missing: size * each }
    if (size > 0) this.#stack.push(frame)
    else this.#close(frame)
  }

  #takePayload(piece: Uint8Array, start: number): number {
    const whole = this.#payloadLength + 2
    const type = this.#payloadType
    if (this.#gatheredLength === 0 && piece.length - start >= whole) {
      this.#payloadType = 0
      this.#readPayload(type, piece, start, false)
      return start + whole
    }
    const taken = Math.min(whole - this.#gatheredLength, piece.length - start)
    this.#gather(piece, start, taken, whole)
    if (this.#gatheredLength === whole) {
      const gathered = this.#gathered
      this.#payloadType = 0
      this.#gathered = new Uint8Array(0)
      this.#readPayload(type, gathered, 0, true)
    }
    return start + taken
  }

  /** Room is doubled as bytes come: a length alone, however large, makes nobody allocate it. */
  #gather(piece: Uint8Array, start: number, taken: number, whole: number): void {
    const length = this.#gatheredLength + taken
    if (length > this.#gathered.length) {
      const room = Math.max(length, this.#gathered.length * 2, GATHER_BYTES)
      const larger = new Uint8Array(Math.min(whole, room))
      larger.set(this.#gathered.subarray(0, this.#gatheredLength))
      this.#gathered = larger
    }
    this.#gathered.set(piece.subarray(start, start + taken), this.#gatheredLength)
    this.#gatheredLength = length
  }

  #readPayload(type: number, bytes: Uint8Array, start: number, gathered: boolean): void {
    const end = start + this.#payloadLength
    if (bytes[end] !== CR || bytes[end + 1] !== LF) {
      this.#fail('a payload that does not end in CR LF')
    }
    if (type === BULK_ERROR) {
      this.#deliver(new RespError(this.#text(bytes, start, end)))
      return
    }
    let from = start
    if (type === VERBATIM) {
      if (end - start < 4 || bytes[start + 3] !== 0x3a) this.#fail('a verbatim without a format')
      from = start + 4
    }
    if (this.#asText) this.#deliver(this.#text(bytes, from, end))
    // A payload gathered from several pieces has a buffer of its own already.
    else this.#deliver(gathered ? bytes.subarray(from, end) : bytes.slice(from, end))
  }

  /** Puts a complete value where it belongs, and closes what it completes. */
  #deliver(value: ReplyValue): void {
    const frame = this.#stack.at(-1)
    if (frame === undefined) {
      this.#onReply(value)
      return
    }
    frame.items.push(value)
    if (--frame.missing === 0) {
      this.#stack.pop()
      this.#close(frame)
    }
  }

  #close(frame: Frame): void {
    switch (frame.type) {
      case ATTRIBUTE:
        // What it says is about the next value, which takes its place.
        return
      case PUSH:
        this.#onPush(frame.items)
        return
      case MAP:
        this.#deliver(mapOf(frame.items))
        return
      case SET:
        this.#deliver(new Set(frame.items))
        return
      default:
        this.#deliver(frame.items)
    }
  }

  #text(bytes: Uint8Array, start: number, end: number): string {
    return asciiText(bytes, start, end) ?? this.#decoder.decode(bytes.subarray(start, end))
  }

  #fail(what: string): never {
    this.#failure = new RespProtocolError(`reply: ${what}`)
    throw this.#failure
  }
}

/** Most texts are short and plain, and the decoder's call costs more than they do. */
const ASCII_TEXT_MAX = 32

function asciiText(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start > ASCII_TEXT_MAX) return undefined
  let text = ''
  for (let p = start; p < end; p++) {
    const byte = bytes[p]
    if (byte > 0x7f) return undefined
    text += String.fromCharCode(byte)
  }
  return text
}

/** NaN where the bytes are not a number. At most 15 of them, so the result is exact. */
function readWholeNumber(bytes: Uint8Array, start: number, end: number): number {
  const sign = bytes[start]
  const first = sign === 0x2d || sign === 0x2b ? start + 1 : start
  if (first >= end) return NaN
  let number = 0
  for (let p = first; p < end; p++) {
    const digit = bytes[p] - 0x30
    if (digit < 0 || digit > 9) return NaN
    number = number * 10 + digit
  }
  return sign === 0x2d && number !== 0 ? -number : number
}

function mapOf(items: readonly ReplyValue[]): Map<ReplyValue, ReplyValue> {
  const map = new Map<ReplyValue, ReplyValue>()
  for (let i = 0; i < items.length; i += 2) map.set(items[i], items[i + 1])
  return map
}
