/**
 * MurmurHash3 x86 32, signed, as the ring's positions are. Document 003 hashes its strings as UTF-16
 * code units, low byte first, with the seed below; `murmur3OfText` does that without making bytes.
 */
export const RING_SEED = 0xa9b4de21

const C1 = 0xcc9e2d51
const C2 = 0x1b873593

function scramble(word: number): number {
  const k = Math.imul(word, C1)
  return Math.imul((k << 15) | (k >>> 17), C2)
}

function absorb(hash: number, word: number): number {
  const h = hash ^ scramble(word)
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
}

function finish(hash: number, length: number): number {
  let h = hash ^ length
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

export function murmur3(bytes: Uint8Array, offset: number, length: number, seed: number): number {
  const end = offset + length
  const whole = offset + (length & ~3)
  let hash = seed | 0
  let p = offset
  for (; p < whole; p += 4) {
    hash = absorb(
      hash,
      bytes[p] | (bytes[p + 1] << 8) | (bytes[p + 2] << 16) | (bytes[p + 3] << 24)
    )
  }
  if (p < end) {
    let tail = 0
    for (let shift = 0; p < end; p++, shift += 8) tail |= bytes[p] << shift
    hash ^= scramble(tail)
  }
  return finish(hash, length)
}

/** Over the UTF-16 code units of a string, two bytes each. */
export function murmur3OfText(text: string, seed: number): number {
  const pairs = text.length & ~1
  let hash = seed | 0
  for (let i = 0; i < pairs; i += 2) {
    hash = absorb(hash, text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16))
  }
  if (pairs < text.length) hash ^= scramble(text.charCodeAt(pairs))
  return finish(hash, text.length * 2)
}
