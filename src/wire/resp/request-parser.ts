/**
 * Requests of Redis clients, parsed where they lie. A command is
 *
 *   `*` count CRLF, then count times `$` length CRLF payload CRLF        (multibulk)
 *   words separated by blanks, with "…" and '…' quoting, LF or CRLF      (inline)
 *
 * and its arguments come out as offsets and lengths into the caller's bytes, in arrays that are
 * reused, so a command allocates nothing. There are two ways through a multibulk command. The hot
 * one keeps everything in local variables: at the first thing that is not complete and well-formed
 * it gives up, and the careful one starts over. Only the careful one knows about errors and about
 * commands that are not all there yet. The hot one takes 20 to 30 ns a GET or SET
 * (bench/micro/resp.ts); reading lengths by 32-bit loads was slower than byte by byte, and
 * recognising whole heads of GET and SET would save 5 ns of some 700 that a command costs a node.
 *
 * The careful way remembers how far it came, so a command that arrives in many pieces is looked at
 * once, not once a piece. Where Redis depends on how the bytes were cut (it looks for an end of line in
 * whatever has been read), this parser uses the limit alone: the same bytes give the same result
 * in any pieces. As in Redis, the two bytes after a payload are skipped unread, and a NUL hides the
 * end of an inline line.
 */
import { assert } from '../../core/assert.js'
import { splitInline } from './inline-request.js'

/** `parse` needs more bytes: at least `needed`. */
export const INCOMPLETE = -1
/** `parse` met what is not the protocol: answer `errorText` and close. */
export const PROTOCOL_ERROR = -2

export interface RequestLimits {
  /** Arguments in one command, its name included. */
  readonly maxArguments?: number
  readonly maxBulkBytes?: number
  /** An inline request, or a line that holds a count or a length. */
  readonly maxInlineBytes?: number
}

/** Arrays that grew past this are dropped when the next command is looked at carefully. */
const ARGUMENTS_KEPT = 1024
const ARGUMENTS_AT_START = 16

const STAR = 0x2a
const DOLLAR = 0x24
const CR = 0x0d
const LF = 0x0a
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

/** `*1` CRLF `$0` CRLF CRLF */
const SHORTEST_COMMAND = 10

// The count's line as one little-endian word: a type, one or two digits, CR, and LF if it fits.
const ONE_DIGIT_MASK = 0xffff00ff | 0
const ONE_DIGIT_COUNT = 0x0a0d002a // * ? CR LF
const TWO_DIGITS_MASK = 0xff0000ff | 0
const TWO_DIGITS_COUNT = 0x0d00002a // * ? ? CR

/** What `parseNumber` gives for text that is not a number as Redis writes them. */
const NOT_A_NUMBER = -Infinity
/** Larger numbers are beyond every limit, and not exact in a double. */
const NUMBER_DIGITS_MAX = 15

export class RequestParser {
  /** Arguments of the last command; 0 where the bytes held an empty one, to be passed over. */
  count = 0
  offsets: Int32Array = new Int32Array(ARGUMENTS_AT_START)
  lengths: Int32Array = new Int32Array(ARGUMENTS_AT_START)
  /** The last command was an inline one: its bytes are not RESP, and quotes were resolved in place. */
  inline = false
  /** After INCOMPLETE: how many bytes more are needed before it is worth trying again. */
  needed = 0
  errorText = ''

  readonly #maxArguments: number
  readonly #maxBulkBytes: number
  readonly #maxInlineBytes: number

  // How far an incomplete command was read. Places are relative to its first byte, except those in
  // `offsets`, which are relative to `#base`.
  #resumable = false
  #base = 0
  /** Arguments announced; 0 before the count is known. */
  #expected = 0
  #found = 0
  /** Where the next header begins, and how far its line was searched for an end. */
  #place = 0
  #searched = 0

  constructor(limits: RequestLimits = {}) {
    this.#maxArguments = limits.maxArguments ?? 1024 * 1024
    this.#maxBulkBytes = limits.maxBulkBytes ?? 512 * 1024 * 1024
    this.#maxInlineBytes = limits.maxInlineBytes ?? 64 * 1024
  }

