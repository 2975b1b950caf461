/**
 * OBJECT and MEMORY USAGE: how a value is kept. The encodings are those that Redis 7.0 would have chosen by its
 * default limits; here they are only names, since values are kept in other ways.
 */
import { Span } from '../core/bytes.js'
import { type HeapValue, TYPE_STRING } from '../store/value-type.js'
import { HashValue } from '../store/values/hash-value.js'
import { SetValue } from '../store/values/set-value.js'
import { ZsetValue } from '../store/values/zset-value.js'
import type { Composite, Work } from './composite.js'
import { NOT_AN_INTEGER, SYNTAX_ERROR } from './error-text.js'

const EMBEDDED_BYTES_MAX = 44
const SMALL_ENTRIES_MAX = 128
const SMALL_HASH_ENTRIES_MAX = 512
const SMALL_BYTES_MAX = 64
const INTEGERS_MAX = 512
const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/

function isInteger(text: string): boolean {
  return INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

function stringEncoding(work: Work, ref: number): string {
  const span = work.bucket.pointValue(ref, new Span())
  if (span.length <= 20 && isInteger(span.latin1())) return 'int'
  return span.length <= EMBEDDED_BYTES_MAX ? 'embstr' : 'raw'
}

function heapEncoding(value: HeapValue): string {
  const small = (texts: readonly string[]): boolean =>
    texts.every(({ length }) => length <= SMALL_BYTES_MAX)
  if (value instanceof HashValue) {
    if (value.size > SMALL_HASH_ENTRIES_MAX) return 'hashtable'
    for (let place = 0; place < value.size; place++) {
      if (!small([value.fieldAt(place), value.valueAt(place)])) return 'hashtable'
    }
    return 'listpack'
  }
  if (value instanceof SetValue) {
    return value.size <= INTEGERS_MAX && value.members().every(isInteger) ? 'intset' : 'hashtable'
  }
  if (value instanceof ZsetValue) {
    if (value.size > SMALL_ENTRIES_MAX) return 'skiplist'
    return small([...value.members()]) ? 'listpack' : 'skiplist'
  }
  return 'quicklist'
}

function replyAbout(work: Work, what: string): void {
  const ref = work.find(work.args.at(2))
  const { reply, bucket } = work
  if (ref === 0) reply.nil()
  else if (what === 'encoding') {
    const isString = bucket.typeOf(ref) === TYPE_STRING
    reply.bulkString(isString ? stringEncoding(work, ref) : heapEncoding(bucket.heapValue(ref)))
  } else if (what === 'refcount') reply.integer(1)
  else if (what === 'idletime') reply.integer(0)
  else {
    reply.error(
      'ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.'
    )
  }
}

function about(what: string): Composite {
  return {
    name: `object|${what}`,
    arity: 3,
    write: false,
    keys: () => [2],
    execute: (work) => replyAbout(work, what)
  }
}

export const OBJECT_PARTS = ['encoding', 'refcount', 'idletime', 'freq'].map(about)

/** The bytes of the record, its key and its value. */
export const MEMORY_USAGE: Composite = {
  name: 'memory|usage',
  arity: -3,
  write: false,
  keys(args) {
    for (let place = 3; place < args.count; place += 2) {
      if (args.word(place) !== 'samples' || place + 1 >= args.count) return SYNTAX_ERROR
      const samples = args.integer(place + 1)
      if (Number.isNaN(samples)) return NOT_AN_INTEGER
      if (samples < 0) return SYNTAX_ERROR
    }
    return [2]
  },
  execute(work) {
    const ref = work.find(work.args.at(2))
    if (ref === 0) work.reply.nil()
    else work.reply.integer(work.bucket.bytesOf(ref))
  }
}
