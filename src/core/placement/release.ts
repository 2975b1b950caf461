/**
 * Which backup may be struck because its bucket has all its copies without it. Whoever strikes it decides that from what
 * it knew when it asked; since a row may change long after that, the same is asked again before each try.
 */
import type { NodeIndex } from '../ids.js'
import type { View } from './view.js'

export function isDispensable(view: View, bucket: number, node: NodeIndex): boolean {
  const { table, roster, shares, arrangement } = view
  if (bucket > table.mask || table.primaryOf(bucket) === node) return false
  if (!table.isHolder(bucket, node)) return false
  // Where nobody stays, no copy is wanted, and those on leaving nodes are all there is.
  const wanted = Math.max(1, shares.copies)
  const staying = arrangement.countStaying(bucket)
  return roster.isStaying(node) ? staying > wanted : staying >= wanted
}
