/**
 * Places near others: GEOSEARCH and the older GEORADIUS, which differ in how they are written. The squares of the map
 * that lie around are gone through as ranges of scores, in the order in which Redis does it.
 */
import { formatDouble } from '../wire/resp/double-text.js'
import { TYPE_ZSET } from '../store/value-type.js'
import { ZsetValue } from '../store/values/zset-value.js'
import type { Arguments } from './arguments.js'
import type { Composite, Work } from './composite.js'
import { NOT_AN_INTEGER, SYNTAX_ERROR, WRONG_TYPE } from './error-text.js'
import { distanceText, GEOADD, readPoint, readUnit, replyPoint } from './geo.js'
import { metersWithin, type Point, pointOf, rangesAround, type Shape } from './geo-hash.js'
import { parseFiniteOrInfinite } from './number-text.js'

const NO_MEMBER = 'ERR could not decode requested zset member'

/** Which of the commands it is. */
interface Form {
  readonly name: string
  readonly arity: number
  /** The key to look in. */
  readonly source: number
  /** Place of the first option. */
  readonly first: number
  /** The older ones say it all by the places of their arguments. */
  readonly from: 'options' | 'point' | 'member'
  readonly store: 'never' | 'option' | 'always'
}

/** What is said by options; lengths in their own unit. */
interface Search {
  center: Point | undefined
  size: { readonly width: number; readonly height: number; readonly circle: boolean } | undefined
  /** Meters. */
  unit: number
  /** Whether where to look from was said, even if there was nothing to look in. */
  isFrom: 'member' | 'point' | undefined
  withDistance: boolean
  withHash: boolean
  withPoint: boolean
  order: 'none' | 'near' | 'far'
  /** 0 for all. */
  count: number
  any: boolean
  storePlace: number
  storeDistance: boolean
}

interface Found {
  readonly member: string
  readonly score: number
  readonly point: Point
  /** Meters. */
  readonly distance: number
}

/** Reads the arguments of one search; each method gives an error or undefined. */
class SearchReader {
  readonly search: Search
  readonly #args: Arguments
  readonly #form: Form
  readonly #value: ZsetValue | undefined

  constructor(args: Arguments, form: Form, value: ZsetValue | undefined) {
    this.#args = args
    this.#form = form
    this.#value = value
    this.search = {
      center: undefined,
      size: undefined,
      unit: 1,
      isFrom: undefined,
      withDistance: false,
      withHash: false,
      withPoint: false,
      order: 'none',
      count: 0,
      any: false,
      storePlace: form.store === 'always' ? 1 : 0,
      storeDistance: false
    }
  }

  read(): string | undefined {
    return this.#readPlaces() ?? this.#readOptions() ?? this.#findFault()
  }

