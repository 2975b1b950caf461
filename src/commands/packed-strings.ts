/**
 * The compact forms in which Redis dumps small collections, as far as reading goes: listpacks, the ziplists before
 * them, sets of integers, and strings compressed by LZF. All of them come from outside: whatever they say is
 * checked, and what does not fit is a FormatError.
 */
import { ByteReader, FormatError, latin1String } from '../core/bytes.js'

const END = 0xff
/** A string has no more bytes than this. */
const STRING_BYTES_MAX = 512 * 1024 * 1024

function text(reader: ByteReader, length: number): string {
  return latin1String(reader.bytes, reader.skip(length), length)
}

/** An integer of so many bytes, lowest first, with its sign. */
function integer(reader: ByteReader, bytes: number): string {
  let value = 0n
  const at = reader.skip(bytes)
  for (let i = bytes - 1; i >= 0; i--) value = (value << 8n) | BigInt(reader.bytes[at + i])
  return BigInt.asIntN(bytes * 8, value).toString()
}

/** An unsigned integer of so many bytes, highest first. */
function bigEndian(reader: ByteReader, bytes: number): number {
  let value = 0
  for (let i = 0; i < bytes; i++) value = value * 256 + reader.u8()
  return value
}

/** How many bytes the length of a listpack's entry takes behind it. */
function backBytes(length: number): number {
  if (length <= 127) return 1
  if (length < 16383) return 2
  if (length < 2097151) return 3
  return length < 268435455 ? 4 : 5
}

const LISTPACK_INTEGERS: Readonly<Record<number, number>> = { 0xf1: 2, 0xf2: 3, 0xf3: 4, 0xf4: 8 }

function listpackEntry(reader: ByteReader, code: number): string {
  if (code < 0x80) return String(code)
  if (code < 0xc0) return text(reader, code & 63)
  if (code < 0xe0) {
    const value = ((code & 31) << 8) | reader.u8()
    return String(value >= 4096 ? value - 8192 : value)
  }
  if (code < 0xf0) return text(reader, ((code & 15) << 8) | reader.u8())
  if (code === 0xf0) return text(reader, reader.u32())
  if (!Object.hasOwn(LISTPACK_INTEGERS, code)) throw new FormatError('not an entry of a listpack')
  return integer(reader, LISTPACK_INTEGERS[code])
}

export function readListpack(bytes: Uint8Array): string[] {
  const reader = ByteReader.over(bytes)
  if (reader.u32() !== bytes.length) throw new FormatError('a listpack has another length')
  const count = reader.u16()
  const entries: string[] = []
  for (let code = reader.u8(); code !== END; code = reader.u8()) {
    const start = reader.offset - 1
    entries.push(listpackEntry(reader, code))
    reader.skip(backBytes(reader.offset - start))
  }
  if (reader.remaining > 0 || (count !== 0xffff && count !== entries.length)) {
    throw new FormatError('a listpack has another number of entries')
  }
  return entries
}

const ZIPLIST_INTEGERS: Readonly<Record<number, number>> = {
  0xc0: 2,
  0xd0: 4,
  0xe0: 8,
  0xf0: 3,
  0xfe: 1
}

function ziplistEntry(reader: ByteReader): string {
  const code = reader.u8()
  if (code < 0x40) return text(reader, code)
  if (code < 0x80) return text(reader, ((code & 63) << 8) | reader.u8())
  if (code === 0x80) return text(reader, bigEndian(reader, 4))
  if (code > 0xf0 && code < 0xfe) return String((code & 15) - 1)
  if (!Object.hasOwn(ZIPLIST_INTEGERS, code)) throw new FormatError('not an entry of a ziplist')
  return integer(reader, ZIPLIST_INTEGERS[code])
}

export function readZiplist(bytes: Uint8Array): string[] {
  const reader = ByteReader.over(bytes)
  if (reader.u32() !== bytes.length) throw new FormatError('a ziplist has another length')
  reader.u32()
  const count = reader.u16()
  const entries: string[] = []
  for (let before = reader.u8(); before !== END; before = reader.u8()) {
    // The length of the entry before; nobody goes backwards here.
    if (before === 0xfe) reader.skip(4)
    entries.push(ziplistEntry(reader))
  }
  if (reader.remaining > 0 || (count !== 0xffff && count !== entries.length)) {
    throw new FormatError('a ziplist has another number of entries')
  }
  return entries
}

export function readIntegerSet(bytes: Uint8Array): string[] {
  const reader = ByteReader.over(bytes)
  const width = reader.u32()
  const count = reader.u32()
  if (![2, 4, 8].includes(width) || count * width !== reader.remaining) {
    throw new FormatError('not a set of integers')
  }
  return Array.from({ length: count }, () => integer(reader, width))
}

/** Undoes the compression of LZF: runs of bytes, and copies of what came before. */
export function decompress(packed: Uint8Array, length: number): Uint8Array {
  if (length > STRING_BYTES_MAX) throw new FormatError('a string is too long')
  const reader = ByteReader.over(packed)
  const bytes = new Uint8Array(length)
  let at = 0
  while (reader.remaining > 0) {
    const control = reader.u8()
    if (control < 32) {
      const from = reader.skip(control + 1)
      if (at + control + 1 > length) throw new FormatError('a compressed string is too long')
      bytes.set(packed.subarray(from, from + control + 1), at)
      at += control + 1
      continue
    }
    const run = control >> 5 === 7 ? 7 + reader.u8() : control >> 5
    const back = ((control & 31) << 8) + reader.u8() + 1
    if (back > at || at + run + 2 > length) throw new FormatError('a compressed string is broken')
    for (let i = 0; i < run + 2; i++, at++) bytes[at] = bytes[at - back]
  }
  if (at !== length) throw new FormatError('a compressed string is too short')
  return bytes
}
