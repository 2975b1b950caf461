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

export interface ChangeOptions {
  /** Asked before each new try; without it the change is tried to the end. */
  readonly isWanted?: (bucket: number) => boolean
  /** The change was decided, or never will be. */
  readonly done?: (bucket: number, decided: boolean) => void
}

/** What a backup makes of a client's word that the primary does not answer. */
export type Evidence = 'pending' | 'heard' | 'old'

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
  /** No client has asked this node for anything for a while: what is done aside is in nobody's way. */
  readonly isCalm: boolean
  /**
   * The compare-and-set of rows: each from the epoch the table has now to the next. Decided at once where this node
   * decides alone, otherwise later; a row that is being changed already is left alone.
   */
  changeRows(changes: readonly RowChange[], reason: string, options?: ChangeOptions): void
  /** A change of the row will follow: what can be asked for before is asked for now. */
  prepareRow(bucket: number, reason: string): void
  /** This node has begun to change the row and does not know the outcome yet. */
  isDeciding(bucket: number): boolean
  peerOf(node: NodeIndex): Peer | undefined
  /** A client says that the primary of the bucket, by the row of that epoch, does not answer it. */
  witness(bucket: number, epoch: number): Evidence
  /** A majority of the voters decides, so that copies never go apart. */
  readonly byMajority: boolean
  /** Whether this node may still believe that it is primary of what its table says. */
  mayServe(): boolean
}
