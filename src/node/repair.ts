/**
 * What follows from a node that is gone: a backup that cannot be heard, has forgotten everything or takes nothing in is
 * struck from the rows of its primaries; the buckets of a primary that is gone are taken over by the first of their
 * backups that can be heard. It looks at what is, not at what happened, and again at every beat until the rows
 * say so; only when nothing relies on the peer any more do replies stop waiting for it.
 */
import { NOBODY, type NodeIndex, type NodeName } from '../core/ids.js'
import type { SyncMark } from '../wire/peer/copy.js'
import type { Cluster, Evidence, RowChange } from './cluster.js'
import { MAX_COPIES } from '../core/table.js'
import { holdersOf } from './knowledge.js'
import type { Peer } from './peers.js'

export interface RepairHandlers {
  /** Replies that waited for a peer need not any more. */
  waived(): void
  /** A move counts on this peer's acknowledgements. */
  isForwardingTo(peer: Peer): boolean
  /** Leases keep a primary safe: its backups may act on a mere suspicion. */
  isLeased(): boolean
  /** It is dead, as far as those who can be heard decide. */
  died(peer: Peer): void
  /** A former life of this node cannot believe any more that it holds something. */
  mayStepAside(): boolean
}

/** A primary that was not heard for this many beats is PENDING: not dead yet, but a second witness makes it so. */
const PENDING_BEATS = 3

interface RepairPlan {
  readonly change: RowChange
  readonly reason: string
  /** The primary whose bucket is taken over. */
  readonly instead?: NodeName
}

/** Why a backup leaves a row: it is dead, or has not what it should have. */
export const STRUCK = 'a backup is of no use'

export class Repair {
  readonly #cluster: Cluster
  readonly #handlers: RepairHandlers
  /** Buckets whose copy went with a former life of the node. */
  readonly #lost = new Map<NodeName, Set<number>>()

  constructor(cluster: Cluster, handlers: RepairHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
  }

  /** The peer's process is another one: it holds nothing of what the rows say. */
  restarted(peer: Peer): void {
    const { table } = this.#cluster
    const node = table.indexOf(peer.name)
    const lost = new Set<number>()
    for (let bucket = 0; node !== NOBODY && bucket <= table.mask; bucket++) {
      if (table.isHolder(bucket, node)) lost.add(bucket)
    }
    if (lost.size > 0) this.#lost.set(peer.name, lost)
  }

  /**
   * A row that does not name a node any more has nothing of its former life to be mended. Who is not the primary cannot
   * know whether a later row means the former life or the present one; those it concerns do.
   */
  rowChanged(bucket: number): void {
    if (this.#lost.size === 0) return
    const { table, self } = this.#cluster
    const isPrimary = table.primaryOf(bucket) === self
    for (const [name, lost] of this.#lost) {
      if (!isPrimary || !table.isHolder(bucket, table.indexOf(name))) lost.delete(bucket)
      if (lost.size === 0) this.#lost.delete(name)
    }
  }

  /**
   * The peer's present process is primary of these. A node that was told so before it heard of that process took them for what
   * went with the former one, and asked for them for ever.
   */
  served(peer: Peer, marks: readonly SyncMark[]): void {
    const lost = this.#lost.get(peer.name)
    if (lost === undefined) return
    const { table } = this.#cluster
    for (const { bucket, epoch } of marks) {
      if (bucket <= table.mask && table.epochOf(bucket) === epoch) lost.delete(bucket)
    }
    if (lost.size === 0) this.#lost.delete(peer.name)
  }

  split(old: number, mask: number): void {
    for (const lost of this.#lost.values()) {
      const parents = [...lost]
      lost.clear()
      for (let bucket = 0; bucket <= mask; bucket++) {
        if (parents.includes(bucket & old)) lost.add(bucket)
      }
    }
  }

  run(): void {
    const { table, outbox } = this.#cluster
    const waiting = this.#waitingPeers()
    const isIdle = waiting.length === 0 && this.#lost.size === 0
    if (isIdle && !this.#holdsNothing() && !this.#waitsToMerge()) return
    const isWanted = (bucket: number): boolean => this.#plan(bucket) !== undefined
    // By reason, so that all rows of a node that is gone change in one round.
    const plans = new Map<string, { changes: RowChange[]; instead: NodeName | undefined }>()
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      if (this.#cluster.isDeciding(bucket)) continue
      const plan = this.#plan(bucket)
      if (plan === undefined) continue
      const known = plans.get(plan.reason) ?? { changes: [], instead: plan.instead }
      plans.set(plan.reason, known)
      known.changes.push(plan.change)
    }
    for (const [reason, { changes, instead }] of plans) {
      this.#cluster.changeRows(changes, reason, {
        isWanted,
        done: (bucket, decided) => {
          if (!decided || instead === undefined) return
          outbox.event({ kind: 'promoted', bucket, epoch: table.epochOf(bucket), instead })
        }
      })
    }
    this.#waive(waiting)
  }

