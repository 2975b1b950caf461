/**
 * Who holds one more than the others, where the copies do not divide evenly. A share is a range
 * [low, high]; there are just so many seats at `high`, and this decides whose they are.
 *
 * The seats go first to nodes that already hold `high` or more, in the order of a hash of their
 * names, then to the others in that order. While copies travel towards these quotas, the set does not change:
 * nodes with a seat stay at `high` or above it, and nodes without one only leave the first group or
 * fill up below it. So a node that has not yet heard of the last few moves comes to the same quotas as one that
 * has, and no copy is shipped twice. (Choosing the fullest nodes instead would depend on who gave first.)
 */
import type { NodeIndex } from '../ids.js'
import type { Table } from '../table.js'
import type { Roster } from './roster.js'
import type { Shares } from './shares.js'

/** By node index; 0 for nodes without a share. */
export function computeQuotas(table: Table, roster: Roster, shares: Shares): Int32Array {
  const quotas = shares.low.slice()
  let seats = shares.buckets * shares.copies
  const full: NodeIndex[] = []
  const rest: NodeIndex[] = []
  for (const { node } of roster.staying) {
    seats -= shares.low[node]
    if (shares.high[node] === shares.low[node]) continue
    if (table.totalOf(node) >= shares.high[node]) full.push(node)
    else rest.push(node)
  }
  const byRank = (a: NodeIndex, b: NodeIndex): number =>
    table.rankOf(a) - table.rankOf(b) || (table.nameOf(a) < table.nameOf(b) ? -1 : 1)
  full.sort(byRank)
  rest.sort(byRank)
  const zoneSeats = countZoneSeats(roster, shares)
  for (const node of [...full, ...rest]) {
    if (seats <= 0) break
    const zone = roster.zoneOf(node)
    const left = zoneSeats.get(zone) ?? Infinity
    if (left <= 0) continue
    zoneSeats.set(zone, left - 1)
    quotas[node]++
    seats--
  }
  return quotas
}

/** A zone must leave a copy of every bucket to the others, so it has only so many seats. */
function countZoneSeats(roster: Roster, shares: Shares): Map<number, number> {
  const seats = new Map<number, number>()
  if (roster.zones < 2 || shares.copies < 2) return seats
  for (const { node } of roster.staying) {
    const zone = roster.zoneOf(node)
    const left = seats.get(zone) ?? shares.buckets * (shares.copies - 1)
    seats.set(zone, left - shares.low[node])
  }
  return seats
}
