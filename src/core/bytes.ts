/**
 * Bytes without Node: a reusable slice (`Span`), a growing writer, a bounds-checked reader, and the
 * copies and comparisons of the data path. Everything is little endian. Short copies go by 32-bit
 * DataView loads, which beat `Uint8Array.set` up to about 160 bytes (bench/micro/store.ts); text is
 * turned into bytes by hand because the deciding code has neither Buffer nor TextEncoder.
 *
 * "Latin-1" here means: one character a byte, codes 0 to 255. It is how binary-safe strings are kept
 * in Maps, and comparing two of them by `<` compares their bytes.
 */

/** Bytes that came from elsewhere and do not have the form they should have. */
export class FormatError extends Error {
  override readonly name = 'FormatError'
}

/** A buffer would have to grow past its limit. */
export class LimitError extends Error {
  override readonly name = 'LimitError'
}

export const NO_BYTES = new Uint8Array(0)
const NO_VIEW = new DataView(NO_BYTES.buffer)

/**
 * A place in memory, owned and reused by whoever fills it: naming bytes costs no allocation.
 * `view` always covers exactly the same memory as `bytes`.
 */
export class Span {
  bytes: Uint8Array = NO_BYTES
  view: DataView = NO_VIEW
  offset = 0
  length = 0

  point(bytes: Uint8Array, view: DataView, offset: number, length: number): this {
    this.bytes = bytes
    this.view = view
    this.offset = offset
    this.length = length
    return this
  }

  /** For places where an allocation does not matter. */
  static of(bytes: Uint8Array): Span {
    return new Span().point(bytes, viewOf(bytes), 0, bytes.length)
  }

  static ofLatin1(text: string): Span {
    return Span.of(latin1Bytes(text))
  }

  copy(): Uint8Array {
    return this.bytes.slice(this.offset, this.offset + this.length)
  }

  latin1(): string {
    return latin1String(this.bytes, this.offset, this.length)
  }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const SHORT_COPY = 160

/** Source and target must not overlap. */
export function copyBytes(
  sourceBytes: Uint8Array,
  sourceView: DataView,
  source: number,
  targetBytes: Uint8Array,
  targetView: DataView,
  target: number,
  length: number
): void {
  if (length > SHORT_COPY) {
    targetBytes.set(sourceBytes.subarray(source, source + length), target)
    return
  }
  const end = source + (length & ~3)
  while (source < end) {
    targetView.setInt32(target, sourceView.getInt32(source, true), true)
    source += 4
    target += 4
  }
  for (let rest = length & 3; rest > 0; rest--) {
    targetView.setUint8(target++, sourceView.getUint8(source++))
  }
}

export function equalBytes(
  a: DataView,
  i: number,
  b: DataView,
  j: number,
  length: number
): boolean {
  const end = i + (length & ~3)
  while (i < end) {
    if (a.getInt32(i, true) !== b.getInt32(j, true)) return false
    i += 4
    j += 4
  }
  for (let rest = length & 3; rest > 0; rest--) {
    if (a.getUint8(i++) !== b.getUint8(j++)) return false
  }
  return true
}

/** Below, equal to or above zero, by bytes and then by length. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i] - b[i]
  }
  return a.length - b.length
}

const TEXT_PIECE = 8192
/** Up to here a string that is put together is one piece in memory; beyond, V8 would keep a tree of its parts. */
const TEXT_SHORT = 12
/** Up to here the codes go through a list: `apply` takes a list of small numbers at once, bytes one by one. */
const TEXT_LISTED = 128
/** By length; each is used again and again. */
const CODE_LISTS: (number[] | undefined)[] = []

export function latin1String(bytes: Uint8Array, offset: number, length: number): string {
  if (length <= TEXT_SHORT) return shortString(bytes, offset, length)
  if (length <= TEXT_LISTED) {
    const codes = (CODE_LISTS[length] ??= new Array<number>(length).fill(0))
    for (let i = 0; i < length; i++) codes[i] = bytes[offset + i]
    return String.fromCharCode.apply(null, codes)
  }
  if (length <= TEXT_PIECE) {
    return String.fromCharCode.apply(null, asCodes(bytes.subarray(offset, offset + length)))
  }
  let text = ''
  const end = offset + length
  for (let at = offset; at < end; at += TEXT_PIECE) {
    const piece = bytes.subarray(at, Math.min(end, at + TEXT_PIECE))
    text += String.fromCharCode.apply(null, asCodes(piece))
  }
  return text
}

function shortString(b: Uint8Array, offset: number, length: number): string {
  const end = offset + length
  let text = ''
  let at = offset
  for (; at + 4 <= end; at += 4) {
    text += String.fromCharCode(b[at], b[at + 1], b[at + 2], b[at + 3])
  }
  for (; at < end; at++) text += String.fromCharCode(b[at])
  return text
}

/** `apply` takes any array-like; its declared type asks for an array. */
function asCodes(bytes: Uint8Array): number[] {
  return bytes as unknown as number[]
}

export function latin1Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

export function utf8Length(text: string): number {
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) length += 1
    else if (code < 0x800) length += 2
    else if (isPair(text, i)) {
      length += 4
      i++
    } else length += 3
  }
  return length
}

