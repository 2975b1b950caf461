/**
 * A sorted set: the score of each member in a Map, and the members in order (by score, then by bytes) in
 * sorted pieces of up to 256. Finding a place is two binary searches; a rank adds up the lengths of the
 * pieces before it, so a million members cost about 6,000 additions at worst. A skip list was rejected: one
 * object and several pointers a member.
 *
 * All ranges are ranges of ranks: `rankOfScore` and `rankOfMember` turn bounds into ranks.
 */
import { assert } from '../../core/assert.js'
import { type ByteReader, type ByteWriter, FormatError } from '../../core/bytes.js'
import type { HeapValue } from '../value-type.js'

/** Map entry with a boxed score, two array slots, string header. */
const MEMBER_OVERHEAD = 96
const ZSET_OVERHEAD = 320
const PIECE_MAX = 256
const PIECE_MIN = 64

interface Piece {
  readonly scores: number[]
  readonly members: string[]
}

export class ZsetValue implements HeapValue {
  readonly kind = 'zset'
  readonly isSmall = false
  bytes = ZSET_OVERHEAD
  readonly #scores = new Map<string, number>()
  /** At least one; only the first may be empty, and only alone. */
  readonly #pieces: Piece[] = [{ scores: [], members: [] }]

  get size(): number {
    return this.#scores.size
  }

  score(member: string): number | undefined {
    return this.#scores.get(member)
  }

  /** True when the member is new. */
  set(member: string, score: number): boolean {
    assert(!Number.isNaN(score), 'a score is not a number')
    const old = this.#scores.get(member)
    if (old !== undefined) {
      if (old === score) return false
      this.#take(old, member)
    } else this.bytes += MEMBER_OVERHEAD + member.length
    // Minus zero would compare equal and encode differently.
    const kept = score === 0 ? 0 : score
    this.#scores.set(member, kept)
    this.#put(kept, member)
    return old === undefined
  }

  delete(member: string): boolean {
    const score = this.#scores.get(member)
    if (score === undefined) return false
    this.#scores.delete(member)
    this.#take(score, member)
    this.bytes -= MEMBER_OVERHEAD + member.length
    return true
  }

  /** The rank from the lowest, or -1. */
  rank(member: string): number {
    const score = this.#scores.get(member)
    return score === undefined ? -1 : this.#rankOf(score, member)
  }

