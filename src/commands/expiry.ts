/**
 * Expiry: the commands that give an item a time, ask for it or take it away, and the reading of times for
 * those that set one on the way (SET, GETEX, SETEX).
 *
 * Times are absolute milliseconds. Relative ones are added to `call.now`, which a backup shares, so all
 * copies expire alike. A time that is over deletes at once. Redis keeps times up to 2^63; the store keeps
 * what a double counts exactly, which is the year 287396, and later times become that one.
 */
import type { Call } from './call.js'
import type { Command } from './command.js'
import { invalidExpiry, NOT_AN_INTEGER } from './error-text.js'
import { isLong } from './number-text.js'

export type ExpiryUnit = 'seconds' | 'milliseconds'
/** Whether a time counts from now or from 1970. */
export type ExpiryBase = 'now' | 'epoch'

const LATEST = Number.MAX_SAFE_INTEGER
/** Below this, a time in seconds added to the present is still exact. */
const PLAIN_MAX = 1e12

/**
 * The absolute time an argument means, or NaN: the error is written then. For EXPIRE times may lie in the
 * past; elsewhere they are refused if they are not above zero.
 */
export function readExpiry(
  call: Call,
  place: number,
  unit: ExpiryUnit,
  base: ExpiryBase,
  command: string,
  pastAllowed = false
): number {
  const value = call.integer(place)
  if (Number.isNaN(value)) {
    call.reply.error(NOT_AN_INTEGER)
    return NaN
  }
  if (value > 0 || pastAllowed) {
    const start = base === 'now' ? call.now : 0
    if (Math.abs(value) < PLAIN_MAX) return (unit === 'seconds' ? value * 1000 : value) + start
    const expiry = addExactly(call.longInteger(place) ?? 0n, unit, start)
    if (expiry !== undefined) return expiry
  }
  call.reply.error(invalidExpiry(command))
  return NaN
}

function addExactly(value: bigint, unit: ExpiryUnit, start: number): number | undefined {
  const milliseconds = unit === 'seconds' ? value * 1000n : value
  if (!isLong(milliseconds)) return undefined
  const expiry = milliseconds + BigInt(Math.floor(start))
  if (!isLong(expiry)) return undefined
  return Math.max(-LATEST, Math.min(LATEST, Number(expiry)))
}

/**
 * Gives a live item its expiry as a write of its own. `expiry` 0 takes it away, and one that is over
 * deletes the item.
 */
export function writeExpiry(call: Call, ref: number, expiry: number): void {
  const { bucket, version } = call
  if (expiry !== 0 && expiry <= call.now) {
    bucket.bury(ref, version)
    call.changed('deleted')
    return
  }
  const moved = bucket.setExpiry(ref, expiry)
  bucket.touchVersion(moved, version)
  call.changed('set')
}

const IF_NONE = 1
const IF_SOME = 2
const IF_GREATER = 4
const IF_LESS = 8

/** The conditions of EXPIRE as bits, or -1: the error is written then. */
function readConditions(call: Call): number {
  let conditions = 0
  for (let place = 3; place < call.count; place++) {
    if (call.is(place, 'nx')) conditions |= IF_NONE
    else if (call.is(place, 'xx')) conditions |= IF_SOME
    else if (call.is(place, 'gt')) conditions |= IF_GREATER
    else if (call.is(place, 'lt')) conditions |= IF_LESS
    else {
      call.reply.error(`ERR Unsupported option ${call.text(place)}`)
      return -1
    }
  }
  if ((conditions & IF_NONE) !== 0 && conditions !== IF_NONE) {
    call.reply.error('ERR NX and XX, GT or LT options at the same time are not compatible')
    return -1
  }
  if ((conditions & (IF_GREATER | IF_LESS)) === (IF_GREATER | IF_LESS)) {
    call.reply.error('ERR GT and LT options at the same time are not compatible')
    return -1
  }
  return conditions
}

