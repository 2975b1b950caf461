/**
 * Whole items: RENAME and COPY, and what they and commands over keys that live apart are made of. OC.FETCH gives a
 * value with its type and expiry as bytes, OC.PUT makes an item of them; the bytes are those of moves.
 */
import { ByteReader, ByteWriter, FormatError, viewOf } from '../core/bytes.js'
import { type HeapKind, type Kind, kindOfType, TYPE_STRING } from '../store/value-type.js'
import { decodeValue } from '../store/values/codec.js'
import type { Bucket } from '../store/bucket.js'
import type { Command } from './command.js'
import type { Composite, Work } from './composite.js'
import { NO_SUCH_KEY, SYNTAX_ERROR } from './error-text.js'

interface Value {
  readonly kind: Kind
  /** Absolute milliseconds; 0 for none. */
  readonly expiry: number
  readonly bytes: Uint8Array
}

const HEAP_KINDS: readonly string[] = ['hash', 'list', 'set', 'zset']

export function readValue(bucket: Bucket, ref: number): Value {
  const kind = kindOfType(bucket.typeOf(ref))
  const expiry = bucket.expiryOf(ref)
  if (bucket.typeOf(ref) === TYPE_STRING) {
    const offset = bucket.valueOffset(ref)
    const bytes = bucket.valueBytes(ref).slice(offset, offset + bucket.valueLength(ref))
    return { kind, expiry, bytes }
  }
  const writer = new ByteWriter(256)
  bucket.heapValue(ref).encode(writer)
  return { kind, expiry, bytes: writer.copy() }
}

/** OC.FETCH key: kind, expiry, bytes; nil if it is not there. */
const OC_FETCH = {
  name: 'oc.fetch',
  arity: 2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { reply } = call
    const ref = call.bucket.find(call.key, call.now)
    if (ref === 0) {
      reply.nil()
      return
    }
    const { kind, expiry, bytes } = readValue(call.bucket, ref)
    reply.array(3)
    reply.bulkString(kind)
    reply.bulkString(String(expiry))
    reply.bulk(bytes, viewOf(bytes), 0, bytes.length)
  }
} as const satisfies Command

/** OC.PUT key kind expiry bytes: whatever was there before. */
const OC_PUT = {
  name: 'oc.put',
  arity: 5,
  flags: ['write', 'memory'],
  key: 1,
  execute(call) {
    const { bucket, reply, key, version } = call
    const kind = call.text(2)
    const expiry = Number(call.text(3))
    const span = call.argument(4, call.first)
    if (!(expiry >= 0 && Number.isSafeInteger(expiry))) {
      reply.error(SYNTAX_ERROR)
      return
    }
    if (kind === 'string') bucket.setString(key, span, version, expiry)
    else {
      try {
        if (!HEAP_KINDS.includes(kind)) throw new FormatError('not a kind of value')
        const value = decodeValue(kind as HeapKind, ByteReader.overSpan(span))
        bucket.setHeap(key, value, version, expiry)
      } catch (error) {
        if (!(error instanceof FormatError)) throw error
        reply.error('ERR Bad data format')
        return
      }
    }
    call.changed('set')
    reply.ok()
  }
} as const satisfies Command

export const ITEM_COMMANDS: readonly Command[] = [OC_FETCH, OC_PUT]

function copyItem(work: Work, ref: number, target: Uint8Array): void {
  const { kind, expiry, bytes } = readValue(work.bucket, ref)
  work.run('OC.PUT', target, kind, String(expiry), bytes)
}

function rename(work: Work, onlyIfNew: boolean): void {
  const { args, reply } = work
  const [source, target] = [args.at(1), args.at(2)]
  const ref = work.find(source)
  const same = args.text(1) === args.text(2)
  if (ref === 0) reply.error(NO_SUCH_KEY)
  else if (onlyIfNew && (same || work.find(target) !== 0)) reply.integer(0)
  else {
    if (!same) {
      // Found again: the other key was looked for with the same key object.
      copyItem(work, work.find(source), target)
      work.run('DEL', source)
    }
    if (onlyIfNew) reply.integer(1)
    else reply.ok()
  }
}

const RENAME: Composite = {
  name: 'rename',
  arity: 3,
  write: true,
  keys: () => [1, 2],
  execute: (work) => rename(work, false)
}

const RENAMENX: Composite = {
  name: 'renamenx',
  arity: 3,
  write: true,
  keys: () => [1, 2],
  execute: (work) => rename(work, true)
}

const COPY: Composite = {
  name: 'copy',
  arity: -3,
  write: true,
  keys(args) {
    for (let place = 3; place < args.count; place++) {
      const word = args.word(place)
      if (word === 'replace') continue
      if (word !== 'db' || place + 1 >= args.count) return SYNTAX_ERROR
      const db = args.integer(++place)
      if (Number.isNaN(db)) return 'ERR value is not an integer or out of range'
      if (db !== 0) return 'ERR DB index is out of range'
    }
    return [1, 2]
  },
  execute(work) {
    const { args, reply } = work
    const replace = args.texts(3).some((word) => word.toLowerCase() === 'replace')
    if (args.text(1) === args.text(2)) {
      reply.error('ERR source and destination objects are the same')
      return
    }
    if (work.find(args.at(1)) === 0 || (!replace && work.find(args.at(2)) !== 0)) {
      reply.integer(0)
      return
    }
    copyItem(work, work.find(args.at(1)), args.at(2))
    reply.integer(1)
  }
}

export const ITEM_COMPOSITES: readonly Composite[] = [RENAME, RENAMENX, COPY]
