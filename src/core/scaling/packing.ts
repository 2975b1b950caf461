/**
 * What waits, laid on what is free, then on hosts to come: the exact number of hosts that are missing,
 * for mixed hosts, parallel jobs and half-full hosts alike. Oldest first and first fit, which for
 * one-slot jobs is a plain division rounded up. A spread job is laid as a whole or not at all.
 */
import { assert } from '../assert.js'
import type { Bin, Room, Shape } from './room.js'

/** One line of the queue as far as it can start now. */
export interface Item {
  readonly shape: Shape
  readonly tasks: number
}

export interface PackingOptions {
  readonly room: Room
  readonly items: readonly Item[]
  /** Free room that is there or on its way; changed by packing. */
  readonly bins: readonly Bin[]
  /** Makes the n-th host to come; undefined if nobody knows what one would be. */
  readonly create: ((index: number) => Bin) | undefined
  readonly createMax: number
}

export interface Packing {
  /** Tasks laid on `bins`. */
  readonly placed: number
  /** Tasks that found no room there. */
  readonly unplaced: number
  /** Hosts to come that were used, at most `createMax`. */
  readonly needed: number
}

export function pack({ room, items, bins, create, createMax }: PackingOptions): Packing {
  const created: Bin[] = []
  /** By shape: bins before it are too full for that shape. */
  const starts = new Map<number, number>()
  const createdStarts = new Map<number, number>()
  let [placed, unplaced] = [0, 0]
  for (const { shape, tasks } of items) {
    let rest = tasks
    if (shape.span === 'hosts') {
      while (rest > 0 && spread(room, shape, { bins, starts })) rest--
      placed += tasks - rest
      unplaced += rest
      while (rest > 0 && create !== undefined) {
        if (!spreadFurther({ room, shape, bins, created, create, createMax })) break
        rest--
      }
      continue
    }
    rest = fill(room, { shape, tasks: rest, bins, starts })
    placed += tasks - rest
    unplaced += rest
    if (create === undefined) continue
    rest = fill(room, { shape, tasks: rest, bins: created, starts: createdStarts })
    while (rest > 0 && created.length < createMax) {
      const bin = create(created.length)
      const units = Math.min(rest, room.fit(shape, bin))
      // Only what a host to come can run is an item; else this would not end.
      assert(units > 0, `a host to come has no room for ${shape.slots} slots`)
      room.take(shape, bin, units)
      created.push(bin)
      rest -= units
    }
  }
  return { placed, unplaced, needed: created.length }
}

interface Filling {
  readonly shape: Shape
  readonly tasks: number
  readonly bins: readonly Bin[]
  readonly starts: Map<number, number>
}

/** Lays tasks that need one host each; what is left over. */
function fill(room: Room, { shape, tasks, bins, starts }: Filling): number {
  let rest = tasks
  let index = starts.get(shape.id) ?? 0
  while (rest > 0 && index < bins.length) {
    const units = Math.min(rest, room.fit(shape, bins[index]))
    if (units > 0) room.take(shape, bins[index], units)
    rest -= units
    if (rest > 0) index++
  }
  starts.set(shape.id, index)
  return rest
}

interface Spreading {
  readonly bins: readonly Bin[]
  readonly starts: Map<number, number>
}

/** Lays one spread task over the bins if all of it fits. */
function spread(room: Room, shape: Shape, { bins, starts }: Spreading): boolean {
  let start = starts.get(shape.id) ?? 0
  while (start < bins.length && room.fit(shape, bins[start]) === 0) start++
  starts.set(shape.id, start)
  const parts: { bin: Bin; units: number }[] = []
  let rest = unitsOf(shape)
  for (let index = start; index < bins.length && rest > 0; index++) {
    const units = Math.min(rest, room.fit(shape, bins[index]))
    if (units > 0) parts.push({ bin: bins[index], units })
    rest -= units
  }
  if (rest > 0) return false
  for (const { bin, units } of parts) room.take(shape, bin, units)
  return true
}

interface FurtherSpreading {
  readonly room: Room
  readonly shape: Shape
  readonly bins: readonly Bin[]
  readonly created: Bin[]
  readonly create: (index: number) => Bin
  readonly createMax: number
}

/** The same with hosts to come for what is missing; what is free now is kept for it. */
function spreadFurther({
  room,
  shape,
  bins,
  created,
  create,
  createMax
}: FurtherSpreading): boolean {
  let rest = unitsOf(shape)
  const take = (bin: Bin): void => {
    const units = Math.min(rest, room.fit(shape, bin))
    if (units > 0) room.take(shape, bin, units)
    rest -= units
  }
  for (let index = 0; index < bins.length && rest > 0; index++) take(bins[index])
  for (let index = 0; index < created.length && rest > 0; index++) take(created[index])
  while (rest > 0 && created.length < createMax) {
    const bin = create(created.length)
    created.push(bin)
    take(bin)
  }
  return rest === 0
}

function unitsOf(shape: Shape): number {
  return Math.ceil(shape.slots / shape.unit)
}
