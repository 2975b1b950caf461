/** Sets out of sets: SINTER, SUNION, SDIFF and their kin, and SMOVE. */
import { TYPE_SET } from '../store/value-type.js'
import { SetValue } from '../store/values/set-value.js'
import type { Arguments } from './arguments.js'
import { type Composite, everyKey, type Work } from './composite.js'
import { SYNTAX_ERROR, WRONG_TYPE } from './error-text.js'

type Members = readonly string[]
type Combine = (sets: readonly (SetValue | undefined)[]) => Members

/** The sets at these places, undefined where there is none; `null` means that the error is written. */
function readSets(work: Work, places: readonly number[]): (SetValue | undefined)[] | null {
  const sets: (SetValue | undefined)[] = []
  for (const place of places) {
    const ref = work.find(work.args.at(place))
    if (ref !== 0 && work.bucket.typeOf(ref) !== TYPE_SET) {
      work.reply.error(WRONG_TYPE)
      return null
    }
    const value = ref === 0 ? undefined : work.bucket.heapValue(ref)
    sets.push(value instanceof SetValue ? value : undefined)
  }
  return sets
}

const inter: Combine = (sets) => {
  const all = sets.filter((set) => set !== undefined)
  if (all.length < sets.length) return []
  const [least, ...others] = all.sort((a, b) => a.size - b.size)
  return least.members().filter((member) => others.every((set) => set.has(member)))
}

const union: Combine = (sets) => [...new Set(sets.flatMap((set) => set?.members() ?? []))]

const diff: Combine = ([first, ...others]) =>
  (first?.members() ?? []).filter((member) => !others.some((set) => set?.has(member)))

function combination(name: string, combine: Combine): Composite[] {
  return [
    {
      name,
      arity: -2,
      write: false,
      keys: (args) => everyKey(args),
      execute(work) {
        const sets = readSets(work, everyKey(work.args))
        if (sets === null) return
        const members = combine(sets)
        work.reply.set(members.length)
        for (const member of members) work.reply.bulkString(member)
      }
    },
    {
      name: `${name}store`,
      arity: -3,
      write: true,
      keys: (args) => everyKey(args),
      execute(work) {
        const sets = readSets(work, everyKey(work.args, 2))
        if (sets === null) return
        const members = [...combine(sets)]
        const target = work.args.at(1)
        work.run('DEL', target)
        if (members.length > 0) work.run('SADD', target, ...members)
        work.reply.integer(members.length)
      }
    }
  ]
}

/** `numkeys key…` from a place on: the places of the keys, or the error. */
function countedKeys(args: Arguments, place: number): number[] | string {
  const count = args.integer(place)
  if (!(count > 0)) return 'ERR numkeys should be greater than 0'
  if (place + count >= args.count) return "ERR Number of keys can't be greater than number of args"
  return everyKey(args, place + 1).slice(0, count)
}

/** `[LIMIT n]` behind the keys of a count; 0 is none. */
export function readLimit(args: Arguments, place: number): number | string {
  let limit = 0
  for (let at = place; at < args.count; at += 2) {
    if (args.word(at) !== 'limit' || at + 1 >= args.count) return SYNTAX_ERROR
    limit = args.integer(at + 1)
    if (!(limit >= 0)) return "ERR LIMIT can't be negative"
  }
  return limit
}

const SINTERCARD: Composite = {
  name: 'sintercard',
  arity: -3,
  write: false,
  keys(args) {
    const places = countedKeys(args, 1)
    if (typeof places === 'string') return places
    const limit = readLimit(args, 2 + places.length)
    return typeof limit === 'string' ? limit : places
  },
  execute(work) {
    const places = everyKey(work.args, 2).slice(0, work.args.integer(1))
    const sets = readSets(work, places)
    if (sets === null) return
    const count = inter(sets).length
    const limit = Number(readLimit(work.args, 2 + places.length))
    work.reply.integer(limit === 0 ? count : Math.min(limit, count))
  }
}

const SMOVE: Composite = {
  name: 'smove',
  arity: 4,
  write: true,
  keys: () => [1, 2],
  execute(work) {
    const { args, reply } = work
    const member = args.text(3)
    if (work.find(args.at(1)) === 0) {
      reply.integer(0)
      return
    }
    const sets = readSets(work, [1, 2])
    if (sets === null) return
    const there = sets[0]?.has(member) === true
    if (there && args.text(1) !== args.text(2)) {
      work.run('SREM', args.at(1), args.at(3))
      work.run('SADD', args.at(2), args.at(3))
    }
    reply.integer(there ? 1 : 0)
  }
}

export const SET_COMPOSITES: readonly Composite[] = [
  ...combination('sinter', inter),
  ...combination('sunion', union),
  ...combination('sdiff', diff),
  SINTERCARD,
  SMOVE
]
