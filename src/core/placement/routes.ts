/**
 * How primaries even out by switches alone. A row is an arrow from its primary to each backup: a switch
 * turns it round and carries one primary along it. Where a node has too many primaries and none of its
 * backups' nodes has too few, the surplus travels over several switches, along the shortest way.
 *
 * Only the node that has the surplus acts, one step at a time, and looks again after it: nothing has to be agreed
 * between the nodes on the way, and a way that closed meanwhile is simply not taken. Each step brings a
 * surplus nearer to a gap, so it ends.
 */
import { NOBODY, type NodeIndex } from '../ids.js'
import { MAX_COPIES } from '../table.js'
import type { View } from './view.js'

export interface Step {
  readonly bucket: number
  readonly to: NodeIndex
  /** Switches still needed after this one until the surplus has found its place. */
  readonly further: number
}

/** The switch this node should make, if any. */
export function findStep(view: View): Step | undefined {
  const { table, roster, self, shares } = view
  if (!roster.isStaying(self)) return undefined
  const primaries = table.primariesOf(self)
  const lacking = (node: NodeIndex): boolean => table.primariesOf(node) < shares.primaryLow[node]
  const someoneLacks = roster.staying.some(({ node }) => lacking(node))
  if (primaries > shares.primaryHigh[self]) {
    // To a node that lacks one if there is a way; else what was passed on here would go back.
    const toLacking = someoneLacks ? firstStep(view, measure(view, lacking)) : undefined
    const hasRoom = (node: NodeIndex): boolean => table.primariesOf(node) < shares.primaryHigh[node]
    return toLacking ?? firstStep(view, measure(view, hasRoom))
  }
  if (primaries <= shares.primaryLow[self] || !someoneLacks) return undefined
  const distances = measure(view, lacking)
  // Of all that could give one, the nearest does, and of these the first by name hash: two gaps
  // are not filled from one surplus, nor one gap from two.
  for (const { node } of roster.staying) {
    if (node === self || table.primariesOf(node) <= shares.primaryLow[node]) continue
    const [theirs, ours] = [distances[node], distances[self]]
    if (ours > 1 && theirs < ours) return undefined
    if (ours > 1 && theirs === ours && table.rankOf(node) < table.rankOf(self)) return undefined
  }
  return firstStep(view, distances)
}

const FAR = 0x7fff

/** Switches from each node to the nearest goal, by breadth-first search against the arrows. */
function measure(view: View, isGoal: (node: NodeIndex) => boolean): Int16Array {
  const { table, roster, self } = view
  const distances = new Int16Array(table.names.length).fill(FAR)
  for (const { node } of roster.staying) if (node !== self && isGoal(node)) distances[node] = 0
  const holders = table.holders
  for (let level = 0, grew = true; grew && level < roster.staying.length; level++) {
    grew = false
    for (let at = 0; at < holders.length; at += MAX_COPIES) {
      const primary = holders[at]
      if (primary === NOBODY || distances[primary] <= level + 1) continue
      for (let place = 1; place < MAX_COPIES; place++) {
        const backup = holders[at + place]
        if (backup === NOBODY) break
        if (distances[backup] === level && roster.isStaying(primary)) {
          distances[primary] = level + 1
          grew = true
          break
        }
      }
    }
    if (distances[self] !== FAR) break
  }
  return distances
}

function firstStep(view: View, distances: Int16Array): Step | undefined {
  const { table, roster, self } = view
  const wanted = distances[self] - 1
  if (distances[self] === FAR) return undefined
  let best: Step | undefined
  let bestPrimaries = Infinity
  const holders = table.holders
  for (let at = 0, bucket = 0; at < holders.length; at += MAX_COPIES, bucket++) {
    if (holders[at] !== self) continue
    for (let place = 1; place < MAX_COPIES; place++) {
      const to = holders[at + place]
      if (to === NOBODY) break
      if (distances[to] !== wanted || !roster.isStaying(to)) continue
      const primaries = table.primariesOf(to)
      if (primaries < bestPrimaries) {
        best = { bucket, to, further: wanted }
        bestPrimaries = primaries
      }
    }
  }
  return best
}
