/** Sorted sets out of sorted sets and sets: ZUNION, ZINTER, ZDIFF and their kin, and ZRANGESTORE. */
import { latin1String } from '../core/bytes.js'
import { TYPE_SET, TYPE_ZSET } from '../store/value-type.js'
import { SetValue } from '../store/values/set-value.js'
import { ZsetValue } from '../store/values/zset-value.js'
import { formatDouble } from '../wire/resp/double-text.js'
import type { Arguments } from './arguments.js'
import { type Composite, everyKey, type Work } from './composite.js'
import { NOT_AN_INTEGER, SYNTAX_ERROR, WRONG_TYPE } from './error-text.js'
import { parseFiniteOrInfinite } from './number-text.js'
import { readLimit } from './set-algebra.js'

type Aggregate = 'sum' | 'min' | 'max'
type Kind = 'union' | 'inter' | 'diff'
type Scores = Map<string, number>

/** What stands in a command of this family. */
interface Algebra {
  readonly places: number[]
  readonly weights: readonly number[]
  readonly aggregate: Aggregate
  readonly withScores: boolean
}

/** `numkeys key…` from a place on: the places of the keys, or the error. */
function readPlaces(args: Arguments, place: number, name: string): number[] | string {
  const count = args.integer(place)
  if (Number.isNaN(count)) return NOT_AN_INTEGER
  if (count < 1) return `ERR at least 1 input key is needed for '${name}' command`
  if (place + count >= args.count) return SYNTAX_ERROR
  return everyKey(args, place + 1).slice(0, count)
}

function readAlgebra(
  args: Arguments,
  { place, name, kind, stores }: { place: number; name: string; kind: Kind; stores: boolean }
): Algebra | string {
  const places = readPlaces(args, place, name)
  if (typeof places === 'string') return places
  const count = places.length
  let [weights, aggregate, withScores] = [places.map(() => 1), 'sum' as Aggregate, false]
  for (let at = place + 1 + count; at < args.count; at++) {
    const word = args.word(at)
    if (kind !== 'diff' && word === 'weights' && at + count < args.count) {
      weights = places.map((_, i) => parseFiniteOrInfinite(args.text(at + 1 + i)))
      if (weights.some(Number.isNaN)) return 'ERR weight value is not a float'
      at += count
    } else if (kind !== 'diff' && word === 'aggregate' && at + 1 < args.count) {
      const how = args.word(++at)
      if (how !== 'sum' && how !== 'min' && how !== 'max') return SYNTAX_ERROR
      aggregate = how
    } else if (!stores && word === 'withscores') withScores = true
    else return SYNTAX_ERROR
  }
  return { places, weights, aggregate, withScores }
}

/** Members and their scores; those of a set are all 1. `null` means that the error is written. */
function readScores(work: Work, places: readonly number[]): Scores[] | null {
  const all: Scores[] = []
  for (const place of places) {
    const ref = work.find(work.args.at(place))
    const type = ref === 0 ? TYPE_ZSET : work.bucket.typeOf(ref)
    if (type !== TYPE_ZSET && type !== TYPE_SET) {
      work.reply.error(WRONG_TYPE)
      return null
    }
    const value = ref === 0 ? undefined : work.bucket.heapValue(ref)
    const scores: Scores = new Map()
    if (value instanceof SetValue) for (const member of value.members()) scores.set(member, 1)
    else if (value instanceof ZsetValue) {
      value.range(0, value.size, false, (member, score) => scores.set(member, score))
    }
    all.push(scores)
  }
  return all
}

/** Infinities of both signs make nothing, as does nothing times infinity. */
function weigh(score: number, weight: number): number {
  const weighed = score * weight
  return Number.isNaN(weighed) ? 0 : weighed
}

function join(aggregate: Aggregate, a: number, b: number): number {
  if (aggregate === 'min') return Math.min(a, b)
  if (aggregate === 'max') return Math.max(a, b)
  return Number.isNaN(a + b) ? 0 : a + b
}

function combine(kind: Kind, all: readonly Scores[], { weights, aggregate }: Algebra): ZsetValue {
  const result = new Map<string, number>()
  if (kind === 'diff') {
    for (const [member, score] of all[0]) {
      if (!all.slice(1).some((scores) => scores.has(member))) result.set(member, score)
    }
  } else {
    all.forEach((scores, i) => {
      for (const [member, score] of scores) {
        if (kind === 'inter' && !all.every((other) => other.has(member))) continue
        const weighed = weigh(score, weights[i])
        const before = result.get(member)
        result.set(member, before === undefined ? weighed : join(aggregate, before, weighed))
      }
    })
  }
  const zset = new ZsetValue()
  for (const [member, score] of result) zset.set(member, score)
  return zset
}

