/**
 * What all buckets of one node share: the records, the slots of heap values, the limits, and the
 * sums over all buckets.
 */
import { assert } from '../core/assert.js'
import { ByteReader, ByteWriter, Span } from '../core/bytes.js'
import type { KeyHasher } from './key.js'
import { KEY_BYTES_MAX, Records, VALUE_BYTES_MAX } from './records.js'
import { StoreLimitError } from './slab.js'
import { type DecodeValue, type HeapValue, heapKindOf } from './value-type.js'

export interface ArenaOptions {
  readonly hasher: KeyHasher
  readonly decode: DecodeValue
  readonly maxValueBytes: number
  readonly slabLimitBytes: number
}

export class Arena {
  readonly records: Records
  readonly hasher: KeyHasher
  readonly decode: DecodeValue
  readonly maxValueBytes: number
  /** For encodings that are compared or hashed and then forgotten. */
  readonly scratch = new ByteWriter(256)
  /** Where a value lies that is read or written; reused. */
  readonly span = new Span()

  items = 0
  expiring = 0
  tombstones = 0
  bytes = 0
  indexBytes = 0
  heapValueBytes = 0

  readonly #heapValues: (HeapValue | undefined)[] = []
  readonly #freeSlots: number[] = []

  constructor(options: ArenaOptions) {
    this.records = new Records(options.slabLimitBytes)
    this.hasher = options.hasher
    this.decode = options.decode
    this.maxValueBytes = Math.min(options.maxValueBytes, VALUE_BYTES_MAX)
  }

  checkKeyLength(length: number): void {
    if (length > KEY_BYTES_MAX) {
      throw new StoreLimitError('key-too-long', `a key has at most ${KEY_BYTES_MAX} bytes`)
    }
  }

  checkValueLength(length: number): void {
    if (length > this.maxValueBytes) {
      throw new StoreLimitError('value-too-long', `a value has at most ${this.maxValueBytes} bytes`)
    }
  }

  addHeapValue(value: HeapValue): number {
    const slot = this.#freeSlots.pop() ?? this.#heapValues.length
    this.#heapValues[slot] = value
    return slot
  }

  /** A packed value is decoded: changes of it must be stored. */
  heapValue(ref: number): HeapValue {
    if (this.records.isPacked(ref)) {
      const kind = heapKindOf(this.records.typeOf(ref))
      return this.decode(kind, ByteReader.overSpan(this.records.pointValue(ref, this.span)))
    }
    const value = this.#heapValues[this.records.heapSlot(ref)]
    assert(value !== undefined, 'a record names a heap value that is not there')
    return value
  }

  /** Forgets the heap value of a record; returns the bytes that were accounted for it. */
  releaseHeapValue(ref: number): number {
    const slot = this.records.heapSlot(ref)
    const bytes = this.records.heapBytes(ref)
    this.#heapValues[slot] = undefined
    this.#freeSlots.push(slot)
    this.heapValueBytes -= bytes
    return bytes
  }

  /** Frees a record that is in no index and no count any more. */
  freeRecord(ref: number): void {
    if (this.records.isHeap(ref)) this.releaseHeapValue(ref)
    this.records.free(ref)
  }
}
