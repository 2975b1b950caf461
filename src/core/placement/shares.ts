/**
 * How much each node should hold: its part of all copies by weight, as a range of two neighbouring
 * whole numbers [low, high]. Equal weights give floor and ceiling of `buckets * copies / nodes`, the
 * documents' ideal and one more.
 *
 * Two things can stop a node from taking its part: it cannot hold two copies of one bucket, and,
 * where there are zones, a zone must leave at least one copy of every bucket to the others. What it cannot
 * take is given to the rest (water filling), so heavy nodes and large zones need no special rules later.
 *
 * Primaries are shared in proportion to the totals. For any table whose totals are inside their ranges,
 * switches alone can bring the primaries inside theirs: give every holder 1/copies of each bucket, and
 * integral flow rounds that to whole primaries within floor and ceiling of total / copies.
 */
import { assert } from '../assert.js'
import type { NodeIndex } from '../ids.js'
import type { Roster } from './roster.js'

export interface Shares {
  /** Copies of a bucket that the present members can hold. */
  readonly copies: number
  readonly buckets: number
  /** By node index; nodes outside the roster and leaving ones have 0. */
  readonly low: Int32Array
  readonly high: Int32Array
  readonly primaryLow: Int32Array
  readonly primaryHigh: Int32Array
}

/** Rounding noise of the division by weights; shares are below 2^14, so this is far from 1. */
const NOISE = 1e-7

export function computeShares(roster: Roster, buckets: number, copiesWanted: number): Shares {
  const copies = roster.copiesPossible(copiesWanted)
  const exact = fill(roster, buckets, copies)
  const size = roster.members.reduce((most, member) => Math.max(most, member.node + 1), 0)
  const [low, high] = [new Int32Array(size), new Int32Array(size)]
  const [primaryLow, primaryHigh] = [new Int32Array(size), new Int32Array(size)]
  for (const { node } of roster.staying) {
    const share = exact.get(node) ?? 0
    low[node] = Math.floor(share + NOISE)
    high[node] = Math.ceil(share - NOISE)
    primaryLow[node] = Math.floor(share / copies + NOISE)
    primaryHigh[node] = Math.ceil(share / copies - NOISE)
  }
  return { copies, buckets, low, high, primaryLow, primaryHigh }
}

/** Water filling: hand out by weight, pin whoever is over its limit, hand the rest out again. */
function fill(roster: Roster, buckets: number, copies: number): Map<NodeIndex, number> {
  const shares = new Map<NodeIndex, number>()
  const zoneLimit = roster.zones > 1 && copies > 1 ? buckets * (copies - 1) : Infinity
  const zonePinned = new Set<number>()
  let open = roster.staying.filter((member) => member.weight > 0)
  let rest = buckets * copies
  // Each round pins a zone or a node, or ends.
  for (let round = 0; round <= roster.staying.length + roster.zones && open.length > 0; round++) {
    const weight = open.reduce((sum, member) => sum + member.weight, 0)
    const perWeight = rest / weight
    const overfull = [...new Set(open.map((member) => roster.zoneOf(member.node)))].find((zone) => {
      const inZone = open.filter((member) => roster.zoneOf(member.node) === zone)
      const pinned = roster.staying.filter(
        (m) => roster.zoneOf(m.node) === zone && shares.has(m.node)
      )
      const held = pinned.reduce((sum, m) => sum + (shares.get(m.node) ?? 0), 0)
      const wanted = inZone.reduce((sum, m) => sum + Math.min(buckets, m.weight * perWeight), 0)
      return !zonePinned.has(zone) && held + wanted > zoneLimit + NOISE
    })
    if (overfull !== undefined) {
      const inZone = roster.staying.filter((member) => roster.zoneOf(member.node) === overfull)
      for (const member of inZone) {
        rest += shares.get(member.node) ?? 0
        shares.delete(member.node)
      }
      for (const [node, share] of fillNodes(inZone, zoneLimit, buckets)) shares.set(node, share)
      rest -= zoneLimit
      zonePinned.add(overfull)
      open = open.filter((member) => roster.zoneOf(member.node) !== overfull)
      continue
    }
    const heavy = open.filter((member) => member.weight * perWeight > buckets + NOISE)
    if (heavy.length === 0) {
      for (const member of open) shares.set(member.node, member.weight * perWeight)
      rest = 0
      break
    }
    for (const member of heavy) shares.set(member.node, buckets)
    rest -= buckets * heavy.length
    open = open.filter((member) => !heavy.includes(member))
  }
  assert(Math.abs(rest) < 1 || open.length === 0, 'shares do not add up')
  return shares
}

function fillNodes(
  members: readonly { node: NodeIndex; weight: number }[],
  amount: number,
  limit: number
): Map<NodeIndex, number> {
  const shares = new Map<NodeIndex, number>()
  let open = members.filter((member) => member.weight > 0)
  let rest = amount
  while (open.length > 0) {
    const perWeight = rest / open.reduce((sum, member) => sum + member.weight, 0)
    const heavy = open.filter((member) => member.weight * perWeight > limit + NOISE)
    if (heavy.length === 0) {
      for (const member of open) shares.set(member.node, member.weight * perWeight)
      break
    }
    for (const member of heavy) shares.set(member.node, limit)
    rest -= limit * heavy.length
    open = open.filter((member) => !heavy.includes(member))
  }
  return shares
}
