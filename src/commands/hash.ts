/** Hashes: fields with values under one key. Counting in fields and choosing by chance are in hash-count.ts. */
import { assert } from '../core/assert.js'
import { TYPE_HASH } from '../store/value-type.js'
import { HashValue } from '../store/values/hash-value.js'
import { type Call, REFUSED } from './call.js'
import { writeValue } from './collection.js'
import type { Command } from './command.js'
import { wrongArity } from './error-text.js'
import { isWanted, readCursor, readScanOptions, replyScan } from './scan.js'

export function hashAt(call: Call, ref: number): HashValue {
  const value = call.bucket.heapValue(ref)
  assert(value instanceof HashValue, 'a record of type hash holds something else')
  return value
}

function replyField(call: Call, text: string | undefined): void {
  if (text === undefined) call.reply.nil()
  else call.reply.bulkString(text)
}

/** How many fields were new; undefined means that the error is written. */
function setFields(call: Call, command: string): number | undefined {
  if (call.count % 2 !== 0) {
    call.reply.error(wrongArity(command))
    return undefined
  }
  const ref = call.find(TYPE_HASH)
  if (ref === REFUSED) return undefined
  const hash = ref === 0 ? new HashValue() : hashAt(call, ref)
  let added = 0
  for (let place = 2; place < call.count; place += 2) {
    if (hash.set(call.text(place), call.text(place + 1))) added++
  }
  writeValue(call, ref, hash, hash.size)
  return added
}

const HSET = {
  name: 'hset',
  arity: -4,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const added = setFields(call, 'hset')
    if (added !== undefined) call.reply.integer(added)
  }
} as const satisfies Command

const HMSET = {
  name: 'hmset',
  arity: -4,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    if (setFields(call, 'hmset') !== undefined) call.reply.ok()
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
    const hash = ref === 0 ? new HashValue() : hashAt(call, ref)
    const field = call.text(2)
    if (hash.has(field)) {
      call.reply.integer(0)
      return
    }
    hash.set(field, call.text(3))
    writeValue(call, ref, hash, hash.size)
    call.reply.integer(1)
  }
} as const satisfies Command

const HGET = {
  name: 'hget',
  arity: 3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    replyField(call, ref === 0 ? undefined : hashAt(call, ref).get(call.text(2)))
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
    for (let place = 2; place < call.count; place++) {
      replyField(call, ref === 0 ? undefined : hashAt(call, ref).get(call.text(place)))
    }
  }
} as const satisfies Command

const HDEL = {
  name: 'hdel',
  arity: -3,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    let removed = 0
    if (ref !== 0) {
      const hash = hashAt(call, ref)
      for (let place = 2; place < call.count; place++) {
        if (hash.delete(call.text(place))) removed++
      }
      if (removed > 0) writeValue(call, ref, hash, hash.size)
    }
    call.reply.integer(removed)
  }
} as const satisfies Command

const HLEN = {
  name: 'hlen',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref !== REFUSED) call.reply.integer(ref === 0 ? 0 : hashAt(call, ref).size)
  }
} as const satisfies Command

const HSTRLEN = {
  name: 'hstrlen',
  arity: 3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    const text = ref === 0 ? undefined : hashAt(call, ref).get(call.text(2))
    call.reply.integer(text === undefined ? 0 : text.length)
  }
} as const satisfies Command

const HEXISTS = {
  name: 'hexists',
  arity: 3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    call.reply.integer(ref !== 0 && hashAt(call, ref).has(call.text(2)) ? 1 : 0)
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
    const hash = ref === 0 ? undefined : hashAt(call, ref)
    const size = hash?.size ?? 0
    call.reply.array(size)
    for (let i = 0; i < size; i++) replyField(call, hash?.fieldAt(i))
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
    const hash = ref === 0 ? undefined : hashAt(call, ref)
    const size = hash?.size ?? 0
    call.reply.array(size)
    for (let i = 0; i < size; i++) replyField(call, hash?.valueAt(i))
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
    const hash = ref === 0 ? undefined : hashAt(call, ref)
    const size = hash?.size ?? 0
    call.reply.map(size)
    for (let i = 0; i < size; i++) {
      replyField(call, hash?.fieldAt(i))
      replyField(call, hash?.valueAt(i))
    }
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
