/** Parts of strings: length, ranges, and writing at the end or in the middle. */
import { Span } from '../core/bytes.js'
import { TYPE_STRING } from '../store/value-type.js'
import { type Call, REFUSED } from './call.js'
import type { Command } from './command.js'
import { NOT_AN_INTEGER, OFFSET_OUT_OF_RANGE, STRING_TOO_LONG } from './error-text.js'

const STRING_BYTES_MAX = 512 * 1024 * 1024 - 1

function checkLength(call: Call, length: number): boolean {
  if (length <= STRING_BYTES_MAX) return true
  call.reply.error(STRING_TOO_LONG)
  return false
}

/** Both ends are counted in; negative ones count from the end. */
function replyRange(call: Call): void {
  const { bucket, reply } = call
  let start = call.integer(2)
  let end = call.integer(3)
  if (Number.isNaN(start) || Number.isNaN(end)) {
    reply.error(NOT_AN_INTEGER)
    return
  }
  const ref = call.find(TYPE_STRING)
  if (ref === REFUSED) return
  const length = ref === 0 ? 0 : bucket.valueLength(ref)
  const nothing = start < 0 && end < 0 && start > end
  start = Math.max(0, start < 0 ? start + length : start)
  end = Math.min(length - 1, Math.max(0, end < 0 ? end + length : end))
  if (nothing || length === 0 || start > end) {
    reply.bulkString('')
    return
  }
  const offset = bucket.valueOffset(ref) + start
  reply.bulk(bucket.valueBytes(ref), bucket.valueView(ref), offset, end - start + 1)
}

const STRLEN = {
  name: 'strlen',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_STRING)
    if (ref !== REFUSED) call.reply.integer(ref === 0 ? 0 : call.bucket.valueLength(ref))
  }
} as const satisfies Command

const GETRANGE = {
  name: 'getrange',
  arity: 4,
  flags: ['readonly'],
  key: 1,
  execute: replyRange
} as const satisfies Command

const SUBSTR = {
  name: 'substr',
  arity: 4,
  flags: ['readonly'],
  key: 1,
  execute: replyRange
} as const satisfies Command

const APPEND = {
  name: 'append',
  arity: 3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const { bucket } = call
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    const tail = call.argument(2, call.first)
    const length = (ref === 0 ? 0 : bucket.valueLength(ref)) + tail.length
    if (!checkLength(call, length)) return
    if (ref === 0) bucket.setString(call.key, tail, call.version, 0)
    else if (tail.length > 0) bucket.append(ref, tail, call.version)
    if (ref === 0 || tail.length > 0) call.changed('set')
    call.reply.integer(length)
  }
} as const satisfies Command

const SETRANGE = {
  name: 'setrange',
  arity: 4,
  flags: ['write', 'memory'],
  key: 1,
  execute(call) {
    const { bucket, reply } = call
    const at = call.integer(2)
    if (Number.isNaN(at) || at < 0) {
      reply.error(Number.isNaN(at) ? NOT_AN_INTEGER : OFFSET_OUT_OF_RANGE)
      return
    }
    const ref = call.find(TYPE_STRING)
    if (ref === REFUSED) return
    const part = call.argument(3, call.first)
    const present = ref === 0 ? 0 : bucket.valueLength(ref)
    if (part.length === 0) {
      reply.integer(present)
      return
    }
    if (!checkLength(call, at + part.length)) return
    if (ref !== 0) bucket.overwriteRange(ref, at, part, call.version)
    else {
      const whole = new Uint8Array(at + part.length)
      whole.set(part.bytes.subarray(part.offset, part.offset + part.length), at)
      bucket.setString(call.key, Span.of(whole), call.version, 0)
    }
    call.changed('set')
    reply.integer(Math.max(present, at + part.length))
  }
} as const satisfies Command

export const SUBSTRING_COMMANDS: readonly Command[] = [STRLEN, GETRANGE, SUBSTR, APPEND, SETRANGE]
