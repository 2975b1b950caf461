/**
 * What the hashes cost a key, for keys lying in a buffer as the parser leaves them. The CRC a byte
 * a step is here for comparison: it is what the wide tables of src/core/hash/crc16.ts must beat.
 */
import { CRC16_TABLES, crc16 } from '../../src/core/hash/crc16.js'
import { RING_SEED, murmur3 } from '../../src/core/hash/murmur3.js'
import { md5Hash, redisHash } from '../../src/core/hash/placement-hash.js'
import { keySlot } from '../../src/core/hash/slot.js'
import { Random } from '../../src/core/random.js'
import { measure, type Measurement } from './measure.js'

type Hash = (bytes: Uint8Array, offset: number, length: number) => number

function crc16ByByte(bytes: Uint8Array, offset: number, length: number): number {
  let crc = 0
  for (let p = offset; p < offset + length; p++) {
    crc = ((crc << 8) & 0xffff) ^ CRC16_TABLES[(crc >>> 8) ^ bytes[p]]
  }
  return crc
}

const hashes: readonly [string, Hash][] = [
  ['crc16 by byte', crc16ByByte],
  ['crc16', crc16],
  ['slot', keySlot],
  ['placement redis', redisHash.hash],
  ['placement md5', md5Hash.hash],
  ['murmur3', (bytes, offset, length) => murmur3(bytes, offset, length, RING_SEED)]
]

export function run({ keys }: { keys: number }): Measurement[] {
  const results: Measurement[] = []
  for (const keyBytes of [16, 20, 40]) {
    const count = Math.min(keys, 4096)
    const random = new Random(keyBytes)
    const bytes = new Uint8Array(count * keyBytes)
    for (let p = 0; p < bytes.length; p++) bytes[p] = random.between(0x30, 0x39)
    for (const [name, hash] of hashes) {
      const loop = specialise(hash)
      results.push(
        measure(`${name}, ${keyBytes} bytes`, keys, () => loop(bytes, keyBytes, count, keys))
      )
    }
  }
  return results
}

type Loop = (bytes: Uint8Array, keyBytes: number, count: number, keys: number) => number

/** A loop of its own for each hash: one loop calling them all would measure the calls instead. */
function specialise(hash: Hash): Loop {
  const body = `return (bytes, keyBytes, count, keys) => {
    let sum = 0
    for (let i = 0; i < keys; i++) sum = (sum + hash(bytes, (i % count) * keyBytes, keyBytes)) | 0
    return sum
  }`
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  return (new Function('hash', body) as (hash: Hash) => Loop)(hash)
}
