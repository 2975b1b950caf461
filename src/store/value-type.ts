/**
 * The types a record can have, as the three bits its header keeps for them, and what the store needs
 * to know of a value that lives on the heap.
 */
import { type ByteReader, type ByteWriter, FormatError } from '../core/bytes.js'

export const TYPE_TOMBSTONE = 0
export const TYPE_STRING = 1
export const TYPE_HASH = 2
export const TYPE_LIST = 3
export const TYPE_SET = 4
export const TYPE_ZSET = 5
export const TYPE_STREAM = 6

export type HeapKind = 'hash' | 'list' | 'set' | 'zset' | 'stream'
export type Kind = 'tombstone' | 'string' | HeapKind

const KINDS: readonly Kind[] = ['tombstone', 'string', 'hash', 'list', 'set', 'zset', 'stream']

export function kindOfType(type: number): Kind {
  return KINDS[type]
}

export function heapKindOf(type: number): HeapKind {
  const kind = kindOfType(type)
  if (kind === 'string' || kind === 'tombstone') throw new FormatError(`${kind} is no heap type`)
  return kind
}

export function typeOfKind(kind: Kind): number {
  return KINDS.indexOf(kind)
}

/**
 * A value the store keeps but does not understand. `encode` with `sorted` must give the same bytes
 * for equal values whatever their history: digests and ties are decided by it. Without it the
 * order may be the value's own, which is cheaper.
 */
export interface HeapValue {
  readonly kind: HeapKind
  /** The current estimate of the memory it takes. */
  readonly bytes: number
  /** So small that its encoding takes its place in the record. */
  readonly isSmall: boolean
  encode(into: ByteWriter, sorted?: boolean): void
}

export type DecodeValue = (kind: HeapKind, reader: ByteReader) => HeapValue
