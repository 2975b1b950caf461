/**
 * SORT with BY and GET, which name keys that nobody knows before the elements are read. For clients that do not care
 * where keys live: the elements are fetched, then what they are ordered by, then what is to be given out for those
 * that are left, each from where it is. Others may change any of it meanwhile. Clients that follow the topology are
 * refused, as by a Redis cluster, and without such patterns SORT is a command about one key or two.
 */
import { ByteReader, ByteWriter, FormatError, latin1Bytes, latin1String } from '../../core/bytes.js'
import type { Arguments } from '../../commands/arguments.js'
import type { Composite } from '../../commands/composite.js'
import { WRONG_TYPE } from '../../commands/error-text.js'
import {
  elementsOf,
  readSortOptions,
  SORT,
  SORT_RO,
  sortElements,
  type SortOptions
} from '../../commands/sort.js'
import type { HeapKind } from '../../store/value-type.js'
import { decodeValue } from '../../store/values/codec.js'
import { ListValue } from '../../store/values/list-value.js'
import { RespError } from '../../wire/resp/reply-value.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { Slot } from '../session.js'
import { executeApart } from './apart.js'
import { readReply } from './bucket-reply.js'
import type { Door, DoorCommand } from './door.js'
import { compositeCommand } from './several-keys.js'

/** Keys that one SORT may ask for. */
const QUESTIONS_MAX = 1_000_000
const ELEMENT = '#'

interface Fetched {
  readonly kind: string
  readonly elements: readonly string[]
}

type Values = (string | undefined)[]

/** The command that asks for what a pattern means for an element; undefined if it means nothing. */
function questionOf(pattern: string, element: string): Uint8Array | undefined {
  const star = pattern.indexOf('*')
  if (star < 0) return undefined
  const arrow = pattern.indexOf('->', star + 1)
  const hasField = arrow >= 0 && arrow + 2 < pattern.length
  const rest = pattern.slice(star + 1, hasField ? arrow : undefined)
  const key = pattern.slice(0, star) + element + rest
  const words = hasField ? ['HGET', key, pattern.slice(arrow + 2)] : ['GET', key]
  return encodeArguments(words.map(latin1Bytes))
}

/** What the patterns mean for each of the elements, one after the other. */
function lookUp(
  door: Door,
  slot: Slot,
  of: { elements: readonly string[]; patterns: readonly string[] },
  next: (values: Values[]) => void
): void {
  const { elements, patterns } = of
  if (elements.length * patterns.length > QUESTIONS_MAX) {
    door.refuse(slot, 'ERR too many keys for one SORT')
    return
  }
  const questions: Uint8Array[] = []
  const values = elements.map((element): Values => {
    return patterns.map((pattern) => (pattern === ELEMENT ? element : undefined))
  })
  const places: [number, number][] = []
  elements.forEach((element, i) => {
    patterns.forEach((pattern, j) => {
      const question = pattern === ELEMENT ? undefined : questionOf(pattern, element)
      if (question === undefined) return
      questions.push(question)
      places.push([i, j])
    })
  })
  door.ask(slot, questions, (parts) => {
    for (let at = 0; at < parts.length; at++) {
      const value = readReply(parts[at])
      if (value instanceof RespError && !value.text.startsWith('WRONGTYPE')) {
        door.refuse(slot, value.text)
        return
      }
      const [i, j] = places[at]
      if (value instanceof Uint8Array) values[i][j] = latin1String(value, 0, value.length)
    }
    next(values)
  })
}

/** The elements of the key, or the error. */
function readFetched(part: Uint8Array): Fetched | string {
  const value = readReply(part)
  if (value instanceof RespError) return value.text
  if (!Array.isArray(value)) return { kind: 'list', elements: [] }
  const [kind, , bytes] = value.map((word) => (word instanceof Uint8Array ? word : undefined))
  if (kind === undefined || bytes === undefined) return WRONG_TYPE
  const name = latin1String(kind, 0, kind.length)
  if (name === 'string') return WRONG_TYPE
  try {
    const elements = elementsOf(decodeValue(name as HeapKind, ByteReader.over(bytes)))
    return elements === undefined ? WRONG_TYPE : { kind: name, elements }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    return WRONG_TYPE
  }
}

function store(door: Door, slot: Slot, target: Uint8Array, values: Values): void {
  const list = new ListValue()
  for (const value of values) list.pushBack(value ?? '')
  const writer = new ByteWriter(256)
  list.encode(writer)
  const words =
    values.length === 0
      ? [latin1Bytes('DEL'), target]
      : [latin1Bytes('OC.PUT'), target, latin1Bytes('list'), latin1Bytes('0'), writer.copy()]
  door.ask(slot, [encodeArguments(words)], ([part]) => {
    const reply = readReply(part)
    if (reply instanceof RespError) door.refuse(slot, reply.text)
    else door.reply(slot, (writing) => writing.integer(values.length))
  })
}

function finish(
  door: Door,
  slot: Slot,
  of: { target: Uint8Array | undefined; values: Values }
): void {
  const { target, values } = of
  if (target !== undefined) {
    store(door, slot, target, values)
    return
  }
  door.reply(slot, (reply) => {
    reply.array(values.length)
    for (const value of values) {
      if (value === undefined) reply.nil()
      else reply.bulkString(value)
    }
  })
}

function sortApart(door: Door, slot: Slot, args: Arguments, options: SortOptions): void {
  const { by, gets, storePlace } = options
  const target = storePlace > 0 ? args.at(storePlace).slice() : undefined
  const fetch = encodeArguments([latin1Bytes('OC.FETCH'), args.at(1)])
  door.ask(slot, [fetch], ([part]) => {
    const fetched = readFetched(part)
    if (typeof fetched === 'string') {
      door.refuse(slot, fetched)
      return
    }
    const { kind, elements } = fetched
    const patterns = by === undefined || options.unsorted ? [] : [by]
    lookUp(door, slot, { elements, patterns }, (found) => {
      const weights = patterns.length === 0 ? undefined : found.map(([weight]) => weight)
      const sorted = sortElements(elements, options, { kind, weights })
      if (typeof sorted === 'string') {
        door.refuse(slot, sorted)
        return
      }
      const wanted = gets.length === 0 ? [ELEMENT] : gets
      lookUp(door, slot, { elements: sorted, patterns: wanted }, (values) =>
        finish(door, slot, { target, values: values.flat() })
      )
    })
  })
}

function sorting(composite: Composite, mayStore: boolean): DoorCommand {
  const plain = compositeCommand(composite, (door, slot, args, places) =>
    executeApart(door, composite, { slot, args, places })
  )
  return {
    ...plain,
    execute(door, slot, args) {
      const options = readSortOptions(args, mayStore)
      const { isClusterAware, remote } = slot.session
      const isPlain = !isClusterAware && remote === undefined
      if (typeof options === 'string' || !isPlain) plain.execute(door, slot, args)
      else if (options.by === undefined && options.gets.length === 0) {
        plain.execute(door, slot, args)
      } else sortApart(door, slot, args, options)
    }
  }
}

export const SORT_COMMANDS: readonly DoorCommand[] = [sorting(SORT, true), sorting(SORT_RO, false)]
