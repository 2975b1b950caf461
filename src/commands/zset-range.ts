/**
 * Sorted sets, continued: everything that reads, counts or removes an interval. The older commands
 * (ZREVRANGE, ZRANGEBYSCORE and their kin) are ZRANGE with some of its options decided by the name.
 */
import { TYPE_ZSET } from '../store/value-type.js'
import type { ZsetValue } from '../store/values/zset-value.js'
import { type Call, REFUSED } from './call.js'
import { writeValue } from './collection.js'
import type { Command } from './command.js'
import { NOT_AN_INTEGER, SYNTAX_ERROR } from './error-text.js'
import { zsetAt } from './zset.js'
import {
  type IntervalKind,
  limitRanks,
  type Ranks,
  ranksOf,
  readInterval
} from './zset-interval.js'

/** What a name or an option decides; undefined is still open. */
class RangeOptions {
  kind: IntervalKind | undefined
  reverse: boolean | undefined
  withScores = false
  offset = 0
  limit = -1

  constructor(kind?: IntervalKind, reverse?: boolean) {
    this.kind = kind
    this.reverse = reverse
  }

  /** False means that the error is written. */
  read(call: Call): boolean {
    for (let place = 4; place < call.count; place++) {
      if (call.is(place, 'withscores')) this.withScores = true
      else if (call.is(place, 'limit') && place + 2 < call.count) {
        this.offset = call.integer(place + 1)
        this.limit = call.integer(place + 2)
        if (Number.isNaN(this.offset) || Number.isNaN(this.limit)) {
          call.reply.error(NOT_AN_INTEGER)
          return false
        }
        place += 2
      } else if (this.reverse === undefined && call.is(place, 'rev')) this.reverse = true
      else if (this.kind === undefined && call.is(place, 'bylex')) this.kind = 'member'
      else if (this.kind === undefined && call.is(place, 'byscore')) this.kind = 'score'
      else {
        call.reply.error(SYNTAX_ERROR)
        return false
      }
    }
    return this.#fit(call)
  }

  #fit(call: Call): boolean {
    if (this.limit !== -1 && (this.kind ?? 'rank') === 'rank') {
      call.reply.error(
        'ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX'
      )
      return false
    }
    if (this.withScores && this.kind === 'member') {
      call.reply.error('ERR syntax error, WITHSCORES not supported in combination with BYLEX')
      return false
    }
    return true
  }
}

/** Members with or without their scores: pairs in RESP3, one behind the other in RESP2. */
function replyMembers(
  call: Call,
  zset: ZsetValue,
  ranks: Ranks,
  reverse: boolean,
  withScores: boolean
): void {
  const { reply } = call
  const count = Math.max(0, ranks.to - ranks.from)
  const inPairs = withScores && reply.protocol === 3
  reply.array(withScores && !inPairs ? count * 2 : count)
  zset.range(ranks.from, ranks.to, reverse, (member, score) => {
    if (inPairs) reply.array(2)
    reply.bulkString(member)
    if (withScores) reply.double(score)
  })
}

function replyRange(call: Call, options: RangeOptions): void {
  if (!options.read(call)) return
  const kind = options.kind ?? 'rank'
  const reverse = options.reverse ?? false
  // Backwards, the higher bound comes first; ranks count from the highest instead.
  const swapped = reverse && kind !== 'rank'
  const interval = readInterval(call, kind, swapped ? 3 : 2, swapped ? 2 : 3)
  if (interval === undefined) return
  const ref = call.find(TYPE_ZSET)
  if (ref === REFUSED) return
  if (ref === 0) {
    call.reply.array(0)
    return
  }
  const zset = zsetAt(call, ref)
  let ranks = ranksOf(interval, zset, reverse)
  if (kind !== 'rank') ranks = limitRanks(ranks, options.offset, options.limit, reverse)
  replyMembers(call, zset, ranks, reverse, options.withScores)
}

