/**
 * The records of one bucket and what must always change with them: the index that names them, the queues
 * they are linked into, and the counts. `Bucket` is built on it and adds what callers ask for.
 *
 * A record is changed in this order: take the memory (which may fail), take the old form out of queue
 * and counts, put the new form in.
 */
import { assert } from '../core/assert.js'
import { copyBytes } from '../core/bytes.js'
import type { Arena } from './arena.js'
import { ExpiryQueue } from './expiry-queue.js'
import type { Key } from './key.js'
import { KeyIndex } from './key-index.js'
import { unitsFor } from './records.js'
import { isOwnChunk, UNIT_BYTES } from './slab.js'
import { TombstoneQueue } from './tombstone-queue.js'
import { TYPE_TOMBSTONE } from './value-type.js'

export class BucketRecords {
  /** Live items, also those that have expired but are not deleted yet. */
  items = 0
  expiring = 0
  tombstones = 0
  /** Of all records as they lie in the slab, and of heap values by their own estimate. */
  bytes = 0

  protected readonly arena: Arena
  protected index: KeyIndex
  protected expiries: ExpiryQueue | null = null
  protected tombstoneQueue: TombstoneQueue

  constructor(arena: Arena) {
    this.arena = arena
    this.index = new KeyIndex(arena.records, arena)
    this.tombstoneQueue = new TombstoneQueue(arena.records)
  }

  /**
   * A record for the key (`ref` is its present one, or 0) with room for a value of `length` bytes, counted as an item, neither linked nor
   * with a heap value. The key is in place, the rest is to be written.
   */
  protected makeRoom(key: Key, ref: number, length: number, expiry: number): number {
    const units = unitsFor(key.length, length, expiry > 0)
    if (ref === 0) {
      const created = this.create(key, units, false)
      this.items++
      this.arena.items++
      return created
    }
    const records = this.arena.records
    if (!records.isLinked(ref) && !records.isHeap(ref)) {
      return records.unitsOf(ref) === units ? ref : this.fit(ref, units, false)
    }
    const fresh = records.unitsOf(ref) < units ? this.#copyOf(ref, units, 0, false) : ref
    this.detach(ref)
    if (records.isTombstone(ref)) this.countItem(ref, 1)
    if (fresh === ref) {
      // Beyond the limit, since it can only be another block for less than this one.
      return this.fit(ref, units, true)
    }
    this.#swap(key.hash, ref, fresh)
    return fresh
  }

  protected create(key: Key, units: number, beyondLimit: boolean): number {
    const arena = this.arena
    const records = arena.records
    arena.checkKeyLength(key.length)
    const ref = records.allocate(units, beyondLimit)
    records.setKeyWord(ref, key.length, key.placementHash)
    copyBytes(
      key.bytes,
      key.view,
      key.offset,
      records.bytesOf(ref),
      records.viewOf(ref),
      records.keyOffset(ref),
      key.length
    )
    this.index.insert(key.hash, ref)
    this.countUnits(units)
    return ref
  }

  /**
   * Brings a record that is not linked and whose value is no longer wanted to a size for `units`: a
   * little too much is left alone, more is given back, too little means another block.
   */
  protected fit(ref: number, units: number, beyondLimit: boolean): number {
    const records = this.arena.records
    const have = records.unitsOf(ref)
    if (have >= units && have - units <= units >> 3) return ref
    if (have > units && !isOwnChunk(have)) {
      records.trim(ref, units)
      this.countUnits(units - have)
      return ref
    }
    const fresh = this.#copyOf(ref, units, 0, beyondLimit)
    this.#swap(this.hashOf(ref), ref, fresh)
    return fresh
  }

  /** More room, keeping everything: in place if what follows is free, else in another block. */
  protected grow(ref: number, units: number): number {
    const records = this.arena.records
    const have = records.unitsOf(ref)
    const expiry = records.expiryOf(ref)
    if (expiry === 0 && records.extend(ref, units)) {
      this.countUnits(units - have)
      return ref
    }
    const fresh = this.#copyOf(ref, units, records.valueLength(ref), false)
    if (expiry > 0) this.unlinkExpiry(ref)
    this.#swap(this.hashOf(ref), ref, fresh)
    if (expiry > 0) this.linkExpiry(fresh, expiry)
    return fresh
  }

