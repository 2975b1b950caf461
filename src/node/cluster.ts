/** What the parts of a node share: who it is, what it knows, and what it holds. */
import type { NodeIndex } from '../core/ids.js'
import type { Members } from '../core/membership/members.js'
import type { View } from '../core/placement/view.js'
import type { Random } from '../core/random.js'
import type { Table } from '../core/table.js'
import type { HybridClock } from '../store/clock.js'
import type { Store } from '../store/store.js'
import type { BucketState } from './bucket-state.js'
import type { NodeConfig } from './config.js'
import type { Outbox } from './outbox.js'
import type { Peer, Peers } from './peers.js'

export interface RowChange {
  readonly bucket: number
  /** Primary first. */
  readonly holders: readonly NodeIndex[]
}

export interface Cluster {
  readonly config: NodeConfig
  readonly outbox: Outbox
  readonly random: Random
  readonly clock: HybridClock
  readonly store: Store
  readonly peers: Peers
  readonly members: Members
  readonly table: Table
  readonly view: View
  readonly self: NodeIndex
  /** By bucket; undefined for those without a copy here. */
  readonly buckets: (BucketState | undefined)[]
  /** The time of the present turn. */
  readonly now: number
  /** The compare-and-set of rows: each from the epoch the table has now to the next. */
  changeRows(changes: readonly RowChange[], reason: string): void
  peerOf(node: NodeIndex): Peer | undefined
}
