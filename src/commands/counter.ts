/**
 * Counters: strings that hold a number. Integers have 64 bits; a double counts the most of them exactly,
 * and BigInt takes over where it does not. INCRBYFLOAT counts in Redis' long doubles (long-double.ts).
 */
import { type Span } from '../core/bytes.js'
import type { ReplyWriter } from '../wire/resp/reply-writer.js'
import { TYPE_STRING } from '../store/value-type.js'
import { type Call, REFUSED } from './call.js'
import type { Command } from './command.js'
import {
  COUNTER_OVERFLOW,
  DECREMENT_OVERFLOW,
  INFINITE_RESULT,
  NOT_A_FLOAT,
  NOT_AN_INTEGER
} from './error-text.js'
import {
  addLongDoubles,
  formatLongDouble,
  LONG_DOUBLE_ZERO,
  type LongDouble,
  parseLongDouble
} from './long-double.js'
import { isLong, parseInteger, parseLong } from './number-text.js'

const LONG_LEAST = -(2n ** 63n)

export function replyInteger(reply: ReplyWriter, value: number | bigint): void {
  if (typeof value === 'bigint') reply.longInteger(value)
  else reply.integer(value)
}

/** The sum of two 64-bit integers, or undefined where it has more bits. */
export function addIntegers(a: number | bigint, b: number | bigint): number | bigint | undefined {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  const sum = BigInt(a) + BigInt(b)
  return isLong(sum) ? sum : undefined
}

/** A 64-bit integer, as a number where that is exact; undefined if the bytes are none. */
export function readInteger(
  bytes: Uint8Array,
  offset: number,
  length: number
): number | bigint | undefined {
  const value = parseInteger(bytes, offset, length)
  if (Number.isSafeInteger(value)) return value
  return Number.isNaN(value) ? undefined : parseLong(bytes, offset, length)
}

/** The same of an argument; undefined means that the error is written. */
export function readIntegerArgument(call: Call, place: number): number | bigint | undefined {
  const value = readInteger(call.bytes, call.offsets[place], call.lengths[place])
  if (value === undefined) call.reply.error(NOT_AN_INTEGER)
  return value
}

/** The number an INCRBYFLOAT adds; undefined means that the error is written. */
export function readLongDouble(call: Call, place: number): LongDouble | undefined {
  const value = parseLongDouble(call.text(place))
  if (value === undefined) call.reply.error(NOT_A_FLOAT)
  return value
}

/** Points the call's first span at a text of its own. */
function pointAtText(call: Call, text: string): Span {
  const { scratch } = call
  scratch.reset()
  scratch.latin1(text)
  return call.first.point(scratch.bytes, scratch.view, 0, scratch.length)
}

/** A counter keeps its expiry. */
function writeCounter(call: Call, ref: number, text: string): void {
  const expiry = ref === 0 ? 0 : call.bucket.expiryOf(ref)
  call.bucket.setString(call.key, pointAtText(call, text), call.version, expiry)
  call.changed('set')
}

function increment(call: Call, by: number | bigint): void {
  const { bucket, reply } = call
  const ref = call.find(TYPE_STRING)
  if (ref === REFUSED) return
  const present =
    ref === 0
      ? 0
      : readInteger(bucket.valueBytes(ref), bucket.valueOffset(ref), bucket.valueLength(ref))
  if (present === undefined) {
    reply.error(NOT_AN_INTEGER)
    return
  }
  const sum = addIntegers(present, by)
  if (sum === undefined) {
    reply.error(COUNTER_OVERFLOW)
    return
  }
  const isExact = ref !== 0 && typeof sum === 'number'
  if (isExact && bucket.overwriteDigits(ref, sum, call.version)) call.changed('set')
  else writeCounter(call, ref, String(sum))
  replyInteger(reply, sum)
}

const INCR = {
  name: 'incr',
  arity: 2,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute: (call) => increment(call, 1)
} as const satisfies Command

const DECR = {
  name: 'decr',
  arity: 2,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute: (call) => increment(call, -1)
} as const satisfies Command

const INCRBY = {
  name: 'incrby',
  arity: 3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const by = readIntegerArgument(call, 2)
    if (by !== undefined) increment(call, by)
  }
} as const satisfies Command

const DECRBY = {
  name: 'decrby',
  arity: 3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const by = readIntegerArgument(call, 2)
    if (by === undefined) return
    if (by === LONG_LEAST) call.reply.error(DECREMENT_OVERFLOW)
    else increment(call, -by)
  }
} as const satisfies Command

const INCRBYFLOAT = {
  name: 'incrbyfloat',
  arity: 3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const { bucket, reply } = call
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    const text = ref === 0 ? '' : bucket.pointValue(ref, call.first).latin1()
    const present = ref === 0 ? LONG_DOUBLE_ZERO : parseLongDouble(text)
    if (present === undefined) {
      reply.error(NOT_A_FLOAT)
      return
    }
    const by = readLongDouble(call, 2)
    if (by === undefined) return
    const sum = addLongDoubles(present, by)
    if (sum.infinite) {
      reply.error(INFINITE_RESULT)
      return
    }
    const written = formatLongDouble(sum)
    writeCounter(call, ref, written)
    reply.bulkString(written)
  }
} as const satisfies Command

export const COUNTER_COMMANDS: readonly Command[] = [INCR, DECR, INCRBY, DECRBY, INCRBYFLOAT]
