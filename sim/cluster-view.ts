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
  const newest: InspectedRow[] = []
  for (let bucket = 0; bucket <= mask; bucket++) {
    newest.push({ bucket, epoch: 0, primary: null, backups: [] })
  }
  for (const node of nodes) {
    for (const row of node.rows) {
      // A table with fewer buckets speaks for all the pieces its buckets were cut into.
      for (let bucket = row.bucket; bucket <= mask; bucket += node.mask + 1) {
        if (row.epoch <= newest[bucket].epoch) continue
        newest[bucket] = row.bucket === bucket ? row : { ...row, bucket }
      }
    }
  }
  return newest
}

export function holdersOf(row: InspectedRow): string[] {
  return row.primary === null ? [...row.backups] : [row.primary, ...row.backups]
}

/** Whether every bucket has all its copies, in the newest rows and in memory, so that losing one is safe. */
export function hasAllCopies(view: ClusterView): boolean {
  const copies = Math.min(view.copies, view.staying.length)
  const held = new Map<string, Map<number, string>>()
  const mask = view.nodes.reduce((most, node) => Math.max(most, node.mask), 0)
  for (const node of view.nodes) {
    if (node.mask !== mask) return false
    held.set(node.name, new Map(node.held.map((copy) => [copy.bucket, copy.role])))
  }
  return newestRows(view.nodes).every((row) => {
    const holders = holdersOf(row)
    if (row.primary === null || holders.length < copies) return false
    return holders.every((name) => {
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
