/**
 * What one node of a ring holds: the store's records, found in three ways. By key; by place on the circle, since the
 * store's buckets are here 4096 slices of it, so that an arc is whole slices and a part of two; and in the order of
 * keys, for range scans. The place of the placement hash in a record holds the `from` it was written with.
 *
 * An older form never replaces a newer one, and a deletion is a form like any other. A record whose time is over
 * counts as deleted, whether it has been buried here or not yet.
 */
import {
  ByteReader,
  ByteWriter,
  compareBytes,
  latin1Bytes,
  latin1String,
  NO_BYTES,
  Span
} from '../../core/bytes.js'
import { murmur3 } from '../../core/hash/murmur3.js'
import { positionOfKey } from '../../core/placement/ring.js'
import type { Bucket } from '../../store/bucket.js'
import { decodeItem, Item } from '../../store/item.js'
import type { Key } from '../../store/key.js'
import { Store } from '../../store/store.js'
import { TYPE_STRING, TYPE_TOMBSTONE } from '../../store/value-type.js'
import type { OfferEntry } from '../../wire/peer/ring.js'
import { KeyOrder } from './key-order.js'

const SLICE_SHIFT = 20
const HAS_EXPIRY = 8
const FIRST_SEED = 0x6f70656e
const SECOND_SEED = 0x72696e67
const EXPIRY_BUDGET = 200

/** A record as it is written, whoever does. */
export interface RecordForm {
  readonly key: Uint8Array
  readonly version: number
  readonly from: number
  /** Absolute milliseconds, 0 for none. */
  readonly expiry: number
  /** Undefined: deleted. */
  readonly value: Uint8Array | undefined
}

/** One record while it is being looked at. */
export interface Visited {
  readonly key: Uint8Array
  readonly position: number
  readonly version: number
  readonly from: number
  readonly deleted: boolean
}

export function sliceOf(position: number): number {
  return (position ^ 0x8000_0000) >>> SLICE_SHIFT
}

/** As `encodeItem` of the store writes it. */
export function encodeRecord(form: RecordForm, writer: ByteWriter): void {
  const { key, version, from, expiry, value } = form
  const start = writer.reserveU32()
  const type = value === undefined ? TYPE_TOMBSTONE : TYPE_STRING
  const expires = expiry > 0 && value !== undefined
  writer.u8(expires ? type | HAS_EXPIRY : type)
  writer.f64(version)
  writer.u16(from)
  if (expires) writer.f64(expiry)
  writer.varint(key.length)
  writer.raw(key)
  if (value !== undefined) writer.raw(value)
  writer.patchU32(start, writer.length - start - 4)
}

/** One record out of its bytes; the bytes are those of the payload. */
export function decodeRecord(payload: Uint8Array): RecordForm {
  const item = decodeItem(ByteReader.over(payload), new Item())
  return {
    key: item.key.copy(),
    version: item.version,
    from: item.placementHash,
    expiry: item.expiry,
    value: item.type === TYPE_TOMBSTONE ? undefined : item.value.copy()
  }
}

export interface RecordsOptions {
  readonly forgetTombstones?: boolean
  /** A record was taken; these are its bytes. */
  readonly onTaken?: (payload: Uint8Array) => void
  readonly onRemoved?: (key: Uint8Array) => void
}

export class RingRecords {
  readonly #store: Store
  readonly #key: Key
  readonly #order = new KeyOrder()
  readonly #item = new Item()
  readonly #scratch = new ByteWriter(1024)
  readonly #options: RecordsOptions
  /** How many that are no deletions were written with each `from`. */
  readonly #byFrom = new Map<number, number>()

  constructor(seed: number, options: RecordsOptions = {}) {
    this.#store = new Store({ seed })
    this.#key = this.#store.createKey()
    this.#options = options
  }

  /** Deletions included. */
  get count(): number {
    return this.#order.size
  }

  get items(): number {
    return this.#store.items
  }

  get usedBytes(): number {
    return this.#store.usedBytes
  }

