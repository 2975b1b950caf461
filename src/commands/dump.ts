/** DUMP and RESTORE: a value as bytes that outlive it, and back (dump-format.ts). */
import { FormatError, Span, viewOf } from '../core/bytes.js'
import { TYPE_STRING } from '../store/value-type.js'
import type { Call } from './call.js'
import type { Command } from './command.js'
import { type Dumped, isDump, readDump, writeDump } from './dump-format.js'
import { NOT_AN_INTEGER, SYNTAX_ERROR } from './error-text.js'

const LATEST = Number.MAX_SAFE_INTEGER
const FREQUENCY_MAX = 255

const DUMP = {
  name: 'dump',
  arity: 2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { bucket, reply } = call
    const ref = call.look()
    if (ref === 0) {
      reply.nil()
      return
    }
    const isString = bucket.typeOf(ref) === TYPE_STRING
    const bytes = writeDump(
      isString ? bucket.pointValue(ref, new Span()).copy() : bucket.heapValue(ref)
    )
    reply.bulk(bytes, viewOf(bytes), 0, bytes.length)
  }
} as const satisfies Command

interface RestoreOptions {
  readonly replace: boolean
  /** Its time is counted from 1970. */
  readonly absolute: boolean
}

/** How often and when it was last used has no meaning here, but is checked. The error where there is one. */
function readOptions(call: Call): RestoreOptions | string {
  let [replace, absolute] = [false, false]
  let use: 'idletime' | 'freq' | undefined
  for (let place = 4; place < call.count; place++) {
    const word = call.text(place).toLowerCase()
    if (word === 'replace') replace = true
    else if (word === 'absttl') absolute = true
    else if ((word === 'idletime' || word === 'freq') && place + 1 < call.count) {
      if (use !== undefined && use !== word) return SYNTAX_ERROR
      use = word
      const value = call.integer(++place)
      if (Number.isNaN(value)) return NOT_AN_INTEGER
      if (word === 'idletime' && value < 0) return 'ERR Invalid IDLETIME value, must be >= 0'
      if (word === 'freq' && !(value >= 0 && value <= FREQUENCY_MAX)) {
        return 'ERR Invalid FREQ value, must be >= 0 and <= 255'
      }
    } else return SYNTAX_ERROR
  }
  return { replace, absolute }
}

function read(call: Call): Dumped | string {
  const offset = call.offsets[3]
  const bytes = call.bytes.subarray(offset, offset + call.lengths[3])
  if (!isDump(bytes)) return 'ERR DUMP payload version or checksum are wrong'
  try {
    return readDump(bytes)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    return 'ERR Bad data format'
  }
}

function restore(call: Call): void {
  const { bucket, reply, version } = call
  const options = readOptions(call)
  if (typeof options === 'string') {
    reply.error(options)
    return
  }
  const ref = bucket.find(call.key, call.now)
  if (ref !== 0 && !options.replace) {
    reply.error('BUSYKEY Target key name already exists.')
    return
  }
  const ttl = call.integer(2)
  if (!(ttl >= 0)) {
    reply.error(Number.isNaN(ttl) ? NOT_AN_INTEGER : 'ERR Invalid TTL value, must be >= 0')
    return
  }
  const value = read(call)
  if (typeof value === 'string') {
    reply.error(value)
    return
  }
  const expiry = ttl === 0 ? 0 : Math.min(LATEST, options.absolute ? ttl : ttl + call.now)
  reply.ok()
  if (expiry !== 0 && expiry <= call.now) {
    if (ref === 0) return
    bucket.bury(ref, version)
    call.changed('deleted')
    return
  }
  if (value instanceof Uint8Array) bucket.setString(call.key, Span.of(value), version, expiry)
  else bucket.setHeap(call.key, value, version, expiry)
  call.changed('set')
}

const RESTORE = {
  name: 'restore',
  arity: -4,
  flags: ['write', 'memory'],
  key: 1,
  execute: restore
} as const satisfies Command

/** Used by Redis between the nodes of a cluster. */
const RESTORE_ASKING = {
  name: 'restore-asking',
  arity: -4,
  flags: ['write', 'memory'],
  key: 1,
  execute: restore
} as const satisfies Command

export const DUMP_COMMANDS: readonly Command[] = [DUMP, RESTORE, RESTORE_ASKING]
