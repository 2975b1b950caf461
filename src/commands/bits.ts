/**
 * Strings as rows of bits: SETBIT, GETBIT, BITCOUNT, BITPOS and, over several keys, BITOP. Bit 0 is the highest bit of
 * the first byte. Behind the end everything is zero.
 */
import { Span } from '../core/bytes.js'
import { TYPE_STRING } from '../store/value-type.js'
import { type Call, REFUSED } from './call.js'
import type { Command } from './command.js'
import { type Composite, everyKey, type Work } from './composite.js'
import { NOT_AN_INTEGER, SYNTAX_ERROR, WRONG_TYPE } from './error-text.js'
import { parseLong } from './number-text.js'

const BIT_OFFSET = 'ERR bit offset is not an integer or out of range'
const BIT_VALUE = 'ERR bit is not an integer or out of range'
/** A string has no more bytes than this. */
const BYTES_MAX = 512n * 1024n * 1024n

/** A place in bits, with `width` also as `#n`, n widths on; NaN means that the error is written. */
export function readBitOffset(call: Call, place: number, width = 0): number {
  const [offset, length] = [call.offsets[place], call.lengths[place]]
  const counted = width > 0 && length > 0 && call.bytes[offset] === 0x23
  const skipped = counted ? 1 : 0
  const read = parseLong(call.bytes, offset + skipped, length - skipped)
  const at = read === undefined ? -1n : counted ? BigInt.asIntN(64, read * BigInt(width)) : read
  if (at >= 0n && at >> 3n < BYTES_MAX) return Number(at)
  call.reply.error(BIT_OFFSET)
  return NaN
}

function byteAt(call: Call, ref: number, at: number): number {
  const { bucket } = call
  if (ref === 0 || at >= bucket.valueLength(ref)) return 0
  return bucket.valueBytes(ref)[bucket.valueOffset(ref) + at]
}

/** Writes bytes into the key's string, making or lengthening it; gives its ref. */
export function writeBytes(call: Call, ref: number, at: number, bytes: Uint8Array): number {
  const { bucket } = call
  call.changed('set')
  if (ref !== 0) return bucket.overwriteRange(ref, at, Span.of(bytes), call.version)
  const whole = new Uint8Array(at + bytes.length)
  whole.set(bytes, at)
  return bucket.setString(call.key, Span.of(whole), call.version, 0)
}

const SETBIT = {
  name: 'setbit',
  arity: 4,
  flags: ['write', 'memory'],
  key: 1,
  execute(call) {
    const { bucket, reply } = call
    const at = readBitOffset(call, 2)
    if (Number.isNaN(at)) return
    const bit = call.integer(3)
    if (bit !== 0 && bit !== 1) {
      reply.error(BIT_VALUE)
      return
    }
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    const place = Math.floor(at / 8)
    const shift = 7 - (at % 8)
    const old = byteAt(call, ref, place)
    const isLonger = ref === 0 || place >= bucket.valueLength(ref)
    const next = (old & ~(1 << shift)) | (bit << shift)
    if (isLonger || next !== old) writeBytes(call, ref, place, Uint8Array.of(next))
    reply.integer((old >> shift) & 1)
  }
} as const satisfies Command

const GETBIT = {
  name: 'getbit',
  arity: 3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const at = readBitOffset(call, 2)
    if (Number.isNaN(at)) return
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    call.reply.integer((byteAt(call, ref, Math.floor(at / 8)) >> (7 - (at % 8))) & 1)
  }
} as const satisfies Command

/** Places of bits, both counted in; none where the first is behind the last. */
interface BitRange {
  first: number
  last: number
}

type Unit = 'byte' | 'bit'

/** Undefined means that the error is written. */
function readUnit(call: Call, place: number): Unit | undefined {
  if (place >= call.count || call.is(place, 'byte')) return 'byte'
  if (call.is(place, 'bit')) return 'bit'
  call.reply.error(SYNTAX_ERROR)
  return undefined
}

function rangeOf(start: number, end: number, length: number, unit: Unit): BitRange {
  const size = unit === 'bit' ? length * 8 : length
  const from = Math.max(0, start < 0 ? start + size : start)
  const to = Math.min(size - 1, Math.max(0, end < 0 ? end + size : end))
  return unit === 'bit' ? { first: from, last: to } : { first: from * 8, last: to * 8 + 7 }
}

function isNoInteger(call: Call, ...values: number[]): boolean {
  if (!values.some(Number.isNaN)) return false
  call.reply.error(NOT_AN_INTEGER)
  return true
}