  /** A new block with the same header and key and the first bytes of the value. */
  #copyOf(ref: number, units: number, valueLength: number, beyondLimit: boolean): number {
    const records = this.arena.records
    const fresh = records.allocate(units, beyondLimit)
    const keyLength = records.keyLength(ref)
    records.setTypeAndLength(fresh, records.typeOf(ref), valueLength)
    if (records.isPacked(ref)) records.setPacked(fresh, true)
    records.setVersion(fresh, records.versionOf(ref))
    records.setKeyWord(fresh, keyLength, records.placementHash(ref))
    copyBytes(
      records.bytesOf(ref),
      records.viewOf(ref),
      records.keyOffset(ref),
      records.bytesOf(fresh),
      records.viewOf(fresh),
      records.keyOffset(fresh),
      keyLength + valueLength
    )
    return fresh
  }

  #swap(hash: number, ref: number, fresh: number): void {
    const records = this.arena.records
    this.index.replace(hash, ref, fresh)
    this.countUnits(records.unitsOf(fresh) - records.unitsOf(ref))
    records.free(ref)
  }

  /** Takes a record out of its queue and frees its heap value. */
  protected detach(ref: number): void {
    const records = this.arena.records
    if (records.isHeap(ref)) {
      const bytes = this.arena.releaseHeapValue(ref)
      this.bytes -= bytes
      this.arena.bytes -= bytes
    }
    if (!records.isLinked(ref)) return
    if (records.isTombstone(ref)) {
      this.tombstoneQueue.remove(ref)
      records.setLinked(ref, false)
    } else this.unlinkExpiry(ref)
  }

  protected finishTombstone(ref: number, version: number): void {
    const records = this.arena.records
    records.setTypeAndLength(ref, TYPE_TOMBSTONE, 0)
    records.setVersion(ref, version)
    records.setLinked(ref, true)
    this.tombstoneQueue.add(ref)
    this.tombstones++
    this.arena.tombstones++
  }

  protected linkExpiry(ref: number, expiry: number): void {
    assert(expiry <= Number.MAX_SAFE_INTEGER, 'an expiry is out of range')
    const records = this.arena.records
    records.setLinked(ref, true)
    records.setLinkedExpiry(ref, expiry)
    this.expiryQueue().add(ref)
    this.expiring++
    this.arena.expiring++
  }

  protected unlinkExpiry(ref: number): void {
    this.expiryQueue().remove(ref)
    this.arena.records.setLinked(ref, false)
    this.expiring--
    this.arena.expiring--
  }

  protected expiryQueue(): ExpiryQueue {
    this.expiries ??= new ExpiryQueue(this.arena.records)
    return this.expiries
  }

  protected accountHeap(ref: number, bytes: number): void {
    const arena = this.arena
    const change = bytes - arena.records.heapBytes(ref)
    arena.records.setHeapSlot(ref, arena.records.heapSlot(ref), bytes)
    arena.heapValueBytes += change
    arena.bytes += change
    this.bytes += change
  }

  /** For a tombstone `by` is the change in items, and the tombstones change the other way. */
  protected countItem(ref: number, by: number): void {
    if (this.arena.records.isTombstone(ref)) {
      this.tombstones--
      this.arena.tombstones--
      if (by < 0) return
    }
    this.items += by
    this.arena.items += by
  }

  protected countUnits(units: number): void {
    this.bytes += units * UNIT_BYTES
    this.arena.bytes += units * UNIT_BYTES
  }

  protected hashOf(ref: number): number {
    const records = this.arena.records
    return this.arena.hasher.hash(
      records.viewOf(ref),
      records.keyOffset(ref),
      records.keyLength(ref)
    )
  }
}
