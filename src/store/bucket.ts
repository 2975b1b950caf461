/**
 * One bucket: its index, its counts and its two queues, over the records of the node's arena.
 *
 * A ref names a record until the next call that may move or free it: every `set…`, `append`,
 * `overwriteRange`, `setExpiry`, `remove`, `bury` and `applyItem` of that key. Calls that may move it
 * return the new ref. Memory is always taken before anything is changed, so a `StoreLimitError`
 * leaves the bucket as it was.
 *
 * `find`, `setString` and what they call are the data path (bench/micro/store.ts): no allocation.
 */
import { assert } from '../core/assert.js'
import { ByteReader, type ByteWriter, copyBytes, type Span } from '../core/bytes.js'
import type { Arena } from './arena.js'
import { BucketRecords } from './bucket-records.js'
import { CopyCursor } from './copy-cursor.js'
import { compareToItem, Digest, encodeItem, type Item } from './item.js'
import type { Key } from './key.js'
import { KeyIndex, positionOf, POSITIONS } from './key-index.js'
import { HEAP_VALUE_BYTES, unitsFor } from './records.js'
import { UNIT_BYTES } from './slab.js'
import { TombstoneQueue } from './tombstone-queue.js'
import {
  type HeapKind,
  heapKindOf,
  type HeapValue,
  TYPE_STRING,
  TYPE_TOMBSTONE,
  typeOfKind
} from './value-type.js'

const SLACK_UNITS = 65536
const ZERO = 0x30
/** Of a number that is exact. */
const DIGITS_MAX = 15
const TENS = Array.from({ length: DIGITS_MAX + 1 }, (_, digits) => 10 ** digits)

/** Where a bucket's entries come from while it is being split off (BucketSplit). */
export interface EntrySource {
  /** Hands over the entries around a position; returns the position up to which that holds. */
  pull(position: number): number
  finish(): void
}

export class Bucket extends BucketRecords {
  readonly id: number
  /** Set while this bucket still gets its entries from a split. */
  #source: EntrySource | null = null
  #copy: CopyCursor | null = null

  constructor(id: number, arena: Arena) {
    super(arena)
    this.id = id
  }

  /** The ref of a live item that has not expired, or 0. */
  find(key: Key, now: number): number {
    const ref = this.findAny(key)
    if (ref === 0) return 0
    const records = this.arena.records
    if (records.isLinked(ref)) {
      if (records.isTombstone(ref) || records.linkedExpiry(ref) <= now) return 0
    }
    return ref
  }

  /** Also of an expired item and of a tombstone. */
  findAny(key: Key): number {
    if (this.#source !== null) this.#source.pull(positionOf(key.hash))
    return this.index.find(key)
  }

  /** Where the search for a key of this hash begins, and what it may find: for Slab.touch. */
  slotUnit(hash: number): number {
    return this.index.slotUnit(hash)
  }

  candidate(hash: number): number {
    return this.index.candidate(hash)
  }

  /** `value` must not lie in this key's own record. */
  setString(key: Key, value: Span, version: number, expiry: number): number {
    const length = value.length
    this.arena.checkValueLength(length)
    const ref = this.makeRoom(key, this.findAny(key), length, expiry)
    this.#fill(ref, TYPE_STRING, value, version)
    if (expiry > 0) this.linkExpiry(ref, expiry)
    return ref
  }

  /** The encoding of a small value, which must not lie in this key's own record. */
  setPacked(key: Key, kind: HeapKind, value: Span, version: number, expiry: number): number {
    const ref = this.makeRoom(key, this.findAny(key), value.length, expiry)
    this.#fill(ref, typeOfKind(kind), value, version)
    this.arena.records.setPacked(ref, true)
    if (expiry > 0) this.linkExpiry(ref, expiry)
    return ref
  }

  #fill(ref: number, type: number, value: Span, version: number): void {
    const records = this.arena.records
    records.setTypeAndLength(ref, type, value.length)
    records.setVersion(ref, version)
    copyBytes(
      value.bytes,
      value.view,
      value.offset,
      records.bytesOf(ref),
      records.viewOf(ref),
      records.valueOffset(ref),
      value.length
    )
  }

  /** A small one is kept as bytes: what is changed in it later must be stored by `updated`. */
  setHeap(key: Key, value: HeapValue, version: number, expiry: number): number {
    const { records, scratch, span } = this.arena
    if (value.isSmall) {
      scratch.reset()
      value.encode(scratch)
      span.point(scratch.bytes, scratch.view, 0, scratch.length)
      return this.setPacked(key, value.kind, span, version, expiry)
    }
    const ref = this.makeRoom(key, this.findAny(key), HEAP_VALUE_BYTES, expiry)
    records.setTypeAndLength(ref, typeOfKind(value.kind), HEAP_VALUE_BYTES)
    records.setPacked(ref, false)
    records.setVersion(ref, version)
    records.setHeapSlot(ref, this.arena.addHeapValue(value), 0)
    this.accountHeap(ref, value.bytes)
    if (expiry > 0) this.linkExpiry(ref, expiry)
    return ref
  }

