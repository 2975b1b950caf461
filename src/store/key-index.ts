/**
 * The index of one bucket: from a key's table hash to the ref of its record, by extendible hashing. A
 * directory, indexed by the top bits of the hash, points at segments of up to about 800 entries; a
 * full segment splits in two, two sparse neighbours join again. So growing and shrinking never touch
 * more than one segment at a time (a few microseconds), and an empty bucket owns nothing. One table with
 * a second one to move to was rejected: it needs both in memory and a helper step in every operation.
 *
 * Within a segment the entries (hash, ref) lie sorted by hash: linear probing in which an entry's home
 * slot is its hash scaled to the segment, a new entry is put in its place by order, and a deleted one is
 * closed up. All entries of a bucket are therefore always in hash order, whatever the directory
 * looks like, and a position in that order survives every growth, shrink and split. Scans and
 * copies are built on that.
 *
 * "Position" is the hash with its sign bit turned, as an unsigned number: it counts up as signed hashes do.
 *
 * Segments are blocks of the slab, not typed arrays of their own: a lookup then misses the cache once in
 * the index and once in the record. What it needs to begin lies in the directory, two words an entry:
 *
 *   directory  [segment ref, 0 when empty] [home slots << 5 | depth]
 *   segment    [the slab's word] [count] [count limit] [slots]  then (hash, ref) pairs; ref 0 is an empty
 *              slot and the last one always is, so no probe needs a bounds check
 */
import { assert } from '../core/assert.js'
import { equalBytes } from '../core/bytes.js'
import type { Key } from './key.js'
import { HEADER_BYTES, type Records } from './records.js'
import { CHUNK_BITS, UNIT_BYTES, UNIT_MASK } from './slab.js'

const COUNT = 1
const LIMIT = 2
const SLOTS = 3
const HEAD = 4
const DEPTH_BITS = 5
const DEPTH_MASK = 31
const SIGN = 0x8000_0000 | 0
export const POSITIONS = 0x1_0000_0000

const HOMES_MAX = 1024
/** Numbers of home slots; one is left at 80 % and entered at 66 % or less. */
const HOMES_LADDER = [8, 16, 32, 64, 128, 192, 256, 320, 400, 512, 640, 800, HOMES_MAX]
/** Two segments join when they hold no more than this together. */
const JOIN_COUNT = 400
const DEPTH_MAX = 20
/** The directory grows past this only in proportion to the entries, whatever the hash does. */
const DIRECTORY_FREE = 4096

/** Counts the bytes of all indexes of a store. */
export interface IndexMeter {
  indexBytes: number
}

/** Entries on their way from one segment to another, in order: (hash, ref) pairs. */
interface Entries {
  readonly words: Int32Array
  readonly from: number
  readonly to: number
}

export class KeyIndex {
  entries = 0

  readonly #records: Records
  readonly #meter: IndexMeter
  #directory: Int32Array
  #depth: number
  /** How many segments are as deep as the directory. */
  #deepest: number

