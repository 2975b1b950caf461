/**
 * Replies, written one after another into one growing buffer that is sent once a turn. Nothing is
 * allocated for a reply of the common kinds: digits are written by hand, fixed replies are stored
 * as 32-bit words, short payloads are copied in words and long ones by `set`.
 *
 * `protocol` is what the connection asked for by HELLO. Commands say what they mean (a map, a set, a
 * double) and the writer falls back for RESP2, as Redis does: maps become flat arrays, sets and
 * pushes arrays, doubles and big numbers bulk strings, booleans 1 and 0.
 */
import { formatDouble } from './double-text.js'

export type Protocol = 2 | 3

/** The replies of one turn outgrew the limit. The connection must be closed, not answered. */
export class ReplyLimitError extends Error {
  override readonly name = 'ReplyLimitError'
}

export interface ReplyWriterOptions {
  readonly protocol?: Protocol
  readonly initialBytes?: number
  readonly maxBytes?: number
}

const INITIAL_BYTES = 64 * 1024
/** How much larger than at the start a buffer may be and still be kept. */
const KEPT_FACTOR = 16
const MAX_BYTES = 1024 * 1024 * 1024

/** From here on `Uint8Array.set` beats a loop over words. */
const COPY_BY_WORDS_MAX = 160

/** The longest header: a type, the digits and minus of a 64-bit integer, CR LF. */
const HEADER_BYTES_MAX = 24

const CR = 0x0d
const LF = 0x0a
const SPACE = 0x20
const ZERO = 0x30
const MINUS = 0x2d
const CRLF_WORD = 0x0a0d

const BULK = 0x24 // $
const ARRAY = 0x2a // *
const INTEGER = 0x3a // :
const SIMPLE = 0x2b // +
const ERROR = 0x2d // -
const MAP = 0x25 // %
const SET = 0x7e // ~
const PUSH = 0x3e // >
const DOUBLE = 0x2c // ,
const BOOLEAN = 0x23 // #
const BIG_NUMBER = 0x28 // (
const VERBATIM = 0x3d // =

const OK_WORD = 0x0d4b4f2b // + O K CR
const PONG_WORD = 0x4e4f502b // + P O N
const PONG_REST = 0x0a0d47 // G CR LF
const NIL_BULK_WORD = 0x0d312d24 // $ - 1 CR
const NIL_ARRAY_WORD = 0x0d312d2a // * - 1 CR
const NIL_WORD = 0x0a0d5f // _ CR LF

export class ReplyWriter {
  bytes: Uint8Array
  view: DataView
  length = 0
  protocol: Protocol
  /** While a command that writes is executed a reply may be too long: it must not end half-way. */
  boundless = false

  readonly #initialBytes: number
  readonly #maxBytes: number

