/** PFADD, PFCOUNT and PFMERGE: counting different elements without keeping them (hyperloglog.ts). */
import { Span } from '../core/bytes.js'
import { TYPE_STRING } from '../store/value-type.js'
import type { Bucket } from '../store/bucket.js'
import type { Command } from './command.js'
import { type Composite, everyKey, type Work } from './composite.js'
import { WRONG_TYPE } from './error-text.js'
import {
  addElement,
  cardinalityBytes,
  count,
  isDense,
  isHyperLogLog,
  knownCardinality,
  pack,
  REGISTERS,
  unpack
} from './hyperloglog.js'

const NOT_ONE = 'WRONGTYPE Key is not a valid HyperLogLog string value.'
const CORRUPT = 'INVALIDOBJ Corrupted HLL object detected'

interface Counted {
  readonly bytes: Uint8Array
  readonly registers: Uint8Array
}

/** What the record holds, or the error. */
function read(bucket: Bucket, ref: number): Counted | string {
  if (bucket.typeOf(ref) !== TYPE_STRING) return WRONG_TYPE
  const offset = bucket.valueOffset(ref)
  const bytes = bucket.valueBytes(ref).subarray(offset, offset + bucket.valueLength(ref))
  if (!isHyperLogLog(bytes)) return NOT_ONE
  const registers = unpack(bytes)
  return registers === undefined ? CORRUPT : { bytes, registers }
}

const PFADD = {
  name: 'pfadd',
  arity: -2,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const { bucket, reply } = call
    const ref = bucket.find(call.key, call.now)
    const found = ref === 0 ? undefined : read(bucket, ref)
    if (typeof found === 'string') {
      reply.error(found)
      return
    }
    const registers = found?.registers ?? new Uint8Array(REGISTERS)
    let changed = found === undefined
    for (let place = 2; place < call.count; place++) {
      const offset = call.offsets[place]
      const element = call.bytes.subarray(offset, offset + call.lengths[place])
      if (addElement(registers, element)) changed = true
    }
    reply.integer(changed ? 1 : 0)
    if (!changed) return
    const dense = found !== undefined && isDense(found.bytes)
    const expiry = ref === 0 ? 0 : bucket.expiryOf(ref)
    bucket.setString(call.key, Span.of(pack(registers, dense)), call.version, expiry)
    call.changed('set')
  }
} as const satisfies Command

export const CARDINALITY_COMMANDS: readonly Command[] = [PFADD]

/** The highest of each register; undefined means that the error is written. */
function merge(
  work: Work,
  places: readonly number[]
): { registers: Uint8Array; dense: boolean } | undefined {
  const registers = new Uint8Array(REGISTERS)
  let dense = false
  for (const place of places) {
    const ref = work.find(work.args.at(place))
    if (ref === 0) continue
    const found = read(work.bucket, ref)
    if (typeof found === 'string') {
      work.reply.error(found)
      return undefined
    }
    if (isDense(found.bytes)) dense = true
    found.registers.forEach((value, i) => {
      if (value > registers[i]) registers[i] = value
    })
  }
  return { registers, dense }
}

/** Of one key, the number is remembered in the key, as Redis does it: so it is a write, if seldom one. */
function countOne(work: Work): void {
  const { args, reply } = work
  const key = args.at(1)
  const ref = work.find(key)
  if (ref === 0) {
    reply.integer(0)
    return
  }
  const found = read(work.bucket, ref)
  if (typeof found === 'string') {
    reply.error(found)
    return
  }
  const known = knownCardinality(found.bytes)
  const cardinality = known ?? count(found.registers)
  if (known === undefined) {
    const { at, bytes } = cardinalityBytes(cardinality)
    work.run('SETRANGE', key, String(at), bytes)
  }
  reply.longInteger(cardinality)
}

const PFCOUNT: Composite = {
  name: 'pfcount',
  arity: -2,
  write: true,
  keys: (args) => everyKey(args),
  execute(work) {
    if (work.args.count === 2) {
      countOne(work)
      return
    }
    const merged = merge(work, everyKey(work.args))
    if (merged !== undefined) work.reply.longInteger(count(merged.registers))
  }
}

const PFMERGE: Composite = {
  name: 'pfmerge',
  arity: -2,
  write: true,
  keys: (args) => everyKey(args),
  execute(work) {
    // What is there already counts.
    const merged = merge(work, everyKey(work.args))
    if (merged === undefined) return
    work.run('SET', work.args.at(1), pack(merged.registers, merged.dense), 'KEEPTTL')
    work.reply.ok()
  }
}

export const CARDINALITY_COMPOSITES: readonly Composite[] = [PFCOUNT, PFMERGE]
