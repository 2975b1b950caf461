/**
 * The Redis Cluster slot of a key: CRC16 of the key, or of its hash tag, modulo 16384. Most keys
 * have no tag, so looking for the `{` rides along with the CRC's own pass over the bytes: a pass
 * before it would cost more than the CRC itself (bench/micro/hash.ts). `CRC16_TABLES` explains the step.
 */
import { CRC16_TABLES, crc16 } from './crc16.js'

export const SLOTS = 16384
export const SLOT_BITS = 14

const SLOT_MASK = SLOTS - 1
const OPEN = 0x7b // {
const CLOSE = 0x7d // }

export function keySlot(bytes: Uint8Array, offset: number, length: number): number {
  const tables = CRC16_TABLES
  const end = offset + length
  const head = offset + (length & 7)
  let crc = 0
  let p = offset
  for (; p < head; p++) {
    const byte = bytes[p]
    if (byte === OPEN) return taggedSlot(bytes, offset, end, p)
    crc ^= tables[((head - 1 - p) << 8) | byte]
  }
  for (; p < end; p += 8) {
    const b0 = bytes[p]
    const b1 = bytes[p + 1]
    const b2 = bytes[p + 2]
    const b3 = bytes[p + 3]
    const b4 = bytes[p + 4]
    const b5 = bytes[p + 5]
    const b6 = bytes[p + 6]
    const b7 = bytes[p + 7]
    if (
      b0 === OPEN ||
      b1 === OPEN ||
      b2 === OPEN ||
      b3 === OPEN ||
      b4 === OPEN ||
      b5 === OPEN ||
      b6 === OPEN ||
      b7 === OPEN
    ) {
      return taggedSlot(bytes, offset, end, p)
    }
    crc =
      tables[0x700 | (b0 ^ (crc >>> 8))] ^
      tables[0x600 | (b1 ^ (crc & 0xff))] ^
      tables[0x500 | b2] ^
      tables[0x400 | b3] ^
      tables[0x300 | b4] ^
      tables[0x200 | b5] ^
      tables[0x100 | b6] ^
      tables[b7]
  }
  return crc & SLOT_MASK
}

/** The tag is between the first `{` and the first `}` after it; an empty or unclosed one is none. */
function taggedSlot(bytes: Uint8Array, offset: number, end: number, near: number): number {
  let open = near
  while (bytes[open] !== OPEN) open++
  let close = open + 1
  while (close < end && bytes[close] !== CLOSE) close++
  if (close === end || close === open + 1) return crc16(bytes, offset, end - offset) & SLOT_MASK
  return crc16(bytes, open + 1, close - open - 1) & SLOT_MASK
}

const REVERSED: Uint16Array = buildReversed()

function buildReversed(): Uint16Array {
  const reversed = new Uint16Array(SLOTS)
  for (let slot = 1; slot < SLOTS; slot++) {
    reversed[slot] = (reversed[slot >>> 1] >>> 1) | ((slot & 1) << (SLOT_BITS - 1))
  }
  return reversed
}

/** The 14 bits of a slot in reverse order. Its own inverse. */
export function reverse14(slot: number): number {
  return REVERSED[slot]
}
