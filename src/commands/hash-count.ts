/** Hashes, continued: counters in fields, and fields by chance. */
import { latin1Bytes } from '../core/bytes.js'
import { TYPE_HASH } from '../store/value-type.js'
import { type Call, REFUSED } from './call.js'
import { drawPlaces, isTooManyPairs, readSignedCount } from './collection.js'
import type { Command } from './command.js'
import {
  addIntegers,
  readInteger,
  readIntegerArgument,
  readLongDouble,
  replyInteger
} from './counter.js'
import { COUNTER_OVERFLOW, INFINITE_RESULT, OUT_OF_RANGE, SYNTAX_ERROR } from './error-text.js'
import { fieldText, hashAt, setField } from './hash-fields.js'
import {
  addLongDoubles,
  formatLongDouble,
  LONG_DOUBLE_ZERO,
  parseLongDouble
} from './long-double.js'

const HINCRBY = {
  name: 'hincrby',
  arity: 4,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const { reply } = call
    const by = readIntegerArgument(call, 3)
    if (by === undefined) return
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    const text = fieldText(call, ref, 2)
    const present = text === undefined ? 0 : readInteger(latin1Bytes(text), 0, text.length)
    if (present === undefined) {
      reply.error('ERR hash value is not an integer')
      return
    }
    const sum = addIntegers(present, by)
    if (sum === undefined) {
      reply.error(COUNTER_OVERFLOW)
      return
    }
    setField(call, ref, 2, String(sum))
    replyInteger(reply, sum)
  }
} as const satisfies Command

const HINCRBYFLOAT = {
  name: 'hincrbyfloat',
  arity: 4,
  flags: ['write', 'memory', 'fast'],
  key: 1,
  execute(call) {
    const { reply } = call
    const by = readLongDouble(call, 3)
    if (by === undefined) return
    if (by.infinite) {
      reply.error('ERR value is NaN or Infinity')
      return
    }
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    const text = fieldText(call, ref, 2)
    const present = text === undefined ? LONG_DOUBLE_ZERO : parseLongDouble(text)
    if (present === undefined) {
      reply.error('ERR hash value is not a float')
      return
    }
    const sum = addLongDoubles(present, by)
    if (sum.infinite) {
      reply.error(INFINITE_RESULT)
      return
    }
    const written = formatLongDouble(sum)
    setField(call, ref, 2, written)
    reply.bulkString(written)
  }
} as const satisfies Command

function replyRandomFields(call: Call): void {
  const { reply } = call
  const count = readSignedCount(call, 2)
  if (Number.isNaN(count)) return
  const withValues = call.count === 4 && call.is(3, 'withvalues')
  if (call.count > 3 && !withValues) {
    reply.error(SYNTAX_ERROR)
    return
  }
  if (withValues && isTooManyPairs(count)) {
    reply.error(OUT_OF_RANGE)
    return
  }
  const ref = call.find(TYPE_HASH)
  if (ref === REFUSED) return
  if (ref === 0) {
    reply.array(0)
    return
  }
  const hash = hashAt(call, ref)
  const places = drawPlaces(call.random, hash.size, count)
  if (places === undefined) {
    reply.error(OUT_OF_RANGE)
    return
  }
  const inPairs = withValues && reply.protocol === 3
  reply.array(withValues && !inPairs ? places.length * 2 : places.length)
  for (const place of places) {
    if (inPairs) reply.array(2)
    reply.bulkString(hash.fieldAt(place))
    if (withValues) reply.bulkString(hash.valueAt(place))
  }
}

const HRANDFIELD = {
  name: 'hrandfield',
  arity: -2,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    if (call.count > 2) {
      replyRandomFields(call)
      return
    }
    const ref = call.find(TYPE_HASH)
    if (ref === REFUSED) return
    if (ref === 0) {
      call.reply.nil()
      return
    }
    const hash = hashAt(call, ref)
    call.reply.bulkString(hash.fieldAt(call.random.below(hash.size)))
  }
} as const satisfies Command

export const HASH_COUNT_COMMANDS: readonly Command[] = [HINCRBY, HINCRBYFLOAT, HRANDFIELD]
