/**
 * Intervals of sorted sets: by rank (`0 -1`), by score (`(1 +inf`) or by member (`[a (b`). They are read
 * before the key is looked up, and become a range of ranks when the value is there.
 */
import type { ZsetValue } from '../store/values/zset-value.js'
import type { Call } from './call.js'
import { rangeFrom, rangeTo } from './collection.js'
import { NOT_AN_INTEGER } from './error-text.js'
import { parseAnyFloat } from './number-text.js'

export type IntervalKind = 'rank' | 'score' | 'member'

interface ScoreBound {
  readonly score: number
  readonly exclusive: boolean
}

/** `first` lies before all members, `last` behind them. */
type MemberBound =
  | { readonly kind: 'first' }
  | { readonly kind: 'last' }
  | { readonly kind: 'member'; readonly member: string; readonly exclusive: boolean }

export type Interval =
  | { readonly kind: 'rank'; readonly start: number; readonly end: number }
  | { readonly kind: 'score'; readonly low: ScoreBound; readonly high: ScoreBound }
  | { readonly kind: 'member'; readonly low: MemberBound; readonly high: MemberBound }

/** The ranks from `from` up to but not including `to`; empty if `from` is not below `to`. */
export interface Ranks {
  readonly from: number
  readonly to: number
}

/** As C's strtod reads it: blanks before it, and a zero byte ends it. Not even a digit is zero. */
function readScore(text: string): number {
  const end = text.indexOf('\0')
  const number = end < 0 ? text : text.slice(0, end)
  return number === '' ? 0 : parseAnyFloat(number.replace(/^[ \t\n\v\f\r]+/, ''))
}

function readScoreBound(call: Call, place: number): ScoreBound | undefined {
  const text = call.text(place)
  const exclusive = text.startsWith('(')
  const score = readScore(exclusive ? text.slice(1) : text)
  return Number.isNaN(score) ? undefined : { score, exclusive }
}

function readMemberBound(call: Call, place: number): MemberBound | undefined {
  const text = call.text(place)
  if (text === '-') return { kind: 'first' }
  if (text === '+') return { kind: 'last' }
  const exclusive = text.startsWith('(')
  if (!exclusive && !text.startsWith('[')) return undefined
  return { kind: 'member', member: text.slice(1), exclusive }
}

/** The interval whose ends are two arguments; undefined means that the error is written. */
export function readInterval(
  call: Call,
  kind: IntervalKind,
  lowPlace: number,
  highPlace: number
): Interval | undefined {
  if (kind === 'rank') {
    const start = call.integer(lowPlace)
    const end = call.integer(highPlace)
    if (!Number.isNaN(start) && !Number.isNaN(end)) return { kind, start, end }
    call.reply.error(NOT_AN_INTEGER)
    return undefined
  }
  if (kind === 'score') {
    const low = readScoreBound(call, lowPlace)
    const high = readScoreBound(call, highPlace)
    if (low !== undefined && high !== undefined) return { kind, low, high }
    call.reply.error('ERR min or max is not a float')
    return undefined
  }
  const low = readMemberBound(call, lowPlace)
  const high = readMemberBound(call, highPlace)
  if (low !== undefined && high !== undefined) return { kind, low, high }
  call.reply.error('ERR min or max not valid string range item')
  return undefined
}

/** How many members lie before a bound, or with `inclusive`, before or at it. */
function rankOfBound(value: ZsetValue, bound: MemberBound, inclusive: boolean): number {
  if (bound.kind === 'first') return 0
  if (bound.kind === 'last') return value.size
  return value.rankOfMember(bound.member, inclusive)
}

/** With `reverse`, ranks given by the caller count from the highest. */
export function ranksOf(interval: Interval, value: ZsetValue, reverse = false): Ranks {
  if (interval.kind === 'rank') {
    const from = rangeFrom(interval.start, value.size)
    const to = rangeTo(interval.end, value.size)
    return reverse ? { from: value.size - to, to: value.size - from } : { from, to }
  }
  if (interval.kind === 'score') {
    const { low, high } = interval
    return {
      from: value.rankOfScore(low.score, low.exclusive),
      to: value.rankOfScore(high.score, !high.exclusive)
    }
  }
  const { low, high } = interval
  return {
    from: rankOfBound(value, low, low.kind === 'member' && low.exclusive),
    to: rankOfBound(value, high, high.kind === 'member' && !high.exclusive)
  }
}

/** Skips `offset` ranks and keeps `count` (all, if negative), seen in the direction of reading. */
export function limitRanks(ranks: Ranks, offset: number, count: number, reverse: boolean): Ranks {
  if (offset < 0) return { from: 0, to: 0 }
  const kept = count < 0 ? Infinity : count
  const { from, to } = ranks
  if (reverse) return { from: Math.max(from, to - offset - kept), to: to - offset }
  return { from: from + offset, to: Math.min(to, from + offset + kept) }
}
