/** Lists, continued: changes in the middle, and searching. */
import { TYPE_LIST } from '../store/value-type.js'
import type { ListValue } from '../store/values/list-value.js'
import { type Call, REFUSED } from './call.js'
import { readSignedCount, writeValue } from './collection.js'
import type { Command } from './command.js'
import { INDEX_OUT_OF_RANGE, NO_SUCH_KEY, NOT_AN_INTEGER, SYNTAX_ERROR } from './error-text.js'
import { listAt } from './list.js'

const LSET = {
  name: 'lset',
  arity: 4,
  flags: ['write', 'memory'],
  key: 1,
  execute(call) {
    const { reply } = call
    const ref = call.find(TYPE_LIST)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.error(NO_SUCH_KEY)
      return
    }
    const index = call.integer(2)
    if (Number.isNaN(index)) {
      reply.error(NOT_AN_INTEGER)
      return
    }
    const list = listAt(call, ref)
    if (!list.set(index < 0 ? index + list.length : index, call.text(3))) {
      reply.error(INDEX_OUT_OF_RANGE)
      return
    }
    writeValue(call, ref, list, list.length)
    reply.ok()
  }
} as const satisfies Command

const LINSERT = {
  name: 'linsert',
  arity: 5,
  flags: ['write', 'memory'],
  key: 1,
  execute(call) {
    const { reply } = call
    const after = call.is(2, 'after')
    if (!after && !call.is(2, 'before')) {
      reply.error(SYNTAX_ERROR)
      return
    }
    const ref = call.find(TYPE_LIST)
    if (ref === REFUSED) return
    if (ref === 0) {
      reply.integer(0)
      return
    }
    const list = listAt(call, ref)
    const index = list.indexOf(call.text(3))
    if (index < 0) {
      reply.integer(-1)
      return
    }
    list.insertAt(after ? index + 1 : index, call.text(4))
    writeValue(call, ref, list, list.length)
    reply.integer(list.length)
  }
} as const satisfies Command

const LREM = {
  name: 'lrem',
  arity: 4,
  flags: ['write'],
  key: 1,
  execute(call) {
    const { reply } = call
    const count = call.integer(2)
    if (Number.isNaN(count)) {
      reply.error(NOT_AN_INTEGER)
      return
    }
    const ref = call.find(TYPE_LIST)
    if (ref === REFUSED) return
    let removed = 0
    if (ref !== 0) {
      const list = listAt(call, ref)
      removed = list.removeEqual(call.text(3), count)
      if (removed > 0) writeValue(call, ref, list, list.length)
    }
    reply.integer(removed)
  }
} as const satisfies Command

/** What to look for with LPOS. */
interface Search {
  /** 1 is the first match, -1 the last. */
  rank: number
  /** 0 is all; undefined is one, answered without an array. */
  count: number | undefined
  /** How many elements to look at; 0 is all. */
  maxLength: number
}

/** Undefined means that the error is written. */
function readSearch(call: Call): Search | undefined {
  const { reply } = call
  const search: Search = { rank: 1, count: undefined, maxLength: 0 }
  for (let place = 3; place < call.count; place += 2) {
    const hasMore = place + 1 < call.count
    if (hasMore && call.is(place, 'rank')) {
      search.rank = readSignedCount(call, place + 1)
      if (Number.isNaN(search.rank)) return undefined
      if (search.rank === 0) {
        reply.error(
          "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... " +
            'or use negative to start from the end of the list'
        )
        return undefined
      }
    } else if (hasMore && call.is(place, 'count')) {
      search.count = call.integer(place + 1)
      if (!(search.count >= 0)) {
        reply.error("ERR COUNT can't be negative")
        return undefined
      }
    } else if (hasMore && call.is(place, 'maxlen')) {
      search.maxLength = call.integer(place + 1)
      if (!(search.maxLength >= 0)) {
        reply.error("ERR MAXLEN can't be negative")
        return undefined
      }
    } else {
      reply.error(SYNTAX_ERROR)
      return undefined
    }
  }
  return search
}

function findPositions(list: ListValue, element: string, search: Search): number[] {
  const { rank, count, maxLength } = search
  const { length } = list
  const looks = maxLength === 0 ? length : Math.min(maxLength, length)
  const wanted = count === 0 ? length : (count ?? 1)
  let toSkip = Math.abs(rank) - 1
  const positions: number[] = []
  for (let i = 0; i < looks && positions.length < wanted; i++) {
    const index = rank > 0 ? i : length - 1 - i
    if (list.at(index) !== element) continue
    if (toSkip > 0) toSkip--
    else positions.push(index)
  }
  return positions
}

const LPOS = {
  name: 'lpos',
  arity: -3,
  flags: ['readonly'],
  key: 1,
  execute(call) {
    const { reply } = call
    const search = readSearch(call)
    if (search === undefined) return
    const ref = call.find(TYPE_LIST)
    if (ref === REFUSED) return
    const positions = ref === 0 ? [] : findPositions(listAt(call, ref), call.text(2), search)
    if (search.count !== undefined) {
      reply.array(positions.length)
      for (const position of positions) reply.integer(position)
    } else if (positions.length === 0) reply.nil()
    else reply.integer(positions[0])
  }
} as const satisfies Command

export const LIST_EDIT_COMMANDS: readonly Command[] = [LSET, LINSERT, LREM, LPOS]
