/** Places: sorted sets whose scores are points of the map (geo-hash.ts). */
import type { ReplyWriter } from '../wire/resp/reply-writer.js'
import { latin1Bytes } from '../core/bytes.js'
import { TYPE_ZSET } from '../store/value-type.js'
import { ZsetValue } from '../store/values/zset-value.js'
import type { Arguments } from './arguments.js'
import { type Call, REFUSED } from './call.js'
import type { Command } from './command.js'
import type { Composite } from './composite.js'
import { NOT_A_FLOAT, SYNTAX_ERROR } from './error-text.js'
import {
  geohashText,
  LATITUDE_MAX,
  LONGITUDE_MAX,
  metersBetween,
  type Point,
  pointOf,
  scoreOf
} from './geo-hash.js'
import { parseFiniteOrInfinite } from './number-text.js'
import { zsetAt } from './zset.js'

const UNITS: Readonly<Record<string, number>> = { m: 1, km: 1000, ft: 0.3048, mi: 1609.34 }
const UNKNOWN_UNIT = 'ERR unsupported unit provided. please use M, KM, FT, MI'

/** How many meters the unit is, or the error. */
export function readUnit(text: string): number | string {
  const unit = text.toLowerCase()
  return Object.hasOwn(UNITS, unit) ? UNITS[unit] : UNKNOWN_UNIT
}

function fixed(value: number): string {
  if (Number.isFinite(value)) return value.toFixed(6)
  return value > 0 ? 'inf' : '-inf'
}

/** Longitude and latitude from a place on, or the error. */
export function readPoint(args: Arguments, place: number): Point | string {
  const longitude = parseFiniteOrInfinite(args.text(place))
  const latitude = parseFiniteOrInfinite(args.text(place + 1))
  if (Number.isNaN(longitude) || Number.isNaN(latitude)) return NOT_A_FLOAT
  if (Math.abs(longitude) <= LONGITUDE_MAX && Math.abs(latitude) <= LATITUDE_MAX) {
    return { longitude, latitude }
  }
  return `ERR invalid longitude,latitude pair ${fixed(longitude)},${fixed(latitude)}`
}

/** With four digits behind the point, to the nearest, ties to even. */
export function distanceText(distance: number): string {
  const scaled = distance * 10_000
  const down = Math.floor(scaled)
  const rest = scaled - down
  const up = rest > 0.5 || (rest === 0.5 && down % 2 === 1)
  const digits = String(up ? down + 1 : down).padStart(5, '0')
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`
}

/** With up to 17 digits behind the point; the type of RESP3 but not its usual form. */
function replyCoordinate(reply: ReplyWriter, value: number): void {
  const digits = value.toFixed(17).replace(/\.?0+$/, '')
  const text = digits === '-0' ? '0' : digits
  if (reply.protocol === 2) reply.bulkString(text)
  else {
    const line = latin1Bytes(`,${text}\r\n`)
    reply.raw(line, 0, line.length)
  }
}

export function replyPoint(reply: ReplyWriter, { longitude, latitude }: Point): void {
  reply.array(2)
  replyCoordinate(reply, longitude)
  replyCoordinate(reply, latitude)
}

/** The scores of members from a place on. Undefined means that the error is written. */
function readScores(call: Call, from: number): (number | undefined)[] | undefined {
  const ref = call.find(TYPE_ZSET)
  if (ref === REFUSED) return undefined
  const value = ref === 0 ? new ZsetValue() : zsetAt(call, ref)
  const scores: (number | undefined)[] = []
  for (let place = from; place < call.count; place++) scores.push(value.score(call.text(place)))
  return scores
}

const GEOPOS = {
  name: 'geopos',
  arity: -2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const scores = readScores(call, 2)
    if (scores === undefined) return
    call.reply.array(scores.length)
    for (const score of scores) {
      if (score === undefined) call.reply.nilArray()
      else replyPoint(call.reply, pointOf(score))
    }
  }
} as const satisfies Command

const GEOHASH = {
  name: 'geohash',
  arity: -2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const scores = readScores(call, 2)
    if (scores === undefined) return
    call.reply.array(scores.length)
    for (const score of scores) {
      if (score === undefined) call.reply.nil()
      else call.reply.bulkString(geohashText(score))
    }
  }
} as const satisfies Command

const GEODIST = {
  name: 'geodist',
  arity: -4,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { reply } = call
    const unit = call.count > 5 ? SYNTAX_ERROR : call.count === 5 ? readUnit(call.text(4)) : 1
    if (typeof unit === 'string') {
      reply.error(unit)
      return
    }
    const scores = readScores(call, 2)
    if (scores === undefined) return
    const [from, to] = scores
    if (from === undefined || to === undefined) reply.nil()
    else reply.bulkString(distanceText(metersBetween(pointOf(from), pointOf(to)) / unit))
  }
} as const satisfies Command

export const GEO_COMMANDS: readonly Command[] = [GEOPOS, GEOHASH, GEODIST]

const ADD_OPTIONS = ['nx', 'xx', 'ch']

/** ZADD with the scores of points. */
export const GEOADD: Composite = {
  name: 'geoadd',
  arity: -5,
  write: true,
  keys: () => [1],
  execute(work) {
    const { args, reply } = work
    let first = 2
    while (first < args.count && ADD_OPTIONS.includes(args.word(first))) first++
    const options = args.texts(2).slice(0, first - 2)
    const isBoth = ['nx', 'xx'].every((word) =>
      options.some((option) => option.toLowerCase() === word)
    )
    if ((args.count - first) % 3 !== 0 || isBoth || first === args.count) {
      reply.error(SYNTAX_ERROR)
      return
    }
    const pairs: (string | Uint8Array)[] = []
    for (let place = first; place < args.count; place += 3) {
      const point = readPoint(args, place)
      if (typeof point === 'string') {
        reply.error(point)
        return
      }
      pairs.push(String(scoreOf(point)), args.at(place + 2))
    }
    const answer = work.run('ZADD', args.at(1), ...options, ...pairs)
    reply.raw(answer, 0, answer.length)
  }
}
