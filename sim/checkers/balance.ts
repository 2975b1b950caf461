/** The balance contract at rest, for nodes of equal weight: totals and primaries differ by at most 1. */
import { newestRows, type ClusterView } from '../cluster-view.js'
import type { RestChecker } from './checker.js'

export class BalanceChecker implements RestChecker {
  readonly name = 'the balance contract holds at rest'
  readonly isSafety = false

  problem(view: ClusterView): string | undefined {
    const totals = new Map(view.staying.map((name) => [name, 0]))
    const primaries = new Map(view.staying.map((name) => [name, 0]))
    for (const row of newestRows(view.nodes)) {
      if (row.primary !== null) add(primaries, row.primary)
      for (const name of row.primary === null ? row.backups : [row.primary, ...row.backups]) {
        add(totals, name)
      }
    }
    return judgeSpread('totals', totals) ?? judgeSpread('primaries', primaries)
  }
}

function add(counts: Map<string, number>, name: string): void {
  const count = counts.get(name)
  if (count !== undefined) counts.set(name, count + 1)
}

function judgeSpread(what: string, counts: Map<string, number>): string | undefined {
  const values = [...counts.values()]
  if (values.length === 0 || Math.max(...values) - Math.min(...values) <= 1) return undefined
  return `${what} differ: ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`
}
