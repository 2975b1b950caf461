/**
 * Strings as a whole: reading, writing, and writing under a condition. GET and SET without options are the
 * data path (bench/micro): they allocate nothing and make no string.
 */
import { equalBytes } from '../core/bytes.js'
import { TYPE_STRING } from '../store/value-type.js'
import { type Call, REFUSED } from './call.js'
import type { Command } from './command.js'
import { SYNTAX_ERROR, WRONG_TYPE } from './error-text.js'
import { type ExpiryBase, type ExpiryUnit, readExpiry, writeExpiry } from './expiry.js'

const IF_ABSENT = 1
const IF_PRESENT = 2
const IF_EQUAL = 4
const WITH_OLD = 8
const KEEP_EXPIRY = 16
const WITH_EXPIRY = 32
const DROP_EXPIRY = 64

/** How the time of an expiry is meant; at most one of these in a command. */
interface ExpiryOption {
  readonly word: string
  readonly unit: ExpiryUnit
  readonly base: ExpiryBase
}

const EXPIRY_OPTIONS: readonly ExpiryOption[] = [
  { word: 'ex', unit: 'seconds', base: 'now' },
  { word: 'px', unit: 'milliseconds', base: 'now' },
  { word: 'exat', unit: 'seconds', base: 'epoch' },
  { word: 'pxat', unit: 'milliseconds', base: 'epoch' }
]

/** What stands behind the value of a SET or the key of a GETEX. */
class StringOptions {
  flags = 0
  expiryOption: ExpiryOption | undefined
  expiryPlace = 0
  comparedPlace = 0

  has(flag: number): boolean {
    return (this.flags & flag) !== 0
  }

  /** False where an option does not go with those before it. */
  readSet(call: Call): boolean {
    for (let place = 3; place < call.count; place++) {
      if (call.is(place, 'nx') && !this.has(IF_PRESENT | IF_EQUAL)) this.flags |= IF_ABSENT
      else if (call.is(place, 'xx') && !this.has(IF_ABSENT | IF_EQUAL)) this.flags |= IF_PRESENT
      else if (call.is(place, 'get')) this.flags |= WITH_OLD
      else if (call.is(place, 'keepttl') && !this.has(WITH_EXPIRY)) this.flags |= KEEP_EXPIRY
      else if (this.#readIfEqual(call, place) || this.#readExpiry(call, place)) place++
      else return false
    }
    return true
  }

  readGetEx(call: Call): boolean {
    for (let place = 2; place < call.count; place++) {
      if (call.is(place, 'persist') && !this.has(WITH_EXPIRY)) this.flags |= DROP_EXPIRY
      else if (this.#readExpiry(call, place)) place++
      else return false
    }
    return true
  }

  /** The absolute time, 0 for none, NaN if the error is written. */
  expiry(call: Call, command: string): number {
    if (this.expiryOption === undefined) return 0
    const { unit, base } = this.expiryOption
    return readExpiry(call, this.expiryPlace, unit, base, command)
  }

  #readIfEqual(call: Call, place: number): boolean {
    if (!call.is(place, 'ifeq') || place + 1 >= call.count) return false
    if (this.has(IF_ABSENT | IF_PRESENT)) return false
    this.flags |= IF_EQUAL
    this.comparedPlace = place + 1
    return true
  }

  #readExpiry(call: Call, place: number): boolean {
    if (place + 1 >= call.count || this.has(KEEP_EXPIRY | DROP_EXPIRY)) return false
    for (const option of EXPIRY_OPTIONS) {
      if (!call.is(place, option.word)) continue
      if (this.expiryOption !== undefined && this.expiryOption !== option) return false
      this.flags |= WITH_EXPIRY
      this.expiryOption = option
      this.expiryPlace = place + 1
      return true
    }
    return false
  }
}

function replyValue(call: Call, ref: number): void {
  const { bucket } = call
  call.reply.bulk(
    bucket.valueBytes(ref),
    bucket.valueView(ref),
    bucket.valueOffset(ref),
    bucket.valueLength(ref)
  )
}

/** Whether the key holds exactly the argument. */
function isEqualTo(call: Call, ref: number, place: number): boolean {
  const { bucket } = call
  const length = call.lengths[place]
  return (
    bucket.valueLength(ref) === length &&
    equalBytes(
      bucket.valueView(ref),
      bucket.valueOffset(ref),
      call.view,
      call.offsets[place],
      length
    )
  )
}

/** An expiry that is over already makes a deletion of it. */
function writeString(call: Call, ref: number, place: number, expiry: number): void {
  const { bucket } = call
  if (expiry !== 0 && expiry <= call.now) {
    if (ref === 0) return
    bucket.bury(ref, call.version)
    call.changed('deleted')
    return
  }
  bucket.setString(call.key, call.argument(place, call.first), call.version, expiry)
  call.changed('set')
}