  #readPlaces(): string | undefined {
    const { from } = this.#form
    if (from === 'options') return undefined
    if (from === 'point') return this.#readPoint(2) ?? this.#readCircle(4)
    // Where there is no key, only the options are looked at.
    return this.#value === undefined ? undefined : (this.#readMember(2) ?? this.#readCircle(3))
  }

  #readPoint(place: number): string | undefined {
    const point = readPoint(this.#args, place)
    if (typeof point === 'string') return point
    this.search.center = point
    this.search.isFrom = 'point'
    return undefined
  }

  #readMember(place: number): string | undefined {
    this.search.isFrom = 'member'
    if (this.#value === undefined) return undefined
    const score = this.#value.score(this.#args.text(place))
    if (score === undefined) return NO_MEMBER
    this.search.center = pointOf(score)
    return undefined
  }

  #readCircle(place: number): string | undefined {
    const radius = parseFiniteOrInfinite(this.#args.text(place))
    if (Number.isNaN(radius)) return 'ERR need numeric radius'
    if (radius < 0) return 'ERR radius cannot be negative'
    this.search.size = { width: radius, height: radius, circle: true }
    return this.#readUnit(place + 1)
  }

  #readBox(place: number): string | undefined {
    const width = parseFiniteOrInfinite(this.#args.text(place))
    if (Number.isNaN(width)) return 'ERR need numeric width'
    const height = parseFiniteOrInfinite(this.#args.text(place + 1))
    if (Number.isNaN(height)) return 'ERR need numeric height'
    if (width < 0 || height < 0) return 'ERR height or width cannot be negative'
    this.search.size = { width, height, circle: false }
    return this.#readUnit(place + 2)
  }

  #readUnit(place: number): string | undefined {
    const unit = readUnit(this.#args.text(place))
    if (typeof unit === 'string') return unit
    this.search.unit = unit
    return undefined
  }

  #readOptions(): string | undefined {
    const args = this.#args
    for (let place = this.#form.first; place < args.count; place++) {
      if (this.#readFlag(args.word(place))) continue
      const taken = this.#readOption(place)
      if (typeof taken === 'string') return taken
      place += taken
    }
    return undefined
  }

  #readFlag(word: string): boolean {
    const { search } = this
    if (word === 'withdist') search.withDistance = true
    else if (word === 'withhash') search.withHash = true
    else if (word === 'withcoord') search.withPoint = true
    else if (word === 'any') search.any = true
    else if (word === 'asc') search.order = 'near'
    else if (word === 'desc') search.order = 'far'
    else if (word === 'storedist' && this.#form.store === 'always') search.storeDistance = true
    else return false
    return true
  }

  /** How many arguments belong to the option at this place, or the error. */
  #readOption(place: number): number | string {
    const args = this.#args
    const { search } = this
    const { from, store } = this.#form
    const left = args.count - place - 1
    const word = args.word(place)
    if (word === 'count' && left >= 1) return this.#readCount(place + 1) ?? 1
    if ((word === 'store' || word === 'storedist') && store === 'option' && left >= 1) {
      search.storePlace = place + 1
      search.storeDistance = word === 'storedist'
      return 1
    }
    if (from !== 'options') return SYNTAX_ERROR
    if (word === 'frommember' && left >= 1 && search.isFrom !== 'point') {
      return this.#readMember(place + 1) ?? 1
    }
    if (word === 'fromlonlat' && left >= 2 && search.isFrom !== 'member') {
      return this.#readPoint(place + 1) ?? 2
    }
    if (word === 'byradius' && left >= 2 && search.size?.circle !== false) {
      return this.#readCircle(place + 1) ?? 2
    }
    if (word === 'bybox' && left >= 3 && search.size?.circle !== true) {
      return this.#readBox(place + 1) ?? 3
    }
    return SYNTAX_ERROR
  }

  #readCount(place: number): string | undefined {
    const count = this.#args.integer(place)
    if (Number.isNaN(count)) return NOT_AN_INTEGER
    if (count <= 0) return 'ERR COUNT must be > 0'
    this.search.count = count
    return undefined
  }

  #findFault(): string | undefined {
    const { search } = this
    const { from, store } = this.#form
    const name = this.#args.text(0)
    if (search.storePlace > 0 && (search.withDistance || search.withHash || search.withPoint)) {
      const who = store === 'always' ? 'GEOSEARCHSTORE' : 'STORE option in GEORADIUS'
      return `ERR ${who} is not compatible with WITHDIST, WITHHASH and WITHCOORD options`
    }
    if (from === 'options' && search.isFrom === undefined) {
      return `ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for ${name}`
    }
    if (from === 'options' && search.size === undefined) {
      return `ERR exactly one of BYRADIUS and BYBOX can be specified for ${name}`
    }
    if (search.any && search.count === 0) return 'ERR the ANY argument requires COUNT argument'
    return undefined
  }
}

function shapeOf({ center, size, unit }: Search): Shape | undefined {
  if (center === undefined || size === undefined) return undefined
  if (size.circle) return { kind: 'circle', center, radius: size.width * unit }
  return { kind: 'box', center, width: size.width * unit, height: size.height * unit }
}