  /** How many members have a lower score, or with `after` a lower or equal one. */
  rankOfScore(score: number, after: boolean): number {
    let piece = 0
    let end = this.#pieces.length
    while (piece < end) {
      const middle = (piece + end) >> 1
      const scores = this.#pieces[middle].scores
      const last = scores[scores.length - 1]
      if (last < score || (after && last === score)) piece = middle + 1
      else end = middle
    }
    if (piece === this.#pieces.length) return this.size
    const scores = this.#pieces[piece].scores
    let place = 0
    end = scores.length
    while (place < end) {
      const middle = (place + end) >> 1
      if (scores[middle] < score || (after && scores[middle] === score)) place = middle + 1
      else end = middle
    }
    return this.#before(piece) + place
  }

  /**
   * How many members lie before this one (or with `after`, before or at it) where all have the same score: what
   * ranges by member mean. With different scores it is only right if the members are in order all the same.
   */
  rankOfMember(member: string, after: boolean): number {
    const isBefore = (other: string): boolean => other < member || (after && other === member)
    let piece = 0
    let end = this.#pieces.length
    while (piece < end) {
      const middle = (piece + end) >> 1
      const { members } = this.#pieces[middle]
      if (members.length > 0 && isBefore(members[members.length - 1])) piece = middle + 1
      else end = middle
    }
    if (piece === this.#pieces.length) return this.size
    const { members } = this.#pieces[piece]
    let place = 0
    end = members.length
    while (place < end) {
      const middle = (place + end) >> 1
      if (isBefore(members[middle])) place = middle + 1
      else end = middle
    }
    return this.#before(piece) + place
  }

  /** Visits the ranks from `from` up to but not including `to`, in order, or backwards with `reverse`. */
  range(
    from: number,
    to: number,
    reverse: boolean,
    visit: (member: string, score: number) => void
  ): void {
    const low = Math.max(0, from)
    const high = Math.min(to, this.size)
    if (low >= high) return
    const step = reverse ? -1 : 1
    let rank = reverse ? high - 1 : low
    let piece = 0
    while (rank >= this.#pieces[piece].scores.length) {
      rank -= this.#pieces[piece].scores.length
      piece++
    }
    let place = rank
    for (let left = high - low; left > 0; left--) {
      const { scores, members } = this.#pieces[piece]
      visit(members[place], scores[place])
      place += step
      if (place === scores.length) {
        piece++
        place = 0
      } else if (place < 0 && piece > 0) {
        piece--
        place = this.#pieces[piece].scores.length - 1
      }
    }
  }

  /** The members of a range of ranks, for taking them out one by one. */
  membersInRange(from: number, to: number, reverse = false): string[] {
    const members: string[] = []
    this.range(from, to, reverse, (member) => members.push(member))
    return members
  }

  /** In the order of their arrival in the Map; for scans that need no order. */
  members(): IterableIterator<string> {
    return this.#scores.keys()
  }

  /** Its order is its own and always the same, so there is nothing to sort. */
  encode(into: ByteWriter): void {
    into.varint(this.size)
    this.range(0, this.size, false, (member, score) => {
      into.latin1Text(member)
      into.f64(score)
    })
  }

  static decode(reader: ByteReader): ZsetValue {
    const value = new ZsetValue()
    for (let left = reader.count(9); left > 0; left--) {
      const member = reader.latin1Text()
      const score = reader.f64()
      if (Number.isNaN(score)) throw new FormatError('a score is not a number')
      value.set(member, score)
    }
    return value
  }

  #rankOf(score: number, member: string): number {
    const piece = this.#pieceOf(score, member)
    const { scores, members } = this.#pieces[piece]
    return this.#before(piece) + placeOf(scores, members, score, member)
  }

  #before(piece: number): number {
    let rank = 0
    for (let i = 0; i < piece; i++) rank += this.#pieces[i].scores.length
    return rank
  }

  /** The first piece whose last element is not before this one, or the last piece. */
  #pieceOf(score: number, member: string): number {
    let low = 0
    let high = this.#pieces.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      const { scores, members } = this.#pieces[middle]
      const last = scores.length - 1
      if (scores[last] < score || (scores[last] === score && members[last] < member)) {
        low = middle + 1
      } else high = middle
    }
    return low
  }

  #put(score: number, member: string): void {
    const index = this.#pieceOf(score, member)
    const { scores, members } = this.#pieces[index]
    const place = placeOf(scores, members, score, member)
    scores.splice(place, 0, score)
    members.splice(place, 0, member)
    if (scores.length <= PIECE_MAX) return
    // Appending in order is common: leave the old piece nearly full then.
    const cut = place === PIECE_MAX ? PIECE_MAX - 8 : PIECE_MAX >> 1
    this.#pieces.splice(index + 1, 0, { scores: scores.splice(cut), members: members.splice(cut) })
  }

  #take(score: number, member: string): void {
    const index = this.#pieceOf(score, member)
    const { scores, members } = this.#pieces[index]
    const place = placeOf(scores, members, score, member)
    assert(members[place] === member, 'a member has no place in the order')
    scores.splice(place, 1)
    members.splice(place, 1)
    if (scores.length >= PIECE_MIN || this.#pieces.length === 1) return
    this.#joinPiece(index)
  }

  #joinPiece(index: number): void {
    const left = index > 0 ? index - 1 : index
    const into = this.#pieces[left]
    const from = this.#pieces[left + 1]
    if (into.scores.length + from.scores.length > PIECE_MAX - PIECE_MIN) {
      if (into.scores.length > 0 && from.scores.length > 0) return
    }
    into.scores.push(...from.scores)
    into.members.push(...from.members)
    this.#pieces.splice(left + 1, 1)
  }
}

/** The first place whose element is not before this one. */
function placeOf(scores: number[], members: string[], score: number, member: string): number {
  let low = 0
  let high = scores.length
  while (low < high) {
    const middle = (low + high) >> 1
    const found = scores[middle]
    if (found < score || (found === score && members[middle] < member)) low = middle + 1
    else high = middle
  }
  return low
}