/** No expiry (0) counts as later than all others. */
function isAllowed(conditions: number, present: number, wanted: number): boolean {
  if ((conditions & IF_NONE) !== 0 && present !== 0) return false
  if ((conditions & IF_SOME) !== 0 && present === 0) return false
  if ((conditions & IF_GREATER) !== 0 && (present === 0 || wanted <= present)) return false
  return (conditions & IF_LESS) === 0 || present === 0 || wanted < present
}

function expire(call: Call, unit: ExpiryUnit, base: ExpiryBase, command: string): void {
  const conditions = readConditions(call)
  if (conditions < 0) return
  const expiry = readExpiry(call, 2, unit, base, command, true)
  if (Number.isNaN(expiry)) return
  const ref = call.bucket.find(call.key, call.now)
  if (ref === 0 || !isAllowed(conditions, call.bucket.expiryOf(ref), expiry)) {
    call.reply.integer(0)
    return
  }
  // 1970 itself is as past as what lies before it; 0 would mean none.
  writeExpiry(call, ref, expiry === 0 ? -1 : expiry)
  call.reply.integer(1)
}

const NO_KEY = -2
const NO_EXPIRY = -1

function replyTime(call: Call, unit: ExpiryUnit, base: ExpiryBase): void {
  const { bucket, reply } = call
  const ref = call.look()
  if (ref === 0) {
    reply.integer(NO_KEY)
    return
  }
  const expiry = bucket.expiryOf(ref)
  if (expiry === 0) {
    reply.integer(NO_EXPIRY)
    return
  }
  const time = base === 'now' ? expiry - call.now : expiry
  reply.integer(unit === 'seconds' ? Math.floor((time + 500) / 1000) : Math.floor(time))
}

const EXPIRE = {
  name: 'expire',
  arity: -3,
  flags: ['write', 'fast'],
  key: 1,
  execute: (call) => expire(call, 'seconds', 'now', 'expire')
} as const satisfies Command

const PEXPIRE = {
  name: 'pexpire',
  arity: -3,
  flags: ['write', 'fast'],
  key: 1,
  execute: (call) => expire(call, 'milliseconds', 'now', 'pexpire')
} as const satisfies Command

const EXPIREAT = {
  name: 'expireat',
  arity: -3,
  flags: ['write', 'fast'],
  key: 1,
  execute: (call) => expire(call, 'seconds', 'epoch', 'expireat')
} as const satisfies Command

const PEXPIREAT = {
  name: 'pexpireat',
  arity: -3,
  flags: ['write', 'fast'],
  key: 1,
  execute: (call) => expire(call, 'milliseconds', 'epoch', 'pexpireat')
} as const satisfies Command

const TTL = {
  name: 'ttl',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: (call) => replyTime(call, 'seconds', 'now')
} as const satisfies Command

const PTTL = {
  name: 'pttl',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: (call) => replyTime(call, 'milliseconds', 'now')
} as const satisfies Command

const EXPIRETIME = {
  name: 'expiretime',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: (call) => replyTime(call, 'seconds', 'epoch')
} as const satisfies Command

const PEXPIRETIME = {
  name: 'pexpiretime',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: (call) => replyTime(call, 'milliseconds', 'epoch')
} as const satisfies Command

const PERSIST = {
  name: 'persist',
  arity: 2,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.bucket.find(call.key, call.now)
    if (ref === 0 || call.bucket.expiryOf(ref) === 0) {
      call.reply.integer(0)
      return
    }
    writeExpiry(call, ref, 0)
    call.reply.integer(1)
  }
} as const satisfies Command

export const EXPIRY_COMMANDS: readonly Command[] = [
  EXPIRE,
  PEXPIRE,
  EXPIREAT,
  PEXPIREAT,
  TTL,
  PTTL,
  EXPIRETIME,
  PEXPIRETIME,
  PERSIST
]
