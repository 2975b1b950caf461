/** The figures of a cluster at rest, and the least that could have been shipped to get there. */
import type { BalanceCluster } from './cluster.js'
import type { Table } from '../../src/core/table.js'
import type { Roster } from '../../src/core/placement/roster.js'

export interface Spread {
  readonly totals: number
  readonly primaries: number
}

export function measureSpread(table: Table, roster: Roster): Spread {
  let [low, high, primaryLow, primaryHigh] = [Infinity, 0, Infinity, 0]
  for (const { node } of roster.staying) {
    low = Math.min(low, table.totalOf(node))
    high = Math.max(high, table.totalOf(node))
    primaryLow = Math.min(primaryLow, table.primariesOf(node))
    primaryHigh = Math.max(primaryHigh, table.primariesOf(node))
  }
  return { totals: Math.max(0, high - low), primaries: Math.max(0, primaryHigh - primaryLow) }
}

/**
 * What must be shipped before the cluster can be at rest, counted before anything moves: the copies
 * that are missing, or the copies that nodes hold above their quotas, whichever is more. (A missing copy fills a
 * gap that a surplus one would fill otherwise.)
 */
export function countNeeded(cluster: BalanceCluster): number {
  const { arrangement, table } = cluster
  let [gaps, surplus] = [0, 0]
  for (const { node } of arrangement.roster.staying) {
    const difference = arrangement.quotaOf(node) - table.totalOf(node)
    if (difference > 0) gaps += difference
    else surplus -= difference
  }
  return Math.max(gaps, surplus)
}
