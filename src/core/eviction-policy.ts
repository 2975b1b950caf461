/** Which keys go when memory is not enough, by Redis's names: any key, or only those that expire anyway. */
export const EVICTION_POLICIES = [
  'noeviction',
  'allkeys-random',
  'allkeys-lru',
  'allkeys-lfu',
  'volatile-random',
  'volatile-lru',
  'volatile-lfu',
  'volatile-ttl'
] as const
export type EvictionPolicy = (typeof EVICTION_POLICIES)[number]
