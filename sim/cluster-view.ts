/** A cluster as a checker sees it: every node that has memory, and the newest row of every bucket. */
import type { InspectedRow, Inspection } from './driven-node.js'

export interface ClusterView {
  readonly now: number
  /** Copies a bucket should have. */
  readonly copies: number
  readonly nodes: readonly Inspection[]
  /** Names of the nodes that are meant to stay: up, and not leaving. */
  readonly staying: readonly string[]
}

/** For every bucket under the largest mask the row with the highest epoch that anybody has. */
export function newestRows(nodes: readonly Inspection[]): InspectedRow[] {
  const mask = nodes.reduce((most, node) => Math.max(most, node.mask), 0)
  const tables = nodes.map((node) => ({ mask: node.mask, rows: node.rows }))
  const newest: InspectedRow[] = []
  for (let bucket = 0; bucket <= mask; bucket++) {
    let best: InspectedRow = { bucket, epoch: 0, primary: null, backups: [] }
    for (const table of tables) {
      // A table with fewer buckets speaks for all the pieces its buckets were cut into.
      const row = table.rows[bucket & table.mask]
      if (row.epoch > best.epoch) best = row
    }
    newest.push(best.bucket === bucket ? best : { ...best, bucket })
  }
  return newest
}

export function holdersOf(row: InspectedRow): string[] {
  return row.primary === null ? [...row.backups] : [row.primary, ...row.backups]
}

/** Whether every bucket has all its copies, in the newest rows and in memory, so that losing one is safe. */
export function hasAllCopies(view: ClusterView): boolean {
  const { nodes } = view
  const copies = Math.min(view.copies, view.staying.length)
  if (nodes.some((node) => node.mask !== nodes[0].mask)) return false
  const rows = newestRows(nodes)
  // First what the rows say, which costs nothing: a crash that waits for the copies asks again and again.
  if (rows.some((row) => row.primary === null || row.backups.length + 1 < copies)) return false
  const held = new Map<string, Map<number, string>>()
  for (const node of nodes) {
    held.set(node.name, new Map(node.held.map((copy) => [copy.bucket, copy.role])))
  }
  return rows.every((row) => {
    return holdersOf(row).every((name) => {
      const role = held.get(name)?.get(row.bucket)
      return role === 'primary' || role === 'backup'
    })
  })
}

/**
 * Whether some bucket has two copies that went on by themselves and are not one again. What was written to either is
 * nowhere else: if its node ended now, nobody could even tell that something is missing.
 */
export function isParted({ nodes }: ClusterView): boolean {
  const mask = nodes.reduce((most, node) => Math.max(most, node.mask), 0)
  const primaries = new Set<number>()
  for (const { held, mask: own } of nodes) {
    for (const { bucket, role } of held) {
      if (role === 'merging') return true
      if (role !== 'primary') continue
      for (let piece = bucket; piece <= mask; piece += own + 1) {
        if (primaries.has(piece)) return true
        primaries.add(piece)
      }
    }
  }
  return false
}
