/** What one node tells another about itself, so that any node can show the whole cluster: only what changes. */
import type { JournalEntry } from './journal.js'
import type { Sample } from './sample.js'
import type { MoveStatus, Status } from './status.js'

export interface Report {
  readonly node: string
  readonly http: string | null
  readonly version: string
  readonly balanced: boolean
  readonly lost: number
  readonly items: number
  readonly bytes: number
  /** Why its balancer did what it did last, or nothing. */
  readonly plan: string
  readonly moves: readonly MoveStatus[]
  /** Newer than those that were asked for. */
  readonly samples: readonly Sample[]
  readonly entries: readonly JournalEntry[]
}

/** The last ones that are known already. */
export interface Since {
  readonly sample: number
  readonly entry: number
}

export interface ReportParts {
  readonly plan: string
  readonly samples: readonly Sample[]
  readonly entries: readonly JournalEntry[]
}

export function composeReport(status: Omit<Status, 'buckets'>, parts: ReportParts): Report {
  const { node, version, balanced, lost, moves } = status
  const own = status.nodes.find(({ name }) => name === node)
  const [items, bytes] = [own?.items ?? 0, own?.bytes ?? 0]
  return { node, http: own?.http ?? null, version, balanced, lost, items, bytes, moves, ...parts }
}
