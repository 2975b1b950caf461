/**
 * SORT: the elements of a list, set or sorted set in order, or in the order of something else. What it does with the
 * elements is here, apart from where they and what they are ordered by come from: with BY and GET that is
 * anywhere (node/door/sort-command.ts).
 */
import { latin1Bytes } from '../core/bytes.js'
import { type HeapValue, TYPE_STRING } from '../store/value-type.js'
import { ListValue } from '../store/values/list-value.js'
import { SetValue } from '../store/values/set-value.js'
import { ZsetValue } from '../store/values/zset-value.js'
import type { Arguments } from './arguments.js'
import type { Composite, Work } from './composite.js'
import { NOT_AN_INTEGER, SYNTAX_ERROR, WRONG_TYPE } from './error-text.js'
import { parseFiniteOrInfinite } from './number-text.js'

const NO_DOUBLES = "ERR One or more scores can't be converted into double"

export interface SortOptions {
  readonly descending: boolean
  readonly alpha: boolean
  readonly start: number
  /** Negative for all. */
  readonly count: number
  /** The pattern of the keys that elements are ordered by. */
  readonly by: string | undefined
  /** By a pattern that names nothing: not at all. */
  readonly unsorted: boolean
  readonly gets: readonly string[]
  /** Place of the key that the result goes to; 0 for none. */
  readonly storePlace: number
}

export function readSortOptions(args: Arguments, mayStore: boolean): SortOptions | string {
  let [descending, alpha, start, count, storePlace] = [false, false, 0, -1, 0]
  let by: string | undefined
  let unsorted = false
  const gets: string[] = []
  for (let place = 2; place < args.count; place++) {
    const left = args.count - place - 1
    const word = args.word(place)
    if (word === 'asc') descending = false
    else if (word === 'desc') descending = true
    else if (word === 'alpha') alpha = true
    else if (word === 'limit' && left >= 2) {
      start = args.integer(place + 1)
      count = args.integer(place + 2)
      if (Number.isNaN(start) || Number.isNaN(count)) return NOT_AN_INTEGER
      place += 2
    } else if (word === 'store' && mayStore && left >= 1) storePlace = ++place
    else if (word === 'by' && left >= 1) {
      const pattern = args.text(++place)
      if (pattern.includes('*')) by = pattern
      else unsorted = true
    } else if (word === 'get' && left >= 1) gets.push(args.text(++place))
    else return SYNTAX_ERROR
  }
  return { descending, alpha, start, count, by, unsorted, gets, storePlace }
}

/** In the order they are kept; undefined where the value has none. */
export function elementsOf(value: HeapValue | undefined): string[] | undefined {
  if (value === undefined) return []
  if (value instanceof ListValue) return value.slice(0, value.length)
  if (value instanceof SetValue) return [...value.members()]
  return value instanceof ZsetValue ? value.membersInRange(0, value.size) : undefined
}

interface Weighed {
  readonly element: string
  /** What it is ordered by; undefined where that is not there. */
  readonly by: string | undefined
  readonly score: number
}

function compareText(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  if (a === undefined) return -1
  if (b === undefined) return 1
  return a < b ? -1 : 1
}

/** What is not there counts as zero. */
function scoreOf(text: string | undefined): number {
  return text === undefined ? 0 : parseFiniteOrInfinite(text)
}

/**
 * The elements in order, cut to the limit, or the error. `weights` are what they are ordered by, one for
 * each; without them they are ordered by themselves.
 */
export function sortElements(
  elements: readonly string[],
  options: SortOptions,
  of: { kind: string; weights: readonly (string | undefined)[] | undefined }
): string[] | string {
  const { descending, alpha, storePlace, unsorted } = options
  // What is stored must not depend on the order that a set happens to have.
  const anyway = unsorted && of.kind === 'set' && storePlace > 0
  if (unsorted && !anyway) {
    // Lists and sorted sets have an order of their own, which can be turned round.
    const turned = descending && of.kind !== 'set' ? elements.toReversed() : elements
    return cut(turned, options)
  }
  const byText = alpha || anyway
  const { weights } = of
  const weighed = elements.map((element, i): Weighed => {
    const by = weights === undefined || anyway ? element : weights[i]
    return { element, by, score: byText ? 0 : scoreOf(by) }
  })
  if (weighed.some(({ score }) => Number.isNaN(score))) return NO_DOUBLES
  const compare = (a: Weighed, b: Weighed): number => {
    if (byText) return compareText(a.by, b.by)
    if (a.score !== b.score) return a.score < b.score ? -1 : 1
    return compareText(a.element, b.element)
  }
  weighed.sort((a, b) => (descending ? -compare(a, b) : compare(a, b)))
  return cut(
    weighed.map(({ element }) => element),
    options
  )
}

function cut(elements: readonly string[], { start, count }: SortOptions): string[] {
  const from = Math.max(0, start)
  return count < 0 ? elements.slice(from) : elements.slice(from, from + count)
}

/** Puts the result where it is to go, or replies it. */
export function deliver(work: Work, result: readonly string[], storePlace: number): void {
  const { reply } = work
  if (storePlace === 0) {
    reply.array(result.length)
    for (const element of result) reply.bulkString(element)
    return
  }
  const target = work.args.at(storePlace)
  work.run('DEL', target)
  if (result.length > 0) work.run('RPUSH', target, ...result.map(latin1Bytes))
  reply.integer(result.length)
}

function execute(work: Work, mayStore: boolean): void {
  const { args, bucket, reply } = work
  const options = readSortOptions(args, mayStore)
  if (typeof options === 'string') {
    reply.error(options)
    return
  }
  const ref = work.find(args.at(1))
  const value = ref === 0 || bucket.typeOf(ref) === TYPE_STRING ? undefined : bucket.heapValue(ref)
  const elements = ref !== 0 && value === undefined ? undefined : elementsOf(value)
  if (elements === undefined) {
    reply.error(WRONG_TYPE)
    return
  }
  const kind = value?.kind ?? 'list'
  const result = sortElements(elements, options, { kind, weights: undefined })
  if (typeof result === 'string') reply.error(result)
  else deliver(work, result, options.storePlace)
}

function sorting(name: string, mayStore: boolean): Composite {
  return {
    name,
    arity: -2,
    write: mayStore,
    keys(args) {
      const options = readSortOptions(args, mayStore)
      if (typeof options === 'string') return options
      if (options.by !== undefined) return 'ERR BY option of SORT denied in Cluster mode.'
      if (options.gets.length > 0) return 'ERR GET option of SORT denied in Cluster mode.'
      return options.storePlace > 0 ? [1, options.storePlace] : [1]
    },
    execute: (work) => execute(work, mayStore)
  }
}

export const SORT = sorting('sort', true)
export const SORT_RO = sorting('sort_ro', false)
