/**
 * A whole item as bytes, for moves, merges and digests:
 *
 *   u32  length of what follows
 *   u8   type, + 8 when there is an expiry
 *   f64  version
 *   u16  placement hash
 *   f64  expiry, if any
 *   varint key length, key bytes
 *   the value: the bytes of a string, the encoding of a heap value, nothing for a tombstone
 *
 * Which of two forms of an item is the newer one is decided here as well: the higher version, and
 * between equal versions the higher type, expiry and bytes, so that all nodes decide alike.
 */
import { ByteReader, type ByteWriter, compareBytes, FormatError, Span } from '../core/bytes.js'
import type { Arena } from './arena.js'
import { KeyHasher } from './key.js'
import { KEY_BYTES_MAX } from './records.js'
import { heapKindOf, TYPE_STREAM, TYPE_STRING, TYPE_TOMBSTONE } from './value-type.js'

const HAS_EXPIRY = 8

/** Made once and filled again and again; key and value point into the reader's bytes. */
export class Item {
  type = TYPE_TOMBSTONE
  version = 0
  /** Absolute milliseconds; 0 is none. */
  expiry = 0
  placementHash = 0
  readonly key = new Span()
  readonly value = new Span()
}

export function encodeItem(arena: Arena, ref: number, writer: ByteWriter, sorted = false): void {
  const records = arena.records
  const type = records.typeOf(ref)
  const expiry = records.expiryOf(ref)
  const start = writer.reserveU32()
  writer.u8(expiry > 0 ? type | HAS_EXPIRY : type)
  writer.f64(records.versionOf(ref))
  writer.u16(records.placementHash(ref))
  if (expiry > 0) writer.f64(expiry)
  const bytes = records.bytesOf(ref)
  const view = records.viewOf(ref)
  const keyLength = records.keyLength(ref)
  writer.varint(keyLength)
  writer.slice(bytes, view, records.keyOffset(ref), keyLength)
  if (type === TYPE_STRING || (!sorted && records.isPacked(ref))) {
    writer.slice(bytes, view, records.valueOffset(ref), records.valueLength(ref))
  } else if (type !== TYPE_TOMBSTONE) arena.heapValue(ref).encode(writer, sorted)
  writer.patchU32(start, writer.length - start - 4)
}

/** Reads one item; throws `FormatError` and leaves the reader anywhere if it is malformed. */
export function decodeItem(reader: ByteReader, item: Item): Item {
  const end = reader.u32() + reader.offset
  if (end > reader.end) throw new FormatError('an item is cut off')
  const first = reader.u8()
  item.type = first & 7
  if (item.type > TYPE_STREAM || first > 15) throw new FormatError(`unknown item type ${first}`)
  item.version = reader.f64()
  item.placementHash = reader.u16()
  item.expiry = first >= HAS_EXPIRY ? reader.f64() : 0
  if (!(item.version >= 0) || !(item.expiry >= 0 && item.expiry <= Number.MAX_SAFE_INTEGER)) {
    throw new FormatError('an item has no valid version or expiry')
  }
  const keyLength = reader.varint()
  if (keyLength > KEY_BYTES_MAX) throw new FormatError('the key of an item is too long')
  reader.span(keyLength, item.key)
  const valueLength = end - reader.offset
  if (valueLength < 0) throw new FormatError('an item is shorter than its key')
  if (item.type === TYPE_TOMBSTONE && (valueLength > 0 || item.expiry > 0)) {
    throw new FormatError('a tombstone has a value')
  }
  reader.span(valueLength, item.value)
  return item
}

/** Above zero when the record is to be preferred over the item, below when the item is. */
export function compareToItem(arena: Arena, ref: number, item: Item): number {
  const records = arena.records
  const byVersion = records.versionOf(ref) - item.version
  if (byVersion !== 0) return byVersion
  const byType = records.typeOf(ref) - item.type
  if (byType !== 0) return byType
  const byExpiry = records.expiryOf(ref) - item.expiry
  if (byExpiry !== 0 || item.type === TYPE_TOMBSTONE) return byExpiry
  const offered = item.value.bytes.subarray(
    item.value.offset,
    item.value.offset + item.value.length
  )
  if (item.type === TYPE_STRING) {
    const offset = records.valueOffset(ref)
    const held = records.bytesOf(ref).subarray(offset, offset + records.valueLength(ref))
    return compareBytes(held, offered)
  }
  const scratch = arena.scratch
  scratch.reset()
  arena.heapValue(ref).encode(scratch, true)
  const held = scratch.copy()
  scratch.reset()
  arena.decode(heapKindOf(item.type), ByteReader.over(offered)).encode(scratch, true)
  return compareBytes(held, scratch.written())
}

const FIRST_HASH = new KeyHasher(0x6f70656e)
const SECOND_HASH = new KeyHasher(0x636c7573)

/** A sum over items that does not depend on their order, nor on the node that holds them. */
export class Digest {
  first = 0
  second = 0

  add(arena: Arena, ref: number): void {
    const scratch = arena.scratch
    scratch.reset()
    encodeItem(arena, ref, scratch, true)
    this.first = (this.first + FIRST_HASH.hash(scratch.view, 0, scratch.length)) >>> 0
    this.second = (this.second + SECOND_HASH.hash(scratch.view, 0, scratch.length)) >>> 0
  }

  addDigest(other: Digest): void {
    this.first = (this.first + other.first) >>> 0
    this.second = (this.second + other.second) >>> 0
  }

  equals(other: Digest): boolean {
    return this.first === other.first && this.second === other.second
  }

  toString(): string {
    return hex(this.first) + hex(this.second)
  }
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0')
}
