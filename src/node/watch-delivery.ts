/**
 * Events for the clients of this node. After a fail-over, a hand-over or a repetition on the wire the same event may come
 * twice, from two primaries, and the second one late. A new primary tells what may not have been told yet before
 * anything new, so whatever has not a higher number than the last of its bucket has been here before: it
 * is dropped, and a client sees each event once and those of a bucket in order.
 *
 * Buckets are those of the largest mask that was heard of. When it grows, the pieces of a bucket go on from its number.
 */
import { latin1Bytes } from '../core/bytes.js'
import { placementHash, type PlacementHash } from '../core/hash/placement-hash.js'
import type { WatchEvent } from '../wire/peer/watch.js'
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import type { Cluster } from './cluster.js'
import { OWN_SESSION, type WatchList } from './watch-list.js'

export class Delivery {
  readonly #cluster: Cluster
  readonly #list: WatchList
  readonly #hash: PlacementHash
  readonly #writer = new ReplyWriter({ protocol: 3 })
  /** The number of the last event, by bucket. */
  #last = new Map<number, number>()
  #mask = 0
  /** The last thing told was a gap, at this time. */
  #gapMs = -1
  /** Hears the events that the node itself watches. */
  heard: ((event: WatchEvent) => void) | undefined

  constructor(cluster: Cluster, list: WatchList) {
    this.#cluster = cluster
    this.#list = list
    this.#hash = placementHash(cluster.config.hash)
  }

  deliver(event: WatchEvent, mask: number): void {
    if (!this.#list.hasOwn) return
    this.#widen(Math.max(mask, this.#cluster.table.mask))
    const { seq, change, key, names } = event
    const bucket = this.bucketOf(key, this.#mask)
    if (seq <= (this.#last.get(bucket) ?? 0)) return
    this.#last.set(bucket, seq)
    this.#gapMs = -1
    let push: Uint8Array | undefined
    for (const session of this.#list.sessionsOf(key)) {
      if (session === OWN_SESSION) {
        this.heard?.(event)
        continue
      }
      push ??= this.#encode({ bucket, seq, change, key, names })
      this.#cluster.outbox.output(session, push)
    }
  }

  /** Some events have not come and will not. */
  tellGap(): void {
    // Many buckets may have to say it at once; once is enough as long as nothing else was told.
    if (this.#gapMs === this.#cluster.now) return
    this.#gapMs = this.#cluster.now
    const writer = this.#writer
    writer.reset()
    writer.push(1)
    writer.bulkString('oc.gap')
    const push = writer.bytes.slice(0, writer.length)
    for (const session of this.#list.sessions) this.#cluster.outbox.output(session, push)
  }

  bucketOf(key: string, mask: number): number {
    return this.#hash.hash(latin1Bytes(key), 0, key.length) & mask
  }

  #widen(mask: number): void {
    const old = this.#mask
    if (mask <= old) return
    this.#mask = mask
    const last = new Map<number, number>()
    for (const [bucket, seq] of this.#last) {
      for (let child = bucket; child <= mask; child += old + 1) last.set(child, seq)
    }
    this.#last = last
  }

  /** A push: oc.event, the bucket, its write number, what happened, the key. */
  #encode(event: WatchEvent & { readonly bucket: number }): Uint8Array {
    const writer = this.#writer
    writer.reset()
    writer.push(5)
    writer.bulkString('oc.event')
    writer.integer(event.bucket)
    writer.integer(event.seq)
    writer.bulkString(event.change)
    writer.bulkString(event.key)
    return writer.bytes.slice(0, writer.length)
  }
}
