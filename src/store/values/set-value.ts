/**
 * A set: the members in an array and, by member, where in it. A removed member's place is taken by the last
 * one, so a random member, removal and a scan from the end that misses nothing all take constant time a
 * member. Members are binary-safe strings, one character a byte.
 */
import type { ByteReader, ByteWriter } from '../../core/bytes.js'
import type { HeapValue } from '../value-type.js'

/** Map entry, array slot and string header, measured on 64-bit V8. */
const MEMBER_OVERHEAD = 72
const SET_OVERHEAD = 240

export class SetValue implements HeapValue {
  readonly kind = 'set'
  readonly isSmall = false
  bytes = SET_OVERHEAD
  readonly #places = new Map<string, number>()
  readonly #members: string[] = []

  get size(): number {
    return this.#members.length
  }

  has(member: string): boolean {
    return this.#places.has(member)
  }

  /** False when it was there already. */
  add(member: string): boolean {
    if (this.#places.has(member)) return false
    this.#places.set(member, this.#members.length)
    this.#members.push(member)
    this.bytes += MEMBER_OVERHEAD + member.length
    return true
  }

  delete(member: string): boolean {
    const place = this.#places.get(member)
    if (place === undefined) return false
    this.#places.delete(member)
    const last = this.#members.pop()
    if (last !== undefined && last !== member) {
      this.#members[place] = last
      this.#places.set(last, place)
    }
    this.bytes -= MEMBER_OVERHEAD + member.length
    return true
  }

  /** By place, 0 to size - 1: with a random place, a random member. */
  at(place: number): string {
    return this.#members[place]
  }

  /** In their present order; not to be changed while iterating. */
  members(): readonly string[] {
    return this.#members
  }

  /**
   * Visits about `count` members and returns the next cursor (0 starts and ends). Goes from the last place
   * to the first: what a removal moves comes from a place already visited.
   */
  scan(cursor: number, count: number, visit: (member: string) => void): number {
    let place = cursor === 0 ? this.#members.length : Math.min(cursor, this.#members.length)
    const stop = Math.max(0, place - Math.max(1, count))
    while (place > stop) visit(this.#members[--place])
    return place
  }

  encode(into: ByteWriter, sorted = false): void {
    into.varint(this.#members.length)
    const members = sorted ? this.#members.toSorted(byBytes) : this.#members
    for (const member of members) into.latin1Text(member)
  }

  static decode(reader: ByteReader): SetValue {
    const value = new SetValue()
    for (let left = reader.count(1); left > 0; left--) value.add(reader.latin1Text())
    return value
  }
}

function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
