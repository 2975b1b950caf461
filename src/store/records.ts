/**
 * A slab whose blocks are records. A record is one item or one tombstone:
 *
 *   0   u32  units << 6 | PACKED | LINKED | the slab's own flags
 *   4   u32  type << 29 | value length
 *   8   f64  version
 *   16  u16  key length
 *   18  u16  placement hash
 *   20  key bytes, value bytes, slack
 *   and, only when LINKED, the block's last unit: i32 previous, i32 next, f64 expiry
 *
 * LINKED records are those that must be found without a search: items with an expiry (in their
 * bucket's expiry queue) and tombstones (in its tombstone queue). The link lies at the end so that
 * the key and the value of every record lie at the same place.
 *
 * The value of a heap type is a slot number and the bytes last accounted for it, or, when PACKED, its encoding.
 */
import type { Span } from '../core/bytes.js'
import { CHUNK_BITS, FLAG_USER, Slab, UNIT_BYTES, UNIT_MASK } from './slab.js'
import { TYPE_STRING, TYPE_TOMBSTONE } from './value-type.js'

export const HEADER_BYTES = 20
export const FLAG_LINKED = FLAG_USER
const FLAG_PACKED = FLAG_USER << 1
export const TYPE_SHIFT = 29
const LENGTH_MASK = (1 << TYPE_SHIFT) - 1
export const KEY_BYTES_MAX = 0xffff
export const VALUE_BYTES_MAX = LENGTH_MASK
export const HEAP_VALUE_BYTES = 12

export function unitsFor(keyLength: number, valueLength: number, linked: boolean): number {
  const plain = (HEADER_BYTES + keyLength + valueLength + UNIT_BYTES - 1) >> 4
  return linked ? plain + 1 : plain
}

export class Records extends Slab {
  typeOf(ref: number): number {
    return this.words[ref >>> CHUNK_BITS][((ref & UNIT_MASK) << 2) + 1] >>> TYPE_SHIFT
  }

  valueLength(ref: number): number {
    return this.words[ref >>> CHUNK_BITS][((ref & UNIT_MASK) << 2) + 1] & LENGTH_MASK
  }

  setTypeAndLength(ref: number, type: number, length: number): void {
    this.words[ref >>> CHUNK_BITS][((ref & UNIT_MASK) << 2) + 1] = (type << TYPE_SHIFT) | length
  }

  versionOf(ref: number): number {
    return this.doubles[ref >>> CHUNK_BITS][((ref & UNIT_MASK) << 1) + 1]
  }

  setVersion(ref: number, version: number): void {
    this.doubles[ref >>> CHUNK_BITS][((ref & UNIT_MASK) << 1) + 1] = version
  }

  keyLength(ref: number): number {
    return this.words[ref >>> CHUNK_BITS][((ref & UNIT_MASK) << 2) + 4] & 0xffff
  }

  placementHash(ref: number): number {
    return this.words[ref >>> CHUNK_BITS][((ref & UNIT_MASK) << 2) + 4] >>> 16
  }

  setKeyWord(ref: number, keyLength: number, placementHash: number): void {
    this.words[ref >>> CHUNK_BITS][((ref & UNIT_MASK) << 2) + 4] = (placementHash << 16) | keyLength
  }

  bytesOf(ref: number): Uint8Array {
    return this.bytes[ref >>> CHUNK_BITS]
  }

  viewOf(ref: number): DataView {
    return this.views[ref >>> CHUNK_BITS]
  }

  keyOffset(ref: number): number {
    return ((ref & UNIT_MASK) << 4) + HEADER_BYTES
  }

  valueOffset(ref: number): number {
    return ((ref & UNIT_MASK) << 4) + HEADER_BYTES + this.keyLength(ref)
  }

  pointKey(ref: number, span: Span): Span {
    return span.point(this.bytesOf(ref), this.viewOf(ref), this.keyOffset(ref), this.keyLength(ref))
  }

  pointValue(ref: number, span: Span): Span {
    const offset = this.valueOffset(ref)
    return span.point(this.bytesOf(ref), this.viewOf(ref), offset, this.valueLength(ref))
  }

  copyKey(ref: number): Uint8Array {
    const offset = this.keyOffset(ref)
    return this.bytesOf(ref).slice(offset, offset + this.keyLength(ref))
  }

  /** Its value is an object on the heap. */
  isHeap(ref: number): boolean {
    return this.typeOf(ref) > TYPE_STRING && !this.#hasPackedFlag(ref)
  }

  /** Its value could be on the heap and lies here. */
  isPacked(ref: number): boolean {
    return this.typeOf(ref) > TYPE_STRING && this.#hasPackedFlag(ref)
  }

  /** The flag says nothing of a string or a tombstone, so it is not taken away when a record becomes one. */
  #hasPackedFlag(ref: number): boolean {
    return (this.words[ref >>> CHUNK_BITS][(ref & UNIT_MASK) << 2] & FLAG_PACKED) !== 0
  }

  setPacked(ref: number, packed: boolean): void {
    const words = this.words[ref >>> CHUNK_BITS]
    const at = (ref & UNIT_MASK) << 2
    words[at] = packed ? words[at] | FLAG_PACKED : words[at] & ~FLAG_PACKED
  }

  isTombstone(ref: number): boolean {
    return this.typeOf(ref) === TYPE_TOMBSTONE
  }

  heapSlot(ref: number): number {
    return this.viewOf(ref).getInt32(this.valueOffset(ref), true)
  }

  heapBytes(ref: number): number {
    return this.viewOf(ref).getFloat64(this.valueOffset(ref) + 4, true)
  }

  setHeapSlot(ref: number, slot: number, bytes: number): void {
    const view = this.viewOf(ref)
    const offset = this.valueOffset(ref)
    view.setInt32(offset, slot, true)
    view.setFloat64(offset + 4, bytes, true)
  }

  isLinked(ref: number): boolean {
    return (this.words[ref >>> CHUNK_BITS][(ref & UNIT_MASK) << 2] & FLAG_LINKED) !== 0
  }

  setLinked(ref: number, linked: boolean): void {
    const words = this.words[ref >>> CHUNK_BITS]
    const at = (ref & UNIT_MASK) << 2
    words[at] = linked ? words[at] | FLAG_LINKED : words[at] & ~FLAG_LINKED
  }

  /** 0 when the item has none. */
  expiryOf(ref: number): number {
    return this.isLinked(ref) && !this.isTombstone(ref) ? this.linkedExpiry(ref) : 0
  }

  linkedExpiry(ref: number): number {
    return this.doubles[ref >>> CHUNK_BITS][(this.#linkUnit(ref) << 1) + 1]
  }

  setLinkedExpiry(ref: number, expiry: number): void {
    this.doubles[ref >>> CHUNK_BITS][(this.#linkUnit(ref) << 1) + 1] = expiry
  }

  previousOf(ref: number): number {
    return this.words[ref >>> CHUNK_BITS][this.#linkUnit(ref) << 2]
  }

  setPrevious(ref: number, previous: number): void {
    this.words[ref >>> CHUNK_BITS][this.#linkUnit(ref) << 2] = previous
  }

  nextOf(ref: number): number {
    return this.words[ref >>> CHUNK_BITS][(this.#linkUnit(ref) << 2) + 1]
  }

  setNext(ref: number, next: number): void {
    this.words[ref >>> CHUNK_BITS][(this.#linkUnit(ref) << 2) + 1] = next
  }

  #linkUnit(ref: number): number {
    return (ref & UNIT_MASK) + this.unitsOf(ref) - 1
  }
}
