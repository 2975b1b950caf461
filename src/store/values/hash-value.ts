/**
 * A hash: fields and values in two arrays and, by field, where in them. As in a set, the last field takes
 * the place of a removed one, so random fields and scans are simple. Fields and values are binary-safe
 * strings, one character a byte.
 */
import type { ByteReader, ByteWriter } from '../../core/bytes.js'
import type { HeapValue } from '../value-type.js'
import { fitsPacked } from './packed-hash.js'

/** Map entry, two array slots and two string headers, measured on 64-bit V8. */
const FIELD_OVERHEAD = 104
const HASH_OVERHEAD = 280

export class HashValue implements HeapValue {
  readonly kind = 'hash'
  bytes = HASH_OVERHEAD
  readonly #places = new Map<string, number>()
  readonly #fields: string[] = []
  readonly #values: string[] = []

  get isSmall(): boolean {
    const { size } = this
    const texts = this.bytes - HASH_OVERHEAD - size * FIELD_OVERHEAD
    return fitsPacked(size, texts)
  }

  get size(): number {
    return this.#fields.length
  }

  has(field: string): boolean {
    return this.#places.has(field)
  }

  get(field: string): string | undefined {
    const place = this.#places.get(field)
    return place === undefined ? undefined : this.#values[place]
  }

  /** True when the field is new. */
  set(field: string, value: string): boolean {
    const place = this.#places.get(field)
    if (place !== undefined) {
      this.bytes += value.length - this.#values[place].length
      this.#values[place] = value
      return false
    }
    this.#places.set(field, this.#fields.length)
    this.#fields.push(field)
    this.#values.push(value)
    this.bytes += FIELD_OVERHEAD + field.length + value.length
    return true
  }

  delete(field: string): boolean {
    const place = this.#places.get(field)
    if (place === undefined) return false
    this.bytes -= FIELD_OVERHEAD + field.length + this.#values[place].length
    this.#places.delete(field)
    const lastField = this.#fields.pop()
    const lastValue = this.#values.pop()
    if (lastField !== undefined && lastValue !== undefined && lastField !== field) {
      this.#fields[place] = lastField
      this.#values[place] = lastValue
      this.#places.set(lastField, place)
    }
    return true
  }

  /** By place, 0 to size - 1: with a random place, a random field. */
  fieldAt(place: number): string {
    return this.#fields[place]
  }

  valueAt(place: number): string {
    return this.#values[place]
  }

  /** As SetValue.scan. */
  scan(cursor: number, count: number, visit: (field: string, value: string) => void): number {
    let place = cursor === 0 ? this.#fields.length : Math.min(cursor, this.#fields.length)
    const stop = Math.max(0, place - Math.max(1, count))
    while (place > stop) {
      place--
      visit(this.#fields[place], this.#values[place])
    }
    return place
  }

  encode(into: ByteWriter, sorted = false): void {
    into.varint(this.#fields.length)
    const places = sorted ? this.#sortedPlaces() : this.#fields.keys()
    for (const place of places) {
      into.latin1Text(this.#fields[place])
      into.latin1Text(this.#values[place])
    }
  }

  static decode(reader: ByteReader): HashValue {
    const value = new HashValue()
    for (let left = reader.count(2); left > 0; left--) {
      const field = reader.latin1Text()
      value.set(field, reader.latin1Text())
    }
    return value
  }

  #sortedPlaces(): number[] {
    const fields = this.#fields
    return [...fields.keys()].sort((a, b) =>
      fields[a] < fields[b] ? -1 : fields[a] > fields[b] ? 1 : 0
    )
  }
}
