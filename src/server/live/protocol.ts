/** What `/api/live` says, by the name of the event. The dashboard is the only one that has to understand it. */
import type { JournalEntry } from '../../runtime/journal.js'
import type { Sample } from '../../runtime/sample.js'
import type { RingStatus } from '../../runtime/ring-status.js'
import type { MoveStatus, NodeStatus } from '../../runtime/status.js'

/** A bucket, its primary and its backups. */
export type LiveRow = readonly [id: number, primary: string | null, ...backups: string[]]

export interface LiveNode extends Pick<
  NodeStatus,
  'name' | 'resp' | 'http' | 'state' | 'weight' | 'zone' | 'items' | 'bytes'
> {
  /** Why its balancer did what it did last, or nothing. */
  readonly plan: string
}

export interface LiveState {
  /** Whose picture this is. */
  readonly node: string
  readonly version: string
  readonly cluster: string
  readonly copies: number
  readonly policy: string
  readonly balanced: boolean
  readonly lost: number
  readonly nodes: readonly LiveNode[]
  readonly moves: readonly MoveStatus[]
  /** Where the placement is a ring: its rows are arcs, in the order of their positions. */
  readonly ring?: RingStatus['ring']
}

export interface LiveEvents {
  /** All rows: at first, and when the buckets were split. */
  readonly table: { readonly rows: readonly LiveRow[] }
  /** Those that changed. */
  readonly rows: readonly LiveRow[]
  readonly state: LiveState
  /** New ones, by node. */
  readonly samples: Readonly<Record<string, readonly Sample[]>>
  /** New ones, or known ones that count on. */
  readonly entries: readonly JournalEntry[]
}

/** What `/api/key` answers. */
export interface FoundKey {
  readonly key: string
  /** Of a ring, the arc. */
  readonly bucket: number
  /** On a ring only. */
  readonly position?: number
  readonly primary: string | null
  readonly backups: readonly string[]
  /** Null: there is no such key. */
  readonly type: string | null
  readonly ttlMs?: number | null
  readonly preview?: readonly string[]
}
