/**
 * Which bucket a key is in. A bucket is `hash & mask`, so the hash's low bits must be the ones that
 * matter first. The Redis slot is therefore taken with its bits reversed: the mask then picks the
 * slot's top bits, every bucket is one contiguous range of slots at every mask, a split cuts each
 * range in 16, and a Redis Cluster client can be told where everything is.
 */
import { assert } from '../assert.js'
import { md5Low16 } from './md5.js'
import { SLOT_BITS, SLOTS, keySlot, reverse14 } from './slot.js'

export type PlacementHashName = 'redis' | 'md5'

export interface PlacementHash {
  readonly name: PlacementHashName
  /** How many bits `hash` gives: no mask may be wider. */
  readonly bits: number
  readonly hash: (bytes: Uint8Array, offset: number, length: number) => number
}

const NEWLINE = 0x0a

export const redisHash: PlacementHash = {
  name: 'redis',
  bits: SLOT_BITS,
  hash: (bytes, offset, length) => reverse14(keySlot(bytes, offset, length))
}

/** As in the documents' examples: the end of the MD5 of the key and a newline. */
export const md5Hash: PlacementHash = {
  name: 'md5',
  bits: 16,
  hash: (bytes, offset, length) => md5Low16(bytes, offset, length, NEWLINE)
}

export function placementHash(name: PlacementHashName): PlacementHash {
  return name === 'redis' ? redisHash : md5Hash
}

export function bucketOf(hash: number, mask: number): number {
  return hash & mask
}

/** The slots of one bucket under the Redis hash, both ends included. */
export function slotsOfBucket(bucket: number, mask: number): { first: number; last: number } {
  assert(mask < SLOTS && bucket >= 0 && bucket <= mask, `no bucket ${bucket} at mask ${mask}`)
  const first = reverse14(bucket)
  return { first, last: first + SLOTS / (mask + 1) - 1 }
}

/** The bucket a slot belongs to under the Redis hash. */
export function bucketOfSlot(slot: number, mask: number): number {
  return reverse14(slot) & mask
}
