/** The CRC-64 by which Redis checks its dumps (Jones' polynomial, reflected), in two 32-bit halves. */

const POLYNOMIAL_HIGH = 0x95ac9329
const POLYNOMIAL_LOW = 0xac4bc9b5

const HIGH = new Uint32Array(256)
const LOW = new Uint32Array(256)
for (let byte = 0; byte < 256; byte++) {
  let [high, low] = [0, byte]
  for (let bit = 0; bit < 8; bit++) {
    const odd = low & 1
    low = (low >>> 1) | (high << 31)
    high >>>= 1
    if (odd === 1) {
      high ^= POLYNOMIAL_HIGH
      low ^= POLYNOMIAL_LOW
    }
  }
  HIGH[byte] = high
  LOW[byte] = low
}

/** Both halves, the lower one first, as they stand at the end of a dump. */
export function crc64(bytes: Uint8Array, end: number): readonly [number, number] {
  let [high, low] = [0, 0]
  for (let at = 0; at < end; at++) {
    const byte = (low ^ bytes[at]) & 255
    low = (((low >>> 8) | (high << 24)) ^ LOW[byte]) >>> 0
    high = ((high >>> 8) ^ HIGH[byte]) >>> 0
  }
  return [low, high]
}
