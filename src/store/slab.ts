/**
 * Memory outside the JavaScript heap, in blocks of 16-byte units, addressed by a positive 31-bit
 * ref: chunk number above, unit within the chunk below. Chunks are ArrayBuffers that start small (so
 * that hundreds of simulated nodes fit in one process) and double up to 64 MB; 512 of them make the
 * 32 GB a node can hold. A block above a quarter of a chunk gets a chunk of its own.
 *
 * The allocator is a two-level segregated fit: exact bins below 64 units, eight bins a doubling
 * above, a bitmap to find the next filled one, and free neighbours joined at once by boundary tags.
 * So both calls take constant time, holes are used for any size, and a chunk that empties is given
 * back. Free lists per size without joining (the prototype) were rejected: memory freed at one size
 * stays lost to all others. What lies above a chunk's frontier was never handed out and is not
 * resident.
 *
 *   block in use   [units << 6 | flags] ...
 *   free block     [units << 6 | FREE] [next] [previous] ... [units in the last word]
 */
import { assert } from '../core/assert.js'

export const UNIT_BYTES = 16
export const CHUNK_BITS = 22
export const UNIT_MASK = (1 << CHUNK_BITS) - 1
const CHUNK_UNITS_MAX = 1 << CHUNK_BITS
const CHUNK_UNITS_FIRST = 1 << 14
const CHUNKS_MAX = 512
const OWN_CHUNK_UNITS = CHUNK_UNITS_MAX >> 2

/** The lowest bits of a block's first word. The slab owns all but those from `FLAG_USER` on. */
const FLAG_FREE = 1
const FLAG_AFTER_FREE = 2
export const FLAG_USER = 4
export const FLAG_BITS = 6

const EXACT_BINS = 64
const BINS = EXACT_BINS + (CHUNK_BITS - 5) * 8
/** How many blocks of a mixed-size bin are tried before the next larger bin. */
const BIN_TRIES = 4

export type StoreLimit = 'slab-full' | 'value-too-long' | 'key-too-long'

/** The store is as it was before the call. */
export class StoreLimitError extends Error {
  override readonly name = 'StoreLimitError'
  readonly limit: StoreLimit

  constructor(limit: StoreLimit, message: string) {
    super(message)
    this.limit = limit
  }
}

const NO_BUFFER = new ArrayBuffer(0)

export class Slab {
  readonly bytes: Uint8Array[] = []
  readonly views: DataView[] = []
  readonly words: Int32Array[] = []
  readonly doubles: Float64Array[] = []
  readonly limitBytes: number
  /** Units in blocks in use, in free blocks, and in all chunks. */
  usedUnits = 0
  freeUnits = 0
  reservedUnits = 0

