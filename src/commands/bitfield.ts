/**
 * BITFIELD: integers of any width up to 64 bits at any place of a string, read, written and counted up. What does
 * not fit wraps, stays at the limit, or is refused, as the command says.
 */
import { TYPE_STRING } from '../store/value-type.js'
import { readBitOffset, writeBytes } from './bits.js'
import { type Call, REFUSED } from './call.js'
import type { Command } from './command.js'
import { NOT_AN_INTEGER, SYNTAX_ERROR } from './error-text.js'
import { parseLong } from './number-text.js'

const TYPE =
  'ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.'

type Overflow = 'wrap' | 'sat' | 'fail'

interface FieldType {
  readonly signed: boolean
  readonly width: number
}

interface Operation extends FieldType {
  readonly kind: 'get' | 'set' | 'incrby'
  /** In bits. */
  readonly at: number
  readonly value: bigint
  readonly overflow: Overflow
}

const ARGUMENTS = { get: 2, set: 3, incrby: 3 } as const

function isOverflow(word: string): word is Overflow {
  return word === 'wrap' || word === 'sat' || word === 'fail'
}

/** Undefined means that the error is written. */
function readType(call: Call, place: number): FieldType | undefined {
  const sign = call.text(place).charAt(0)
  const width = parseLong(call.bytes, call.offsets[place] + 1, call.lengths[place] - 1)
  const most = sign === 'i' ? 64n : sign === 'u' ? 63n : 0n
  if (width !== undefined && width >= 1n && width <= most) {
    return { signed: sign === 'i', width: Number(width) }
  }
  call.reply.error(TYPE)
  return undefined
}

/** Undefined means that the error is written. */
function readOperations(call: Call): Operation[] | undefined {
  const operations: Operation[] = []
  let overflow: Overflow = 'wrap'
  for (let place = 2; place < call.count; place++) {
    const left = call.count - place - 1
    const kind = call.text(place).toLowerCase()
    if (kind === 'overflow' && left >= 1) {
      const word = call.text(++place).toLowerCase()
      if (!isOverflow(word)) {
        call.reply.error('ERR Invalid OVERFLOW type specified')
        return undefined
      }
      overflow = word
      continue
    }
    if ((kind !== 'get' && kind !== 'set' && kind !== 'incrby') || left < ARGUMENTS[kind]) {
      call.reply.error(SYNTAX_ERROR)
      return undefined
    }
    const type = readType(call, place + 1)
    if (type === undefined) return undefined
    const at = readBitOffset(call, place + 2, type.width)
    if (Number.isNaN(at)) return undefined
    const value = kind === 'get' ? 0n : call.longInteger(place + 3)
    if (value === undefined) {
      call.reply.error(NOT_AN_INTEGER)
      return undefined
    }
    operations.push({ ...type, kind, at, value, overflow })
    place += ARGUMENTS[kind]
  }
  return operations
}

/** Up to 64 bits from a place on, which lie in at most nine bytes. */
function readField(call: Call, ref: number, { at, width, signed }: Operation): bigint {
  const { bucket } = call
  const length = ref === 0 ? 0 : bucket.valueLength(ref)
  const first = Math.floor(at / 8)
  const last = Math.floor((at + width - 1) / 8)
  let bits = 0n
  for (let place = first; place <= last; place++) {
    const byte = place < length ? bucket.valueBytes(ref)[bucket.valueOffset(ref) + place] : 0
    bits = (bits << 8n) | BigInt(byte)
  }
  bits >>= BigInt((last + 1) * 8 - at - width)
  return signed ? BigInt.asIntN(width, bits) : BigInt.asUintN(width, bits)
}

function writeField(call: Call, ref: number, operation: Operation, value: bigint): number {
  const { bucket } = call
  const { at, width } = operation
  const first = Math.floor(at / 8)
  const last = Math.floor((at + width - 1) / 8)
  const bytes = new Uint8Array(last - first + 1)
  const length = ref === 0 ? 0 : bucket.valueLength(ref)
  for (let i = 0; i < bytes.length; i++) {
    if (first + i < length) {
      bytes[i] = bucket.valueBytes(ref)[bucket.valueOffset(ref) + first + i]
    }
  }
  for (let i = 0; i < width; i++) {
    const place = at + i - first * 8
    const bit = Number((value >> BigInt(width - 1 - i)) & 1n)
    const shift = 7 - (place % 8)
    const byte = Math.floor(place / 8)
    bytes[byte] = (bytes[byte] & ~(1 << shift)) | (bit << shift)
  }
  return writeBytes(call, ref, first, bytes)
}

/** What is to be kept of a number that may not fit; undefined if nothing is. */
function fit(value: bigint, { signed, width, overflow }: Operation): bigint | undefined {
  const bits = BigInt(width)
  const least = signed ? -(1n << (bits - 1n)) : 0n
  const most = signed ? (1n << (bits - 1n)) - 1n : (1n << bits) - 1n
  if (value >= least && value <= most) return value
  if (overflow === 'fail') return undefined
  if (overflow === 'sat') return value > most ? most : least
  return signed ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value)
}

/** Writes the reply of one operation; gives the ref, which a write may change. */
function perform(call: Call, ref: number, operation: Operation): number {
  const { reply } = call
  const old = readField(call, ref, operation)
  if (operation.kind === 'get') {
    reply.longInteger(old)
    return ref
  }
  const { signed, value } = operation
  const counts = operation.kind === 'incrby'
  // A negative number to be kept without a sign is taken for the large one with the same bits.
  const wanted = counts ? old + value : signed ? value : BigInt.asUintN(64, value)
  const kept = fit(wanted, operation)
  if (kept === undefined) {
    reply.nil()
    return ref
  }
  reply.longInteger(counts ? kept : old)
  return kept === old ? ref : writeField(call, ref, operation, kept)
}

/** Makes the string so long that all that will be written lies in it, also what is refused in the end. */
function makeRoom(call: Call, ref: number, operations: readonly Operation[]): number {
  let end = 0
  for (const { kind, at, width } of operations) {
    if (kind !== 'get') end = Math.max(end, Math.floor((at + width - 1) / 8) + 1)
  }
  const length = ref === 0 ? 0 : call.bucket.valueLength(ref)
  return end <= length ? ref : writeBytes(call, ref, end - 1, new Uint8Array(1))
}

function execute(call: Call, mayWrite: boolean): void {
  const operations = readOperations(call)
  if (operations === undefined) return
  if (!mayWrite && operations.some(({ kind }) => kind !== 'get')) {
    call.reply.error('ERR BITFIELD_RO only supports the GET subcommand')
    return
  }
  let ref = call.find(TYPE_STRING)
  if (ref === REFUSED) return
  ref = makeRoom(call, ref, operations)
  call.reply.array(operations.length)
  for (const operation of operations) ref = perform(call, ref, operation)
}

const BITFIELD = {
  name: 'bitfield',
  arity: -2,
  flags: ['write', 'memory'],
  key: 1,
  execute: (call) => execute(call, true)
} as const satisfies Command

const BITFIELD_RO = {
  name: 'bitfield_ro',
  arity: -2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: (call) => execute(call, false)
} as const satisfies Command

export const BITFIELD_COMMANDS: readonly Command[] = [BITFIELD, BITFIELD_RO]
