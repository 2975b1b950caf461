/** Sorted sets: members and their scores. Everything over ranges is in zset-range.ts. */
import { assert } from '../core/assert.js'
import { TYPE_ZSET } from '../store/value-type.js'
import { ZsetValue } from '../store/values/zset-value.js'
import { type Call, REFUSED } from './call.js'
import { writeValue } from './collection.js'
import type { Command } from './command.js'
import { NOT_A_FLOAT, SYNTAX_ERROR, wrongArity } from './error-text.js'

export function zsetAt(call: Call, ref: number): ZsetValue {
  const value = call.bucket.heapValue(ref)
  assert(value instanceof ZsetValue, 'a record of type zset holds something else')
  return value
}

const IF_ABSENT = 1
const IF_PRESENT = 2
const IF_GREATER = 4
const IF_LESS = 8
const COUNT_CHANGED = 16
const INCREMENT = 32

const OPTIONS: readonly (readonly [string, number])[] = [
  ['nx', IF_ABSENT],
  ['xx', IF_PRESENT],
  ['gt', IF_GREATER],
  ['lt', IF_LESS],
  ['ch', COUNT_CHANGED],
  ['incr', INCREMENT]
]

/** Everything below is a digit, a sign or a point. */
const LEAST_LETTER = 0x41

function optionAt(call: Call, place: number): number {
  if (call.bytes[call.offsets[place]] < LEAST_LETTER) return 0
  for (const [word, option] of OPTIONS) if (call.is(place, word)) return option
  return 0
}

/** What is wrong with a ZADD's options and so many arguments behind them, or undefined. */
function findFault(options: number, behind: number): string | undefined {
  if (behind === 0 || behind % 2 !== 0) return SYNTAX_ERROR
  if (options === 0) return undefined
  const has = (option: number): boolean => (options & option) !== 0
  if (has(IF_ABSENT) && has(IF_PRESENT)) {
    return 'ERR XX and NX options at the same time are not compatible'
  }
  const one = [IF_ABSENT, IF_GREATER, IF_LESS].filter(has).length
  if (one > 1) return 'ERR GT, LT, and/or NX options at the same time are not compatible'
  if (has(INCREMENT) && behind > 2)
    return 'ERR INCR option supports a single increment-element pair'
  return undefined
}

/** The score a member gets, or undefined if the options leave it as it is. */
function newScore(options: number, old: number | undefined, given: number): number | undefined {
  if (old === undefined) return (options & IF_PRESENT) !== 0 ? undefined : given
  if ((options & IF_ABSENT) !== 0) return undefined
  const score = (options & INCREMENT) !== 0 ? old + given : given
  if ((options & IF_GREATER) !== 0 && score <= old) return undefined
  if ((options & IF_LESS) !== 0 && score >= old) return undefined
  return score
}

function replyAdded(call: Call, options: number, added: number, changed: number): void {
  call.reply.integer((options & COUNT_CHANGED) !== 0 ? added + changed : added)
}

/** ZADD and ZINCRBY: pairs of a score and a member from `first` on. */
function addMembers(call: Call, options: number, first: number): void {
  const { reply } = call
  const scores: number[] = []
  for (let place = first; place < call.count; place += 2) {
    const score = call.float(place)
    if (Number.isNaN(score)) {
      reply.error(NOT_A_FLOAT)
      return
    }
    scores.push(score)
  }
  const ref = call.find(TYPE_ZSET)
  if (ref === REFUSED) return
  const zset = ref === 0 ? new ZsetValue() : zsetAt(call, ref)
  let added = 0
  let changed = 0
  let last: number | undefined
  for (let i = 0; i < scores.length; i++) {
    const member = call.text(first + i * 2 + 1)
    const old = zset.score(member)
    last = newScore(options, old, scores[i])
    if (last === undefined || last === old) continue
    if (Number.isNaN(last)) {
      // Only an increment can do that, and it is the only pair: nothing is written yet.
      reply.error('ERR resulting score is not a number (NaN)')
      return
    }
    zset.set(member, last)
    if (old === undefined) added++
    else changed++
  }
  if (added + changed > 0) writeValue(call, ref, zset, zset.size)
  if ((options & INCREMENT) === 0) replyAdded(call, options, added, changed)
  else if (last === undefined) reply.nil()
  else reply.double(last)
}

const ZADD = {
  name: 'zadd',
  arity: -4,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    let options = 0
    let place = 2
    for (; place < call.count; place++) {
      const option = optionAt(call, place)
      if (option === 0) break
      options |= option
    }
    const fault = findFault(options, call.count - place)
    if (fault === undefined) addMembers(call, options, place)
    else call.reply.error(fault)
  }
} as const satisfies Command

const ZINCRBY = {
  name: 'zincrby',
  arity: 4,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute: (call) => addMembers(call, INCREMENT, 2)
} as const satisfies Command

const ZREM = {
  name: 'zrem',
  arity: -3,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_ZSET)
    if (ref === REFUSED) return
    let removed = 0
    if (ref !== 0) {
      const zset = zsetAt(call, ref)
      for (let place = 2; place < call.count; place++) {
        if (zset.delete(call.text(place))) removed++
      }
      if (removed > 0) writeValue(call, ref, zset, zset.size)
    }
    call.reply.integer(removed)
  }
} as const satisfies Command

const ZCARD = {
  name: 'zcard',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_ZSET)
    if (ref !== REFUSED) call.reply.integer(ref === 0 ? 0 : zsetAt(call, ref).size)
  }
} as const satisfies Command

function replyScore(call: Call, ref: number, place: number): void {
  const score = ref === 0 ? undefined : zsetAt(call, ref).score(call.text(place))
  if (score === undefined) call.reply.nil()
  else call.reply.double(score)
}

const ZSCORE = {
  name: 'zscore',
  arity: 3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_ZSET)
    if (ref !== REFUSED) replyScore(call, ref, 2)
  }
} as const satisfies Command

const ZMSCORE = {
  name: 'zmscore',
  arity: -3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.find(TYPE_ZSET)
    if (ref === REFUSED) return
    call.reply.array(call.count - 2)
    for (let place = 2; place < call.count; place++) replyScore(call, ref, place)
  }
} as const satisfies Command

function replyRank(call: Call, reverse: boolean, command: string): void {
  const { reply } = call
  if (call.count > 4) {
    reply.error(wrongArity(command))
    return
  }
  const withScore = call.count === 4
  if (withScore && !call.is(3, 'withscore')) {
    reply.error(SYNTAX_ERROR)
    return
  }
  const ref = call.find(TYPE_ZSET)
  if (ref === REFUSED) return
  const zset = ref === 0 ? undefined : zsetAt(call, ref)
  const member = call.text(2)
  const score = zset?.score(member)
  if (zset === undefined || score === undefined) {
    if (withScore) reply.nilArray()
    else reply.nil()
    return
  }
  const rank = zset.rank(member)
  if (withScore) reply.array(2)
  reply.integer(reverse ? zset.size - 1 - rank : rank)
  if (withScore) reply.double(score)
}

const ZRANK = {
  name: 'zrank',
  arity: -3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: (call) => replyRank(call, false, 'zrank')
} as const satisfies Command

const ZREVRANK = {
  name: 'zrevrank',
  arity: -3,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: (call) => replyRank(call, true, 'zrevrank')
} as const satisfies Command

export const ZSET_COMMANDS: readonly Command[] = [
  ZADD,
  ZINCRBY,
  ZREM,
  ZCARD,
  ZSCORE,
  ZMSCORE,
  ZRANK,
  ZREVRANK
]
