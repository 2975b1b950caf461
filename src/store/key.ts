/**
 * A key as it lies in somebody's buffer, with its two hashes. One `Key` is made per caller and
 * pointed at one key after the other, so naming a key costs no allocation.
 *
 * The table hash (where in a bucket's index) is murmur-like over 32-bit loads. Its multipliers come
 * from the seed as well as its start value: published collisions of murmur hold for every start
 * value, not for secret multipliers. It has nothing to do with the placement hash, which decides the
 * bucket and is the same on every node.
 */
import { Span, viewOf } from '../core/bytes.js'
import { Random } from '../core/random.js'

export class KeyHasher {
  readonly #start: number
  readonly #first: number
  readonly #second: number

  constructor(seed: number) {
    const random = new Random(seed)
    this.#start = random.uint32() | 0
    this.#first = random.uint32() | 1
    this.#second = random.uint32() | 1
  }

  /** A signed 32-bit number. */
  hash(view: DataView, offset: number, length: number): number {
    const first = this.#first
    const second = this.#second
    let h = this.#start ^ length
    let at = offset
    const end = offset + length
    const whole = offset + (length & ~3)
    for (; at < whole; at += 4) {
      let k = Math.imul(view.getInt32(at, true), first)
      k = (k << 15) | (k >>> 17)
      h ^= Math.imul(k, second)
      h = (h << 13) | (h >>> 19)
      h = (Math.imul(h, 5) + 0xe6546b64) | 0
    }
    if (at < end) {
      let k = 0
      for (let shift = 0; at < end; at++, shift += 8) k |= view.getUint8(at) << shift
      k = Math.imul(k, first)
      k = (k << 15) | (k >>> 17)
      h ^= Math.imul(k, second)
    }
    h ^= h >>> 16
    h = Math.imul(h, 0x85ebca6b)
    h ^= h >>> 13
    h = Math.imul(h, 0xc2b2ae35)
    return h ^ (h >>> 16)
  }
}

export interface KeyHashes {
  readonly placementHash: number
  /** The table hash. */
  readonly keyHash: number
}

export class Key extends Span {
  readonly hasher: KeyHasher
  /** The table hash. */
  hash = 0
  /** Which bucket at any mask: `placementHash & mask`; at most 16 bits. */
  placementHash = 0

  constructor(hasher: KeyHasher) {
    super()
    this.hasher = hasher
  }

  /** As `set`, keeping the placement hash: for keys whose bucket is not asked for. */
  override point(bytes: Uint8Array, view: DataView, offset: number, length: number): this {
    return this.set(bytes, view, offset, length, this.placementHash)
  }

  set(
    bytes: Uint8Array,
    view: DataView,
    offset: number,
    length: number,
    placementHash: number
  ): this {
    this.bytes = bytes
    this.view = view
    this.offset = offset
    this.length = length
    this.placementHash = placementHash
    this.hash = this.hasher.hash(view, offset, length)
    return this
  }

  /** The same for a key whose hashes somebody knows already. */
  setHashed(
    bytes: Uint8Array,
    view: DataView,
    offset: number,
    length: number,
    hashes: KeyHashes
  ): this {
    this.bytes = bytes
    this.view = view
    this.offset = offset
    this.length = length
    this.placementHash = hashes.placementHash
    this.hash = hashes.keyHash
    return this
  }

  /** For places where an allocation does not matter. */
  setBytes(bytes: Uint8Array, placementHash: number): this {
    return this.set(bytes, viewOf(bytes), 0, bytes.length, placementHash)
  }
}