function isPair(text: string, i: number): boolean {
  const high = text.charCodeAt(i)
  if (high < 0xd800 || high > 0xdbff || i + 1 >= text.length) return false
  const low = text.charCodeAt(i + 1)
  return low >= 0xdc00 && low <= 0xdfff
}

/** Half a surrogate pair becomes U+FFFD, as TextEncoder does it. */
export function utf8Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Length(text))
  writeUtf8(text, bytes, 0)
  return bytes
}

function writeUtf8(text: string, bytes: Uint8Array, at: number): number {
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i)
    if (code < 0x80) {
      bytes[at++] = code
      continue
    }
    if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >> 6)
      bytes[at++] = 0x80 | (code & 63)
      continue
    }
    if (isPair(text, i)) {
      code = 0x10000 + ((code - 0xd800) << 10) + (text.charCodeAt(++i) - 0xdc00)
      bytes[at++] = 0xf0 | (code >> 18)
      bytes[at++] = 0x80 | ((code >> 12) & 63)
      bytes[at++] = 0x80 | ((code >> 6) & 63)
      bytes[at++] = 0x80 | (code & 63)
      continue
    }
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd
    bytes[at++] = 0xe0 | (code >> 12)
    bytes[at++] = 0x80 | ((code >> 6) & 63)
    bytes[at++] = 0x80 | (code & 63)
  }
  return at
}

/** Refuses what is not UTF-8 (overlong forms, surrogates, cut sequences). */
export function utf8String(bytes: Uint8Array, offset: number, length: number): string {
  const end = offset + length
  let text = ''
  let at = offset
  while (at < end) {
    const first = bytes[at++]
    if (first < 0x80) {
      text += String.fromCharCode(first)
      continue
    }
    const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1
    if (first < 0xc2 || first > 0xf4 || at + more > end) throw new FormatError('not UTF-8')
    let code = first & (0x3f >> more)
    for (let i = 0; i < more; i++) {
      const next = bytes[at++]
      if ((next & 0xc0) !== 0x80) throw new FormatError('not UTF-8')
      code = (code << 6) | (next & 63)
    }
    const least = more === 3 ? 0x10000 : more === 2 ? 0x800 : 0x80
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw new FormatError('not UTF-8')
    }
    text += String.fromCodePoint(code)
  }
  return text
}

/** The most a varint can say: what a double counts exactly. */
export const VARINT_BYTES_MAX = 8

/** Writes one where there is room for it; returns where it ends. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  while (value > 0x7f) {
    bytes[at++] = (value % 128) | 0x80
    value = Math.floor(value / 128)
  }
  bytes[at++] = value
  return at
}

/**
 * Grows by doubling up to `limitBytes`, then throws `LimitError` and keeps what it had. `reset()`
 * keeps the memory, so one writer serves for ever without allocating.
 */
export class ByteWriter {
  bytes: Uint8Array
  view: DataView
  length = 0
  readonly limitBytes: number

  constructor(initialBytes = 256, limitBytes = 0x4000_0000) {
    this.bytes = new Uint8Array(initialBytes)
    this.view = viewOf(this.bytes)
    this.limitBytes = limitBytes
  }

  reset(): void {
    this.length = 0
  }

  /** Makes room for `more` bytes behind what is written. */
  ensure(more: number): void {
    const need = this.length + more
    if (need > this.bytes.length) this.#grow(need)
  }