function mayWrite(call: Call, ref: number, options: StringOptions): boolean {
  if (options.has(IF_ABSENT)) return ref === 0
  if (options.has(IF_PRESENT)) return ref !== 0
  if (options.has(IF_EQUAL)) return ref !== 0 && isEqualTo(call, ref, options.comparedPlace)
  return true
}

function setWithOptions(call: Call): void {
  const { bucket, reply } = call
  const options = new StringOptions()
  if (!options.readSet(call)) {
    reply.error(SYNTAX_ERROR)
    return
  }
  let expiry = options.expiry(call, 'set')
  if (Number.isNaN(expiry)) return
  const ref = bucket.find(call.key, call.now)
  if (options.has(WITH_OLD | IF_EQUAL) && ref !== 0 && bucket.typeOf(ref) !== TYPE_STRING) {
    reply.error(WRONG_TYPE)
    return
  }
  const allowed = mayWrite(call, ref, options)
  if (options.has(WITH_OLD)) {
    if (ref === 0) reply.nil()
    else replyValue(call, ref)
  } else if (allowed) reply.ok()
  else reply.nil()
  if (!allowed) return
  if (options.has(KEEP_EXPIRY) && ref !== 0) expiry = bucket.expiryOf(ref)
  writeString(call, ref, 2, expiry)
}

function setWithTime(call: Call, unit: ExpiryUnit, command: string): void {
  const expiry = readExpiry(call, 2, unit, 'now', command)
  if (Number.isNaN(expiry)) return
  writeString(call, call.bucket.find(call.key, call.now), 3, expiry)
  call.reply.ok()
}

const GET = {
  name: 'get',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const { bucket, reply } = call
    const ref = bucket.find(call.key, call.now)
    if (ref === 0) {
      call.missed = true
      reply.nil()
      return
    }
    if (bucket.typeOf(ref) !== TYPE_STRING) {
      reply.error(WRONG_TYPE)
      return
    }
    reply.bulk(
      bucket.valueBytes(ref),
      bucket.valueView(ref),
      bucket.valueOffset(ref),
      bucket.valueLength(ref)
    )
  }
} as const satisfies Command

/** IFEQ is a compare-and-set: it writes only if the key holds exactly that value. */
const SET = {
  name: 'set',
  arity: -3,
  flags: ['write', 'memory'],
  key: 1,
  execute(call) {
    if (call.count > 3) {
      setWithOptions(call)
      return
    }
    call.bucket.setString(call.key, call.argument(2, call.first), call.version, 0)
    call.changed('set')
    call.reply.ok()
  }
} as const satisfies Command

const GETSET = {
  name: 'getset',
  arity: 3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    if (ref === 0) call.reply.nil()
    else replyValue(call, ref)
    writeString(call, ref, 2, 0)
  }
} as const satisfies Command

const GETDEL = {
  name: 'getdel',
  arity: 2,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    if (ref === 0) {
      call.reply.nil()
      return
    }
    replyValue(call, ref)
    call.bucket.bury(ref, call.version)
    call.changed('deleted')
  }
} as const satisfies Command

const GETEX = {
  name: 'getex',
  arity: -2,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const { reply } = call
    const options = new StringOptions()
    if (!options.readGetEx(call)) {
      reply.error(SYNTAX_ERROR)
      return
    }
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.nil()
      return
    }
    const expiry = options.expiry(call, 'getex')
    if (Number.isNaN(expiry)) return
    replyValue(call, ref)
    if (expiry !== 0) writeExpiry(call, ref, expiry)
    else if (options.has(DROP_EXPIRY) && call.bucket.expiryOf(ref) !== 0) writeExpiry(call, ref, 0)
  }
} as const satisfies Command

const SETNX = {
  name: 'setnx',
  arity: 3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    if (call.bucket.find(call.key, call.now) !== 0) {
      call.reply.integer(0)
      return
    }
    writeString(call, 0, 2, 0)
    call.reply.integer(1)
  }
} as const satisfies Command

const SETEX = {
  name: 'setex',
  arity: 4,
  flags: ['write', 'memory'],
  key: 1,
  execute: (call) => setWithTime(call, 'seconds', 'setex')
} as const satisfies Command

const PSETEX = {
  name: 'psetex',
  arity: 4,
  flags: ['write', 'memory'],
  key: 1,
  execute: (call) => setWithTime(call, 'milliseconds', 'psetex')
} as const satisfies Command

export const STRING_COMMANDS: readonly Command[] = [
  GET,
  SET,
  GETSET,
  GETDEL,
  GETEX,
  SETNX,
  SETEX,
  PSETEX
]
