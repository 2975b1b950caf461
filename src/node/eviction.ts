/**
 * Keeps what a node holds below its limit (`--max-memory`). Before a write that takes memory, keys of this node's
 * primaries go, the best of a few drawn ones at a time, as writes like any others: backups follow, and who watches is
 * told. Where nothing may go, the write is refused and nothing changes.
 *
 * `lru` and `lfu` go by the last write: reads leave no trace in an item, since that would make every read a write
 * to memory. What a node holds as a backup counts, but only the primary can let it go; since all nodes hold about as much,
 * all of them do at the same time.
 */
import type { EvictionPolicy } from '../core/eviction-policy.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { Copies } from './copies.js'

/** Keys that one write may push out: a large value waits for several writes, or is refused. */
const KEYS_PER_WRITE_MAX = 64
/** Draws without finding anything that may go. */
const MISSES_MAX = 32

export class Eviction {
  limitBytes: number
  policy: EvictionPolicy
  /** Keys that one is chosen from. */
  samples = 5
  /** So far, for statistics. */
  evicted = 0
  readonly #cluster: Cluster
  readonly #copies: Copies

  constructor(cluster: Cluster, copies: Copies) {
    this.#cluster = cluster
    this.#copies = copies
    this.limitBytes = cluster.config.maxMemory
    this.policy = cluster.config.eviction
  }

  /** Whether a write that takes memory may be executed; lets keys go if that helps. */
  makeRoom(): boolean {
    const { store } = this.#cluster
    if (this.limitBytes === 0 || store.usedBytes <= this.limitBytes) return true
    if (this.policy === 'noeviction') return false
    for (let i = 0; i < KEYS_PER_WRITE_MAX; i++) {
      if (!this.#evictOne()) return false
      if (store.usedBytes <= this.limitBytes) return true
    }
    return false
  }

  #evictOne(): boolean {
    let best: { state: BucketState; ref: number; rank: number } | undefined
    let [found, misses] = [0, 0]
    while (found < this.samples && misses < MISSES_MAX) {
      const state = this.#drawBucket()
      const ref = state?.items.sample(this.#cluster.random.uint32(), this.#cluster.now) ?? 0
      const rank = state === undefined || ref === 0 ? undefined : this.#rankOf(state, ref)
      if (state === undefined || rank === undefined) {
        misses++
        continue
      }
      found++
      if (best === undefined || rank < best.rank) best = { state, ref, rank }
    }
    if (best === undefined) return false
    this.#copies.evict(best.state, best.state.items.keyBytes(best.ref))
    this.evicted++
    return true
  }

  /** A bucket that this node may write to. */
  #drawBucket(): BucketState | undefined {
    const { buckets, random } = this.#cluster
    const state = buckets[random.below(Math.max(1, buckets.length))]
    const usable = state?.role === 'primary' && !state.holding && state.items.items > 0
    return usable ? state : undefined
  }

  /** The lower, the sooner it goes; undefined if it may not. */
  #rankOf({ items }: BucketState, ref: number): number | undefined {
    const expiry = items.expiryOf(ref)
    const isVolatile = expiry > 0 && expiry < Infinity
    if (this.policy.startsWith('volatile') && !isVolatile) return undefined
    if (this.policy === 'volatile-ttl') return expiry
    return this.policy.endsWith('random') ? 0 : items.versionOf(ref)
  }
}