  /** Forgets an incomplete command, for another connection or other bytes. */
  reset(): void {
    this.#resumable = false
  }

  /**
   * Reads one command that begins at `offset`, and returns the offset after it, or a negative code.
   * `view` covers the same memory as `bytes`. After INCOMPLETE the next call must bring the same bytes
   * again from the first byte of that command, at any offset of any buffer, and more after them;
   * or `reset` must be called.
   */
  parse(bytes: Uint8Array, view: DataView, offset: number, end: number): number {
    if (!this.#resumable && end - offset >= SHORTEST_COMMAND) {
      const after = this.#parseHot(bytes, view, offset, end)
      if (after >= 0) return after
    }
    return this.#parseCarefully(bytes, offset, end)
  }

  /** Returns the offset after a complete command, or -1 for anything else. */
  #parseHot(bytes: Uint8Array, view: DataView, offset: number, end: number): number {
    const head = view.getInt32(offset, true)
    let count = ((head >>> 8) & 0xff) - ZERO
    let p = offset + 4
    if ((head & ONE_DIGIT_MASK) !== ONE_DIGIT_COUNT) {
      const digit = ((head >>> 16) & 0xff) - ZERO
      if ((head & TWO_DIGITS_MASK) !== TWO_DIGITS_COUNT) return -1
      if (count < 1 || digit < 0 || digit > 9) return -1
      count = count * 10 + digit
      p++
    }
    const { offsets, lengths } = this
    if (count < 1 || count > offsets.length || count > this.#maxArguments) return -1
    for (let i = 0; i < count; i++) {
      if (p + 4 > end || bytes[p] !== DOLLAR) return -1
      let length = bytes[p + 1] - ZERO
      if (length < 0 || length > 9) return -1
      p += 2
      let byte = bytes[p]
      if (byte !== CR) {
        if (length === 0) return -1
        do {
          if (byte < ZERO || byte > NINE) return -1
          length = length * 10 + byte - ZERO
          if (++p === end) return -1
          byte = bytes[p]
        } while (byte !== CR)
      }
      if (length > this.#maxBulkBytes) return -1
      p += 2
      offsets[i] = p
      lengths[i] = length
      p += length + 2
    }
    if (p > end) return -1
    this.count = count
    this.inline = false
    return p
  }

  #parseCarefully(bytes: Uint8Array, offset: number, end: number): number {
    if (this.#resumable) {
      assert(end - offset >= this.#searched, 'an incomplete request came back shorter')
      if (offset !== this.#base) this.#shift(offset)
    } else {
      this.#start(offset)
    }
    if (end <= offset) return this.#wait(1)
    if (bytes[offset] !== STAR) return this.#parseInline(bytes, offset, end)
    if (this.#expected === 0) {
      const after = this.#readHeader(bytes, end, 'mbulk')
      if (after < 0) return after
      const count = parseNumber(bytes, offset + 1, after - 2)
      if (count === NOT_A_NUMBER || count > this.#maxArguments) {
        return this.#fail('invalid multibulk length')
      }
      if (count <= 0) return this.#finish(after, 0)
      this.#expected = count
      this.#place = after - offset
      this.#searched = this.#place
    }
    while (this.#found < this.#expected) {
      const code = this.#readArgument(bytes, end)
      if (code < 0) return code
    }
    return this.#finish(this.#base + this.#place, this.#expected)
  }

  #start(offset: number): void {
    this.#base = offset
    this.#expected = 0
    this.#found = 0
    this.#place = 0
    this.#searched = 0
    if (this.offsets.length > ARGUMENTS_KEPT) {
      this.offsets = new Int32Array(ARGUMENTS_AT_START)
      this.lengths = new Int32Array(ARGUMENTS_AT_START)
    }
  }

  /** Reads one argument and returns 0, or a negative code. */
  #readArgument(bytes: Uint8Array, end: number): number {
    const start = this.#base + this.#place
    if (start < end && bytes[start] !== DOLLAR) {
      return this.#fail(`expected '$', got '${String.fromCharCode(bytes[start])}'`)
    }
    const after = this.#readHeader(bytes, end, 'bulk')
    if (after < 0) return after
    const length = parseNumber(bytes, start + 1, after - 2)
    if (length < 0 || length > this.#maxBulkBytes) return this.#fail('invalid bulk length')
    const missing = after + length + 2 - end
    // The header is read again when the payload has come: it is short, and needs no state.
    if (missing > 0) return this.#wait(missing)
    this.addArgument(this.#found++, after, length)
    this.#place = after + length + 2 - this.#base
    this.#searched = this.#place
    return 0
  }

  /** Finds the end of the header at `#place`, and returns the offset after its line. */
  #readHeader(bytes: Uint8Array, end: number, what: 'mbulk' | 'bulk'): number {
    const start = this.#base + this.#place
    const limit = Math.min(end, start + this.#maxInlineBytes)
    let p = this.#base + Math.max(this.#searched, this.#place)
    while (p < limit && bytes[p] !== CR) p++
    if (p >= start + this.#maxInlineBytes) return this.#fail(`too big ${what} count string`)
    this.#searched = Math.min(p, end) - this.#base
    if (p + 2 > end) return this.#wait(1)
    return p + 2
  }

  #parseInline(bytes: Uint8Array, offset: number, end: number): number {
    const limit = Math.min(end, offset + this.#maxInlineBytes)
    let p = offset + this.#searched
    while (p < limit && bytes[p] !== LF && bytes[p] !== 0) p++
    if (p < limit && bytes[p] === LF) {
      const lineEnd = p > offset && bytes[p - 1] === CR ? p - 1 : p
      const count = splitInline(bytes, offset, lineEnd, this)
      if (count < 0) return this.#fail('unbalanced quotes in request')
      this.#finish(p + 1, count)
      this.inline = true
      return p + 1
    }
    if (end - offset >= this.#maxInlineBytes) return this.#fail('too big inline request')
    this.#searched = p - offset
    return this.#wait(1)
  }

  /** Keeps one argument, making room where there is none. */
  addArgument(index: number, offset: number, length: number): void {
    if (index === this.offsets.length) this.#grow()
    this.offsets[index] = offset
    this.lengths[index] = length
  }

  #grow(): void {
    const offsets = new Int32Array(this.offsets.length * 2)
    const lengths = new Int32Array(offsets.length)
    offsets.set(this.offsets)
    lengths.set(this.lengths)
    this.offsets = offsets
    this.lengths = lengths
  }

  #shift(offset: number): void {
    const difference = offset - this.#base
    for (let i = 0; i < this.#found; i++) this.offsets[i] += difference
    this.#base = offset
  }

  #finish(after: number, count: number): number {
    this.#resumable = false
    this.count = count
    this.inline = false
    return after
  }

  #wait(needed: number): number {
    this.#resumable = true
    this.needed = needed
    this.count = 0
    return INCOMPLETE
  }

  #fail(what: string): number {
    this.#resumable = false
    this.count = 0
    this.errorText = `ERR Protocol error: ${what}`
    return PROTOCOL_ERROR
  }
}

/** Decimal digits with an optional minus and no zero before others, as Redis takes them. */
function parseNumber(bytes: Uint8Array, start: number, end: number): number {
  const negative = start < end && bytes[start] === MINUS
  const first = negative ? start + 1 : start
  const digits = end - first
  if (digits < 1 || digits > NUMBER_DIGITS_MAX) return NOT_A_NUMBER
  if (bytes[first] === ZERO && (digits > 1 || negative)) return NOT_A_NUMBER
  let number = 0
  for (let p = first; p < end; p++) {
    const byte = bytes[p]
    if (byte < ZERO || byte > NINE) return NOT_A_NUMBER
    number = number * 10 + byte - ZERO
  }
  return negative ? -number : number
}