  readonly #chunkUnits = new Int32Array(CHUNKS_MAX)
  /** The first unit of a chunk that was never handed out. */
  readonly #frontier = new Int32Array(CHUNKS_MAX)
  readonly #bins = new Int32Array(BINS)
  readonly #filled = new Int32Array((BINS + 31) >> 5)
  #current = -1
  /** Units in chunks that are shared by many blocks; the next one is as large as all of them. */
  #sharedUnits = 0

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
  }

  unitsOf(ref: number): number {
    return this.words[ref >>> CHUNK_BITS][(ref & UNIT_MASK) << 2] >>> FLAG_BITS
  }

  /**
   * Loads the line of memory that lies so many words behind the begin of each of these units, so that it is near when it is
   * needed. The loop must stay short: only loads that a processor sees together are waited for together.
   */
  touch(units: Int32Array, count: number, words: number): number {
    const chunks = this.words
    if (chunks.length === 0) return 0
    let touched = 0
    for (let i = 0; i < count; i++) {
      const ref = units[i]
      const chunk = chunks[ref >>> CHUNK_BITS]
      const at = ((ref & UNIT_MASK) << 2) + words
      if (at < chunk.length) touched ^= chunk[at]
    }
    return touched
  }

  /** `beyondLimit` is for what must not fail, such as recording a delete. */
  allocate(units: number, beyondLimit = false): number {
    if (units > OWN_CHUNK_UNITS) return this.#allocateChunk(units, beyondLimit)
    if (this.freeUnits >= units) {
      const ref = this.#takeFree(units)
      if (ref !== 0) return ref
    }
    let chunk = this.#current
    if (chunk < 0 || this.#frontier[chunk] + units > this.#chunkUnits[chunk]) {
      chunk = this.#nextChunk(units, beyondLimit)
    }
    const unit = this.#frontier[chunk]
    this.#frontier[chunk] = unit + units
    this.words[chunk][unit << 2] = units << FLAG_BITS
    this.usedUnits += units
    return (chunk << CHUNK_BITS) | unit
  }

  free(ref: number): void {
    const chunk = ref >>> CHUNK_BITS
    const words = this.words[chunk]
    let unit = ref & UNIT_MASK
    const word = words[unit << 2]
    assert((word & FLAG_FREE) === 0, 'a block is freed twice')
    let units = word >>> FLAG_BITS
    this.usedUnits -= units
    if (units > OWN_CHUNK_UNITS) {
      this.#closeChunk(chunk)
      return
    }
    const frontier = this.#frontier[chunk]
    let next = unit + units
    if ((word & FLAG_AFTER_FREE) !== 0) {
      const before = words[(unit << 2) - 1]
      unit -= before
      units += before
      this.#unlink(chunk, unit, before)
    }
    if (next === frontier && chunk === this.#current) {
      this.#frontier[chunk] = unit
      if (unit === 0 && this.#isSpare(chunk, 0)) this.#releaseChunk(chunk)
      return
    }
    if (next < frontier) {
      const nextWord = words[next << 2]
      if ((nextWord & FLAG_FREE) !== 0) {
        const after = nextWord >>> FLAG_BITS
        this.#unlink(chunk, next, after)
        units += after
        next += after
      }
    }
    if (units === this.#chunkUnits[chunk]) {
      const current = this.#current
      const untouched = current < 0 ? 0 : this.#chunkUnits[current] - this.#frontier[current]
      if (this.#isSpare(chunk, untouched)) {
        this.#releaseChunk(chunk)
        return
      }
    }
    if (next < frontier) words[next << 2] |= FLAG_AFTER_FREE
    this.#link(chunk, unit, units)
  }

  /** Gives back the end of a block. A block with a chunk of its own stays as it is. */
  trim(ref: number, units: number): void {
    const words = this.words[ref >>> CHUNK_BITS]
    const at = (ref & UNIT_MASK) << 2
    const word = words[at]
    const rest = (word >>> FLAG_BITS) - units
    if (rest <= 0 || word >>> FLAG_BITS > OWN_CHUNK_UNITS) return
    words[at] = (units << FLAG_BITS) | (word & ((1 << FLAG_BITS) - 1))
    words[at + (units << 2)] = rest << FLAG_BITS
    this.free(ref + units)
  }

  /** Takes what is missing to `units` from the free memory behind the block, if there is enough. */
  extend(ref: number, units: number): boolean {
    const chunk = ref >>> CHUNK_BITS
    const words = this.words[chunk]
    const unit = ref & UNIT_MASK
    const word = words[unit << 2]
    const old = word >>> FLAG_BITS
    if (old > OWN_CHUNK_UNITS || units > OWN_CHUNK_UNITS) return false
    const more = units - old
    const next = unit + old
    const frontier = this.#frontier[chunk]
    if (next === frontier) {
      if (chunk !== this.#current || next + more > this.#chunkUnits[chunk]) return false
      this.#frontier[chunk] = next + more
    } else {
      const nextWord = words[next << 2]
      const after = nextWord >>> FLAG_BITS
      if ((nextWord & FLAG_FREE) === 0 || after < more) return false
      this.#unlink(chunk, next, after)
      if (after > more) this.#link(chunk, next + more, after - more)
      else if (next + after < frontier) words[(next + after) << 2] &= ~FLAG_AFTER_FREE
    }
    words[unit << 2] = (units << FLAG_BITS) | (word & ((1 << FLAG_BITS) - 1))
    this.usedUnits += more
    return true
  }

  /** Walks all blocks and checks every tag, list and sum; for tests. */
  check(): void {
    let used = 0
    let free = 0
    for (let chunk = 0; chunk < this.words.length; chunk++) {
      const words = this.words[chunk]
      const frontier = this.#frontier[chunk]
      let afterFree = false
      for (let unit = chunk === 0 ? 1 : 0; unit < frontier;) {
        const word = words[unit << 2]
        const units = word >>> FLAG_BITS
        assert(units > 0 && unit + units <= frontier, 'a block leaves its chunk')
        assert(((word & FLAG_AFTER_FREE) !== 0) === afterFree, 'a block misjudges the one before')
        if ((word & FLAG_FREE) !== 0) {
          assert(!afterFree, 'two free neighbours were not joined')
          assert(words[((unit + units) << 2) - 1] === units, 'a free block has no end tag')
          free += units
        } else used += units
        afterFree = (word & FLAG_FREE) !== 0
        unit += units
      }
    }
    let listed = 0
    for (let bin = 0; bin < BINS; bin++) {
      const filled = (this.#filled[bin >> 5] & (1 << (bin & 31))) !== 0
      assert(filled === (this.#bins[bin] !== 0), 'the map of bins is wrong')
      for (let ref = this.#bins[bin]; ref !== 0;) {
        const words = this.words[ref >>> CHUNK_BITS]
        const at = (ref & UNIT_MASK) << 2
        assert(binOf(words[at] >>> FLAG_BITS) === bin, 'a block is in the wrong bin')
        listed += words[at] >>> FLAG_BITS
        ref = words[at + 1]
      }
    }
    assert(used === this.usedUnits, 'used units are miscounted')
    assert(free === this.freeUnits && listed === free, 'free units are miscounted')
  }

  #takeFree(units: number): number {
    let bin = binOf(units)
    if (bin >= EXACT_BINS) {
      let ref = this.#bins[bin]
      for (let tries = BIN_TRIES; ref !== 0 && tries > 0; tries--) {
        const words = this.words[ref >>> CHUNK_BITS]
        const at = (ref & UNIT_MASK) << 2
        if (words[at] >>> FLAG_BITS >= units) return this.#carve(ref, units)
        ref = words[at + 1]
      }
      bin++
    }
    const filled = this.#filled
    let index = bin >> 5
    let bits = filled[index] & (-1 << (bin & 31))
    while (bits === 0) {
      if (++index >= filled.length) return 0
      bits = filled[index]
    }
    return this.#carve(this.#bins[(index << 5) + 31 - Math.clz32(bits & -bits)], units)
  }

  #carve(ref: number, units: number): number {
    const chunk = ref >>> CHUNK_BITS
    const unit = ref & UNIT_MASK
    const words = this.words[chunk]
    const found = words[unit << 2] >>> FLAG_BITS
    this.#unlink(chunk, unit, found)
    if (found > units) this.#link(chunk, unit + units, found - units)
    else if (unit + found < this.#frontier[chunk]) words[(unit + found) << 2] &= ~FLAG_AFTER_FREE
    words[unit << 2] = units << FLAG_BITS
    this.usedUnits += units
    return ref
  }

  #link(chunk: number, unit: number, units: number): void {
    const words = this.words[chunk]
    const at = unit << 2
    const bin = binOf(units)
    const ref = (chunk << CHUNK_BITS) | unit
    const first = this.#bins[bin]
    words[at] = (units << FLAG_BITS) | FLAG_FREE
    words[at + 1] = first
    words[at + 2] = 0
    words[at + (units << 2) - 1] = units
    if (first === 0) this.#filled[bin >> 5] |= 1 << (bin & 31)
    else this.words[first >>> CHUNK_BITS][((first & UNIT_MASK) << 2) + 2] = ref
    this.#bins[bin] = ref
    this.freeUnits += units
  }

  #unlink(chunk: number, unit: number, units: number): void {
    const words = this.words[chunk]
    const at = unit << 2
    const next = words[at + 1]
    // A block of one unit keeps its size tag in the fourth word, clear of the two links.
    const previous = words[at + 2]
    if (next !== 0) this.words[next >>> CHUNK_BITS][((next & UNIT_MASK) << 2) + 2] = previous
    if (previous !== 0) {
      this.words[previous >>> CHUNK_BITS][((previous & UNIT_MASK) << 2) + 1] = next
    } else {
      const bin = binOf(units)
      this.#bins[bin] = next
      if (next === 0) this.#filled[bin >> 5] &= ~(1 << (bin & 31))
    }
    this.freeUnits -= units
  }

  /** Makes a chunk current that has room for `units`; what is left of the old one becomes free. */
  #nextChunk(units: number, beyondLimit: boolean): number {
    const wanted = Math.min(
      CHUNK_UNITS_MAX,
      Math.max(CHUNK_UNITS_FIRST, 1 << (31 - Math.clz32(this.#sharedUnits | 1)))
    )
    const least = units + 1
    const allowed = Math.floor(this.limitBytes / UNIT_BYTES) - this.reservedUnits
    let size = Math.max(wanted, least)
    if (size > allowed) size = Math.max(least, Math.min(size, allowed))
    const chunk = this.#openChunk(size, beyondLimit, 0)
    this.#sharedUnits += size
    const old = this.#current
    if (old >= 0) {
      const rest = this.#chunkUnits[old] - this.#frontier[old]
      if (rest > 0) this.#link(old, this.#frontier[old], rest)
      this.#frontier[old] = this.#chunkUnits[old]
    }
    this.#current = chunk
    this.#frontier[chunk] = chunk === 0 ? 1 : 0
    return chunk
  }

  #allocateChunk(units: number, beyondLimit: boolean): number {
    const chunk = this.#openChunk(units, beyondLimit, 1)
    this.#frontier[chunk] = units
    this.words[chunk][0] = units << FLAG_BITS
    this.usedUnits += units
    return chunk << CHUNK_BITS
  }

  /** Ref 0 means "none", so chunk 0 is never a block's own. */
  #openChunk(units: number, beyondLimit: boolean, lowest: 0 | 1): number {
    const over = (this.reservedUnits + units) * UNIT_BYTES > this.limitBytes
    if (over && !beyondLimit) {
      throw new StoreLimitError(
        'slab-full',
        `the store is at its limit of ${this.limitBytes} bytes`
      )
    }
    let chunk: number = lowest
    while (chunk < CHUNKS_MAX && this.#chunkUnits[chunk] !== 0) chunk++
    if (chunk === CHUNKS_MAX) throw new StoreLimitError('slab-full', 'the store has no chunk left')
    this.#install(chunk, new ArrayBuffer(units * UNIT_BYTES))
    this.#chunkUnits[chunk] = units
    this.reservedUnits += units
    return chunk
  }

  /** An empty chunk is kept while there is little else to hand out, lest it come and go. */
  #isSpare(chunk: number, untouched: number): boolean {
    return this.freeUnits + untouched >= this.#chunkUnits[chunk] >> 2
  }

  #releaseChunk(chunk: number): void {
    if (chunk === this.#current) this.#current = -1
    this.#sharedUnits -= this.#chunkUnits[chunk]
    this.#closeChunk(chunk)
  }

  #closeChunk(chunk: number): void {
    this.reservedUnits -= this.#chunkUnits[chunk]
    this.#chunkUnits[chunk] = 0
    this.#frontier[chunk] = 0
    this.#install(chunk, NO_BUFFER)
  }

  #install(chunk: number, buffer: ArrayBuffer): void {
    while (this.words.length <= chunk) {
      this.bytes.push(new Uint8Array(NO_BUFFER))
      this.views.push(new DataView(NO_BUFFER))
      this.words.push(new Int32Array(NO_BUFFER))
      this.doubles.push(new Float64Array(NO_BUFFER))
    }
    this.bytes[chunk] = new Uint8Array(buffer)
    this.views[chunk] = new DataView(buffer)
    this.words[chunk] = new Int32Array(buffer)
    this.doubles[chunk] = new Float64Array(buffer)
  }
}

/** Whether a block of this size has a chunk of its own. */
export function isOwnChunk(units: number): boolean {
  return units > OWN_CHUNK_UNITS
}

function binOf(units: number): number {
  if (units < EXACT_BINS) return units
  const exponent = 31 - Math.clz32(units)
  return EXACT_BINS + ((exponent - 6) << 3) + ((units >> (exponent - 3)) & 7)
}
