/**
 * Where missing copies should go. After a node died or while one leaves, some buckets have too few
 * copies on staying members; each needs a home on a node below its quota that does not hold it yet.
 *
 * Every node computes the whole assignment and acts on its own buckets only. Buckets choose one after
 * another, in a fixed order, the node they like best (by a hash of both) among those with room. This has the
 * property everything rests on: take any part of the assignment as done, compute again, and the rest comes out the same.
 * So it does not matter who acts first or whose table is a little behind, and nothing is shipped
 * but what was lost. Should the last buckets find room only where they already are, they change
 * places with an earlier one.
 */
import { NOBODY, type NodeIndex } from '../ids.js'
import { mix, type Table } from '../table.js'
import type { Roster } from './roster.js'
import type { Shares } from './shares.js'
import { wouldCrowd } from './zones.js'

/** What an assignment is made from; an `Arrangement` is one. */
export interface Housing {
  readonly table: Table
  readonly roster: Roster
  readonly shares: Shares
  quotaOf(node: NodeIndex): number
  countStaying(bucket: number): number
}

/** A home for each homeless copy: `homes.get(bucket)` lists the nodes that should take one. */
export type Homes = Map<number, NodeIndex[]>

/** In the order of numbers: an order that changed as copies are made would change who gets which home. */
function findHomeless(arrangement: Housing): number[] {
  const { table } = arrangement
  const { copies } = arrangement.shares
  const homeless: number[] = []
  for (let bucket = 0; bucket <= table.mask; bucket++) {
    if (table.primaryOf(bucket) === NOBODY) continue
    if (arrangement.countStaying(bucket) < copies) homeless.push(bucket)
  }
  return homeless
}

export function assignHomes(arrangement: Housing): Homes {
  const { table, roster } = arrangement
  const { copies } = arrangement.shares
  const room = new Map<NodeIndex, number>()
  for (const { node } of roster.staying)
    room.set(node, arrangement.quotaOf(node) - table.totalOf(node))
  const homes = new Map<number, NodeIndex[]>()
  const unplaced: number[] = []
  for (const bucket of findHomeless(arrangement)) {
    const chosen: NodeIndex[] = []
    homes.set(bucket, chosen)
    for (let need = copies - arrangement.countStaying(bucket); need > 0; need--) {
      const home = bestHome(arrangement, bucket, { room, taken: chosen })
      if (home === NOBODY) unplaced.push(bucket)
      else {
        chosen.push(home)
        room.set(home, (room.get(home) ?? 0) - 1)
      }
    }
  }
  for (const bucket of unplaced) placeBySwaps(arrangement, bucket, { homes, room })
  return homes
}

function fits(
  { table, roster }: Housing,
  bucket: number,
  { node, taken }: { node: NodeIndex; taken: readonly NodeIndex[] }
): boolean {
  if (table.isHolder(bucket, node) || taken.includes(node)) return false
  return !wouldCrowd(table, roster, { bucket, node, instead: NOBODY, also: taken })
}

function bestHome(
  arrangement: Housing,
  bucket: number,
  { room, taken }: { room: ReadonlyMap<NodeIndex, number>; taken: readonly NodeIndex[] }
): NodeIndex {
  let best = NOBODY
  let bestScore = -1
  for (const { node } of arrangement.roster.staying) {
    if ((room.get(node) ?? 0) <= 0) continue
    const score = mix(arrangement.table.rankOf(node) ^ Math.imul(bucket + 1, 0x9e3779b1))
    if (score > bestScore && fits(arrangement, bucket, { node, taken })) {
      best = node
      bestScore = score
    }
  }
  return best
}

interface Assignment {
  readonly homes: Map<number, NodeIndex[]>
  readonly room: Map<NodeIndex, number>
}

/** Finds a home for a bucket that was left over: others change places for it if they can. */
function placeBySwaps(arrangement: Housing, bucket: number, assignment: Assignment): void {
  if (reassign(arrangement, bucket, { ...assignment, visited: new Set() })) return
  // No arrangement inside the quotas: a copy in a crowded place is better than none.
  const { table, roster } = arrangement
  const own = assignment.homes.get(bucket) ?? []
  let best = NOBODY
  for (const { node } of roster.staying) {
    if (table.isHolder(bucket, node) || own.includes(node)) continue
    if (best === NOBODY || emptier(arrangement, bucket, { node, than: best })) best = node
  }
  if (best !== NOBODY) own.push(best)
}

/** An augmenting path: the bucket takes a place, and whoever had it finds another one in turn. */
function reassign(
  arrangement: Housing,
  bucket: number,
  assignment: Assignment & { readonly visited: Set<NodeIndex> }
): boolean {
  const { homes, room, visited } = assignment
  const own = homes.get(bucket) ?? []
  for (const { node } of arrangement.roster.staying) {
    if (visited.has(node) || !fits(arrangement, bucket, { node, taken: own })) continue
    visited.add(node)
    const free = room.get(node) ?? 0
    if (free > 0) {
      room.set(node, free - 1)
      own.push(node)
      return true
    }
    for (const [other, chosen] of homes) {
      const place = chosen.indexOf(node)
      if (other === bucket || place === -1) continue
      chosen.splice(place, 1)
      if (reassign(arrangement, other, assignment)) {
        own.push(node)
        return true
      }
      chosen.splice(place, 0, node)
    }
  }
  return false
}

function emptier(
  arrangement: Housing,
  bucket: number,
  { node, than }: { node: NodeIndex; than: NodeIndex }
): boolean {
  const { table, roster } = arrangement
  const crowds = wouldCrowd(table, roster, { bucket, node, instead: NOBODY })
  const othersCrowd = wouldCrowd(table, roster, { bucket, node: than, instead: NOBODY })
  if (crowds !== othersCrowd) return othersCrowd
  return (
    table.totalOf(node) - arrangement.quotaOf(node) <
    table.totalOf(than) - arrangement.quotaOf(than)
  )
}