  /** Deletes without a trace: for a bucket that has no other copy. */
  remove(ref: number): void {
    this.index.remove(this.hashOf(ref), ref)
    this.detach(ref)
    this.countItem(ref, -1)
    this.countUnits(-this.arena.records.unitsOf(ref))
    this.arena.records.free(ref)
  }

  /** Deletes and leaves a tombstone, whose ref is returned. Never fails for lack of memory. */
  bury(ref: number, version: number): number {
    const records = this.arena.records
    const keyLength = records.keyLength(ref)
    const units = unitsFor(keyLength, 0, true)
    this.detach(ref)
    this.countItem(ref, -1)
    records.setTypeAndLength(ref, TYPE_TOMBSTONE, 0)
    const grave = this.fit(ref, units, true)
    this.finishTombstone(grave, version)
    return grave
  }

  /** A tombstone for a key that may not be there. */
  buryKey(key: Key, version: number): number {
    const ref = this.findAny(key)
    if (ref !== 0) return this.bury(ref, version)
    const grave = this.create(key, unitsFor(key.length, 0, true), true)
    this.finishTombstone(grave, version)
    return grave
  }

  /**
   * Removes tombstones that every copy has seen, at most `budget`; returns how many. While the bucket
   * still takes entries over from a split it does nothing.
   */
  purge(seenVersion: number, budget: number): number {
    if (this.tombstones === 0 || this.#source !== null) return 0
    const records = this.arena.records
    let removed = 0
    while (removed < budget) {
      const ref = this.tombstoneQueue.first
      if (ref === 0 || records.versionOf(ref) > seenVersion) break
      this.remove(ref)
      removed++
    }
    return removed
  }

  /**
   * Calls `onExpired` with items whose time is over; it must bury or remove each, or give it a new
   * expiry. At most `budget` steps; returns how many are left over. Items come up to 32 ms late, and
   * not while the bucket still takes entries over from a split.
   */
  expired(now: number, budget: number, onExpired: (ref: number) => void): number {
    if (this.expiring === 0 || this.expiries === null || this.#source !== null) return budget
    return this.expiries.take(now, budget, onExpired)
  }

  isString(ref: number): boolean {
    return this.typeOf(ref) === TYPE_STRING
  }

  /** The value of a collection lies in its record, encoded. */
  isPacked(ref: number): boolean {
    return this.arena.records.isPacked(ref)
  }

  typeOf(ref: number): number {
    return this.arena.records.typeOf(ref)
  }

  versionOf(ref: number): number {
    return this.arena.records.versionOf(ref)
  }

  /** Absolute milliseconds; 0 when there is none. */
  expiryOf(ref: number): number {
    return this.arena.records.expiryOf(ref)
  }

  /** 0 takes the expiry away. */
  setExpiry(ref: number, expiry: number): number {
    const records = this.arena.records
    assert(!records.isTombstone(ref), 'a tombstone does not expire')
    if (records.isLinked(ref)) {
      this.unlinkExpiry(ref)
      if (expiry > 0) this.linkExpiry(ref, expiry)
      return ref
    }
    if (expiry <= 0) return ref
    const units = unitsFor(records.keyLength(ref), records.valueLength(ref), true)
    const moved = records.unitsOf(ref) >= units ? ref : this.grow(ref, units)
    this.linkExpiry(moved, expiry)
    return moved
  }

  touchVersion(ref: number, version: number): void {
    this.arena.records.setVersion(ref, version)
  }

  /** To be called after each change of a heap value, with the value that `heapValue` gave. */
  updated(key: Key, ref: number, value: HeapValue, version: number): number {
    if (this.isPacked(ref)) return this.setHeap(key, value, version, this.expiryOf(ref))
    this.arena.records.setVersion(ref, version)
    this.accountHeap(ref, value.bytes)
    return ref
  }

  /** What a record takes, its heap value included. */
  bytesOf(ref: number): number {
    const records = this.arena.records
    const bytes = records.unitsOf(ref) * UNIT_BYTES
    return records.isHeap(ref) ? bytes + records.heapBytes(ref) : bytes
  }

  keyLength(ref: number): number {
    return this.arena.records.keyLength(ref)
  }

  keyOffset(ref: number): number {
    return this.arena.records.keyOffset(ref)
  }

  /** A copy. */
  keyBytes(ref: number): Uint8Array {
    return this.arena.records.copyKey(ref)
  }

  pointKey(ref: number, span: Span): Span {
    return this.arena.records.pointKey(ref, span)
  }

  placementHash(ref: number): number {
    return this.arena.records.placementHash(ref)
  }

  valueLength(ref: number): number {
    return this.arena.records.valueLength(ref)
  }

  /** The whole chunk in which the record lies, for reading at `valueOffset` and `keyOffset`. */
  valueBytes(ref: number): Uint8Array {
    return this.arena.records.bytesOf(ref)
  }

  valueView(ref: number): DataView {
    return this.arena.records.viewOf(ref)
  }

  valueOffset(ref: number): number {
    return this.arena.records.valueOffset(ref)
  }

  pointValue(ref: number, span: Span): Span {
    return this.arena.records.pointValue(ref, span)
  }

  /** Of a packed one a copy. */
  heapValue(ref: number): HeapValue {
    return this.arena.heapValue(ref)
  }

  append(ref: number, tail: Span, version: number): number {
    return this.overwriteRange(ref, this.valueLength(ref), tail, version)
  }

  /** Writes into a string from `at` on; a gap behind its end is filled with zeros. */
  overwriteRange(ref: number, at: number, part: Span, version: number): number {
    const records = this.arena.records
    assert(records.typeOf(ref) === TYPE_STRING, 'only strings have ranges')
    const old = records.valueLength(ref)
    const length = Math.max(old, at + part.length)
    this.arena.checkValueLength(length)
    const units = unitsFor(records.keyLength(ref), length, records.isLinked(ref))
    let moved = ref
    if (records.unitsOf(ref) < units) {
      // Room for half as much again, so that a string built piece by piece is not copied each time.
      const slack = Math.min(units >> 1, Math.max(SLACK_UNITS, units >> 3))
      moved = this.grow(ref, units + slack)
    }
    records.setTypeAndLength(moved, TYPE_STRING, length)
    records.setVersion(moved, version)
    const offset = records.valueOffset(moved)
    const bytes = records.bytesOf(moved)
    if (at > old) bytes.fill(0, offset + old, offset + at)
    const view = records.viewOf(moved)
    copyBytes(part.bytes, part.view, part.offset, bytes, view, offset + at, part.length)
    return moved
  }

  /** Writes a number over a string of as many digits, where it lies; false if it has another length. */
  overwriteDigits(ref: number, value: number, version: number): boolean {
    const records = this.arena.records
    const length = records.valueLength(ref)
    if (value < 0 || length > DIGITS_MAX || value >= TENS[length]) return false
    if (length > 1 && value < TENS[length - 1]) return false
    const bytes = records.bytesOf(ref)
    const offset = records.valueOffset(ref)
    let left = value
    for (let at = offset + length - 1; at >= offset; at--) {
      const rest = Math.floor(left / 10)
      bytes[at] = ZERO + (left - 10 * rest)
      left = rest
    }
    records.setVersion(ref, version)
    return true
  }

  /** Installs an item as it came from another copy if it is newer than what is here. */
  applyItem(key: Key, item: Item): boolean {
    const ref = this.findAny(key)
    if (ref !== 0 && compareToItem(this.arena, ref, item) >= 0) return false
    if (item.type === TYPE_TOMBSTONE) this.buryKey(key, item.version)
    else if (item.type === TYPE_STRING) {
      this.setString(key, item.value, item.version, item.expiry)
    } else {
      const value = this.arena.decode(heapKindOf(item.type), ByteReader.overSpan(item.value))
      this.setHeap(key, value, item.version, item.expiry)
    }
    return true
  }

  encodeItem(ref: number, writer: ByteWriter): void {
    encodeItem(this.arena, ref, writer)
  }

  /** Equal for equal contents, whatever their order and whichever node holds them. */
  digest(withTombstones = true): Digest {
    this.settle()
    const digest = new Digest()
    this.index.walk(0, (ref) => {
      if (withTombstones || !this.arena.records.isTombstone(ref)) digest.add(this.arena, ref)
      return true
    })
    return digest
  }

  /** Only one copy can be open at a time. */
  openCopy(): CopyCursor {
    assert(this.#copy === null, 'a copy of this bucket is open already')
    const cursor = new CopyCursor(this, () => {
      // One that was closed before must not end the next one.
      if (this.#copy === cursor) this.#copy = null
    })
    this.#copy = cursor
    return cursor
  }

  get copying(): boolean {
    return this.#copy !== null
  }

  /** Whether a write to this record must be forwarded behind the open copy. */
  isSent(ref: number): boolean {
    return this.#copy !== null && positionOf(this.hashOf(ref)) < this.#copy.position
  }

  /** The same by key, also for one that is not there. */
  isKeySent(key: Key): boolean {
    return this.#copy !== null && positionOf(key.hash) < this.#copy.position
  }

  /**
   * Visits about `count` records from a cursor on and returns the next cursor; 0 starts and 0 means
   * done. An item that is there during the whole scan is visited at least once, whatever is written
   * between the calls. `visit` must not write to the bucket.
   */
  scan(cursor: number, count: number, now: number, visit: (ref: number) => void): number {
    const records = this.arena.records
    let seen = 0
    let last = -1
    const next = this.walk(cursor, (ref, position) => {
      if (seen >= count && position !== last) return false
      seen++
      last = position
      if (!records.isLinked(ref)) visit(ref)
      else if (!records.isTombstone(ref) && records.linkedExpiry(ref) > now) visit(ref)
      return true
    })
    return next === POSITIONS ? 0 : next
  }

  /** A live item near a random position (32 bits), or 0 if there is none among the next few. */
  sample(position: number, now: number): number {
    let found = 0
    for (const from of [position, 0]) {
      this.scan(from, 16, now, (ref) => {
        if (found === 0) found = ref
      })
      if (found !== 0) return found
    }
    return 0
  }

  /** Visits all records from a position on, in hash order, until `visit` answers false. */
  walk(from: number, visit: (ref: number, position: number) => boolean): number {
    const source = this.#source
    if (source === null) return this.index.walk(from, visit)
    let position = from
    while (position < POSITIONS) {
      const end = this.index.segmentEnd(position)
      for (let at = position; at < end; at = source.pull(at));
      const stop = this.index.walk(position, (ref, at) => at < end && visit(ref, at))
      if (stop < end) return stop
      position = end
    }
    return POSITIONS
  }

  /** Takes over at once all that a split still owes. */
  settle(): void {
    this.#source?.finish()
  }

  get settled(): boolean {
    return this.#source === null
  }

  /** For BucketSplit: gives away all entries; from now on they come back through `adopt`. */
  beginSplit(): KeyIndex {
    assert(this.#copy === null, 'a bucket is split while it is copied')
    this.settle()
    const index = this.index
    this.expiries = null
    this.tombstoneQueue = new TombstoneQueue(this.arena.records)
    this.items = this.expiring = this.tombstones = this.bytes = 0
    return index
  }

  /** For BucketSplit: entries will come from `source`, in any order, to a directory of `depth`. */
  expectFrom(source: EntrySource | null, depth: number): void {
    this.#source = source
    if (source !== null) this.index = new KeyIndex(this.arena.records, this.arena, depth)
  }

  /** For BucketSplit. The sums of the arena already hold what is adopted. */
  adopt(hash: number, ref: number, expected: number): void {
    const records = this.arena.records
    this.index.reserve(hash, expected)
    this.index.insert(hash, ref)
    this.bytes += this.bytesOf(ref)
    if (records.isTombstone(ref)) {
      this.tombstones++
      this.tombstoneQueue.add(ref)
      return
    }
    this.items++
    if (!records.isLinked(ref)) return
    this.expiring++
    this.expiryQueue().add(ref)
  }

  /** For Store.drop: takes this bucket out of all sums; its records are freed by the caller. */
  abandon(): KeyIndex {
    this.settle()
    this.arena.items -= this.items
    this.arena.expiring -= this.expiring
    this.arena.tombstones -= this.tombstones
    this.arena.bytes -= this.bytes
    this.#copy?.close()
    const index = this.beginSplit()
    this.index = new KeyIndex(this.arena.records, this.arena)
    return index
  }

  /** Recounts everything; for tests. Returns the bytes of the index. */
  check(): number {
    const records = this.arena.records
    const counted = { items: 0, expiring: 0, tombstones: 0, bytes: 0 }
    this.settle()
    this.index.walk(0, (ref) => {
      counted.bytes += this.bytesOf(ref)
      if (records.isTombstone(ref)) counted.tombstones++
      else counted.items++
      if (records.expiryOf(ref) > 0) counted.expiring++
      return true
    })
    assert(counted.items === this.items, 'items are miscounted')
    assert(counted.expiring === this.expiring, 'expiring items are miscounted')
    assert(counted.tombstones === this.tombstones, 'tombstones are miscounted')
    assert(counted.bytes === this.bytes, 'bytes are miscounted')
    return this.index.check()
  }
}