  #grow(need: number): void {
    if (need > this.limitBytes) {
      throw new LimitError(`a buffer of ${need} bytes is over its limit of ${this.limitBytes}`)
    }
    const size = Math.min(this.limitBytes, Math.max(need, this.bytes.length * 2, 64))
    const bytes = new Uint8Array(size)
    bytes.set(this.bytes.subarray(0, this.length))
    this.bytes = bytes
    this.view = viewOf(bytes)
  }

  u8(value: number): void {
    this.ensure(1)
    this.bytes[this.length++] = value
  }

  u16(value: number): void {
    this.ensure(2)
    this.view.setUint16(this.length, value, true)
    this.length += 2
  }

  u32(value: number): void {
    this.ensure(4)
    this.view.setUint32(this.length, value, true)
    this.length += 4
  }

  f64(value: number): void {
    this.ensure(8)
    this.view.setFloat64(this.length, value, true)
    this.length += 8
  }

  /** An integer from 0 to 2^53 - 1, seven bits a byte, lowest first. */
  varint(value: number): void {
    this.ensure(VARINT_BYTES_MAX)
    this.length = writeVarint(this.bytes, this.length, value)
  }

  raw(bytes: Uint8Array): void {
    this.ensure(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  slice(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    this.ensure(length)
    copyBytes(bytes, view, offset, this.bytes, this.view, this.length, length)
    this.length += length
  }

  span(span: Span): void {
    this.slice(span.bytes, span.view, span.offset, span.length)
  }

  /** The characters only, no length. */
  latin1(text: string): void {
    this.ensure(text.length)
    const bytes = this.bytes
    let at = this.length
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i)
    this.length = at
  }

  /** A varint length, then the characters. */
  latin1Text(text: string): void {
    this.varint(text.length)
    this.latin1(text)
  }

  utf8(text: string): void {
    this.ensure(text.length * 3)
    this.length = writeUtf8(text, this.bytes, this.length)
  }

  utf8Text(text: string): void {
    this.varint(utf8Length(text))
    this.utf8(text)
  }

  /** Room for a length that is known only later: write it with `patchU32`. */
  reserveU32(): number {
    this.u32(0)
    return this.length - 4
  }

  patchU32(at: number, value: number): void {
    this.view.setUint32(at, value, true)
  }

  /** What is written, without a copy: valid until the next write or reset. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  copy(): Uint8Array {
    return this.bytes.slice(0, this.length)
  }
}

/** All platforms that Node.js runs on here are little endian, as everything on the wire is. */
const DOUBLE = new Float64Array(1)
const DOUBLE_BYTES = new Uint8Array(DOUBLE.buffer)

/** Every read is checked against the end and throws `FormatError` beyond it. */
export class ByteReader {
  bytes: Uint8Array = NO_BYTES
  offset = 0
  end = 0
  /** Made when it is first asked for: most messages are read without one, and it costs more than they do. */
  #view: DataView | undefined = NO_VIEW

  static over(bytes: Uint8Array): ByteReader {
    const reader = new ByteReader()
    reader.bytes = bytes
    reader.end = bytes.length
    reader.#view = undefined
    return reader
  }

  static overSpan(span: Span): ByteReader {
    return new ByteReader().point(span.bytes, span.view, span.offset, span.length)
  }

  point(bytes: Uint8Array, view: DataView, offset: number, length: number): this {
    if (offset < 0 || length < 0 || offset + length > bytes.length) {
      throw new FormatError(`bytes ${offset}+${length} lie outside a buffer of ${bytes.length}`)
    }
    this.bytes = bytes
    this.#view = view
    this.offset = offset
    this.end = offset + length
    return this
  }

  get view(): DataView {
    return (this.#view ??= viewOf(this.bytes))
  }

  get remaining(): number {
    return this.end - this.offset
  }

  /** Steps over `length` bytes and says where they began. */
  skip(length: number): number {
    const at = this.offset
    if (length < 0 || length > this.end - at) {
      throw new FormatError(`${length} bytes wanted, ${this.end - at} left`)
    }
    this.offset = at + length
    return at
  }

  u8(): number {
    return this.bytes[this.skip(1)]
  }

  u16(): number {
    const at = this.skip(2)
    return this.bytes[at] | (this.bytes[at + 1] << 8)
  }

  u32(): number {
    const at = this.skip(4)
    const { bytes } = this
    const low = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16)
    return (low | (bytes[at + 3] << 24)) >>> 0
  }

  f64(): number {
    const at = this.skip(8)
    if (this.#view !== undefined) return this.#view.getFloat64(at, true)
    for (let i = 0; i < 8; i++) DOUBLE_BYTES[i] = this.bytes[at + i]
    return DOUBLE[0]
  }

  varint(): number {
    // Most are short.
    if (this.offset < this.end && this.bytes[this.offset] < 0x80) return this.bytes[this.offset++]
    let value = 0
    let scale = 1
    for (let i = 0; i < VARINT_BYTES_MAX; i++) {
      const byte = this.u8()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break
        return value
      }
      scale *= 128
    }
    throw new FormatError('a varint is too long')
  }

  /** A count of things of at least `leastBytes` each: more than could follow is refused. */
  count(leastBytes: number): number {
    const count = this.varint()
    if (count * leastBytes > this.remaining) {
      throw new FormatError(`${count} elements announced, ${this.remaining} bytes left`)
    }
    return count
  }

  span(length: number, into: Span): Span {
    return into.point(this.bytes, this.view, this.skip(length), length)
  }

  copy(length: number): Uint8Array {
    const at = this.skip(length)
    return this.bytes.slice(at, at + length)
  }

  latin1Text(): string {
    const length = this.varint()
    return latin1String(this.bytes, this.skip(length), length)
  }

  utf8Text(): string {
    const length = this.varint()
    return utf8String(this.bytes, this.skip(length), length)
  }
}