function ones(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

function countBits(call: Call, ref: number, { first, last }: BitRange): number {
  if (first > last) return 0
  const { bucket } = call
  const view = bucket.valueView(ref)
  const offset = bucket.valueOffset(ref)
  const [from, to] = [Math.floor(first / 8), Math.floor(last / 8)]
  let count = 0
  let at = from
  for (; at + 4 <= to + 1; at += 4) count += ones(view.getInt32(offset + at, true))
  for (; at <= to; at++) count += ones(view.getUint8(offset + at))
  // The ends of the range that lie within a byte.
  count -= ones(view.getUint8(offset + from) & (0xff00 >> (first % 8)) & 0xff)
  return count - ones(view.getUint8(offset + to) & (0x7f >> (last % 8)))
}

const BITCOUNT = {
  name: 'bitcount',
  arity: -2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { bucket, reply } = call
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.integer(0)
      return
    }
    const length = bucket.valueLength(ref)
    if (call.count === 2) {
      reply.integer(countBits(call, ref, rangeOf(0, -1, length, 'byte')))
      return
    }
    if (call.count !== 4 && call.count !== 5) {
      reply.error(SYNTAX_ERROR)
      return
    }
    const [start, end] = [call.integer(2), call.integer(3)]
    if (isNoInteger(call, start, end)) return
    const isNothing = start < 0 && end < 0 && start > end
    const unit = isNothing ? 'byte' : readUnit(call, 4)
    if (unit === undefined) return
    reply.integer(isNothing ? 0 : countBits(call, ref, rangeOf(start, end, length, unit)))
  }
} as const satisfies Command

/** The first bit of that value in the range, or -1. */
function findBit(call: Call, ref: number, bit: number, { first, last }: BitRange): number {
  const { bucket } = call
  const bytes = bucket.valueBytes(ref)
  const offset = bucket.valueOffset(ref)
  const dull = bit === 1 ? 0 : 0xff
  for (let at = first; at <= last;) {
    const byte = bytes[offset + Math.floor(at / 8)]
    if (byte === dull) at += 8 - (at % 8)
    else if (((byte >> (7 - (at % 8))) & 1) === bit) return at
    else at++
  }
  return -1
}

const BITPOS = {
  name: 'bitpos',
  arity: -3,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { bucket, reply } = call
    const bit = call.integer(2)
    if (isNoInteger(call, bit)) return
    if (bit !== 0 && bit !== 1) {
      reply.error('ERR The bit argument must be 1 or 0.')
      return
    }
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.integer(-bit)
      return
    }
    if (call.count > 6) {
      reply.error(SYNTAX_ERROR)
      return
    }
    const start = call.count > 3 ? call.integer(3) : 0
    if (isNoInteger(call, start)) return
    const unit = readUnit(call, 5)
    if (unit === undefined) return
    const hasEnd = call.count > 4
    const end = hasEnd ? call.integer(4) : -1
    if (isNoInteger(call, end)) return
    const length = bucket.valueLength(ref)
    const range = rangeOf(start, end, length, unit)
    const found = range.first > range.last ? -1 : findBit(call, ref, bit, range)
    // Without an end, the zeros behind the string count.
    const isBehind = found < 0 && bit === 0 && !hasEnd && range.first <= range.last
    reply.integer(isBehind ? length * 8 : found)
  }
} as const satisfies Command

export const BIT_COMMANDS: readonly Command[] = [SETBIT, GETBIT, BITCOUNT, BITPOS]

type Operation = (a: number, b: number) => number

/** NOT is of one string with nothing. */
const OPERATIONS: Readonly<Record<string, Operation | undefined>> = {
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  not: (a) => ~a
}

/** The strings at these places, empty ones where there are none; undefined means that the error is written. */
function readStrings(work: Work, places: readonly number[]): Uint8Array[] | undefined {
  const { bucket } = work
  const strings: Uint8Array[] = []
  for (const place of places) {
    const ref = work.find(work.args.at(place))
    if (ref !== 0 && bucket.typeOf(ref) !== TYPE_STRING) {
      work.reply.error(WRONG_TYPE)
      return undefined
    }
    const offset = ref === 0 ? 0 : bucket.valueOffset(ref)
    strings.push(
      ref === 0
        ? new Uint8Array(0)
        : bucket.valueBytes(ref).subarray(offset, offset + bucket.valueLength(ref))
    )
  }
  return strings
}

function combine([first, ...others]: readonly Uint8Array[], operation: Operation): Uint8Array {
  const longest = others.reduce((most, { length }) => Math.max(most, length), first.length)
  const result = new Uint8Array(longest)
  result.set(first)
  for (const string of others) {
    const { length } = string
    for (let at = 0; at < length; at++) result[at] = operation(result[at], string[at])
    for (let at = length; at < longest; at++) result[at] = operation(result[at], 0)
  }
  return result
}

const BITOP: Composite = {
  name: 'bitop',
  arity: -4,
  write: true,
  keys(args) {
    const operation = args.word(1)
    if (!Object.hasOwn(OPERATIONS, operation)) return SYNTAX_ERROR
    if (operation === 'not' && args.count !== 4) {
      return 'ERR BITOP NOT must be called with a single source key.'
    }
    return everyKey(args, 2)
  },
  execute(work) {
    const { args, reply } = work
    const strings = readStrings(work, everyKey(args, 3))
    const operation = OPERATIONS[args.word(1)]
    if (strings === undefined || operation === undefined) return
    const isNot = args.word(1) === 'not'
    const result = combine(isNot ? [...strings, new Uint8Array(0)] : strings, operation)
    if (result.length > 0) work.run('SET', args.at(2), result)
    else work.run('DEL', args.at(2))
    reply.integer(result.length)
  }
}

export const BIT_COMPOSITES: readonly Composite[] = [BITOP]
