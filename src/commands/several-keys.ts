/**
 * Commands that do to each of several keys what a command does to one: they are that command for each key and an
 * answer made of the answers. Keys of one bucket are done in one go; keys that live apart each where it is.
 */
import { latin1Bytes, latin1String } from '../core/bytes.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import type { ReplyWriter } from '../wire/resp/reply-writer.js'
import type { Arguments } from './arguments.js'
import { type Composite, everyKey } from './composite.js'
import { wrongArity } from './error-text.js'

export interface EachKey extends Composite {
  /** The command for one of the keys. */
  part(args: Arguments, place: number): Uint8Array
  /** Makes one answer of those to the parts, in order. */
  combine(parts: readonly Uint8Array[], reply: ReplyWriter): void
}

const MINUS = 0x2d
const COLON = 0x3a
const NIL = ['$-1\r\n', '_\r\n']
const WRONG_TYPE = '-WRONGTYPE'

function textOf(part: Uint8Array, length = part.length): string {
  return latin1String(part, 0, Math.min(part.length, length))
}

function findError(parts: readonly Uint8Array[]): Uint8Array | undefined {
  return parts.find((part) => part[0] === MINUS)
}

function addUp(parts: readonly Uint8Array[], reply: ReplyWriter): void {
  const error = findError(parts)
  if (error !== undefined) {
    reply.raw(error, 0, error.length)
    return
  }
  let sum = 0
  for (const part of parts) if (part[0] === COLON) sum += Number(textOf(part).slice(1, -2))
  reply.integer(sum)
}

function replyOk(parts: readonly Uint8Array[], reply: ReplyWriter): void {
  const error = findError(parts)
  if (error === undefined) reply.ok()
  else reply.raw(error, 0, error.length)
}

/** What is no string is as good as nothing; that a node could not be reached is not. */
function list(parts: readonly Uint8Array[], reply: ReplyWriter): void {
  const isWrongType = (part: Uint8Array): boolean => textOf(part, WRONG_TYPE.length) === WRONG_TYPE
  const error = parts.find((part) => part[0] === MINUS && !isWrongType(part))
  if (error !== undefined) {
    reply.raw(error, 0, error.length)
    return
  }
  reply.array(parts.length)
  for (const part of parts) {
    if (part[0] === MINUS || (part.length < 6 && NIL.includes(textOf(part)))) reply.nil()
    else reply.raw(part, 0, part.length)
  }
}

function eachKey(
  name: string,
  options: {
    part: string
    write: boolean
    /** Arguments a key, itself included. */
    step?: number
    combine: EachKey['combine']
  }
): EachKey {
  const { write, combine, step = 1 } = options
  const partName = latin1Bytes(options.part)
  const part = (args: Arguments, place: number): Uint8Array => {
    const words = [partName]
    for (let i = 0; i < step; i++) words.push(args.at(place + i))
    return encodeArguments(words)
  }
  return {
    name,
    arity: -1 - step,
    write,
    keys: (args) => ((args.count - 1) % step === 0 ? everyKey(args, 1, step) : wrongArity(name)),
    part,
    combine,
    execute(work) {
      const parts = everyKey(work.args, 1, step).map((place) =>
        work.runRequest(part(work.args, place))
      )
      combine(parts, work.reply)
    }
  }
}

export const EACH_KEY: readonly EachKey[] = [
  eachKey('mget', { part: 'GET', write: false, combine: list }),
  eachKey('mset', { part: 'SET', write: true, step: 2, combine: replyOk }),
  eachKey('del', { part: 'DEL', write: true, combine: addUp }),
  eachKey('unlink', { part: 'UNLINK', write: true, combine: addUp }),
  eachKey('exists', { part: 'EXISTS', write: false, combine: addUp }),
  eachKey('touch', { part: 'TOUCH', write: false, combine: addUp })
]

/** Sets all keys or, where one of them is there already, none. */
export const MSETNX: Composite = {
  name: 'msetnx',
  arity: -3,
  write: true,
  keys: (args) => (args.count % 2 === 1 ? everyKey(args, 1, 2) : wrongArity('msetnx')),
  execute(work) {
    const places = everyKey(work.args, 1, 2)
    if (places.some((place) => work.find(work.args.at(place)) !== 0)) {
      work.reply.integer(0)
      return
    }
    for (const place of places) work.run('SET', work.args.at(place), work.args.at(place + 1))
    work.reply.integer(1)
  }
}
