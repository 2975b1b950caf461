/**
 * A list: a ring of binary-safe strings, so both ends and any index take constant time, and changes in the
 * middle move the shorter side.
 */
import { assert } from '../../core/assert.js'
import type { ByteReader, ByteWriter } from '../../core/bytes.js'
import type { HeapValue } from '../value-type.js'

/** Ring slot (half full at worst) and string header. */
const ELEMENT_OVERHEAD = 36
const LIST_OVERHEAD = 160
const RING_MIN = 4

export class ListValue implements HeapValue {
  readonly kind = 'list'
  readonly isSmall = false
  bytes = LIST_OVERHEAD
  #ring: string[] = new Array<string>(RING_MIN).fill('')
  #start = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  pushFront(element: string): void {
    this.#makeRoom()
    this.#start = (this.#start - 1) & (this.#ring.length - 1)
    this.#ring[this.#start] = element
    this.#length++
    this.bytes += ELEMENT_OVERHEAD + element.length
  }

  pushBack(element: string): void {
    this.#makeRoom()
    this.#ring[this.#slot(this.#length)] = element
    this.#length++
    this.bytes += ELEMENT_OVERHEAD + element.length
  }

  popFront(): string | undefined {
    return this.#length === 0 ? undefined : this.removeAt(0)
  }

  popBack(): string | undefined {
    return this.#length === 0 ? undefined : this.removeAt(this.#length - 1)
  }

  /** An index from 0 to length - 1, else undefined. */
  at(index: number): string | undefined {
    return index >= 0 && index < this.#length ? this.#ring[this.#slot(index)] : undefined
  }

  /** False when there is no such index. */
  set(index: number, element: string): boolean {
    if (index < 0 || index >= this.#length) return false
    const slot = this.#slot(index)
    this.bytes += element.length - this.#ring[slot].length
    this.#ring[slot] = element
    return true
  }

  /** Before the element at `index`; at `length`, behind the last. */
  insertAt(index: number, element: string): void {
    assert(index >= 0 && index <= this.#length, 'an index lies outside the list')
    if (index * 2 < this.#length) {
      this.pushFront(element)
      for (let i = 0; i < index; i++) this.#ring[this.#slot(i)] = this.#ring[this.#slot(i + 1)]
    } else {
      this.pushBack(element)
      for (let i = this.#length - 1; i > index; i--) {
        this.#ring[this.#slot(i)] = this.#ring[this.#slot(i - 1)]
      }
    }
    this.#ring[this.#slot(index)] = element
  }

  removeAt(index: number): string {
    assert(index >= 0 && index < this.#length, 'an index lies outside the list')
    const ring = this.#ring
    const removed = ring[this.#slot(index)]
    if (index * 2 < this.#length) {
      for (let i = index; i > 0; i--) ring[this.#slot(i)] = ring[this.#slot(i - 1)]
      ring[this.#start] = ''
      this.#start = this.#slot(1)
    } else {
      for (let i = index; i < this.#length - 1; i++) ring[this.#slot(i)] = ring[this.#slot(i + 1)]
      ring[this.#slot(this.#length - 1)] = ''
    }
    this.#length--
    this.bytes -= ELEMENT_OVERHEAD + removed.length
    this.#giveBack()
    return removed
  }

  /** The first index of the element at or behind `from`, or -1. */
  indexOf(element: string, from = 0): number {
    for (let i = from; i < this.#length; i++) if (this.#ring[this.#slot(i)] === element) return i
    return -1
  }

  /**
   * Removes elements equal to `element`: the first `count`, with a negative count the last ones, with 0 all.
   * Returns how many.
   */
  removeEqual(element: string, count: number): number {
    const limit = count === 0 ? this.#length : Math.abs(count)
    const kept: string[] = []
    let removed = 0
    for (let i = 0; i < this.#length; i++) {
      const index = count < 0 ? this.#length - 1 - i : i
      const found = this.#ring[this.#slot(index)]
      if (found === element && removed < limit) removed++
      else kept.push(found)
    }
    if (removed > 0) this.#replace(count < 0 ? kept.reverse() : kept)
    return removed
  }

  /** Keeps the elements from `from` up to but not including `to`. */
  keep(from: number, to: number): void {
    while (this.#length > Math.max(0, to)) this.popBack()
    for (let left = Math.min(from, this.#length); left > 0; left--) this.popFront()
  }

  /** From `from` up to but not including `to`. */
  slice(from: number, to: number): string[] {
    const elements: string[] = []
    for (let i = Math.max(0, from); i < Math.min(to, this.#length); i++) {
      elements.push(this.#ring[this.#slot(i)])
    }
    return elements
  }

  encode(into: ByteWriter): void {
    into.varint(this.#length)
    for (let i = 0; i < this.#length; i++) into.latin1Text(this.#ring[this.#slot(i)])
  }

  static decode(reader: ByteReader): ListValue {
    const value = new ListValue()
    for (let left = reader.count(1); left > 0; left--) value.pushBack(reader.latin1Text())
    return value
  }

  #slot(index: number): number {
    return (this.#start + index) & (this.#ring.length - 1)
  }

  #makeRoom(): void {
    if (this.#length === this.#ring.length) this.#resize(this.#ring.length * 2)
  }

  #giveBack(): void {
    const size = this.#ring.length
    if (size > RING_MIN && this.#length * 4 < size) this.#resize(size / 2)
  }

  #resize(size: number): void {
    const ring = this.slice(0, this.#length)
    while (ring.length < size) ring.push('')
    this.#ring = ring
    this.#start = 0
  }

  #replace(elements: string[]): void {
    let size = RING_MIN
    let bytes = LIST_OVERHEAD
    for (const element of elements) bytes += ELEMENT_OVERHEAD + element.length
    this.#length = elements.length
    while (size < elements.length) size *= 2
    while (elements.length < size) elements.push('')
    this.#ring = elements
    this.#start = 0
    this.bytes = bytes
  }
}
