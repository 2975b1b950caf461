/**
 * The fields of a hash, wherever they are: a small one lies in its record as bytes and is read and changed as bytes, a
 * large one is a `HashValue`. Commands that are rare have a small one decoded by `hashAt`.
 */
import { assert } from '../core/assert.js'
import { latin1String } from '../core/bytes.js'
import { HashValue } from '../store/values/hash-value.js'
import type { PackedHash } from '../store/values/packed-hash.js'
import type { Call } from './call.js'
import { writeValue } from './collection.js'

/** Changes must be written back with `writeValue`. */
export function hashAt(call: Call, ref: number): HashValue {
  const value = call.bucket.heapValue(ref)
  assert(value instanceof HashValue, 'a record of type hash holds something else')
  return value
}

/** A small hash where it lies, until something is written; undefined for a large one. */
function packedAt({ bucket, packed }: Call, ref: number): PackedHash | undefined {
  if (!bucket.isPacked(ref)) return undefined
  return packed.point(bucket.valueBytes(ref), bucket.valueView(ref), bucket.valueOffset(ref))
}

/** The argument at that place is the field. */
function isIn(packed: PackedHash, call: Call, place: number): boolean {
  return packed.find(call.view, call.offsets[place], call.lengths[place])
}

export function countFields(call: Call, ref: number): number {
  if (ref === 0) return 0
  return packedAt(call, ref)?.count ?? hashAt(call, ref).size
}

/** -1 if the hash does not have the field that the argument at that place names. */
export function fieldValueLength(call: Call, ref: number, place: number): number {
  if (ref === 0) return -1
  const packed = packedAt(call, ref)
  if (packed === undefined) return hashAt(call, ref).get(call.text(place))?.length ?? -1
  return isIn(packed, call, place) ? packed.valueLength : -1
}

/** The value of the field that the argument at that place names. */
export function fieldText(call: Call, ref: number, place: number): string | undefined {
  if (ref === 0) return undefined
  const packed = packedAt(call, ref)
  if (packed === undefined) return hashAt(call, ref).get(call.text(place))
  if (!isIn(packed, call, place)) return undefined
  return latin1String(packed.bytes, packed.valueOffset, packed.valueLength)
}

/** The same as a reply, or nil. */
export function replyFieldValue(call: Call, ref: number, place: number): void {
  const { reply } = call
  const packed = ref === 0 ? undefined : packedAt(call, ref)
  if (packed === undefined) {
    const text = fieldText(call, ref, place)
    if (text === undefined) reply.nil()
    else reply.bulkString(text)
  } else if (isIn(packed, call, place)) {
    reply.bulk(packed.bytes, packed.view, packed.valueOffset, packed.valueLength)
  } else reply.nil()
}

/** All fields, their values, or both in turn; how many they are is replied already. */
export function replyAllFields(call: Call, ref: number, fields: boolean, values: boolean): void {
  if (ref === 0) return
  const { reply } = call
  const packed = packedAt(call, ref)
  if (packed === undefined) {
    const hash = hashAt(call, ref)
    for (let i = 0; i < hash.size; i++) {
      if (fields) reply.bulkString(hash.fieldAt(i))
      if (values) reply.bulkString(hash.valueAt(i))
    }
    return
  }
  const { bytes, view } = packed
  while (packed.next()) {
    if (fields) reply.bulk(bytes, view, packed.fieldOffset, packed.fieldLength)
    if (values) reply.bulk(bytes, view, packed.valueOffset, packed.valueLength)
  }
}

/** Sets the fields and values from the third argument on; returns how many fields were new. */
export function setFields(call: Call, ref: number): number {
  if (isDraftLoaded(call, ref) && isRoomInDraft(call)) return setInDraft(call, ref)
  const hash = ref === 0 ? new HashValue() : hashAt(call, ref)
  let added = 0
  for (let place = 2; place < call.count; place += 2) {
    if (hash.set(call.text(place), call.text(place + 1))) added++
  }
  writeValue(call, ref, hash, hash.size)
  return added
}

/** Sets the field that the argument at that place names to a value the command has made. */
export function setField(call: Call, ref: number, place: number, text: string): void {
  const { draft, scratch, first, second } = call
  if (isDraftLoaded(call, ref) && draft.hasRoom(1, call.lengths[place] + text.length)) {
    scratch.reset()
    scratch.latin1(text)
    second.point(scratch.bytes, scratch.view, 0, scratch.length)
    draft.set(call.argument(place, first), second)
    storeDraft(call, ref)
    return
  }
  const hash = ref === 0 ? new HashValue() : hashAt(call, ref)
  hash.set(call.text(place), text)
  writeValue(call, ref, hash, hash.size)
}

/** Deletes the fields from the third argument on; returns how many there were. */
export function deleteFields(call: Call, ref: number): number {
  if (ref === 0) return 0
  let removed = 0
  if (!isDraftLoaded(call, ref)) {
    const hash = hashAt(call, ref)
    for (let place = 2; place < call.count; place++) {
      if (hash.delete(call.text(place))) removed++
    }
    if (removed > 0) writeValue(call, ref, hash, hash.size)
    return removed
  }
  const { draft, first } = call
  for (let place = 2; place < call.count; place++) {
    if (draft.delete(call.argument(place, first))) removed++
  }
  if (removed > 0) storeDraft(call, ref)
  return removed
}

/** Of a small hash, or one that is not there yet. */
function isDraftLoaded({ bucket, draft, first }: Call, ref: number): boolean {
  if (ref === 0) draft.clear()
  else if (bucket.isPacked(ref)) draft.load(bucket.pointValue(ref, first))
  else return false
  return true
}

function isRoomInDraft({ draft, count, lengths }: Call): boolean {
  let bytes = 0
  for (let place = 2; place < count; place++) bytes += lengths[place]
  return draft.hasRoom((count - 2) >> 1, bytes)
}

function setInDraft(call: Call, ref: number): number {
  const { draft, first, second } = call
  let added = 0
  for (let place = 2; place < call.count; place += 2) {
    if (draft.set(call.argument(place, first), call.argument(place + 1, second))) added++
  }
  storeDraft(call, ref)
  return added
}

function storeDraft(call: Call, ref: number): void {
  const { bucket, draft, key, version, first } = call
  if (draft.count === 0) {
    bucket.bury(ref, version)
    call.changed('deleted')
    return
  }
  const expiry = ref === 0 ? 0 : bucket.expiryOf(ref)
  bucket.setPacked(key, 'hash', draft.pointTo(first), version, expiry)
  call.changed('set')
}
