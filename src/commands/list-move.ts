/** Elements from list to list, and from the first of several lists that has any. */
import { viewOf } from '../core/bytes.js'
import { TYPE_LIST, TYPE_ZSET } from '../store/value-type.js'
import { ListValue } from '../store/values/list-value.js'
import { ZsetValue } from '../store/values/zset-value.js'
import type { ReplyWriter } from '../wire/resp/reply-writer.js'
import type { Arguments } from './arguments.js'
import { type Composite, everyKey, type Work } from './composite.js'
import { SYNTAX_ERROR, WRONG_TYPE } from './error-text.js'

type End = 'left' | 'right'

function isEnd(word: string): word is End {
  return word === 'left' || word === 'right'
}

/** Takes an element off one list and puts it on another; the same one may be both. */
function move(work: Work, from: End, to: End): void {
  const { args, reply, bucket } = work
  const source = work.find(args.at(1))
  if (source === 0) {
    reply.nil()
    return
  }
  const list = bucket.typeOf(source) === TYPE_LIST ? bucket.heapValue(source) : undefined
  const target = work.find(args.at(2))
  if (!(list instanceof ListValue) || (target !== 0 && bucket.typeOf(target) !== TYPE_LIST)) {
    reply.error(WRONG_TYPE)
    return
  }
  const element = list.at(from === 'left' ? 0 : list.length - 1) ?? ''
  work.run(from === 'left' ? 'LPOP' : 'RPOP', args.at(1))
  work.run(to === 'left' ? 'LPUSH' : 'RPUSH', args.at(2), element)
  reply.bulkString(element)
}

export const LMOVE: Composite = {
  name: 'lmove',
  arity: 5,
  write: true,
  keys: (args) => (isEnd(args.word(3)) && isEnd(args.word(4)) ? [1, 2] : SYNTAX_ERROR),
  execute: (work) => move(work, work.args.word(3) as End, work.args.word(4) as End)
}

export const RPOPLPUSH: Composite = {
  name: 'rpoplpush',
  arity: 3,
  write: true,
  keys: () => [1, 2],
  execute: (work) => move(work, 'right', 'left')
}

/** `numkeys key… where [COUNT n]`: the keys, where to take from, and how many. */
interface Pop {
  readonly places: number[]
  readonly where: string
  readonly count: number
}

/** `place` is that of numkeys. */
export function readPop(args: Arguments, place: number, wheres: readonly string[]): Pop | string {
  const keys = args.integer(place)
  if (!(keys > 0)) return 'ERR numkeys should be greater than 0'
  const after = place + 1 + keys
  const where = args.word(after)
  if (after >= args.count || !wheres.includes(where)) return SYNTAX_ERROR
  let count = 1
  if (args.count > after + 1) {
    if (args.count !== after + 3 || args.word(after + 1) !== 'count') return SYNTAX_ERROR
    count = args.integer(after + 2)
    if (!(count > 0)) return 'ERR count should be greater than 0'
  }
  return { places: everyKey(args, place + 1).slice(0, keys), where, count }
}

function pop(
  name: string,
  wheres: readonly string[],
  take: (work: Work, pop: Pop) => void
): Composite {
  return {
    name,
    arity: -4,
    write: true,
    keys(args) {
      const read = readPop(args, 1, wheres)
      return typeof read === 'string' ? read : read.places
    },
    execute(work) {
      const read = readPop(work.args, 1, wheres)
      if (typeof read !== 'string') take(work, read)
    }
  }
}

/** The first key that has something, or undefined; `null` means that the error is written. */
function firstFilled(work: Work, { places }: Pop, type: number): Uint8Array | undefined | null {
  for (const place of places) {
    const key = work.args.at(place)
    const ref = work.find(key)
    if (ref === 0) continue
    if (work.bucket.typeOf(ref) === type) return key
    work.reply.error(WRONG_TYPE)
    return null
  }
  return undefined
}

const LMPOP = pop('lmpop', ['left', 'right'], (work, read) => {
  const key = firstFilled(work, read, TYPE_LIST)
  if (key === null) return
  if (key === undefined) {
    work.reply.nilArray()
    return
  }
  const name = read.where === 'left' ? 'LPOP' : 'RPOP'
  const taken = work.run(name, key, String(read.count))
  writeKey(work.reply, key)
  work.reply.raw(taken, 0, taken.length)
})

const ZMPOP = pop('zmpop', ['min', 'max'], (work, read) => {
  const key = firstFilled(work, read, TYPE_ZSET)
  if (key === null) return
  const { reply } = work
  const zset = key === undefined ? undefined : work.bucket.heapValue(work.find(key))
  if (key === undefined || !(zset instanceof ZsetValue)) {
    reply.nilArray()
    return
  }
  const max = read.where === 'max'
  const count = Math.min(read.count, zset.size)
  const from = max ? zset.size - count : 0
  writeKey(reply, key)
  reply.array(count)
  zset.range(from, from + count, max, (member, score) => {
    reply.array(2)
    reply.bulkString(member)
    reply.double(score)
  })
  work.run(max ? 'ZPOPMAX' : 'ZPOPMIN', key, String(count))
})

/** The first of two: from which key. */
function writeKey(reply: ReplyWriter, key: Uint8Array): void {
  reply.array(2)
  reply.bulk(key, viewOf(key), 0, key.length)
}

export const LIST_COMPOSITES: readonly Composite[] = [LMOVE, RPOPLPUSH, LMPOP, ZMPOP]
