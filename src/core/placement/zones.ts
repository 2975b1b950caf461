/**
 * Zones: the copies of a bucket may not all stand in one zone while there is another. Only copies on
 * staying members count; a copy on a leaving or dead node protects nothing.
 */
import type { NodeIndex } from '../ids.js'
import { MAX_COPIES, type Table } from '../table.js'
import type { Roster } from './roster.js'

/** The one zone all counting copies of the bucket stand in, or -1 if they stand apart or alone. */
export function commonZone(table: Table, roster: Roster, bucket: number): number {
  if (roster.zones < 2) return -1
  let zone = -1
  let counted = 0
  for (let place = 0; place < MAX_COPIES; place++) {
    const holder = table.holderAt(bucket, place)
    if (!roster.isStaying(holder)) continue
    const at = roster.zoneOf(holder)
    if (counted > 0 && at !== zone) return -1
    zone = at
    counted++
  }
  return counted > 1 ? zone : -1
}

export interface Spot {
  readonly bucket: number
  readonly node: NodeIndex
  /** The holder that goes when the copy comes, or NOBODY. */
  readonly instead: NodeIndex
  /** Nodes that are about to get a copy as well. */
  readonly also?: readonly NodeIndex[]
}

/** Whether a copy at this spot would leave all copies of the bucket in one zone. */
export function wouldCrowd(table: Table, roster: Roster, spot: Spot): boolean {
  if (roster.zones < 2) return false
  const zone = roster.zoneOf(spot.node)
  if (spot.also?.some((node) => roster.zoneOf(node) !== zone) === true) return false
  let others = spot.also?.length ?? 0
  for (let place = 0; place < MAX_COPIES; place++) {
    const holder = table.holderAt(spot.bucket, place)
    if (holder === spot.instead || !roster.isStaying(holder)) continue
    if (roster.zoneOf(holder) !== zone) return false
    others++
  }
  return others > 0
}