  /** A client says that the primary does not answer it: with that, a backup that does not hear it either acts at once. */
  witness(bucket: number, epoch: number): Evidence {
    const { table } = this.#cluster
    if (table.epochOf(bucket) !== epoch) return 'old'
    const peer = this.#cluster.peerOf(table.primaryOf(bucket))
    if (peer === undefined || !this.isPending(peer)) return 'heard'
    // Leases keep a primary that lives safe, so suspicion is enough; without them the two of them say that it is dead.
    if (this.#handlers.isLeased()) {
      peer.suspect = true
      this.run()
    } else this.#handlers.died(peer)
    return 'pending'
  }

  /** It was not heard for a while, or its link broke. */
  isPending(peer: Peer): boolean {
    const { config, now } = this.#cluster
    if (peer.left) return false
    const silent = now - peer.lastHeardMs > config.heartbeatMs * PENDING_BEATS
    return silent || peer.dead || peer.suspect
  }

  isGone(bucket: number, node: NodeIndex): boolean {
    const { self, table, buckets } = this.#cluster
    if (node === self) return buckets[bucket] === undefined
    const peer = this.#cluster.peerOf(node)
    if (peer === undefined || peer.dead || peer.broken || peer.left) return true
    return this.#lost.get(table.nameOf(node))?.has(bucket) === true
  }

