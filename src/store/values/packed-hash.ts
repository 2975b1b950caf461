/**
 * A small hash as bytes in its record, without an object on the heap: a million of them are no work for the
 * collector. The bytes are those of `HashValue.encode`, so that they go to other nodes as they lie: the number of
 * fields, which takes one byte here, then length and bytes of each field and of its value.
 *
 * `PackedHash` reads one where it lies; `PackedDraft` is memory in which one is changed. Fields keep their order.
 */
import { copyBytes, equalBytes, NO_BYTES, type Span, viewOf } from '../../core/bytes.js'

/** Fields are searched one after the other: up to here that takes less time than to decode them into a Map. */
const PACKED_FIELDS_MAX = 64
const PACKED_BYTES_MAX = 2048
/** Of the two lengths of a field; each is below 2^14. */
const LENGTHS_BYTES_MAX = 4

/** Whether a hash of so many fields, with so many bytes in them and their values, can be packed. */
export function fitsPacked(fields: number, bytes: number): boolean {
  return fields <= PACKED_FIELDS_MAX && 1 + bytes + fields * LENGTHS_BYTES_MAX <= PACKED_BYTES_MAX
}

export class PackedHash {
  bytes: Uint8Array = NO_BYTES
  view: DataView = viewOf(NO_BYTES)
  count = 0
  // Of the field that `next` or `find` came to:
  fieldOffset = 0
  fieldLength = 0
  valueOffset = 0
  valueLength = 0
  protected start = 0
  protected end = 0
  #first = 0
  #left = 0

  point(bytes: Uint8Array, view: DataView, offset: number): this {
    this.bytes = bytes
    this.view = view
    this.count = bytes[offset]
    this.#first = offset + 1
    this.rewind()
    return this
  }

  /** `next` begins with the first field again. */
  rewind(): void {
    this.end = this.#first
    this.#left = this.count
  }

  /** Goes to the next field; false when there is none. */
  next(): boolean {
    if (this.#left === 0) return false
    this.#left--
    const { bytes } = this
    let at = this.end
    this.start = at
    let length = bytes[at++]
    if (length > 0x7f) length += (bytes[at++] - 1) << 7
    this.fieldOffset = at
    this.fieldLength = length
    at += length
    length = bytes[at++]
    if (length > 0x7f) length += (bytes[at++] - 1) << 7
    this.valueOffset = at
    this.valueLength = length
    this.end = at + length
    return true
  }

  find(view: DataView, offset: number, length: number): boolean {
    this.rewind()
    while (this.next()) {
      if (this.fieldLength !== length) continue
      if (equalBytes(this.view, this.fieldOffset, view, offset, length)) return true
    }
    return false
  }
}

export class PackedDraft extends PackedHash {
  /** Of all its bytes. */
  length = 1

  constructor() {
    super()
    const bytes = new Uint8Array(PACKED_BYTES_MAX)
    this.point(bytes, viewOf(bytes), 0)
  }

  clear(): void {
    this.#set(0, 1)
  }

  load({ bytes, view, offset, length }: Span): void {
    copyBytes(bytes, view, offset, this.bytes, this.view, 0, length)
    this.#set(bytes[offset], length)
  }

  /** Whether so many fields with so many bytes may be set, even if all of them are new. */
  hasRoom(fields: number, bytes: number): boolean {
    if (this.count + fields > PACKED_FIELDS_MAX) return false
    return this.length + bytes + fields * LENGTHS_BYTES_MAX <= PACKED_BYTES_MAX
  }

  /** True when the field is new. There must be room. */
  set(field: Span, value: Span): boolean {
    if (!this.find(field.view, field.offset, field.length)) {
      this.length = this.#write(value, this.#write(field, this.length))
      this.#set(this.count + 1, this.length)
      return true
    }
    const at = this.fieldOffset + this.fieldLength
    const size = lengthBytes(value.length) + value.length
    const change = size - (this.end - at)
    if (change !== 0) this.bytes.copyWithin(at + size, this.end, this.length)
    this.length += change
    this.#write(value, at)
    return false
  }

  delete(field: Span): boolean {
    if (!this.find(field.view, field.offset, field.length)) return false
    this.bytes.copyWithin(this.start, this.end, this.length)
    this.#set(this.count - 1, this.length - (this.end - this.start))
    return true
  }

  /** What was made, until the next change. */
  pointTo(span: Span): Span {
    return span.point(this.bytes, this.view, 0, this.length)
  }

  #set(count: number, length: number): void {
    this.count = count
    this.bytes[0] = count
    this.length = length
  }

  /** Length and bytes; returns where they end. */
  #write({ bytes, view, offset, length }: Span, at: number): number {
    let to = at
    if (length > 0x7f) {
      this.bytes[to++] = (length & 0x7f) | 0x80
      this.bytes[to++] = length >>> 7
    } else this.bytes[to++] = length
    copyBytes(bytes, view, offset, this.bytes, this.view, to, length)
    return to + length
  }
}

function lengthBytes(length: number): number {
  return length > 0x7f ? 2 : 1
}
