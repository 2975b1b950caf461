/**
 * Values as DUMP gives them and RESTORE takes them: the way Redis writes them to disk, so that keys can be carried
 * over from it and back.
 *
 *   u8 type · the value · u16 version of the format · CRC-64 of all before
 *
 * Written are the plain forms, which every Redis reads; read are those and the compact ones of Redis 2.6 to 7.2.
 */
import { ByteReader, ByteWriter, FormatError, latin1Bytes, latin1String } from '../core/bytes.js'
import type { HeapValue } from '../store/value-type.js'
import { HashValue } from '../store/values/hash-value.js'
import { ListValue } from '../store/values/list-value.js'
import { SetValue } from '../store/values/set-value.js'
import { ZsetValue } from '../store/values/zset-value.js'
import { crc64 } from './crc64.js'
import { parseAnyFloat } from './number-text.js'
import { decompress, readIntegerSet, readListpack, readZiplist } from './packed-strings.js'

/** The format of Redis 7.0, and the newest one that is understood. */
const VERSION = 10
const VERSION_MAX = 12
const FOOTER_BYTES = 10

const TYPE_STRING = 0
const TYPE_LIST = 1
const TYPE_SET = 2
const TYPE_ZSET_TEXT = 3
const TYPE_HASH = 4
const TYPE_ZSET = 5

/** A string or a collection. */
export type Dumped = Uint8Array | HeapValue

/** A length: 6 or 14 bits, or 32 or 64 behind a byte of its own. */
function writeLength(writer: ByteWriter, length: number): void {
  if (length < 64) writer.u8(length)
  else if (length < 16384) {
    writer.u8(0x40 | (length >> 8))
    writer.u8(length & 255)
  } else {
    writer.u8(0x80)
    for (let shift = 24; shift >= 0; shift -= 8) writer.u8((length >>> shift) & 255)
  }
}

function writeText(writer: ByteWriter, text: string): void {
  writeLength(writer, text.length)
  writer.latin1(text)
}

function writeHeap(writer: ByteWriter, value: HeapValue): void {
  if (value instanceof ListValue) {
    writer.u8(TYPE_LIST)
    writeLength(writer, value.length)
    for (const element of value.slice(0, value.length)) writeText(writer, element)
  } else if (value instanceof SetValue) {
    writer.u8(TYPE_SET)
    writeLength(writer, value.size)
    for (const member of value.members()) writeText(writer, member)
  } else if (value instanceof HashValue) {
    writer.u8(TYPE_HASH)
    writeLength(writer, value.size)
    for (let place = 0; place < value.size; place++) {
      writeText(writer, value.fieldAt(place))
      writeText(writer, value.valueAt(place))
    }
  } else if (value instanceof ZsetValue) {
    writer.u8(TYPE_ZSET)
    writeLength(writer, value.size)
    // From the highest down, as Redis does it: its skip list grows at the head.
    value.range(0, value.size, true, (member, score) => {
      writeText(writer, member)
      writer.f64(score)
    })
  } else throw new FormatError(`a ${value.kind} cannot be dumped`)
}

export function writeDump(value: Dumped): Uint8Array {
  const writer = new ByteWriter(256)
  if (value instanceof Uint8Array) {
    writer.u8(TYPE_STRING)
    writeLength(writer, value.length)
    writer.raw(value)
  } else writeHeap(writer, value)
  writer.u16(VERSION)
  for (const half of crc64(writer.bytes, writer.length)) writer.u32(half)
  return writer.copy()
}

/** Whether its version is understood and nothing was changed on the way. */
export function isDump(bytes: Uint8Array): boolean {
  if (bytes.length < FOOTER_BYTES) return false
  const reader = ByteReader.over(bytes)
  reader.skip(bytes.length - FOOTER_BYTES)
  const version = reader.u16()
  const [low, high] = [reader.u32(), reader.u32()]
  const [wantedLow, wantedHigh] = crc64(bytes, bytes.length - 8)
  return version <= VERSION_MAX && low === wantedLow && high === wantedHigh
}

const COMPRESSED = 3

/** A length, or the number of a special form of a string. */
function readLength(reader: ByteReader): { length: number; special: boolean } {
  const first = reader.u8()
  if (first < 0x40) return { length: first, special: false }
  if (first < 0x80) return { length: ((first & 63) << 8) | reader.u8(), special: false }
  if (first >= 0xc0) return { length: first & 63, special: true }
  const bytes = first === 0x80 ? 4 : first === 0x81 ? 8 : 0
  if (bytes === 0) throw new FormatError('not a length')
  let length = 0
  for (let i = 0; i < bytes; i++) length = length * 256 + reader.u8()
  return { length, special: false }
}

/** How many there are; each takes a byte at least. */
function readCount(reader: ByteReader): number {
  const { length, special } = readLength(reader)
  if (special || length === 0 || length > reader.remaining) throw new FormatError('not a count')
  return length
}

