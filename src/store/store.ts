/**
 * Everything one node holds: its buckets over one arena. Work that would take long on a large bucket
 * (freeing it, dividing its index after a split) is left to `maintain`, which the node calls with a
 * budget whenever it has time; nothing waits for it.
 */
import { assert } from '../core/assert.js'
import { Arena } from './arena.js'
import { Bucket } from './bucket.js'
import { BucketSplit } from './bucket-split.js'
import { Key, KeyHasher } from './key.js'
import { type KeyIndex, POSITIONS } from './key-index.js'
import { UNIT_BYTES } from './slab.js'
import type { DecodeValue } from './value-type.js'
import { decodeValue } from './values/codec.js'

const VALUE_LIMIT = 512 * 1024 * 1024 - 1
const SLAB_LIMIT = 32 * 1024 * 1024 * 1024
const BUCKETS_MAX = 16384

export interface StoreOptions {
  /** Of the table hash: different on every node, unknown outside. */
  readonly seed: number
  readonly maxValueBytes?: number
  readonly slabLimitBytes?: number
  readonly decode?: DecodeValue
  /** Another table hash than the one of the seed; for tests. */
  readonly hasher?: KeyHasher
}

export interface StoreMemory {
  /** In records. */
  readonly usedBytes: number
  /** In holes between records, to be used again. */
  readonly freeBytes: number
  /** In all chunks: records, indexes, holes and what was never touched. */
  readonly reservedBytes: number
  readonly indexBytes: number
  /** By the estimates of the heap values. */
  readonly heapValueBytes: number
  /** Headers, padding, links, slack and index: what a record costs beyond its heap value. */
  readonly bytesPerKey: number
}

interface Dropped {
  readonly index: KeyIndex
  position: number
}

export class Store {
  readonly hasher: KeyHasher
  readonly #arena: Arena
  readonly #buckets: (Bucket | undefined)[] = []
  readonly #splits: BucketSplit[] = []
  readonly #dropped: Dropped[] = []

  constructor(options: StoreOptions) {
    this.hasher = options.hasher ?? new KeyHasher(options.seed)
    this.#arena = new Arena({
      hasher: this.hasher,
      decode: options.decode ?? decodeValue,
      maxValueBytes: options.maxValueBytes ?? VALUE_LIMIT,
      slabLimitBytes: options.slabLimitBytes ?? SLAB_LIMIT
    })
  }

  /** A key to be pointed at keys for this store; made once per caller. */
  createKey(): Key {
    return new Key(this.hasher)
  }

  /** Loads memory that will be needed (Slab.touch). */
  touch(units: Int32Array, count: number, words: number): number {
    return this.#arena.records.touch(units, count, words)
  }

  get items(): number {
    return this.#arena.items
  }

  get expiring(): number {
    return this.#arena.expiring
  }

  get tombstones(): number {
    return this.#arena.tombstones
  }

  get bytes(): number {
    return this.#arena.bytes
  }

  /** What a memory limit is compared with: records, indexes and heap values; in constant time. */
  get usedBytes(): number {
    const arena = this.#arena
    return arena.records.usedUnits * UNIT_BYTES + arena.heapValueBytes
  }

  /** Makes the bucket if it is not there. */
  open(id: number): Bucket {
    assert(Number.isInteger(id) && id >= 0 && id < BUCKETS_MAX, 'a bucket id is out of range')
    while (this.#buckets.length <= id) this.#buckets.push(undefined)
    return (this.#buckets[id] ??= new Bucket(id, this.#arena))
  }

  get(id: number): Bucket | undefined {
    return this.#buckets[id]
  }

  /** All that are open, by id. */
  buckets(): Bucket[] {
    return this.#buckets.filter((bucket) => bucket !== undefined)
  }

  /** Everything in it is gone at once for every count; its memory comes back through `maintain`. */
  drop(id: number): void {
    const bucket = this.#buckets[id]
    if (bucket === undefined) return
    this.#buckets[id] = undefined
    const index = bucket.abandon()
    if (index.entries > 0) this.#dropped.push({ index, position: 0 })
  }

  /**
   * Bucket `id` of `oldMask` becomes the buckets whose id ends in it under `newMask`; the first of them is
   * the same object as before. They can be used at once; their counts are exact once they are
   * `settled`, which `maintain` brings about.
   */
  split(id: number, oldMask: number, newMask: number): Bucket[] {
    const bucket = this.#buckets[id]
    assert(bucket !== undefined && id <= oldMask, 'the bucket to split is not there')
    assert(isMask(oldMask) && isMask(newMask) && newMask > oldMask, 'a split needs a larger mask')
    const children = [bucket]
    for (let child = id + oldMask + 1; child <= newMask; child += oldMask + 1) {
      assert(this.#buckets[child] === undefined, 'a bucket of the new mask is there already')
      children.push(this.open(child))
    }
    const split = new BucketSplit(this.#arena.records, children, oldMask, newMask)
    if (!split.done) this.#splits.push(split)
    return children
  }

  /** Does up to about `budget` records' worth of work that was put off. True while there is more. */
  maintain(budget: number): boolean {
    while (budget > 0 && this.#splits.length > 0) {
      const split = this.#splits[0]
      budget = split.step(budget)
      if (split.done) this.#splits.shift()
    }
    while (budget > 0 && this.#dropped.length > 0) {
      const dropped = this.#dropped[0]
      budget -= this.#free(dropped) + 1
      if (dropped.position === POSITIONS) this.#dropped.shift()
    }
    return this.#splits.length > 0 || this.#dropped.length > 0
  }

  memory(): StoreMemory {
    const { records, indexBytes, heapValueBytes, items, tombstones } = this.#arena
    const usedBytes = records.usedUnits * UNIT_BYTES - indexBytes
    const keys = items + tombstones
    return {
      usedBytes,
      freeBytes: records.freeUnits * UNIT_BYTES,
      reservedBytes: records.reservedUnits * UNIT_BYTES,
      indexBytes,
      heapValueBytes,
      bytesPerKey: keys === 0 ? 0 : (usedBytes + indexBytes) / keys
    }
  }

  /** Recounts and checks everything; for tests. Does all work that was put off first. */
  check(): void {
    while (this.maintain(1e6));
    const sums = { items: 0, expiring: 0, tombstones: 0, bytes: 0, index: 0 }
    for (const bucket of this.buckets()) {
      sums.index += bucket.check()
      sums.items += bucket.items
      sums.expiring += bucket.expiring
      sums.tombstones += bucket.tombstones
      sums.bytes += bucket.bytes
    }
    const arena = this.#arena
    arena.records.check()
    const inRecords = arena.records.usedUnits * UNIT_BYTES - arena.indexBytes
    assert(sums.items === arena.items, 'the sum of items is wrong')
    assert(sums.expiring === arena.expiring, 'the sum of expiring items is wrong')
    assert(sums.tombstones === arena.tombstones, 'the sum of tombstones is wrong')
    assert(sums.bytes === arena.bytes, 'the sum of bytes is wrong')
    assert(sums.index === arena.indexBytes, 'the bytes of the indexes are wrong')
    assert(inRecords + arena.heapValueBytes === arena.bytes, 'memory is lost')
  }

  #free(dropped: Dropped): number {
    const end = dropped.index.segmentEnd(dropped.position)
    const freed = dropped.index.takeSegment(dropped.position, (_hash, ref) => {
      this.#arena.freeRecord(ref)
    })
    dropped.position = end
    return freed
  }
}

function isMask(mask: number): boolean {
  return Number.isInteger(mask) && mask >= 0 && mask < BUCKETS_MAX && (mask & (mask + 1)) === 0
}
