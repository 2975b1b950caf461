/** Sorted sets, continued: members from an end, by chance, and piece by piece. */
import { hashText } from '../core/table.js'
import { TYPE_ZSET } from '../store/value-type.js'
import { formatDouble } from '../wire/resp/double-text.js'
import { type Call, REFUSED } from './call.js'
import { drawPlaces, isTooManyPairs, readCount, readSignedCount, writeValue } from './collection.js'
import type { Command } from './command.js'
import { OUT_OF_RANGE, SYNTAX_ERROR } from './error-text.js'
import { isWanted, readCursor, readScanOptions, replyScan } from './scan.js'
import { zsetAt } from './zset.js'

function pop(call: Call, reverse: boolean): void {
  const { reply } = call
  if (call.count > 3) {
    reply.error(SYNTAX_ERROR)
    return
  }
  const single = call.count === 2
  const wanted = single ? 1 : readCount(call, 2)
  if (Number.isNaN(wanted)) return
  const ref = call.find(TYPE_ZSET)
  if (ref === REFUSED) return
  if (ref === 0) {
    reply.array(0)
    return
  }
  const zset = zsetAt(call, ref)
  const count = Math.min(wanted, zset.size)
  const from = reverse ? zset.size - count : 0
  const inPairs = !single && reply.protocol === 3
  const members: string[] = []
  reply.array(inPairs ? count : count * 2)
  zset.range(from, from + count, reverse, (member, score) => {
    if (inPairs) reply.array(2)
    reply.bulkString(member)
    reply.double(score)
    members.push(member)
  })
  for (const member of members) zset.delete(member)
  if (count > 0) writeValue(call, ref, zset, zset.size)
}

const ZPOPMIN = {
  name: 'zpopmin',
  arity: -2,
  flags: ['write', 'fast'],
  key: 1,
  execute: (call) => pop(call, false)
} as const satisfies Command

const ZPOPMAX = {
  name: 'zpopmax',
  arity: -2,
  flags: ['write', 'fast'],
  key: 1,
  execute: (call) => pop(call, true)
} as const satisfies Command

function replyRandomMembers(call: Call): void {
  const { reply } = call
  const count = readSignedCount(call, 2)
  if (Number.isNaN(count)) return
  const withScores = call.count === 4 && call.is(3, 'withscores')
  if (call.count > 3 && !withScores) {
    reply.error(SYNTAX_ERROR)
    return
  }
  if (withScores && isTooManyPairs(count)) {
    reply.error(OUT_OF_RANGE)
    return
  }
  const ref = call.find(TYPE_ZSET)
  if (ref === REFUSED) return
  if (ref === 0) {
    reply.array(0)
    return
  }
  const zset = zsetAt(call, ref)
  const places = drawPlaces(call.random, zset.size, count)
  if (places === undefined) {
    reply.error(OUT_OF_RANGE)
    return
  }
  const inPairs = withScores && reply.protocol === 3
  reply.array(withScores && !inPairs ? places.length * 2 : places.length)
  for (const place of places) {
    zset.range(place, place + 1, false, (member, score) => {
      if (inPairs) reply.array(2)
      reply.bulkString(member)
      if (withScores) reply.double(score)
    })
  }
}

const ZRANDMEMBER = {
  name: 'zrandmember',
  arity: -2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { reply } = call
    if (call.count > 2) {
      replyRandomMembers(call)
      return
    }
    const ref = call.find(TYPE_ZSET)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.nil()
      return
    }
    const zset = zsetAt(call, ref)
    const place = call.random.below(zset.size)
    reply.bulkString(zset.membersInRange(place, place + 1)[0])
  }
} as const satisfies Command

/** The hashes of members lie below this. */
const HASHES = 2 ** 32
/** Each step looks at all members, so there are not many steps. */
const STEPS_MAX = 64

/**
 * The cursor is a place among the hashes of members: a step answers all members whose hash lies between
 * it and the next cursor. Ranks would not do, because a member whose score changes between two steps
 * could jump over the cursor and be missed.
 */
const ZSCAN = {
  name: 'zscan',
  arity: -3,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const cursor = readCursor(call)
    if (cursor === undefined) return
    const ref = call.find(TYPE_ZSET)
    if (ref === REFUSED) return
    if (ref === 0) {
      replyScan(call, 0, [])
      return
    }
    const options = readScanOptions(call)
    if (options === undefined) return
    const zset = zsetAt(call, ref)
    const steps = Math.min(STEPS_MAX, Math.ceil(zset.size / options.count))
    const start = cursor < HASHES ? cursor : 0
    const end = Math.min(HASHES, start + Math.ceil(HASHES / steps))
    const whole = start === 0 && end === HASHES
    const texts: string[] = []
    zset.range(0, zset.size, false, (member, score) => {
      const hash = whole ? 0 : hashText(member)
      if (hash < start || hash >= end || !isWanted(options, member)) return
      texts.push(member, formatDouble(score))
    })
    replyScan(call, end === HASHES ? 0 : end, texts)
  }
} as const satisfies Command

export const ZSET_TAKE_COMMANDS: readonly Command[] = [ZPOPMIN, ZPOPMAX, ZRANDMEMBER, ZSCAN]
