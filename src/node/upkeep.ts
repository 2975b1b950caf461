/**
 * What a node does for its copies besides writes: what is over expires, and deletions that every copy has seen are
 * forgotten, each a bounded number a turn, since clients wait for the turn. While something is left the next turn comes soon.
 *
 * Once a second the primary tells each backup where it should be. Since that message travels behind the writes, a backup
 * that is not exactly there has lost something and asks to be struck and copied anew.
 */
import type { SyncMark } from '../wire/peer/copy.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { Copies } from './copies.js'
import type { Peer } from './peers.js'
import { EventLog } from './watch-log.js'

/** Expired keys are looked for in so many buckets per turn, in so many records of each, and in so many of all. */
const EXPIRY_BUDGET = 64
const EXPIRY_BUDGET_MAX = 512
/**
 * Deletions that all copies have seen are forgotten in all buckets together so many a turn, and where there are many, this
 * part of them, up to a limit: each is a wait for memory, and clients wait for the turn. So they are gone in about a second.
 */
const PURGE_BUDGET_MIN = 256
const PURGE_BUDGET_MAX = 4096
const PURGE_PART = 128
/** After this, more. */
const AGAIN_MS = 5
/**
 * A node that is back has given what it had after so many of the marks that are told once a second. Not after so much time:
 * this node itself may have stood still for most of it.
 */
const RETURN_SYNCS = 10

export class Upkeep {
  readonly #cluster: Cluster
  readonly #copies: Copies
  #expiryAt = 0
  #purgeAt = 0
  /** When there is more to expire, and when more deletions are to be forgotten. */
  #expireMs = Infinity
  #purgeMs = Infinity
  /** How often marks were told since a node that may come back was last silent. */
  #quietSyncs = RETURN_SYNCS
  /** Whose key expires; one for all, since it is called in every turn. */
  #expiring: BucketState | undefined
  readonly #expireKey = (ref: number): void => {
    const state = this.#expiring
    if (state !== undefined) this.#copies.expire(state, state.items.keyBytes(ref))
  }

  constructor(cluster: Cluster, copies: Copies) {
    this.#cluster = cluster
    this.#copies = copies
  }

  /** When something is left over. */
  get deadline(): number {
    return Math.min(this.#expireMs, this.#purgeMs)
  }

  tick(now: number): void {
    this.#expire(now)
    if (now >= this.#purgeMs) this.#purge(now)
  }

  /** Where every backup should be; and what has been seen by all may be forgotten. `missed`: see SyncMark. */
  sync(now: number, missed: boolean): void {
    const marks = new Map<Peer, SyncMark[]>()
    const mayReturn = this.#mayReturn()
    for (const state of this.#cluster.buckets) {
      if (state?.role !== 'primary') continue
      const settled = state.isSettled()
      // Where they went apart is told by others, perhaps long before this node misses the one that went on by itself.
      const isApart = mayReturn || (state.partedVersion > 0 && state.partedSyncs++ < RETURN_SYNCS)
      if (!isApart) state.part(0)
      const seenVersion = state.forwarding === undefined && !isApart ? state.settledVersion : 0
      state.seenVersion = seenVersion
      for (const peer of state.backups) {
        const list = marks.get(peer) ?? []
        marks.set(peer, list)
        const pending = settled ? 0 : Math.max(0, peer.stream.sent - peer.stream.acked)
        const { id: bucket, epoch, seq } = state
        const untold = state.events?.untold(seq) ?? 0
        const parted = state.partedVersion
        list.push({ bucket, epoch, seq, pending, seenVersion, parted, untold, missed })
      }
    }
    for (const [peer, buckets] of marks)
      this.#cluster.peers.send(peer, { kind: 'sync', buckets }, now)
    this.#purge(now)
  }

  synced(peer: Peer, marks: readonly SyncMark[], now: number): void {
    for (const mark of marks) {
      const state = this.#cluster.buckets[mark.bucket]
      const empty = state === undefined && this.#isNamed(mark)
      if (!empty) {
        if (state?.role !== 'backup' || state.epoch !== mark.epoch || state.source !== peer.name)
          continue
      }
      if (state !== undefined) noteTold(state, mark)
      if (state === undefined || (state.shared === undefined && state.seq !== mark.seq)) {
        this.#cluster.peers.send(
          peer,
          { kind: 'behind', bucket: mark.bucket, epoch: mark.epoch },
          now
        )
      } else {
        state.part(mark.parted)
        state.seenVersion = mark.seenVersion
      }
    }
    this.#purge(now)
  }

  /** Forgets deletions that every copy has seen, a bounded number a turn, all buckets in turn. */
  #purge(now: number): void {
    const { buckets, store } = this.#cluster
    this.#purgeMs = Infinity
    if (store.tombstones === 0) return
    const part = Math.floor(store.tombstones / PURGE_PART)
    let budget = Math.max(PURGE_BUDGET_MIN, Math.min(PURGE_BUDGET_MAX, part))
    for (let looked = 0; looked < buckets.length && budget > 0; looked++) {
      this.#purgeAt = (this.#purgeAt + 1) % buckets.length
      const state = buckets[this.#purgeAt]
      if (state === undefined || state.seenVersion === 0) continue
      if (state.role !== 'primary' && state.role !== 'backup') continue
      budget -= state.items.purge(state.seenVersion, budget)
    }
    if (budget === 0) this.#purgeMs = now + AGAIN_MS
  }

  /**
   * A node that cannot be heard may come back with older items: deletions are kept until it has. One that hears nothing is
   * not back: it may still go on by itself.
   */
  #mayReturn(): boolean {
    const { byMajority, peers, now } = this.#cluster
    if (byMajority) return false
    this.#quietSyncs++
    for (const peer of peers.all()) {
      if (!peer.left && (peer.dead || peers.isStalled(peer, now))) this.#quietSyncs = 0
    }
    return this.#quietSyncs < RETURN_SYNCS
  }

  /** Deletes what has expired, a bounded number of keys per turn, as writes like any others. */
  #expire(now: number): void {
    const { buckets } = this.#cluster
    this.#expireMs = Infinity
    let budget = EXPIRY_BUDGET_MAX
    const most = Math.min(buckets.length, EXPIRY_BUDGET)
    for (let looked = 0; looked < most && budget > 0; looked++) {
      this.#expiryAt = (this.#expiryAt + 1) % buckets.length
      const state = buckets[this.#expiryAt]
      if (state?.role !== 'primary' || state.holding || state.items.expiring === 0) continue
      if (this.#copies.isCongested(state)) continue
      this.#expiring = state
      const left = state.items.expired(now, EXPIRY_BUDGET, this.#expireKey)
      budget -= EXPIRY_BUDGET - left
      if (left === 0) this.#expireMs = now + AGAIN_MS
    }
  }

  /** The row names this node, by that very epoch. */
  #isNamed({ bucket, epoch }: SyncMark): boolean {
    const { table, self } = this.#cluster
    return bucket <= table.mask && table.epochOf(bucket) === epoch && table.isHolder(bucket, self)
  }
}

/** What a backup would have to tell watchers if it became the primary now. */
function noteTold(state: BucketState, mark: SyncMark): void {
  const told = mark.seq - mark.untold
  state.events?.trim(told)
  if (mark.missed && told > 0) (state.events ??= new EventLog()).noteLost(told)
  else if (state.events?.isEmpty === true) state.events = undefined
}
