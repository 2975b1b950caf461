/**
 * Commands that wait until there is something to take. What they do once there is, is a composite like others; that they
 * wait is the door's business (src/node/door/blocking.ts). In a transaction they do not wait.
 */
import { viewOf } from '../core/bytes.js'
import { TYPE_LIST, TYPE_ZSET } from '../store/value-type.js'
import type { ReplyWriter } from '../wire/resp/reply-writer.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import type { Arguments } from './arguments.js'
import { type Composite, everyKey, type Work } from './composite.js'
import { NEGATIVE_TIMEOUT, SYNTAX_ERROR, WRONG_TYPE } from './error-text.js'
import { readPop } from './list-move.js'
import { parseFiniteOrInfinite } from './number-text.js'

export interface Blocking extends Composite {
  /** How long to wait, in milliseconds; 0 is for ever. */
  timeoutMs(args: Arguments): number
  /** Takes something, or answers an error; false if there is nothing. One that has waited does not mind other types. */
  attempt(work: Work, waited: boolean): boolean
  writeNothing(reply: ReplyWriter): void
  /** The same command for one of its keys, given by its place. */
  about(args: Arguments, place: number): Uint8Array
  /** Keys that it can be woken by; the others it only writes to. */
  sources(args: Arguments): number[]
}

/** `-` */
const ERROR = 0x2d
const TIMEOUT_MS_MAX = Number.MAX_SAFE_INTEGER / 4

/** In milliseconds, or the error. */
function readTimeout(args: Arguments, place: number): number | string {
  const seconds = parseFiniteOrInfinite(args.text(place))
  if (Number.isNaN(seconds)) return 'ERR timeout is not a float or out of range'
  if (seconds < 0) return NEGATIVE_TIMEOUT
  const ms = Math.ceil(seconds * 1000)
  return ms > TIMEOUT_MS_MAX ? 'ERR timeout is out of range' : ms
}

function nilOf(reply: Uint8Array): boolean {
  // `_`, `$-1` and `*-1`.
  return reply[0] === 0x5f || (reply[1] === 0x2d && reply[0] !== 0x3a)
}

interface Shape {
  readonly name: string
  readonly arity: number
  readonly type: number
  /** The place of the timeout; counted from the end if it is below 0. */
  readonly timeout: number
  /** The places of all keys, or the error. */
  keys(args: Arguments): number[] | string
  sources?(args: Arguments): number[]
  about(args: Arguments, place: number): Uint8Array
  take(work: Work, waited: boolean): boolean
  /** What it answers in a transaction, where there is nothing; nobody waits there. */
  nothing?: 'bulk'
  /** The timeout is looked at after the rest. */
  late?: boolean
}

function blocking(shape: Shape): Blocking {
  const { name, arity, type } = shape
  const timeoutOf = (args: Arguments): number | string =>
    readTimeout(args, shape.timeout < 0 ? args.count + shape.timeout : shape.timeout)
  const self: Blocking = {
    name,
    arity,
    write: true,
    keys(args) {
      const [timeout, keys] = [timeoutOf(args), shape.keys(args)]
      const first = shape.late === true ? [keys, timeout] : [timeout, keys]
      return first.find((value) => typeof value === 'string') ?? keys
    },
    sources: (args) => {
      const keys = shape.sources?.(args) ?? shape.keys(args)
      return typeof keys === 'string' ? [] : keys
    },
    timeoutMs(args) {
      const timeout = timeoutOf(args)
      return typeof timeout === 'string' ? 0 : timeout
    },
    about: (args, place) => shape.about(args, place),
    attempt(work, waited) {
      const { args, bucket, reply } = work
      const isFilled = self.sources(args).some((place) => {
        const ref = work.find(args.at(place))
        return ref !== 0 && (!waited || bucket.typeOf(ref) === type)
      })
      if (!isFilled) return false
      const before = reply.length
      if (shape.take(work, waited)) return true
      reply.truncate(before)
      return false
    },
    writeNothing: (reply) => reply.nilArray(),
    execute(work) {
      if (self.attempt(work, false)) return
      if (shape.nothing === 'bulk') work.reply.nil()
      else work.reply.nilArray()
    }
  }
  return self
}