  /** `depth` prepares the directory for entries that will come in hash order. */
  constructor(records: Records, meter: IndexMeter, depth = 0) {
    this.#records = records
    this.#meter = meter
    this.#depth = depth
    this.#directory = new Int32Array(2 << depth)
    for (let i = 1; i < this.#directory.length; i += 2) this.#directory[i] = depth
    this.#deepest = 1 << depth
  }

  get depth(): number {
    return this.#depth
  }

  find(key: Key): number {
    const hash = key.hash
    const position = hash ^ SIGN
    const directory = this.#directory
    const place = ((position >>> 1) >>> (31 - this.#depth)) << 1
    const segment = directory[place]
    if (segment === 0) return 0
    const shape = directory[place + 1]
    const records = this.#records
    const words = records.words[segment >>> CHUNK_BITS]
    let at = homeOf(segment, shape, hash)
    for (;;) {
      const ref = words[at + 1]
      if (ref === 0) return 0
      const found = words[at]
      if (found === hash) {
        const chunk = ref >>> CHUNK_BITS
        const unit = ref & UNIT_MASK
        const length = key.length
        if (
          (records.words[chunk][(unit << 2) + 4] & 0xffff) === length &&
          equalBytes(records.views[chunk], (unit << 4) + HEADER_BYTES, key.view, key.offset, length)
        ) {
          return ref
        }
      } else if (found > hash) return 0
      at += 2
    }
  }

  /** The unit of the slab at which the search for a hash begins; 0 if there is nothing to be found. */
  slotUnit(hash: number): number {
    const directory = this.#directory
    const place = this.#placeOf(hash ^ SIGN)
    const segment = directory[place]
    if (segment === 0) return 0
    return (segment & ~UNIT_MASK) | (homeOf(segment, directory[place + 1], hash) >> 2)
  }

  /** The ref of a record of this hash, whatever its key is; 0 if there is none. */
  candidate(hash: number): number {
    const directory = this.#directory
    const place = this.#placeOf(hash ^ SIGN)
    const segment = directory[place]
    if (segment === 0) return 0
    const words = this.#records.words[segment >>> CHUNK_BITS]
    let at = homeOf(segment, directory[place + 1], hash)
    while (words[at + 1] !== 0 && words[at] < hash) at += 2
    return words[at + 1]
  }

  /** The key must not be there yet. Its memory may go beyond the limit of the slab. */
  insert(hash: number, ref: number): void {
    for (;;) {
      const place = this.#placeOf(hash ^ SIGN)
      const segment = this.#directory[place]
      if (segment === 0) {
        this.#grow(place)
        continue
      }
      const words = this.#records.words[segment >>> CHUNK_BITS]
      const base = (segment & UNIT_MASK) << 2
      if (words[base + COUNT] >= words[base + LIMIT]) {
        this.#grow(place)
        continue
      }
      let at = homeOf(segment, this.#directory[place + 1], hash)
      while (words[at + 1] !== 0 && words[at] <= hash) at += 2
      let end = at
      while (words[end + 1] !== 0) end += 2
      if (end >= base + HEAD + 2 * words[base + SLOTS] - 2) {
        this.#lengthen(place)
        continue
      }
      for (; end > at; end -= 2) {
        words[end] = words[end - 2]
        words[end + 1] = words[end - 1]
      }
      words[at] = hash
      words[at + 1] = ref
      words[base + COUNT]++
      this.entries++
      return
    }
  }

  replace(hash: number, oldRef: number, newRef: number): void {
    const place = this.#placeOf(hash ^ SIGN)
    const words = this.#records.words[this.#directory[place] >>> CHUNK_BITS]
    words[this.#slotOf(place, hash, oldRef) + 1] = newRef
  }

  remove(hash: number, ref: number): void {
    const place = this.#placeOf(hash ^ SIGN)
    const segment = this.#directory[place]
    const shape = this.#directory[place + 1]
    const words = this.#records.words[segment >>> CHUNK_BITS]
    let at = this.#slotOf(place, hash, ref)
    for (let next = at + 2; words[next + 1] !== 0; next += 2) {
      if (homeOf(segment, shape, words[next]) === next) break
      words[at] = words[next]
      words[at + 1] = words[next + 1]
      at = next
    }
    words[at + 1] = 0
    const count = --words[((segment & UNIT_MASK) << 2) + COUNT]
    this.entries--
    if (count * 10 < (shape >>> DEPTH_BITS) * 3) this.#shrink(place)
  }

  /**
   * Visits entries in hash order from a position on, until `visit` answers false, which it may do only
   * where the position changes if it wants to go on there later. Returns the position of the entry it
   * stopped at, or POSITIONS at the end. `visit` must not write to this index.
   */
  walk(from: number, visit: (ref: number, position: number) => boolean): number {
    let position = from
    while (position < POSITIONS) {
      const place = this.#placeOf(position)
      const segment = this.#directory[place]
      if (segment !== 0) {
        const { words, to } = this.#entriesOf(place)
        const home = homeOf(segment, this.#directory[place + 1], position ^ SIGN)
        for (let at = home; at < to; at += 2) {
          const ref = words[at + 1]
          if (ref === 0) continue
          const found = (words[at] ^ SIGN) >>> 0
          if (found < position) continue
          if (!visit(ref, found)) return found
        }
      }
      position = this.segmentEnd(position)
    }
    return POSITIONS
  }

  /** The end (a position) of the segment that covers a position. */
  segmentEnd(position: number): number {
    const size = POSITIONS / 2 ** this.#depthAt(this.#placeOf(position))
    return (Math.floor(position / size) + 1) * size
  }

  /** Takes all entries of the segment at a position out of the index and returns how many they were. */
  takeSegment(position: number, visit: (hash: number, ref: number) => void): number {
    const place = this.#placeOf(position)
    const segment = this.#directory[place]
    if (segment === 0) return 0
    const count = this.#countOf(place)
    const { words, from, to } = this.#entriesOf(place)
    this.#put(place, 0, this.#depthAt(place))
    this.entries -= count
    for (let at = from; at < to; at += 2) {
      if (words[at + 1] !== 0) visit(words[at], words[at + 1])
    }
    this.#release(segment)
    return count
  }

  /** Prepares the segment of a hash for `count` entries, if it is empty yet. */
  reserve(hash: number, count: number): void {
    const place = this.#placeOf(hash ^ SIGN)
    if (this.#directory[place] === 0) this.#rebuild(place, homesFor(count))
  }

  /** Checks order, homes, counts and the directory, and returns the bytes; for tests. */
  check(): number {
    const sums = { entries: 0, bytes: 0, deepest: 0 }
    let last = -1
    for (let position = 0; position < POSITIONS; position = this.segmentEnd(position)) {
      const place = this.#placeOf(position)
      const end = this.segmentEnd(position)
      if (this.#depthAt(place) === this.#depth) sums.deepest++
      for (let i = place; i <= this.#placeOf(end - 1); i += 2) {
        assert(this.#directory[i] === this.#directory[place], 'a segment is not everywhere')
        assert(this.#directory[i + 1] === this.#directory[place + 1], 'a shape is not everywhere')
      }
      if (this.#directory[place] === 0) continue
      const { words, from, to } = this.#entriesOf(place)
      let count = 0
      assert(words[to - 1] === 0, 'the last slot of a segment is filled')
      for (let at = from; at < to; at += 2) {
        if (words[at + 1] === 0) continue
        const found = (words[at] ^ SIGN) >>> 0
        assert(found >= position && found < end, 'an entry is in a foreign segment')
        assert(found >= last, 'entries are out of order')
        const home = homeOf(this.#directory[place], this.#directory[place + 1], words[at])
        assert(home <= at, 'an entry lies before its home')
        for (let i = home; i < at; i += 2) assert(words[i + 1] !== 0, 'an entry is cut off')
        last = found
        count++
      }
      assert(count === this.#countOf(place), 'a segment is miscounted')
      sums.entries += count
      sums.bytes += this.#records.unitsOf(this.#directory[place]) * UNIT_BYTES
    }
    assert(sums.entries === this.entries, 'entries are miscounted')
    assert(sums.deepest === this.#deepest, 'the deepest segments are miscounted')
    return sums.bytes
  }

  #placeOf(position: number): number {
    return ((position >>> 1) >>> (31 - this.#depth)) << 1
  }

  #depthAt(place: number): number {
    return this.#directory[place + 1] & DEPTH_MASK
  }

  #homesAt(place: number): number {
    return this.#directory[place + 1] >>> DEPTH_BITS
  }

  #countOf(place: number): number {
    const segment = this.#directory[place]
    if (segment === 0) return 0
    return this.#records.words[segment >>> CHUNK_BITS][((segment & UNIT_MASK) << 2) + COUNT]
  }

  #limitOf(place: number): number {
    const segment = this.#directory[place]
    return this.#records.words[segment >>> CHUNK_BITS][((segment & UNIT_MASK) << 2) + LIMIT]
  }

  #entriesOf(place: number): Entries {
    const segment = this.#directory[place]
    if (segment === 0) return { words: NO_WORDS, from: 0, to: 0 }
    const words = this.#records.words[segment >>> CHUNK_BITS]
    const base = (segment & UNIT_MASK) << 2
    return { words, from: base + HEAD, to: base + HEAD + 2 * words[base + SLOTS] }
  }

  #slotOf(place: number, hash: number, ref: number): number {
    const segment = this.#directory[place]
    const words = this.#records.words[segment >>> CHUNK_BITS]
    let at = homeOf(segment, this.#directory[place + 1], hash)
    while (words[at + 1] !== ref) {
      assert(words[at + 1] !== 0, 'a record is not in its index')
      at += 2
    }
    return at
  }

  /** The first place of the directory that belongs to the same range of `depth` bits. */
  #firstPlace(place: number, depth: number): number {
    return place & -(2 << (this.#depth - depth))
  }

  /** Points all of the directory that shares the first `depth` bits with `place` to a segment. */
  #put(place: number, segment: number, shape: number): void {
    const copies = 1 << (this.#depth - (shape & DEPTH_MASK))
    const first = this.#firstPlace(place, shape & DEPTH_MASK)
    for (let i = first; i < first + 2 * copies; i += 2) {
      this.#directory[i] = segment
      this.#directory[i + 1] = shape
    }
  }

  #release(segment: number): void {
    if (segment === 0) return
    this.#meter.indexBytes -= this.#records.unitsOf(segment) * UNIT_BYTES
    this.#records.free(segment)
  }

  #grow(place: number): void {
    const count = this.#countOf(place)
    const homes = this.#homesAt(place)
    const depth = this.#depthAt(place)
    if (homes < HOMES_MAX) this.#rebuild(place, homesFor(count + 1))
    else if (depth < DEPTH_MAX && 2 << depth <= Math.max(DIRECTORY_FREE, this.entries)) {
      this.#divide(place)
    } else {
      // Only a broken hash comes here: the entries stay findable, one after the other.
      const more = Math.max(count, this.#limitOf(place))
      this.#rebuild(place, homes, more, count + more)
    }
  }

  /** The last slots are full though the segment is not. */
  #lengthen(place: number): void {
    const { from, to } = this.#entriesOf(place)
    const homes = this.#homesAt(place)
    const more = (to - from) / 2 - homes
    this.#rebuild(place, homes, more, this.#limitOf(place))
  }

  #divide(place: number): void {
    let lowPlace = place
    if (this.#depthAt(place) === this.#depth) {
      this.#doubleDirectory()
      lowPlace = place * 2
    }
    const segment = this.#directory[lowPlace]
    const depth = this.#depthAt(lowPlace) + 1
    lowPlace = this.#firstPlace(lowPlace, depth - 1)
    const highPlace = lowPlace + (2 << (this.#depth - depth))
    const middle = (highPlace / 2) * 2 ** (32 - this.#depth)
    const { words, from, to } = this.#entriesOf(lowPlace)
    const count = this.#countOf(lowPlace)
    let at = from
    let low = 0
    for (; at < to; at += 2) {
      if (words[at + 1] === 0) continue
      if ((words[at] ^ SIGN) >>> 0 >= middle) break
      low++
    }
    this.#build({ words, from, to: at }, lowPlace, depth, homesFor(low))
    this.#build({ words, from: at, to }, highPlace, depth, homesFor(count - low))
    this.#release(segment)
    if (depth === this.#depth) this.#deepest += 2
  }

  #shrink(place: number): void {
    const depth = this.#depthAt(place)
    const count = this.#countOf(place)
    if (depth > 0) {
      const first = this.#firstPlace(place, depth)
      const other = first ^ (2 << (this.#depth - depth))
      if (this.#depthAt(other) === depth && this.#countOf(other) + count <= JOIN_COUNT) {
        this.#join(Math.min(first, other), Math.max(first, other))
        return
      }
    }
    const homes = homesFor(count)
    if (homes < this.#homesAt(place)) this.#rebuild(place, homes)
  }

  #join(lowPlace: number, highPlace: number): void {
    const depth = this.#depthAt(lowPlace)
    const joined = new Int32Array(2 * (this.#countOf(lowPlace) + this.#countOf(highPlace)))
    let end = 0
    for (const { words, from, to } of [this.#entriesOf(lowPlace), this.#entriesOf(highPlace)]) {
      for (let at = from; at < to; at += 2) {
        if (words[at + 1] === 0) continue
        joined[end++] = words[at]
        joined[end++] = words[at + 1]
      }
    }
    this.#release(this.#directory[lowPlace])
    this.#release(this.#directory[highPlace])
    this.#build({ words: joined, from: 0, to: end }, lowPlace, depth - 1, homesFor(end / 2))
    if (depth === this.#depth) {
      this.#deepest -= 2
      if (this.#deepest === 0) this.#halveDirectory()
    }
  }

  #rebuild(place: number, homes: number, more = 0, limit = 0): void {
    const old = this.#directory[place]
    this.#build(this.#entriesOf(place), place, this.#depthAt(place), homes, more, limit)
    this.#release(old)
  }

  /**
   * Makes a segment of the entries and points the directory at it. `more` slots and a higher `limit` of
   * entries are for hashes that do not spread.
   */
  #build(source: Entries, place: number, depth: number, homes: number, more = 0, limit = 0): void {
    if (homes === 0) {
      this.#put(place, 0, depth)
      return
    }
    let count = 0
    let slot = -1
    for (let at = source.from; at < source.to; at += 2) {
      if (source.words[at + 1] === 0) continue
      slot = Math.max(slot + 1, homeSlot(source.words[at], depth, homes))
      count++
    }
    const spare = 4 + (homes >> 4)
    const units = (Math.max(homes, slot + 1) + spare + more + 3) >> 1
    const segment = this.#records.allocate(units, true)
    this.#meter.indexBytes += units * UNIT_BYTES
    const words = this.#records.words[segment >>> CHUNK_BITS]
    const base = (segment & UNIT_MASK) << 2
    words.fill(0, base + HEAD, base + 4 * units)
    words[base + COUNT] = count
    words[base + LIMIT] = Math.max(Math.floor(homes * 0.8), limit)
    words[base + SLOTS] = 2 * units - 2
    slot = -1
    for (let at = source.from; at < source.to; at += 2) {
      if (source.words[at + 1] === 0) continue
      slot = Math.max(slot + 1, homeSlot(source.words[at], depth, homes))
      words[base + HEAD + 2 * slot] = source.words[at]
      words[base + HEAD + 2 * slot + 1] = source.words[at + 1]
    }
    this.#put(place, segment, (homes << DEPTH_BITS) | depth)
  }

  #doubleDirectory(): void {
    const old = this.#directory
    const directory = new Int32Array(old.length * 2)
    for (let i = 0; i < old.length; i += 2) {
      directory[2 * i] = directory[2 * i + 2] = old[i]
      directory[2 * i + 1] = directory[2 * i + 3] = old[i + 1]
    }
    this.#directory = directory
    this.#depth++
    this.#deepest = 0
  }

  #halveDirectory(): void {
    while (this.#depth > 0 && this.#deepest === 0) {
      const old = this.#directory
      this.#directory = new Int32Array(old.length / 2)
      this.#depth--
      for (let i = 0; i < this.#directory.length; i += 2) {
        this.#directory[i] = old[2 * i]
        this.#directory[i + 1] = old[2 * i + 1]
        if (this.#depthAt(i) === this.#depth) this.#deepest++
      }
    }
  }
}

const NO_WORDS = new Int32Array(0)

export function positionOf(hash: number): number {
  return (hash ^ SIGN) >>> 0
}

function homeSlot(hash: number, depth: number, homes: number): number {
  return ((((hash ^ SIGN) << depth) >>> 16) * homes) >>> 16
}

/** Where among the words of its chunk the search for a hash begins. */
function homeOf(segment: number, shape: number, hash: number): number {
  const slot = homeSlot(hash, shape & DEPTH_MASK, shape >>> DEPTH_BITS)
  return ((segment & UNIT_MASK) << 2) + HEAD + 2 * slot
}

function homesFor(count: number): number {
  if (count === 0) return 0
  for (const homes of HOMES_LADDER) if (count * 100 <= homes * 66) return homes
  return HOMES_MAX
}