  constructor(options: ReplyWriterOptions = {}) {
    this.protocol = options.protocol ?? 2
    this.#maxBytes = options.maxBytes ?? MAX_BYTES
    this.#initialBytes = Math.min(options.initialBytes ?? INITIAL_BYTES, this.#maxBytes)
    this.bytes = new Uint8Array(this.#initialBytes)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Whether it holds more than it may. */
  get isTooLong(): boolean {
    return this.length > this.#maxBytes
  }

  reset(): void {
    this.length = 0
    // One large reply must not cost its memory for ever.
    if (this.bytes.length > this.#initialBytes * KEPT_FACTOR) this.#renew()
  }

  /** Takes back what was written after `to`, for a command that fails half-way. */
  truncate(to: number): void {
    if (to < 0 || to > this.length) throw new RangeError(`cannot truncate to ${to}`)
    this.length = to
  }

  /** Gives the written bytes away and goes on in a new buffer, for a socket that still needs the old. */
  release(): Uint8Array {
    const written = this.bytes.subarray(0, this.length)
    this.#renew()
    this.length = 0
    return written
  }

  ok(): void {
    const p = this.#reserve(8)
    this.view.setInt32(p, OK_WORD, true)
    this.bytes[p + 4] = LF
    this.length = p + 5
  }

  pong(): void {
    const p = this.#reserve(8)
    this.view.setInt32(p, PONG_WORD, true)
    this.view.setInt32(p + 4, PONG_REST, true)
    this.length = p + 7
  }

  nil(): void {
    const p = this.#reserve(8)
    if (this.protocol === 3) this.#writeNil(p)
    else this.#writeRESP2Nil(p, NIL_BULK_WORD)
  }

  nilArray(): void {
    const p = this.#reserve(8)
    if (this.protocol === 3) this.#writeNil(p)
    else this.#writeRESP2Nil(p, NIL_ARRAY_WORD)
  }

  /** A safe integer; `longInteger` takes the rest of 64 bits. */
  integer(value: number): void {
    this.#header(INTEGER, value)
  }

  longInteger(value: bigint): void {
    this.#line(INTEGER, value.toString())
  }

  array(items: number): void {
    this.#header(ARRAY, items)
  }

  /** `entries` pairs of a key and a value follow. */
  map(entries: number): void {
    if (this.protocol === 3) this.#header(MAP, entries)
    else this.#header(ARRAY, entries * 2)
  }

  set(items: number): void {
    this.#header(this.protocol === 3 ? SET : ARRAY, items)
  }

  push(items: number): void {
    this.#header(this.protocol === 3 ? PUSH : ARRAY, items)
  }

  bulk(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    this.#reserve(HEADER_BYTES_MAX + length + 2)
    this.#header(BULK, length)
    const p = this.length
    if (length <= COPY_BY_WORDS_MAX) copyWords(view, offset, this.view, p, length)
    else this.bytes.set(bytes.subarray(offset, offset + length), p)
    this.view.setInt16(p + length, CRLF_WORD, true)
    this.length = p + length + 2
  }

  /** A string of characters up to U+00FF, one byte each. */
  bulkString(text: string): void {
    this.#reserve(HEADER_BYTES_MAX + text.length + 2)
    this.#header(BULK, text.length)
    this.#text(text)
    this.#crlf()
  }

  /** One line, for fixed words such as QUEUED; a line break inside becomes a blank. */
  simple(text: string): void {
    this.#line(SIMPLE, text)
  }

  /** One line that begins with the error's code: `ERR …`. A line break inside becomes a blank. */
  error(text: string): void {
    this.#line(ERROR, text)
  }

  double(value: number): void {
    const text = formatDouble(value)
    if (this.protocol === 3) this.#line(DOUBLE, text)
    else this.bulkString(text)
  }

  boolean(value: boolean): void {
    if (this.protocol === 3) this.#line(BOOLEAN, value ? 't' : 'f')
    else this.#header(INTEGER, value ? 1 : 0)
  }

  bigNumber(value: bigint): void {
    if (this.protocol === 3) this.#line(BIG_NUMBER, value.toString())
    else this.bulkString(value.toString())
  }

  /** Text with its format, `txt` or `mkd`; in RESP2 a bulk string. */
  verbatim(format: 'txt' | 'mkd', text: string): void {
    if (this.protocol === 2) {
      this.bulkString(text)
      return
    }
    this.#reserve(HEADER_BYTES_MAX + text.length + 6)
    this.#header(VERBATIM, text.length + 4)
    this.#text(format)
    this.#text(':')
    this.#text(text)
    this.#crlf()
  }

  /** Bytes that are a reply already: forwarded as they came. */
  raw(bytes: Uint8Array, offset: number, length: number): void {
    const p = this.#reserve(length)
    this.bytes.set(bytes.subarray(offset, offset + length), p)
    this.length = p + length
  }

  #renew(): void {
    this.bytes = new Uint8Array(this.#initialBytes)
    this.view = new DataView(this.bytes.buffer)
  }

  #writeNil(p: number): void {
    this.view.setInt32(p, NIL_WORD, true)
    this.length = p + 3
  }

  #writeRESP2Nil(p: number, word: number): void {
    this.view.setInt32(p, word, true)
    this.bytes[p + 4] = LF
    this.length = p + 5
  }

  #header(type: number, value: number): void {
    let p = this.#reserve(HEADER_BYTES_MAX)
    const { bytes } = this
    bytes[p++] = type
    if (value >= 0 && value < 10) bytes[p++] = ZERO + value
    else if (value >= 10 && value < 100) {
      const tens = (value / 10) | 0
      bytes[p++] = ZERO + tens
      bytes[p++] = ZERO + value - tens * 10
    } else p = writeDigits(bytes, p, value)
    bytes[p] = CR
    bytes[p + 1] = LF
    this.length = p + 2
  }