function find(value: ZsetValue, search: Search): Found[] {
  const shape = shapeOf(search)
  if (shape === undefined) return []
  const found: Found[] = []
  const enough = search.any ? search.count : Infinity
  for (const { from, to } of rangesAround(shape)) {
    const [low, high] = [value.rankOfScore(from, false), value.rankOfScore(to, false)]
    value.range(low, high, false, (member, score) => {
      if (found.length >= enough) return
      const point = pointOf(score)
      const distance = metersWithin(shape, point)
      if (distance !== undefined) found.push({ member, score, point, distance })
    })
  }
  // The nearest are wanted of many, if any are left out.
  const order = search.order === 'none' && search.count > 0 && !search.any ? 'near' : search.order
  if (order === 'near') found.sort((a, b) => a.distance - b.distance)
  else if (order === 'far') found.sort((a, b) => b.distance - a.distance)
  return search.count > 0 ? found.slice(0, search.count) : found
}

function replyFound({ reply }: Work, found: readonly Found[], search: Search): void {
  const { withDistance, withHash, withPoint } = search
  const extras = [withDistance, withHash, withPoint].filter(Boolean).length
  reply.array(found.length)
  for (const { member, score, point, distance } of found) {
    if (extras > 0) reply.array(extras + 1)
    reply.bulkString(member)
    if (withDistance) reply.bulkString(distanceText(distance / search.unit))
    if (withHash) reply.integer(score)
    if (withPoint) replyPoint(reply, point)
  }
}

function storeFound(work: Work, found: readonly Found[], search: Search): void {
  const target = work.args.at(search.storePlace)
  work.run('DEL', target)
  const pairs = found.flatMap(({ member, score, distance }) => [
    formatDouble(search.storeDistance ? distance / search.unit : score),
    member
  ])
  if (pairs.length > 0) work.run('ZADD', target, ...pairs)
  work.reply.integer(found.length)
}

function execute(work: Work, form: Form): void {
  const { args, bucket, reply } = work
  const ref = work.find(args.at(form.source))
  if (ref !== 0 && bucket.typeOf(ref) !== TYPE_ZSET) {
    reply.error(WRONG_TYPE)
    return
  }
  const held = ref === 0 ? undefined : bucket.heapValue(ref)
  const value = held instanceof ZsetValue ? held : undefined
  const reader = new SearchReader(args, form, value)
  const error = reader.read()
  if (error !== undefined) {
    reply.error(error)
    return
  }
  const { search } = reader
  const found = value === undefined ? [] : find(value, search)
  if (search.storePlace > 0) storeFound(work, found, search)
  else replyFound(work, found, search)
}

/** The last STORE or STOREDIST of an older form; 0 for none. */
function storePlaceOf(args: Arguments, first: number): number {
  let place = 0
  for (let at = first; at + 1 < args.count; at++) {
    const word = args.word(at)
    if (word === 'store' || word === 'storedist') place = ++at
    else if (word === 'count') at++
  }
  return place
}

function searching(form: Form): Composite {
  const { name, arity, source, first, store } = form
  return {
    name,
    arity,
    write: store !== 'never',
    keys(args) {
      if (store === 'always') return [1, 2]
      const place = store === 'option' ? storePlaceOf(args, first) : 0
      return place > 0 ? [source, place] : [source]
    },
    execute: (work) => execute(work, form)
  }
}

const OLDER = { source: 1, store: 'option' } as const
const READING = { source: 1, store: 'never' } as const

const FORMS: readonly Form[] = [
  { ...READING, name: 'geosearch', arity: -7, first: 2, from: 'options' },
  { name: 'geosearchstore', arity: -8, source: 2, first: 3, from: 'options', store: 'always' },
  { ...OLDER, name: 'georadius', arity: -6, first: 6, from: 'point' },
  { ...READING, name: 'georadius_ro', arity: -6, first: 6, from: 'point' },
  { ...OLDER, name: 'georadiusbymember', arity: -5, first: 5, from: 'member' },
  { ...READING, name: 'georadiusbymember_ro', arity: -5, first: 5, from: 'member' }
]

export const GEO_COMPOSITES: readonly Composite[] = [GEOADD, ...FORMS.map(searching)]
