/** What a node looks like from outside: for status, and for the simulator's checkers. */
import type { Table } from '../core/table.js'
import type { Cluster } from './cluster.js'
import type { Role } from './bucket-state.js'
import type { DoorStatistics } from './door/statistics.js'
import type { Plan } from '../core/placement/action.js'
import type { VoterSet } from '../core/membership/voters.js'

export interface HeldBucket {
  readonly bucket: number
  readonly role: Role
  readonly epoch: number
  readonly seq: number
  readonly items: number
  /** Of the contents, deletions aside; computed when asked for. */
  readonly digest: string
}

export interface MoveDescription {
  readonly bucket: number
  readonly to: string
  readonly stage: string
  readonly reason: string
  readonly sent: number
  readonly role: 'primary' | 'backup'
  /** Only roles change; nothing is shipped. */
  readonly isSwitch: boolean
}

/** What a node has counted since it began; read by the metrics, never by a decision. */
export interface Counters {
  readonly door: DoorStatistics
  /** Clients with replies that wait for something. */
  readonly held: number
  readonly shipped: number
  readonly conflicts: number
  readonly verdicts: ReadonlyMap<string, { readonly allowed: number; readonly denied: number }>
  readonly lastPlan: Plan | undefined
}

export interface Inspection {
  readonly name: string
  readonly mask: number
  /** Of the table. */
  readonly digest: number
  readonly members: readonly { name: string; state: string; dead: boolean }[]
  readonly rows: readonly {
    bucket: number
    epoch: number
    primary: string | null
    backups: readonly string[]
  }[]
  readonly held: readonly HeldBucket[]
  readonly moves: readonly MoveDescription[]
  readonly queuedBytes: number
  readonly shipped: number
  readonly voters: VotersDescription
  /** Changes of rows whose outcome it does not know yet. */
  readonly deciding: number
  /** Keys of which one of two versions was dropped when two sides of a cut met again. */
  readonly conflicts: number
}

export interface VotersDescription extends VoterSet {
  readonly byMajority: boolean
  /** The node's lease has not run out. */
  readonly mayServe: boolean
}

/** The rows of a table as they were described last: few have changed when they are asked for again. */
const DESCRIBED = new WeakMap<Table, { version: number; rows: Inspection['rows'] }>()

function rowsOf(table: Table): Inspection['rows'] {
  const known = DESCRIBED.get(table)
  if (known?.version === table.version) return known.rows
  const old = known?.rows.length === table.size ? known.rows : []
  const rows = Array.from({ length: table.size }, (_, bucket) => {
    // A row of one epoch is one row.
    const row = old[bucket] as Inspection['rows'][number] | undefined
    return row?.epoch === table.epochOf(bucket) ? row : { bucket, ...table.row(bucket) }
  })
  DESCRIBED.set(table, { version: table.version, rows })
  return rows
}

export function inspect(
  cluster: Cluster,
  more: Pick<Inspection, 'moves' | 'shipped' | 'queuedBytes' | 'voters' | 'conflicts' | 'deciding'>
): Inspection {
  const { table } = cluster
  return {
    name: cluster.config.name,
    mask: table.mask,
    digest: table.digest(),
    members: cluster.members.all().map(({ name, state }) => {
      return { name, state, dead: cluster.peers.get(name)?.dead === true }
    }),
    get rows() {
      return rowsOf(table)
    },
    get held() {
      return cluster.buckets
        .filter((state) => state !== undefined)
        .map(({ id, role, epoch, seq, items }) => ({
          bucket: id,
          role,
          epoch,
          seq,
          items: items.items,
          get digest() {
            return items.digest(false).toString()
          }
        }))
    },
    ...more
  }
}
