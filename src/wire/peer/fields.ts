/** Small parts that several families of messages have in common; each refuses what cannot be. */
import { FormatError, type ByteReader } from '../../core/bytes.js'
import { isNodeName, type NodeName } from '../../core/ids.js'
import { isMask } from '../../core/mask.js'

const TEXT_MAX = 4096

/** A time or a version: a number that ends somewhere. */
export function readMoment(r: ByteReader): number {
  const moment = r.f64()
  if (!(moment >= 0 && moment <= Number.MAX_SAFE_INTEGER)) throw new FormatError('not a moment')
  return moment
}

export function readMask(r: ByteReader): number {
  const mask = r.u16()
  if (!isMask(mask)) throw new FormatError(`not a mask: ${mask}`)
  return mask
}

export function readFlag(r: ByteReader): boolean {
  const byte = r.u8()
  if (byte > 1) throw new FormatError(`not a flag: ${byte}`)
  return byte === 1
}

export function readText(r: ByteReader): string {
  const text = r.utf8Text()
  if (text.length > TEXT_MAX) throw new FormatError('a text is too long')
  return text
}

/** What follows, where it lies: valid as long as the envelope is. */
export function viewRest(r: ByteReader): Uint8Array {
  const at = r.skip(r.remaining)
  return r.bytes.subarray(at, r.end)
}

export function readRest(r: ByteReader): Uint8Array {
  return r.copy(r.remaining)
}

export function readName(r: ByteReader): NodeName {
  const name = r.latin1Text()
  if (!isNodeName(name)) throw new FormatError('not a node name')
  return name
}
