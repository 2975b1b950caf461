/**
 * Sets. SPOP chooses by chance, so what it chose goes to the backups in its place: a removal of those
 * members, or a deletion where none is left.
 */
import { assert } from '../core/assert.js'
import { latin1Bytes } from '../core/bytes.js'
import { TYPE_SET } from '../store/value-type.js'
import { SetValue } from '../store/values/set-value.js'
import { type Call, REFUSED } from './call.js'
import { drawDifferent, drawPlaces, readCount, readSignedCount, writeValue } from './collection.js'
import type { Command } from './command.js'
import { OUT_OF_RANGE, SYNTAX_ERROR } from './error-text.js'
import { isWanted, readCursor, readScanOptions, replyScan } from './scan.js'

function setAt(call: Call, ref: number): SetValue {
  const value = call.bucket.heapValue(ref)
  assert(value instanceof SetValue, 'a record of type set holds something else')
  return value
}

const SADD = {
  name: 'sadd',
  arity: -3,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_SET)
    if (ref === REFUSED) return
    const set = ref === 0 ? new SetValue() : setAt(call, ref)
    let added = 0
    for (let place = 2; place < call.count; place++) if (set.add(call.text(place))) added++
    if (added > 0) writeValue(call, ref, set, set.size)
    call.reply.integer(added)
  }
} as const satisfies Command

const SREM = {
  name: 'srem',
  arity: -3,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_SET)
    if (ref === REFUSED) return
    let removed = 0
    if (ref !== 0) {
      const set = setAt(call, ref)
      for (let place = 2; place < call.count; place++) if (set.delete(call.text(place))) removed++
      if (removed > 0) writeValue(call, ref, set, set.size)
    }
    call.reply.integer(removed)
  }
} as const satisfies Command

const SCARD = {
  name: 'scard',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_SET)
    if (ref !== REFUSED) call.reply.integer(ref === 0 ? 0 : setAt(call, ref).size)
  }
} as const satisfies Command

const SISMEMBER = {
  name: 'sismember',
  arity: 3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_SET)
    if (ref === REFUSED) return
    call.reply.integer(ref !== 0 && setAt(call, ref).has(call.text(2)) ? 1 : 0)
  }
} as const satisfies Command

const SMISMEMBER = {
  name: 'smismember',
  arity: -3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_SET)
    if (ref === REFUSED) return
    const set = ref === 0 ? undefined : setAt(call, ref)
    call.reply.array(call.count - 2)
    for (let place = 2; place < call.count; place++) {
      call.reply.integer(set?.has(call.text(place)) === true ? 1 : 0)
    }
  }
} as const satisfies Command

const SMEMBERS = {
  name: 'smembers',
  arity: 2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_SET)
    if (ref === REFUSED) return
    const members = ref === 0 ? [] : setAt(call, ref).members()
    call.reply.set(members.length)
    for (const member of members) call.reply.bulkString(member)
  }
} as const satisfies Command

/** Takes members out and leaves the backups the same choice. */
function takeMembers(call: Call, ref: number, members: readonly string[]): void {
  const set = setAt(call, ref)
  for (const member of members) set.delete(member)
  const key = call.key.copy()
  if (set.size === 0) call.rewrite([latin1Bytes('DEL'), key])
  else call.rewrite([latin1Bytes('SREM'), key, ...members.map(latin1Bytes)])
  writeValue(call, ref, set, set.size)
}

function popMany(call: Call): void {
  const { reply } = call
  const count = readCount(call, 2)
  if (Number.isNaN(count)) return
  const ref = call.find(TYPE_SET)
  if (ref === REFUSED) return
  if (ref === 0 || count === 0) {
    reply.set(0)
    return
  }
  const set = setAt(call, ref)
  const members = drawDifferent(call.random, set.size, count).map((place) => set.at(place))
  reply.set(members.length)
  for (const member of members) reply.bulkString(member)
  takeMembers(call, ref, members)
}

const SPOP = {
  name: 'spop',
  arity: -2,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const { reply } = call
    if (call.count > 3) {
      reply.error(SYNTAX_ERROR)
      return
    }
    if (call.count === 3) {
      popMany(call)
      return
    }
    const ref = call.find(TYPE_SET)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.nil()
      return
    }
    const set = setAt(call, ref)
    const member = set.at(call.random.below(set.size))
    reply.bulkString(member)
    takeMembers(call, ref, [member])
  }
} as const satisfies Command

function replyRandomMembers(call: Call): void {
  const { reply } = call
  const count = readSignedCount(call, 2)
  if (Number.isNaN(count)) return
  const ref = call.find(TYPE_SET)
  if (ref === REFUSED) return
  if (ref === 0) {
    reply.array(0)
    return
  }
  const set = setAt(call, ref)
  const places = drawPlaces(call.random, set.size, count)
  if (places === undefined) {
    reply.error(OUT_OF_RANGE)
    return
  }
  reply.array(places.length)
  for (const place of places) reply.bulkString(set.at(place))
}

const SRANDMEMBER = {
  name: 'srandmember',
  arity: -2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { reply } = call
    if (call.count > 3) {
      reply.error(SYNTAX_ERROR)
      return
    }
    if (call.count === 3) {
      replyRandomMembers(call)
      return
    }
    const ref = call.find(TYPE_SET)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.nil()
      return
    }
    const set = setAt(call, ref)
    reply.bulkString(set.at(call.random.below(set.size)))
  }
} as const satisfies Command

const SSCAN = {
  name: 'sscan',
  arity: -3,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const cursor = readCursor(call)
    if (cursor === undefined) return
    const ref = call.find(TYPE_SET)
    if (ref === REFUSED) return
    if (ref === 0) {
      replyScan(call, 0, [])
      return
    }
    const options = readScanOptions(call)
    if (options === undefined) return
    const texts: string[] = []
    const next = setAt(call, ref).scan(cursor, options.count, (member) => {
      if (isWanted(options, member)) texts.push(member)
    })
    replyScan(call, next, texts)
  }
} as const satisfies Command

export const SET_COMMANDS: readonly Command[] = [
  SADD,
  SREM,
  SCARD,
  SISMEMBER,
  SMISMEMBER,
  SMEMBERS,
  SPOP,
  SRANDMEMBER,
  SSCAN
]