  #plan(bucket: number): RepairPlan | undefined {
    const { table, self, buckets } = this.#cluster
    const primary = table.primaryOf(bucket)
    if (primary === NOBODY) return undefined
    // Asked of every bucket at every beat while anybody is away: nearly all need nothing.
    const role = buckets[bucket]?.role
    if (primary !== self) {
      if (role !== 'backup' && role !== 'merging') return undefined
      if (!this.#mayBeGone(bucket, primary)) return undefined
    } else if (buckets[bucket] !== undefined && !this.#hasUseless(bucket)) return undefined
    const holders = holdersOf(table, bucket)
    if (primary === self) {
      if (buckets[bucket] === undefined) return this.#planAside(bucket, holders)
      if (this.#cluster.config.sabotage === 'promote-out-of-sync') return undefined
      const kept = holders.filter((node) => node === self || !this.#isUseless(bucket, node))
      if (kept.length === holders.length) return undefined
      return { change: { bucket, holders: kept }, reason: STRUCK }
    }
    if (role === 'merging') {
      if (!this.#isLastCopy(bucket, holders)) return undefined
    } else if (!holders.includes(self)) return undefined
    const rank = this.#rankOf(bucket, holders)
    if (!this.#isPrimaryGone(bucket, primary, rank)) return undefined
    const others = holders.filter(
      (node) => node !== self && node !== primary && !this.#isUseless(bucket, node)
    )
    const instead = table.nameOf(primary)
    return { change: { bucket, holders: [self, ...others] }, reason: `${instead} is gone`, instead }
  }

  /**
   * A copy that went on by itself behind a cut and should have been merged into that of the primary, which is gone: if
   * nobody else who is named has one, this is what there is, named or not. Should the primary come back, its copy is merged
   * into this one.
   */
  #isLastCopy(bucket: number, holders: readonly NodeIndex[]): boolean {
    const { self, byMajority } = this.#cluster
    return !byMajority && holders.every((node) => node === self || this.isGone(bucket, node))
  }

  #hasUseless(bucket: number): boolean {
    const { table } = this.#cluster
    for (let place = 1; place < MAX_COPIES; place++) {
      const node = table.holderAt(bucket, place)
      if (node !== NOBODY && this.#isUseless(bucket, node)) return true
    }
    return false
  }

  /** What every backup asks first, whichever its rank. */
  #mayBeGone(bucket: number, primary: NodeIndex): boolean {
    if (this.isGone(bucket, primary)) return true
    return this.#handlers.isLeased() && this.#cluster.peerOf(primary)?.suspect === true
  }

  /** Listed as primary, but nothing is here (a former life held it): a backup has it all. */
  #planAside(bucket: number, holders: readonly NodeIndex[]): RepairPlan | undefined {
    const { self } = this.#cluster
    if (!this.#handlers.mayStepAside()) return undefined
    const alive = holders.filter((node) => node !== self && !this.isGone(bucket, node))
    if (alive.length === 0) return undefined
    return { change: { bucket, holders: alive }, reason: 'nothing is held here' }
  }

  #isPrimaryGone(bucket: number, primary: NodeIndex, rank: number): boolean {
    const { config, now } = this.#cluster
    if (rank === 0) return this.#mayBeGone(bucket, primary)
    // Those before this one had their chance.
    const silentMs = now - (this.#cluster.peerOf(primary)?.lastHeardMs ?? -Infinity)
    return this.isGone(bucket, primary) && silentMs > config.deadAfterMs * (1 + 2 * rank)
  }

  /** How many backups that can be heard come before this node in the row. */
  #rankOf(bucket: number, holders: readonly NodeIndex[]): number {
    const { self } = this.#cluster
    const backups = holders.slice(1)
    return backups
      .slice(0, Math.max(0, backups.indexOf(self)))
      .filter((node) => !this.isGone(bucket, node)).length
  }

  /** It can be heard but takes nothing in, or it is gone. */
  #isUseless(bucket: number, node: NodeIndex): boolean {
    const peer = this.#cluster.peerOf(node)
    return this.isGone(bucket, node) || this.#isStalled(peer) || peer?.hasRefused(bucket) === true
  }

  #isStalled(peer: Peer | undefined): boolean {
    const { config, now } = this.#cluster
    return peer !== undefined && peer.stream.stalledMs(now) > config.ackTimeoutMs
  }

  /** This node is primary of something that a former life of it held. */
  #holdsNothing(): boolean {
    const { table, self, buckets } = this.#cluster
    if (table.primariesOf(self) === 0) return false
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      if (table.primaryOf(bucket) === self && buckets[bucket] === undefined) return true
    }
    return false
  }

  /** A copy here is to be merged into another, whose node may have left meanwhile. */
  #waitsToMerge(): boolean {
    const { byMajority, buckets } = this.#cluster
    return !byMajority && buckets.some((state) => state?.role === 'merging')
  }

  #waitingPeers(): Peer[] {
    const waiting: Peer[] = []
    for (const peer of this.#cluster.peers.all()) {
      const { dead, broken, suspect, owes, refuses } = peer
      if (dead || broken || suspect || owes || refuses || this.#isStalled(peer)) {
        waiting.push(peer)
      }
    }
    return waiting
  }

  /** Nobody waits any more for a peer that no row of this node's primaries names. */
  #waive(waiting: readonly Peer[]): void {
    const { peers, now } = this.#cluster
    let any = false
    for (const peer of waiting) {
      if (peer.owes && !this.#lost.has(peer.name) && !this.#handlers.isForwardingTo(peer)) {
        peer.forgive()
        any = true
      }
      if (peer.waived >= peer.stream.sent || this.#reliesOn(peer)) continue
      const gone = peer.dead || peer.broken || peer.owes || this.#isStalled(peer)
      if (!gone) continue
      peers.waive(peer, now)
      any = true
    }
    if (any) this.#handlers.waived()
  }

  #reliesOn(peer: Peer): boolean {
    if (this.#cluster.config.sabotage === 'promote-out-of-sync') return false
    if (this.#handlers.isForwardingTo(peer)) return true
    return this.#cluster.buckets.some(
      (state) => state?.role === 'primary' && state.backups.includes(peer)
    )
  }
}
