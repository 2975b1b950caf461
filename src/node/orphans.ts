/**
 * Buckets whose copies are all gone: after a while somebody starts them empty, and says so loudly. Whoever is named as a
 * holder and can be heard knows best whether it holds one, so it is the one to say it; only where none of them can be
 * heard it is the first node of the roster, by name.
 */
import type { NodeIndex } from '../core/ids.js'
import type { Cluster, RowChange } from './cluster.js'
import { holdersOf } from './knowledge.js'

/** What is the same for all buckets that are looked at together. */
interface Outlook {
  /** It is up to this node where no holder can be heard. */
  readonly isFirst: boolean
  /** By index. */
  readonly heard: readonly boolean[]
}

export class Orphans {
  readonly #cluster: Cluster
  /** Since when nobody reachable holds a bucket. */
  readonly #since = new Map<number, number>()
  /** Buckets that this node wants to start empty. */
  readonly #wanted = new Set<number>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** The buckets are split: it begins anew for each piece. */
  clear(): void {
    this.#since.clear()
    this.#wanted.clear()
  }

  adopt(): void {
    const { table, buckets, now, self } = this.#cluster
    const lost: RowChange[] = []
    const outlook = this.#look()
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      if (table.epochOf(bucket) === 0 || !this.#isOrphan(bucket, outlook)) {
        if (this.#since.size > 0) this.#since.delete(bucket)
        continue
      }
      const since = this.#since.get(bucket) ?? now
      this.#since.set(bucket, since)
      if (now - since < this.#lostAfterMs(bucket)) continue
      if (buckets[bucket] === undefined && !this.#cluster.isDeciding(bucket)) {
        lost.push({ bucket, holders: [self] })
      }
    }
    for (const { bucket } of lost) this.#wanted.add(bucket)
    this.#cluster.changeRows(lost, 'nobody held it any more', {
      isWanted: (bucket) => table.epochOf(bucket) > 0 && this.#isOrphan(bucket, this.#look()),
      done: (bucket) => this.#wanted.delete(bucket)
    })
  }

  /**
   * The row names this node first, which has no copy: whether that is the answer to its wish. One that names others too
   * was decided before this node took the bucket for lost, and they have what it has not.
   */
  isAdopted(bucket: number): boolean {
    return holdersOf(this.#cluster.table, bucket).length === 1 && this.#wanted.delete(bucket)
  }

  /** Nobody holds it, and it is up to this node to say so. */
  #isOrphan(bucket: number, { isFirst, heard }: Outlook): boolean {
    const { table, view, buckets } = this.#cluster
    // Nearly always the first one says it; this is asked of every bucket at every beat.
    if (buckets[bucket] !== undefined || heard[table.primaryOf(bucket)]) return false
    const holders = holdersOf(table, bucket)
    if (holders.some((node) => heard[node])) return false
    return isFirst || holders.includes(view.self)
  }

  #look(): Outlook {
    const heard = this.#cluster.table.names.map((_, node) => this.#isHeard(node))
    return { isFirst: this.#isFirst(), heard }
  }

  /** By name, since every table numbers the nodes in an order of its own. */
  #isFirst(): boolean {
    const { table, view } = this.#cluster
    const { roster, self } = view
    const name = table.nameOf(self)
    return roster.isStaying(self) && roster.staying.every(({ node }) => table.nameOf(node) >= name)
  }

  /** Another node that lives: what it holds is for itself to say. */
  #isHeard(node: NodeIndex): boolean {
    const peer = this.#cluster.peerOf(node)
    return peer !== undefined && peer.isOpen && !this.#hasLeft(node)
  }

  #hasLeft(node: NodeIndex): boolean {
    const { table, members } = this.#cluster
    return members.get(table.nameOf(node))?.state === 'left'
  }

  /**
   * A holder that is only silent may be cut off and come back with its copy. One that was struck, and this very node,
   * which has not got it, are not waited for.
   */
  #lostAfterMs(bucket: number): number {
    const { table, view, config, byMajority } = this.#cluster
    const holders = holdersOf(table, bucket)
    const certain = byMajority && holders.every((it) => it === view.self || this.#hasLeft(it))
    return certain ? Math.min(config.lostAfterMs, config.deadAfterMs) : config.lostAfterMs
  }
}