  /** Records that are to have more copies than that; deletions are none. */
  countAbove(copies: number): number {
    let count = 0
    for (const [from, records] of this.#byFrom) if (from > copies) count += records
    return count
  }

  /** Takes all records of a payload; returns the newest version it saw. */
  applyAll(payload: Uint8Array, now: number): number {
    const reader = ByteReader.over(payload)
    let newest = 0
    while (reader.remaining > 0) {
      const at = reader.offset
      const item = decodeItem(reader, this.#item)
      newest = Math.max(newest, item.version)
      this.#apply(item, payload.subarray(at, reader.offset), { now, evenOlder: false })
    }
    return newest
  }

  /**
   * Takes one record if it is newer than what is held; says what version is held afterwards. Where another record of
   * the very same version is held, one above it: two writers gave out one version, and one must give out another.
   */
  apply(payload: Uint8Array, now: number, evenOlder = false): number {
    const item = decodeItem(ByteReader.over(payload), this.#item)
    return this.#apply(item, payload, { now, evenOlder })
  }

  #apply(
    item: Item,
    payload: Uint8Array,
    { now, evenOlder }: { now: number; evenOlder: boolean }
  ): number {
    const key = item.key.copy()
    const bucket = this.#open(key, item.placementHash)
    const ref = bucket.findAny(this.#key)
    if (ref !== 0) {
      const held = bucket.versionOf(ref)
      if (held > item.version && !evenOlder) return held
      const isGone = bucket.typeOf(ref) === TYPE_TOMBSTONE
      // What has been buried here because its time was over does not come back.
      if (held === item.version && isGone && item.expiry > 0 && item.expiry <= now) return held
      if (held === item.version) return this.#applyEqual(bucket, ref, { item, payload })
      this.#count(bucket, ref, -1)
      // The `from` of a record is not changed by writing over it.
      if (held > item.version || bucket.placementHash(ref) !== item.placementHash) {
        bucket.remove(ref)
      }
    }
    const isDeletion = item.type === TYPE_TOMBSTONE
    if (isDeletion && this.#options.forgetTombstones === true) {
      this.remove(key)
      return item.version
    }
    bucket.applyItem(this.#key, item)
    if (!isDeletion) this.#countFrom(item.placementHash, 1)
    this.#order.add(latin1String(key, 0, key.length))
    this.#options.onTaken?.(payload)
    return item.version
  }

  /** The same write once more, or two of the same version: then all copies decide alike. */
  #applyEqual(
    bucket: Bucket,
    ref: number,
    { item, payload }: { item: Item; payload: Uint8Array }
  ): number {
    this.#count(bucket, ref, -1)
    const from = bucket.placementHash(ref)
    const isSameFrom = from === item.placementHash
    const isSame = isSameFrom && !bucket.applyItem(this.#key, item) && isEqual(bucket, ref, item)
    if (!isSameFrom && from < item.placementHash) {
      bucket.remove(ref)
      bucket.applyItem(this.#key, item)
    }
    this.#count(bucket, bucket.findAny(this.#key), 1)
    if (!isSame) this.#options.onTaken?.(payload)
    return isSame ? item.version : item.version + 1
  }

  /** The record as bytes, or none. What has expired is told as the deletion it is. */
  encode(key: Uint8Array, now: number): Uint8Array {
    const bucket = this.#find(key)
    const ref = bucket?.findAny(this.#key) ?? 0
    if (bucket === undefined || ref === 0) return NO_BYTES
    this.#scratch.reset()
    this.#write(bucket, ref, now)
    return this.#scratch.copy()
  }

  versionOf(key: Uint8Array): number {
    const bucket = this.#find(key)
    const ref = bucket?.findAny(this.#key) ?? 0
    return bucket === undefined || ref === 0 ? 0 : bucket.versionOf(ref)
  }

  /** With which `from` a record was written; 0 for one that is not here. */
  fromOf(key: Uint8Array): number {
    const bucket = this.#find(key)
    const ref = bucket?.findAny(this.#key) ?? 0
    return bucket === undefined || ref === 0 ? 0 : bucket.placementHash(ref)
  }

  /** What another node is told of a record it may have as well. */
  entryOf(key: Uint8Array, now: number): OfferEntry | undefined {
    const bucket = this.#find(key)
    const ref = bucket?.findAny(this.#key) ?? 0
    if (bucket === undefined || ref === 0) return undefined
    return { key, version: bucket.versionOf(ref), check: this.#check(bucket, ref, now) }
  }

  /** Whether what is offered is another form than the one here, and not an older one. */
  lacks(entry: OfferEntry, now: number): boolean {
    const own = this.entryOf(entry.key, now)
    if (own === undefined || own.version < entry.version) return true
    return own.version === entry.version && own.check !== entry.check && entry.check !== 0
  }

  /** Without a trace: for records that others hold. */
  remove(key: Uint8Array): void {
    const bucket = this.#find(key)
    const ref = bucket?.findAny(this.#key) ?? 0
    if (bucket === undefined || ref === 0) return
    this.#count(bucket, ref, -1)
    bucket.remove(ref)
    this.#order.remove(latin1String(key, 0, key.length))
    this.#options.onRemoved?.(key)
  }

  /**
   * Visits a slice from a position of its index on, until `visit` answers false; returns where to go on, or
   * undefined at the end. A record that is there all the time is visited, whatever is written in between.
   */
  walk(
    slice: number,
    from: number,
    now: number,
    visit: (record: Visited) => boolean
  ): number | undefined {
    const bucket = this.#store.get(slice)
    if (bucket === undefined) return undefined
    let [stopped, last, wants] = [-1, -1, true]
    bucket.walk(from, (ref, at) => {
      // Records of one place are visited together, since that is where the walk can go on.
      if (!wants && at !== last) {
        stopped = at
        return false
      }
      last = at
      const key = bucket.keyBytes(ref)
      const [version, hash] = [bucket.versionOf(ref), bucket.placementHash(ref)]
      const deleted = isDeleted(bucket, ref, now)
      if (!visit({ key, position: positionOfKey(key), version, from: hash, deleted })) wants = false
      return true
    })
    return stopped < 0 ? undefined : stopped
  }

  sizeOf(slice: number): number {
    const bucket = this.#store.get(slice)
    return bucket === undefined ? 0 : bucket.items + bucket.tombstones
  }

  /** Two hashes over a record, the same wherever it is held. */
  digestOf(key: Uint8Array, now: number): { first: number; second: number } {
    const bucket = this.#find(key)
    const ref = bucket?.findAny(this.#key) ?? 0
    if (bucket === undefined || ref === 0) return { first: 0, second: 0 }
    this.#scratch.reset()
    this.#write(bucket, ref, now)
    const { bytes, length } = this.#scratch
    return {
      first: murmur3(bytes, 0, length, FIRST_SEED) >>> 0,
      second: murmur3(bytes, 0, length, SECOND_SEED) >>> 0
    }
  }

  /** Records in the order of keys as bytes, from `start` on and before `end`; true if there are no more. */
  scan(options: {
    readonly start: Uint8Array
    readonly inclusive: boolean
    readonly end: Uint8Array
    readonly limitBytes: number
    readonly now: number
    readonly into: ByteWriter
  }): boolean {
    const { start, inclusive, end, limitBytes, now, into } = options
    const first = latin1String(start, 0, start.length)
    const border = end.length === 0 ? undefined : latin1String(end, 0, end.length)
    let isDone = true
    this.#order.walk(first, (text) => {
      if (border !== undefined && text >= border) return false
      if (text === first && !inclusive) return true
      if (into.length >= limitBytes) {
        isDone = false
        return false
      }
      into.raw(this.encode(latin1Bytes(text), now))
      return true
    })
    return isDone
  }

  /** Buries what has expired; the version stays, so that all copies end alike. */
  expire(now: number): void {
    if (this.#store.expiring === 0) return
    for (const bucket of this.#store.buckets()) {
      if (bucket.expiring === 0) continue
      bucket.expired(now, EXPIRY_BUDGET, (ref) => {
        this.#count(bucket, ref, -1)
        bucket.bury(ref, bucket.versionOf(ref))
      })
    }
  }

  maintain(budget: number): void {
    this.#store.maintain(budget)
  }

  #count(bucket: Bucket, ref: number, change: number): void {
    if (bucket.typeOf(ref) !== TYPE_TOMBSTONE) this.#countFrom(bucket.placementHash(ref), change)
  }

  #countFrom(from: number, change: number): void {
    this.#byFrom.set(from, (this.#byFrom.get(from) ?? 0) + change)
  }

  #write(bucket: Bucket, ref: number, now: number): void {
    if (!isDeleted(bucket, ref, now)) {
      bucket.encodeItem(ref, this.#scratch)
      return
    }
    const [version, from] = [bucket.versionOf(ref), bucket.placementHash(ref)]
    const form = { key: bucket.keyBytes(ref), version, from, expiry: 0, value: undefined }
    encodeRecord(form, this.#scratch)
  }

  #check(bucket: Bucket, ref: number, now: number): number {
    if (isDeleted(bucket, ref, now)) return 0
    this.#scratch.reset()
    bucket.encodeItem(ref, this.#scratch)
    return murmur3(this.#scratch.bytes, 0, this.#scratch.length, FIRST_SEED) >>> 0 || 1
  }

  #open(key: Uint8Array, from: number): Bucket {
    this.#key.setBytes(key, from)
    return this.#store.open(sliceOf(positionOfKey(key)))
  }

  #find(key: Uint8Array): Bucket | undefined {
    this.#key.setBytes(key, 0)
    return this.#store.get(sliceOf(positionOfKey(key)))
  }
}

function isDeleted(bucket: Bucket, ref: number, now: number): boolean {
  if (bucket.typeOf(ref) === TYPE_TOMBSTONE) return true
  const expiry = bucket.expiryOf(ref)
  return expiry > 0 && expiry <= now
}

function isEqual(bucket: Bucket, ref: number, item: Item): boolean {
  if (bucket.typeOf(ref) !== item.type || bucket.expiryOf(ref) !== item.expiry) return false
  if (item.type === TYPE_TOMBSTONE) return true
  const { bytes, offset, length } = bucket.pointValue(ref, new Span())
  const held = bytes.subarray(offset, offset + length)
  return compareBytes(held, item.value.copy()) === 0
}