function countMembers(call: Call, kind: IntervalKind): void {
  const interval = readInterval(call, kind, 2, 3)
  if (interval === undefined) return
  const ref = call.find(TYPE_ZSET)
  if (ref === REFUSED) return
  if (ref === 0) {
    call.reply.integer(0)
    return
  }
  const { from, to } = ranksOf(interval, zsetAt(call, ref))
  call.reply.integer(Math.max(0, to - from))
}

function removeMembers(call: Call, kind: IntervalKind): void {
  const interval = readInterval(call, kind, 2, 3)
  if (interval === undefined) return
  const ref = call.find(TYPE_ZSET)
  if (ref === REFUSED) return
  if (ref === 0) {
    call.reply.integer(0)
    return
  }
  const zset = zsetAt(call, ref)
  const { from, to } = ranksOf(interval, zset)
  const members = zset.membersInRange(from, to)
  for (const member of members) zset.delete(member)
  if (members.length > 0) writeValue(call, ref, zset, zset.size)
  call.reply.integer(members.length)
}

const ZRANGE = {
  name: 'zrange',
  arity: -4,
  flags: ['readonly'],
  key: 1,
  execute: (call) => replyRange(call, new RangeOptions())
} as const satisfies Command

const ZREVRANGE = {
  name: 'zrevrange',
  arity: -4,
  flags: ['readonly'],
  key: 1,
  execute: (call) => replyRange(call, new RangeOptions('rank', true))
} as const satisfies Command

const ZRANGEBYSCORE = {
  name: 'zrangebyscore',
  arity: -4,
  flags: ['readonly'],
  key: 1,
  execute: (call) => replyRange(call, new RangeOptions('score', false))
} as const satisfies Command

const ZREVRANGEBYSCORE = {
  name: 'zrevrangebyscore',
  arity: -4,
  flags: ['readonly'],
  key: 1,
  execute: (call) => replyRange(call, new RangeOptions('score', true))
} as const satisfies Command

const ZRANGEBYLEX = {
  name: 'zrangebylex',
  arity: -4,
  flags: ['readonly'],
  key: 1,
  execute: (call) => replyRange(call, new RangeOptions('member', false))
} as const satisfies Command

const ZREVRANGEBYLEX = {
  name: 'zrevrangebylex',
  arity: -4,
  flags: ['readonly'],
  key: 1,
  execute: (call) => replyRange(call, new RangeOptions('member', true))
} as const satisfies Command

const ZCOUNT = {
  name: 'zcount',
  arity: 4,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: (call) => countMembers(call, 'score')
} as const satisfies Command

const ZLEXCOUNT = {
  name: 'zlexcount',
  arity: 4,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: (call) => countMembers(call, 'member')
} as const satisfies Command

const ZREMRANGEBYRANK = {
  name: 'zremrangebyrank',
  arity: 4,
  flags: ['write'],
  key: 1,
  execute: (call) => removeMembers(call, 'rank')
} as const satisfies Command

const ZREMRANGEBYSCORE = {
  name: 'zremrangebyscore',
  arity: 4,
  flags: ['write'],
  key: 1,
  execute: (call) => removeMembers(call, 'score')
} as const satisfies Command

const ZREMRANGEBYLEX = {
  name: 'zremrangebylex',
  arity: 4,
  flags: ['write'],
  key: 1,
  execute: (call) => removeMembers(call, 'member')
} as const satisfies Command

export const ZSET_RANGE_COMMANDS: readonly Command[] = [
  ZRANGE,
  ZREVRANGE,
  ZRANGEBYSCORE,
  ZREVRANGEBYSCORE,
  ZRANGEBYLEX,
  ZREVRANGEBYLEX,
  ZCOUNT,
  ZLEXCOUNT,
  ZREMRANGEBYRANK,
  ZREMRANGEBYSCORE,
  ZREMRANGEBYLEX
]
