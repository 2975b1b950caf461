/** What hashes, lists, sets and sorted sets share: how they are written back, ranges, counts, chance. */
import type { HeapValue } from '../store/value-type.js'
import type { Random } from '../core/random.js'
import type { Call } from './call.js'
import { MUST_BE_POSITIVE, NOT_AN_INTEGER } from './error-text.js'

/** Draws with repetition are as many as the caller says, so somebody has to say how many are too many. */
const DRAWS_MAX = 1 << 24
const LONG_LEAST = -(2 ** 63)
const COUNT_OUT_OF_RANGE =
  'ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807'

/**
 * Makes the change of a value that has `size` elements now a write: a new one (`ref` 0) is stored, an
 * emptied one deletes its key.
 */
export function writeValue(call: Call, ref: number, value: HeapValue, size: number): void {
  const { bucket, version } = call
  if (size === 0) {
    bucket.bury(ref, version)
    call.changed('deleted')
    return
  }
  if (ref === 0) bucket.setHeap(call.key, value, version, 0)
  else bucket.updated(call.key, ref, value, version)
  call.changed('set')
}

/** Where a range of places begins whose start may count from the end. */
export function rangeFrom(start: number, length: number): number {
  return Math.max(0, start < 0 ? start + length : start)
}

/** Where it ends, the given end counted in and the returned one not. */
export function rangeTo(end: number, length: number): number {
  return Math.min(length, (end < 0 ? end + length : end) + 1)
}

/** A count of things to take, from zero on; NaN means that the error is written. */
export function readCount(call: Call, place: number): number {
  const count = call.integer(place)
  if (count >= 0) return count
  call.reply.error(MUST_BE_POSITIVE)
  return NaN
}

/** A count that may be negative; NaN means that the error is written. */
export function readSignedCount(call: Call, place: number): number {
  const count = call.integer(place)
  if (Number.isNaN(count)) {
    call.reply.error(NOT_AN_INTEGER)
    return NaN
  }
  // The least 64-bit integer and the one above it are the same double.
  if (count === LONG_LEAST && call.longInteger(place) === BigInt(LONG_LEAST)) {
    call.reply.error(COUNT_OUT_OF_RANGE)
    return NaN
  }
  return count
}

/** Whether pairs of so many draws would be refused even where single ones are not. */
export function isTooManyPairs(count: number): boolean {
  return Math.abs(count) > -LONG_LEAST / 2
}

/**
 * The places drawn from `size` by a count: different ones, or with a negative count that many with
 * repetition. Undefined where that would be more than anybody can want.
 */
export function drawPlaces(random: Random, size: number, count: number): number[] | undefined {
  if (count >= 0) return drawDifferent(random, size, count)
  if (-count > DRAWS_MAX) return undefined
  return Array.from({ length: -count }, () => random.below(size))
}

/** Up to `count` different places out of `size`. */
export function drawDifferent(random: Random, size: number, count: number): number[] {
  if (count >= size) return Array.from({ length: size }, (_, place) => place)
  // A shuffle of all places of which only the ones that were moved are kept.
  const moved = new Map<number, number>()
  const places: number[] = []
  for (let i = 0; i < count; i++) {
    const j = i + random.below(size - i)
    places.push(moved.get(j) ?? j)
    moved.set(j, moved.get(i) ?? i)
  }
  return places
}