function replyZset({ reply }: Work, zset: ZsetValue, withScores: boolean): void {
  const inPairs = withScores && reply.protocol === 3
  reply.array(withScores && !inPairs ? zset.size * 2 : zset.size)
  zset.range(0, zset.size, false, (member, score) => {
    if (inPairs) reply.array(2)
    reply.bulkString(member)
    if (withScores) reply.double(score)
  })
}

/** In the place of whatever was there. */
export function storeZset(work: Work, target: Uint8Array, zset: ZsetValue): void {
  work.run('DEL', target)
  const words: string[] = []
  zset.range(0, zset.size, false, (member, score) => words.push(formatDouble(score), member))
  if (words.length > 0) work.run('ZADD', target, ...words)
  work.reply.integer(zset.size)
}

function combination(kind: Kind): Composite[] {
  const make = (name: string, stores: boolean): Composite => {
    const options = { place: stores ? 2 : 1, name, kind, stores }
    return {
      name,
      arity: stores ? -4 : -3,
      write: stores,
      keys(args) {
        const read = readAlgebra(args, options)
        if (typeof read === 'string') return read
        return stores ? [1, ...read.places] : read.places
      },
      execute(work) {
        const read = readAlgebra(work.args, options)
        if (typeof read === 'string') return
        const all = readScores(work, read.places)
        if (all === null) return
        const zset = combine(kind, all, read)
        if (stores) storeZset(work, work.args.at(1), zset)
        else replyZset(work, zset, read.withScores)
      }
    }
  }
  return [make(`z${kind}`, false), make(`z${kind}store`, true)]
}

const ZINTERCARD: Composite = {
  name: 'zintercard',
  arity: -3,
  write: false,
  keys(args) {
    const places = readPlaces(args, 1, 'zintercard')
    if (typeof places === 'string') return places
    const limit = readLimit(args, 2 + places.length)
    return typeof limit === 'string' ? limit : places
  },
  execute(work) {
    const places = everyKey(work.args, 2).slice(0, work.args.integer(1))
    const all = readScores(work, places)
    if (all === null) return
    const [first, ...others] = all
    const count = [...first.keys()].filter((one) => others.every((set) => set.has(one))).length
    const limit = Number(readLimit(work.args, 2 + places.length))
    work.reply.integer(limit === 0 ? count : Math.min(limit, count))
  }
}

const ERROR = 0x2d

const ZRANGESTORE: Composite = {
  name: 'zrangestore',
  arity: -5,
  write: true,
  keys(args) {
    return args.texts(5).some((word) => word.toLowerCase() === 'withscores') ? SYNTAX_ERROR : [1, 2]
  },
  execute(work) {
    const { args, reply } = work
    const rest = everyKey(args, 3).map((place) => args.at(place))
    const found = work.run('ZRANGE', args.at(2), ...rest)
    if (found[0] === ERROR) {
      reply.raw(found, 0, found.length)
      return
    }
    const ref = work.find(args.at(2))
    const source = ref === 0 ? undefined : work.bucket.heapValue(ref)
    const zset = new ZsetValue()
    if (source instanceof ZsetValue) {
      for (const member of readBulks(found)) zset.set(member, source.score(member) ?? 0)
    }
    storeZset(work, args.at(1), zset)
  }
}

/** The payloads of an array of bulk strings. */
function readBulks(reply: Uint8Array): string[] {
  const texts: string[] = []
  let at = reply.indexOf(0x0a) + 1
  while (at < reply.length) {
    const lineEnd = reply.indexOf(0x0d, at)
    let length = 0
    for (let p = at + 1; p < lineEnd; p++) length = length * 10 + reply[p] - 0x30
    const start = lineEnd + 2
    texts.push(latin1String(reply, start, length))
    at = start + length + 2
  }
  return texts
}

export const ZSET_COMPOSITES: readonly Composite[] = [
  ...(['union', 'inter', 'diff'] as const).flatMap(combination),
  ZINTERCARD,
  ZRANGESTORE
]