/** Takes one element off the first key that has any; what is of another type is an error or, if one waits, nothing. */
function takeFirst(type: number, name: string, write: (work: Work, taken: Uint8Array) => void) {
  return (work: Work, waited: boolean): boolean => {
    const { args, bucket, reply } = work
    for (let place = 1; place < args.count - 1; place++) {
      const key = args.at(place)
      const ref = work.find(key)
      if (ref === 0) continue
      if (bucket.typeOf(ref) !== type) {
        if (waited) continue
        reply.error(WRONG_TYPE)
        return true
      }
      reply.array(type === TYPE_LIST ? 2 : 3)
      reply.bulk(key, viewOf(key), 0, key.length)
      write(work, work.runAny(encodeArguments([name, key].map(bytesOf)), reply.protocol))
      return true
    }
    return false
  }
}

function bytesOf(word: string | Uint8Array): Uint8Array {
  return typeof word === 'string' ? Uint8Array.from(word, (letter) => letter.charCodeAt(0)) : word
}

function pop(name: string, simple: string): Blocking {
  return blocking({
    name,
    arity: -3,
    type: TYPE_LIST,
    timeout: -1,
    keys: (args) => everyKey(args).slice(0, -1),
    about: (args, place) => args.encode(0, place, args.count - 1),
    take: takeFirst(TYPE_LIST, simple, ({ reply }, taken) => reply.raw(taken, 0, taken.length))
  })
}

/** The array of member and score loses its head. */
function zpop(name: string, simple: string): Blocking {
  return blocking({
    name,
    arity: -3,
    type: TYPE_ZSET,
    timeout: -1,
    keys: (args) => everyKey(args).slice(0, -1),
    about: (args, place) => args.encode(0, place, args.count - 1),
    take: takeFirst(TYPE_ZSET, simple, ({ reply }, taken) => {
      const head = taken.indexOf(0x0a) + 1
      reply.raw(taken, head, taken.length - head)
    })
  })
}

/** Executes another command in its place; false if that took nothing. */
function takeBy(work: Work, words: readonly (string | Uint8Array)[]): boolean {
  const taken = work.runAny(encodeArguments(words.map(bytesOf)), work.reply.protocol)
  if (nilOf(taken)) return false
  work.reply.raw(taken, 0, taken.length)
  return true
}

function argumentsFrom(args: Arguments, from: number, to = args.count): Uint8Array[] {
  const words: Uint8Array[] = []
  for (let place = from; place < to; place++) words.push(args.at(place))
  return words
}

function mpop(name: string, simple: string, type: number, wheres: readonly string[]): Blocking {
  return blocking({
    name,
    arity: -5,
    type,
    timeout: 1,
    late: true,
    keys(args) {
      const read = readPop(args, 2, wheres)
      return typeof read === 'string' ? read : read.places
    },
    about(args, place) {
      const rest = argumentsFrom(args, 3 + args.integer(2))
      return encodeArguments([args.at(0), args.at(1), bytesOf('1'), args.at(place), ...rest])
    },
    take(work, waited) {
      const before = work.reply.length
      const taken = takeBy(work, [simple, ...argumentsFrom(work.args, 2)])
      return taken && !(waited && work.reply.bytes[before] === ERROR)
    }
  })
}

const BLMOVE = blocking({
  name: 'blmove',
  arity: 6,
  type: TYPE_LIST,
  timeout: 5,
  late: true,
  nothing: 'bulk',
  keys: (args) =>
    [3, 4].every((place) => ['left', 'right'].includes(args.word(place))) ? [1, 2] : SYNTAX_ERROR,
  sources: () => [1],
  about: (args) => args.encode(0, 1, 2, 3, 4, 5),
  take: (work) => takeBy(work, ['lmove', ...argumentsFrom(work.args, 1, 5)])
})

const BRPOPLPUSH = blocking({
  name: 'brpoplpush',
  arity: 4,
  type: TYPE_LIST,
  timeout: 3,
  nothing: 'bulk',
  keys: () => [1, 2],
  sources: () => [1],
  about: (args) => args.encode(0, 1, 2, 3),
  take: (work) => takeBy(work, ['rpoplpush', ...argumentsFrom(work.args, 1, 3)])
})

export const BLOCKING: readonly Blocking[] = [
  pop('blpop', 'lpop'),
  pop('brpop', 'rpop'),
  zpop('bzpopmin', 'zpopmin'),
  zpop('bzpopmax', 'zpopmax'),
  mpop('blmpop', 'lmpop', TYPE_LIST, ['left', 'right']),
  mpop('bzmpop', 'zmpop', TYPE_ZSET, ['min', 'max']),
  BLMOVE,
  BRPOPLPUSH
]
