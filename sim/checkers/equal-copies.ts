/**
 * Copies are equal once quiet: for every bucket the nodes in its row hold it, in the role and at the epoch the
 * row says, with the same contents; and nobody else holds anything of it.
 */
import { newestRows, type ClusterView } from '../cluster-view.js'
import type { InspectedCopy, InspectedRow } from '../driven-node.js'
import type { RestChecker } from './checker.js'

export class EqualCopiesChecker implements RestChecker {
  readonly name = 'copies are equal once quiet'
  readonly isSafety = true

  problem(view: ClusterView): string | undefined {
    const copies = new Map<number, Map<string, InspectedCopy>>()
    for (const node of view.nodes) {
      for (const copy of node.held) {
        const holders = copies.get(copy.bucket) ?? new Map<string, InspectedCopy>()
        holders.set(node.name, copy)
        copies.set(copy.bucket, holders)
      }
    }
    for (const row of newestRows(view.nodes)) {
      const problem = judgeRow(row, copies.get(row.bucket) ?? new Map<string, InspectedCopy>())
      if (problem !== undefined) return `bucket ${row.bucket}: ${problem}`
    }
    return undefined
  }
}

function judgeRow(row: InspectedRow, held: Map<string, InspectedCopy>): string | undefined {
  if (row.primary === null) return 'nobody is its primary'
  const source = held.get(row.primary)
  if (source?.role !== 'primary') {
    return `${row.primary} is its primary, but holds ${source?.role ?? 'nothing'}`
  }
  for (const backup of row.backups) {
    const copy = held.get(backup)
    if (copy?.role !== 'backup') {
      return `${backup} is a backup, but holds ${copy?.role ?? 'nothing'}`
    }
    if (copy.digest !== source.digest || copy.items !== source.items) {
      const [there, here] = [describe(backup, copy), describe(row.primary, source)]
      return `copies differ: ${there}, ${here}`
    }
  }
  for (const [name, { role }] of held) {
    if (name !== row.primary && !row.backups.includes(name)) {
      return `${name} holds a copy (${role}), but is not in the row`
    }
  }
  return undefined
}

function describe(name: string, { items, seq, epoch, digest }: InspectedCopy): string {
  return `${name} has ${items} items, write ${seq}, epoch ${epoch}, ${digest}`
}
