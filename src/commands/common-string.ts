/** LCS: the longest sequence of bytes that two strings have in common, its length, or where it lies in each. */
import { latin1String } from '../core/bytes.js'
import { TYPE_STRING } from '../store/value-type.js'
import type { Arguments } from './arguments.js'
import type { Composite, Work } from './composite.js'
import { NOT_AN_INTEGER, SYNTAX_ERROR } from './error-text.js'

/** The table of lengths may take so much, as in Redis. */
const TABLE_BYTES_MAX = 512 * 1024 * 1024

interface Options {
  readonly what: 'text' | 'length' | 'matches'
  readonly least: number
  readonly withLength: boolean
}

/** A piece of both strings; both ends are counted in. */
interface Match {
  readonly first: readonly [number, number]
  readonly second: readonly [number, number]
}

function readOptions(args: Arguments): Options | string {
  let [length, matches, withLength, least] = [false, false, false, 0]
  for (let place = 3; place < args.count; place++) {
    const word = args.word(place)
    if (word === 'idx') matches = true
    else if (word === 'len') length = true
    else if (word === 'withmatchlen') withLength = true
    else if (word === 'minmatchlen' && place + 1 < args.count) {
      least = args.integer(++place)
      if (Number.isNaN(least)) return NOT_AN_INTEGER
    } else return SYNTAX_ERROR
  }
  if (length && matches) {
    return 'ERR If you want both the length and indexes, please just use IDX.'
  }
  return { what: matches ? 'matches' : length ? 'length' : 'text', least, withLength }
}

/** Undefined where the key holds something else. */
function readString(work: Work, place: number): Uint8Array | undefined {
  const { bucket } = work
  const ref = work.find(work.args.at(place))
  if (ref === 0) return new Uint8Array(0)
  if (bucket.typeOf(ref) !== TYPE_STRING) return undefined
  const offset = bucket.valueOffset(ref)
  return bucket.valueBytes(ref).subarray(offset, offset + bucket.valueLength(ref))
}

/** At `i * (b.length + 1) + j` the length for the first i and j bytes. */
function measure(a: Uint8Array, b: Uint8Array): Uint32Array {
  const row = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * row)
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const at = i * row + j
      lengths[at] =
        a[i - 1] === b[j - 1]
          ? lengths[at - row - 1] + 1
          : Math.max(lengths[at - row], lengths[at - 1])
    }
  }
  return lengths
}

/** From the ends back to the beginnings: the common bytes and the pieces they come in, last first. */
function trace(
  a: Uint8Array,
  b: Uint8Array,
  lengths: Uint32Array
): { text: Uint8Array; matches: Match[] } {
  const row = b.length + 1
  const text: number[] = []
  const matches: Match[] = []
  let [i, j] = [a.length, b.length]
  let piece = 0
  const finish = (): void => {
    if (piece > 0) matches.push({ first: [i, i + piece - 1], second: [j, j + piece - 1] })
    piece = 0
  }
  while (i > 0 && j > 0) {
    if (a[i - 1] === b[j - 1]) {
      text.push(a[i - 1])
      i--
      j--
      piece++
    } else {
      finish()
      if (lengths[(i - 1) * row + j] > lengths[i * row + j - 1]) i--
      else j--
    }
  }
  finish()
  return { text: Uint8Array.from(text.reverse()), matches }
}

function replyMatches(
  { reply }: Work,
  matches: readonly Match[],
  { length, withLength }: { length: number; withLength: boolean }
): void {
  reply.map(2)
  reply.bulkString('matches')
  reply.array(matches.length)
  for (const { first, second } of matches) {
    reply.array(withLength ? 3 : 2)
    for (const range of [first, second]) {
      reply.array(2)
      for (const place of range) reply.integer(place)
    }
    if (withLength) reply.integer(first[1] - first[0] + 1)
  }
  reply.bulkString('len')
  reply.integer(length)
}

export const LCS: Composite = {
  name: 'lcs',
  arity: -3,
  write: false,
  keys: () => [1, 2],
  execute(work) {
    const { args, reply } = work
    const [a, b] = [readString(work, 1), readString(work, 2)]
    if (a === undefined || b === undefined) {
      reply.error('ERR The specified keys must contain string values')
      return
    }
    const options = readOptions(args)
    if (typeof options === 'string') {
      reply.error(options)
      return
    }
    if ((a.length + 1) * (b.length + 1) * 4 > TABLE_BYTES_MAX) {
      reply.error('ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len')
      return
    }
    const lengths = measure(a, b)
    const length = lengths[lengths.length - 1]
    const { what, least, withLength } = options
    if (what === 'length') {
      reply.integer(length)
      return
    }
    const { text, matches } = trace(a, b, lengths)
    if (what === 'text') reply.bulkString(latin1String(text, 0, text.length))
    else {
      const long = matches.filter(({ first }) => first[1] - first[0] + 1 >= least)
      replyMatches(work, long, { length, withLength })
    }
  }
}
