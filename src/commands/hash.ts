/** Hashes: fields with values under one key. Counting in fields and choosing by chance are in hash-count.ts. */
import { TYPE_HASH } from '../store/value-type.js'
import { type Call, REFUSED } from './call.js'
import type { Command } from './command.js'
import { wrongArity } from './error-text.js'
import {
  countFields,
  deleteFields,
  fieldValueLength,
  hashAt,
  replyAllFields,
  replyFieldValue,
  setFields
} from './hash-fields.js'
import { isWanted, readCursor, readScanOptions, replyScan } from './scan.js'

/** How many fields were new; undefined means that the error is written. */
function setPairs(call: Call, command: string): number | undefined {
  if (call.count % 2 !== 0) {
    call.reply.error(wrongArity(command))
    return undefined
  }
  const ref = call.find(TYPE_HASH)
  return ref === REFUSED ? undefined : setFields(call, ref)
}

const HSET = {
  name: 'hset',
  arity: -4,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const added = setPairs(call, 'hset')
    if (added !== undefined) call.reply.integer(added)
  }
} as const satisfies Command

const HMSET = {
  name: 'hmset',
  arity: -4,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    if (setPairs(call, 'hmset') !== undefined) call.reply.ok()
  }
} as const satisfies Command

const HSETNX = {
  name: 'hsetnx',
  arity: 4,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    const isNew = fieldValueLength(call, ref, 2) < 0
    call.reply.integer(isNew ? setFields(call, ref) : 0)
  }
} as const satisfies Command

const HGET = {
  name: 'hget',
  arity: 3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref !== REFUSED) replyFieldValue(call, ref, 2)
  }
} as const satisfies Command

const HMGET = {
  name: 'hmget',
  arity: -3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    call.reply.array(call.count - 2)
    for (let place = 2; place < call.count; place++) replyFieldValue(call, ref, place)
  }
} as const satisfies Command

const HDEL = {
  name: 'hdel',
  arity: -3,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref !== REFUSED) call.reply.integer(deleteFields(call, ref))
  }
} as const satisfies Command

const HLEN = {
  name: 'hlen',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref !== REFUSED) call.reply.integer(countFields(call, ref))
  }
} as const satisfies Command

const HSTRLEN = {
  name: 'hstrlen',
  arity: 3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref !== REFUSED) call.reply.integer(Math.max(0, fieldValueLength(call, ref, 2)))
  }
} as const satisfies Command

const HEXISTS = {
  name: 'hexists',
  arity: 3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref !== REFUSED) call.reply.integer(fieldValueLength(call, ref, 2) < 0 ? 0 : 1)
  }
} as const satisfies Command

const HKEYS = {
  name: 'hkeys',
  arity: 2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    call.reply.array(countFields(call, ref))
    replyAllFields(call, ref, true, false)
  }
} as const satisfies Command

const HVALS = {
  name: 'hvals',
  arity: 2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    call.reply.array(countFields(call, ref))
    replyAllFields(call, ref, false, true)
  }
} as const satisfies Command

const HGETALL = {
  name: 'hgetall',
  arity: 2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    call.reply.map(countFields(call, ref))
    replyAllFields(call, ref, true, true)
  }
} as const satisfies Command

const HSCAN = {
  name: 'hscan',
  arity: -3,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const cursor = readCursor(call)
    if (cursor === undefined) return
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    if (ref === 0) {
      replyScan(call, 0, [])
      return
    }
    const options = readScanOptions(call)
    if (options === undefined) return
    const texts: string[] = []
    const next = hashAt(call, ref).scan(cursor, options.count, (field, text) => {
      if (isWanted(options, field)) texts.push(field, text)
    })
    replyScan(call, next, texts)
  }
} as const satisfies Command

export const HASH_COMMANDS: readonly Command[] = [
  HSET,
  HMSET,
  HSETNX,
  HGET,
  HMGET,
  HDEL,
  HLEN,
  HSTRLEN,
  HEXISTS,
  HKEYS,
  HVALS,
  HGETALL,
  HSCAN
]