  #line(type: number, text: string): void {
    const p = this.#reserve(text.length + 3)
    const { bytes } = this
    bytes[p] = type
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      bytes[p + 1 + i] = code === CR || code === LF ? SPACE : code
    }
    this.length = p + 1 + text.length
    this.#crlf()
  }

  /** The caller has reserved. */
  #text(text: string): void {
    const { bytes, length } = this
    for (let i = 0; i < text.length; i++) bytes[length + i] = text.charCodeAt(i)
    this.length = length + text.length
  }

  /** The caller has reserved. */
  #crlf(): void {
    this.bytes[this.length++] = CR
    this.bytes[this.length++] = LF
  }

  /** Makes room for `more` bytes, and returns where they go. */
  #reserve(more: number): number {
    if (this.length + more > this.bytes.length) this.#grow(this.length + more)
    return this.length
  }

  #grow(needed: number): void {
    // Fixed replies are stored as whole words, so a few bytes past the limit may be reserved.
    if (needed > this.#maxBytes + HEADER_BYTES_MAX && !this.boundless) {
      throw new ReplyLimitError(`replies of ${needed} bytes exceed ${this.#maxBytes}`)
    }
    const bytes = new Uint8Array(Math.max(needed, Math.min(this.bytes.length * 2, this.#maxBytes)))
    bytes.set(this.bytes.subarray(0, this.length))
    this.bytes = bytes
    this.view = new DataView(bytes.buffer)
  }
}

function copyWords(from: DataView, start: number, to: DataView, at: number, length: number): void {
  const whole = start + (length & ~3)
  let p = start
  let q = at
  for (; p < whole; p += 4, q += 4) to.setInt32(q, from.getInt32(p, true), true)
  for (let rest = length & 3; rest > 0; rest--) to.setUint8(q++, from.getUint8(p++))
}

/** Writes any safe integer, and returns the place after it. */
const LONG_MAX = 2n ** 63n - 1n

/**
 * A number that is not exact: what a client made up, mostly. It is answered as the nearest that a 64-bit integer can be;
 * an error would be one of the node.
 */
function writeFar(bytes: Uint8Array, at: number, value: number): number {
  const finite = Math.min(Math.max(Number.isNaN(value) ? 0 : value, -(2 ** 63)), 2 ** 63)
  const long = BigInt(Math.trunc(finite))
  const text = String(long > LONG_MAX ? LONG_MAX : long)
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}

function writeDigits(bytes: Uint8Array, at: number, value: number): number {
  if (!Number.isSafeInteger(value)) return writeFar(bytes, at, value)
  let p = at
  let rest = value
  if (rest < 0) {
    bytes[p++] = MINUS
    rest = -rest
  }
  let digits = 1
  for (let power = 10; power <= rest; power *= 10) digits++
  const after = p + digits
  // Above 31 bits the division must be one of doubles; below, V8 does it in integers.
  let q = after
  while (rest > 0x7fffffff) {
    const tenth = Math.floor(rest / 10)
    bytes[--q] = ZERO + (rest - tenth * 10)
    rest = tenth
  }
  while (q > p) {
    const tenth = (rest / 10) | 0
    bytes[--q] = ZERO + rest - tenth * 10
    rest = tenth
  }
  return after
}
