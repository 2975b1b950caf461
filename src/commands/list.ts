/** Lists: both ends and ranges. Changes in the middle and searches are in list-edit.ts. */
import { assert } from '../core/assert.js'
import { TYPE_LIST } from '../store/value-type.js'
import { ListValue } from '../store/values/list-value.js'
import { type Call, REFUSED } from './call.js'
import { rangeFrom, rangeTo, readCount, writeValue } from './collection.js'
import type { Command } from './command.js'
import { NOT_AN_INTEGER, wrongArity } from './error-text.js'

export type ListEnd = 'front' | 'back'

export function listAt(call: Call, ref: number): ListValue {
  const value = call.bucket.heapValue(ref)
  assert(value instanceof ListValue, 'a record of type list holds something else')
  return value
}

function pushAll(call: Call, end: ListEnd, onlyIfPresent: boolean): void {
  const ref = call.find(TYPE_LIST)
  if (ref === REFUSED) return
  if (ref === 0 && onlyIfPresent) {
    call.reply.integer(0)
    return
  }
  const list = ref === 0 ? new ListValue() : listAt(call, ref)
  for (let place = 2; place < call.count; place++) {
    if (end === 'front') list.pushFront(call.text(place))
    else list.pushBack(call.text(place))
  }
  writeValue(call, ref, list, list.length)
  call.reply.integer(list.length)
}

function popElement(list: ListValue, end: ListEnd): string {
  const element = end === 'front' ? list.popFront() : list.popBack()
  assert(element !== undefined, 'a list is empty and still there')
  return element
}

function pop(call: Call, end: ListEnd, command: string): void {
  const { reply } = call
  if (call.count > 3) {
    reply.error(wrongArity(command))
    return
  }
  const single = call.count === 2
  const wanted = single ? 1 : readCount(call, 2)
  if (Number.isNaN(wanted)) return
  const ref = call.find(TYPE_LIST)
  if (ref === REFUSED) return
  if (ref === 0) {
    if (single) reply.nil()
    else reply.nilArray()
    return
  }
  const list = listAt(call, ref)
  const count = Math.min(wanted, list.length)
  if (!single) reply.array(count)
  for (let i = 0; i < count; i++) reply.bulkString(popElement(list, end))
  if (count > 0) writeValue(call, ref, list, list.length)
}

const LPUSH = {
  name: 'lpush',
  arity: -3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute: (call) => pushAll(call, 'front', false)
} as const satisfies Command

const RPUSH = {
  name: 'rpush',
  arity: -3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute: (call) => pushAll(call, 'back', false)
} as const satisfies Command

const LPUSHX = {
  name: 'lpushx',
  arity: -3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute: (call) => pushAll(call, 'front', true)
} as const satisfies Command

const RPUSHX = {
  name: 'rpushx',
  arity: -3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute: (call) => pushAll(call, 'back', true)
} as const satisfies Command

const LPOP = {
  name: 'lpop',
  arity: -2,
  flags: ['write', 'fast'],
  key: 1,
  execute: (call) => pop(call, 'front', 'lpop')
} as const satisfies Command

const RPOP = {
  name: 'rpop',
  arity: -2,
  flags: ['write', 'fast'],
  key: 1,
  execute: (call) => pop(call, 'back', 'rpop')
} as const satisfies Command

const LLEN = {
  name: 'llen',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_LIST)
    if (ref !== REFUSED) call.reply.integer(ref === 0 ? 0 : listAt(call, ref).length)
  }
} as const satisfies Command

const LINDEX = {
  name: 'lindex',
  arity: 3,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { reply } = call
    const ref = call.find(TYPE_LIST)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.nil()
      return
    }
    const index = call.integer(2)
    if (Number.isNaN(index)) {
      reply.error(NOT_AN_INTEGER)
      return
    }
    const list = listAt(call, ref)
    const element = list.at(index < 0 ? index + list.length : index)
    if (element === undefined) reply.nil()
    else reply.bulkString(element)
  }
} as const satisfies Command

const LRANGE = {
  name: 'lrange',
  arity: 4,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { reply } = call
    const start = call.integer(2)
    const end = call.integer(3)
    if (Number.isNaN(start) || Number.isNaN(end)) {
      reply.error(NOT_AN_INTEGER)
      return
    }
    const ref = call.find(TYPE_LIST)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.array(0)
      return
    }
    const list = listAt(call, ref)
    const from = rangeFrom(start, list.length)
    const to = rangeTo(end, list.length)
    reply.array(Math.max(0, to - from))
    for (let i = from; i < to; i++) reply.bulkString(list.at(i) ?? '')
  }
} as const satisfies Command

const LTRIM = {
  name: 'ltrim',
  arity: 4,
  flags: ['write'],
  key: 1,
  execute(call) {
    const { reply } = call
    const start = call.integer(2)
    const end = call.integer(3)
    if (Number.isNaN(start) || Number.isNaN(end)) {
      reply.error(NOT_AN_INTEGER)
      return
    }
    const ref = call.find(TYPE_LIST)
    if (ref === REFUSED) return
    if (ref !== 0) {
      const list = listAt(call, ref)
      const { length } = list
      const from = rangeFrom(start, length)
      const to = rangeTo(end, length)
      if (from >= to) writeValue(call, ref, list, 0)
      else if (to - from < length) {
        list.keep(from, to)
        writeValue(call, ref, list, list.length)
      }
    }
    reply.ok()
  }
} as const satisfies Command

export const LIST_COMMANDS: readonly Command[] = [
  LPUSH,
  RPUSH,
  LPUSHX,
  RPUSHX,
  LPOP,
  RPOP,
  LLEN,
  LINDEX,
  LRANGE,
  LTRIM
]