function readString(reader: ByteReader): Uint8Array {
  const { length, special } = readLength(reader)
  if (!special) {
    const at = reader.skip(length)
    return reader.bytes.slice(at, at + length)
  }
  if (length === COMPRESSED) {
    const packed = readLength(reader).length
    const whole = readLength(reader).length
    const at = reader.skip(packed)
    return decompress(reader.bytes.subarray(at, at + packed), whole)
  }
  if (length > 2) throw new FormatError('not a string')
  let value = 0
  const bytes = 1 << length
  const at = reader.skip(bytes)
  for (let i = bytes - 1; i >= 0; i--) value = value * 256 + reader.bytes[at + i]
  const limit = 2 ** (bytes * 8)
  return latin1Bytes(String(value >= limit / 2 ? value - limit : value))
}

function readText(reader: ByteReader): string {
  const bytes = readString(reader)
  return latin1String(bytes, 0, bytes.length)
}

function readTexts(reader: ByteReader, each: number): string[] {
  return Array.from({ length: readCount(reader) * each }, () => readText(reader))
}

/** The oldest form of a score: its text behind one byte of length. */
function readScoreText(reader: ByteReader): number {
  const length = reader.u8()
  if (length === 253) return NaN
  if (length >= 254) return length === 254 ? Infinity : -Infinity
  return parseAnyFloat(latin1String(reader.bytes, reader.skip(length), length))
}

function makeList(elements: readonly string[]): ListValue {
  const value = new ListValue()
  for (const element of elements) value.pushBack(element)
  return value
}

function makeSet(members: readonly string[]): SetValue {
  const value = new SetValue()
  for (const member of members) if (!value.add(member)) throw new FormatError('a member is twice')
  return value
}

function makeHash(texts: readonly string[]): HashValue {
  const value = new HashValue()
  for (const [field, text] of pairs(texts)) {
    if (!value.set(field, text)) throw new FormatError('a field is there twice')
  }
  return value
}

function makeZset(members: Iterable<readonly [string, number]>): ZsetValue {
  const value = new ZsetValue()
  for (const [member, score] of members) {
    if (Number.isNaN(score) || !value.set(member, score)) throw new FormatError('not a member')
  }
  return value
}

function pairs(texts: readonly string[]): [string, string][] {
  if (texts.length % 2 !== 0) throw new FormatError('something has no value')
  const found: [string, string][] = []
  for (let i = 0; i < texts.length; i += 2) found.push([texts[i], texts[i + 1]])
  return found
}

function makeZsetOfTexts(texts: readonly string[]): ZsetValue {
  return makeZset(pairs(texts).map(([member, score]) => [member, parseAnyFloat(score)]))
}

/** Pieces of a list, each a packed one or, in the newer form, an element that is too large for that. */
function readPieces(reader: ByteReader, hasKinds: boolean): string[] {
  const elements: string[] = []
  for (let left = readCount(reader); left > 0; left--) {
    const kind = hasKinds ? readLength(reader).length : 0
    const bytes = readString(reader)
    if (kind === 1) elements.push(latin1String(bytes, 0, bytes.length))
    else if (hasKinds ? kind === 2 : true) {
      for (const element of hasKinds ? readListpack(bytes) : readZiplist(bytes)) {
        elements.push(element)
      }
    } else throw new FormatError('not a piece of a list')
  }
  return elements
}

const READERS: Readonly<Record<number, (reader: ByteReader) => Dumped>> = {
  [TYPE_STRING]: readString,
  [TYPE_LIST]: (reader) => makeList(readTexts(reader, 1)),
  [TYPE_SET]: (reader) => makeSet(readTexts(reader, 1)),
  [TYPE_ZSET_TEXT]: (reader) =>
    makeZset(
      Array.from({ length: readCount(reader) }, () => [readText(reader), readScoreText(reader)])
    ),
  [TYPE_HASH]: (reader) => makeHash(readTexts(reader, 2)),
  [TYPE_ZSET]: (reader) =>
    makeZset(Array.from({ length: readCount(reader) }, () => [readText(reader), reader.f64()])),
  10: (reader) => makeList(readZiplist(readString(reader))),
  11: (reader) => makeSet(readIntegerSet(readString(reader))),
  12: (reader) => makeZsetOfTexts(readZiplist(readString(reader))),
  13: (reader) => makeHash(readZiplist(readString(reader))),
  14: (reader) => makeList(readPieces(reader, false)),
  16: (reader) => makeHash(readListpack(readString(reader))),
  17: (reader) => makeZsetOfTexts(readListpack(readString(reader))),
  18: (reader) => makeList(readPieces(reader, true)),
  20: (reader) => makeSet(readListpack(readString(reader)))
}

function isEmpty(value: HeapValue): boolean {
  if (value instanceof ListValue) return value.length === 0
  return 'size' in value && value.size === 0
}

/** Throws FormatError where it makes no sense. */
export function readDump(bytes: Uint8Array): Dumped {
  const reader = ByteReader.over(bytes.subarray(0, bytes.length - FOOTER_BYTES))
  const type = reader.u8()
  if (!Object.hasOwn(READERS, type)) throw new FormatError(`unknown type ${type}`)
  const value = READERS[type](reader)
  if (reader.remaining > 0 || (!(value instanceof Uint8Array) && isEmpty(value))) {
    throw new FormatError('there is more or less than a value')
  }
  return value
}
