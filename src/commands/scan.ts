/** What HSCAN, SSCAN and ZSCAN share: cursor, COUNT, MATCH, and the reply. */
import type { Call } from './call.js'
import { INVALID_CURSOR, NOT_AN_INTEGER, SYNTAX_ERROR } from './error-text.js'
import { matchesGlob } from '../core/glob.js'

const CURSOR = /^[+-]?\d*$/
const CURSOR_END = 2n ** 64n
const COUNT = 10

export interface ScanOptions {
  readonly count: number
  /** Undefined for all. */
  readonly pattern: string | undefined
}

/** The cursor at place 2; undefined means that the error is written. */
export function readCursor(call: Call): number | undefined {
  const cursor = parseCursor(call.text(2))
  if (cursor === undefined) call.reply.error(INVALID_CURSOR)
  return cursor
}

/** Undefined if it is none; not exact beyond 2^53. */
export function parseCursor(text: string): number | undefined {
  if (CURSOR.test(text) && text.length <= 20) {
    const digits = text.replace(/^[+-]/, '')
    const cursor = BigInt(digits === '' ? '0' : digits)
    if (cursor < CURSOR_END) {
      // A negative one is taken as Redis takes it, as a very large one.
      return Number(text.startsWith('-') ? BigInt.asUintN(64, -cursor) : cursor)
    }
  }
  return undefined
}

/** What stands behind the cursor; undefined means that the error is written. */
export function readScanOptions(call: Call): ScanOptions | undefined {
  let count = COUNT
  let pattern: string | undefined
  for (let place = 3; place < call.count; place += 2) {
    const hasMore = place + 1 < call.count
    if (hasMore && call.is(place, 'count')) {
      count = call.integer(place + 1)
      if (!(count >= 1)) {
        call.reply.error(Number.isNaN(count) ? NOT_AN_INTEGER : SYNTAX_ERROR)
        return undefined
      }
    } else if (hasMore && call.is(place, 'match')) pattern = call.text(place + 1)
    else {
      call.reply.error(SYNTAX_ERROR)
      return undefined
    }
  }
  return { count, pattern: pattern === '*' ? undefined : pattern }
}

export function isWanted(options: ScanOptions, name: string): boolean {
  return options.pattern === undefined || matchesGlob(options.pattern, name)
}

export function replyScan(call: Call, cursor: number, texts: readonly string[]): void {
  const { reply } = call
  reply.array(2)
  reply.bulkString(String(cursor))
  reply.array(texts.length)
  for (const text of texts) reply.bulkString(text)
}
