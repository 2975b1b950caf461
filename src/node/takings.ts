/**
 * What this voter has agreed to take from other nodes, and has not told them yet. A primary that was silent for longer than
 * its lease may lose its buckets; the one that decided so tells everybody, but perhaps cannot reach just that primary.
 * A lease is only worth something if whoever grants it has said before what it agreed to meanwhile: so every voter tells
 * it itself, in front of the next acknowledgement. Any majority that grants a lease has a member of the majority that
 * took the bucket, and that member has told.
 */
import type { NodeName } from '../core/ids.js'
import type { Row } from '../core/table.js'
import type { RowValue, TakenRow } from '../wire/peer/agreement.js'
import type { BucketRow } from '../wire/peer/knowledge.js'
import type { Cluster } from './cluster.js'
import type { Peer } from './peers.js'

export interface TakingHandlers {
  /** The row that this voter has accepted last. */
  accepted(bucket: number): Row | undefined
  /** The bucket may have been taken from this very node. */
  doubt(bucket: number, epoch: number): void
}

interface Acceptance {
  /** The row that this voter had accepted before. */
  readonly before: Row | undefined
  readonly value: RowValue
  /** Who proposed it: it knows. */
  readonly by: NodeName | ''
}

export class Takings {
  readonly #cluster: Cluster
  readonly #handlers: TakingHandlers
  readonly #untold = new Map<NodeName, Set<number>>()

  constructor(cluster: Cluster, handlers: TakingHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
  }

  note(bucket: number, { before, value, by }: Acceptance): void {
    const { row, deposes } = value
    if (row.epoch === before?.epoch && row.primary === before.primary) return
    const losers = new Set<NodeName>()
    if (before === undefined || row.epoch > before.epoch + 1) {
      // This voter was not asked about the rows in between: it may be anybody's.
      for (const { name } of this.#cluster.peers.all()) losers.add(name)
      losers.add(this.#cluster.config.name)
    } else if (before.primary !== null) {
      losers.add(before.primary)
    }
    if (deposes !== '') losers.add(deposes)
    for (const name of losers) if (name !== row.primary && name !== by) this.#add(name, bucket, row)
  }

  /** Each piece goes on with the whole's past. */
  split(old: number, mask: number): void {
    for (const buckets of this.#untold.values()) {
      for (const bucket of [...buckets]) {
        for (let piece = bucket; piece <= mask; piece += old + 1) buckets.add(piece)
      }
    }
  }

  flush(): void {
    const { peers } = this.#cluster
    for (const [name, buckets] of this.#untold) {
      const peer = peers.get(name)
      const isGone = peer === undefined || peer.left
      // One that cannot be heard is granted nothing.
      if (!isGone && (!peer.isOpen || peer.stream.peerLife === 0)) continue
      this.#untold.delete(name)
      if (!isGone) this.#tell(peer, buckets)
    }
  }

  #add(name: NodeName, bucket: number, row: Row): void {
    if (name === this.#cluster.config.name) {
      this.#handlers.doubt(bucket, row.epoch)
      return
    }
    const buckets = this.#untold.get(name)
    if (buckets === undefined) this.#untold.set(name, new Set([bucket]))
    else buckets.add(bucket)
  }

  /** What is known to be decided is told as that; of the rest it has to find out what became of it. */
  #tell(peer: Peer, buckets: ReadonlySet<number>): void {
    const { table, peers, now } = this.#cluster
    const { mask } = table
    const rows: BucketRow[] = []
    const taken: TakenRow[] = []
    for (const bucket of buckets) {
      const accepted = this.#handlers.accepted(bucket)
      const isDecided = accepted === undefined || accepted.epoch <= table.epochOf(bucket)
      const row = isDecided ? table.row(bucket) : accepted
      if (row.primary === peer.name || row.epoch === 0) continue
      if (isDecided) rows.push({ bucket, row })
      else taken.push({ bucket, epoch: row.epoch })
    }
    if (rows.length > 0) peers.send(peer, { kind: 'rows', mask, rows }, now)
    if (taken.length > 0) peers.send(peer, { kind: 'taken', mask, rows: taken }, now)
  }
}
