/**
 * Commands about several keys at the door. Where all keys have the same hash (a hash tag, as a rule) the whole
 * command is executed in one go where their bucket is, and stays so whatever is split. Others are done
 * key by key, each where it is, or are refused as Redis Cluster refuses them.
 */
import type { Arguments } from '../../commands/arguments.js'
import type { Composite } from '../../commands/composite.js'
import { CROSS_SLOT } from '../../commands/error-text.js'
import { EACH_KEY, MSETNX } from '../../commands/several-keys.js'
import type { Slot } from '../session.js'
import { executeApart } from './apart.js'
import { COMPOSITES } from './composites.js'
import type { Door, DoorCommand } from './door.js'

type Apart = (door: Door, slot: Slot, args: Arguments, places: readonly number[]) => void

const refuse: Apart = (door, slot) => door.refuse(slot, CROSS_SLOT)

export function compositeCommand(composite: Composite, apart: Apart = refuse): DoorCommand {
  const { name, arity, write } = composite
  return {
    name,
    arity,
    execute(door, slot, args) {
      const places = composite.keys(args)
      if (typeof places === 'string') {
        door.refuse(slot, places)
        return
      }
      const hash = commonHash(door, args, places)
      if (hash === undefined) {
        if (slot.session.isClusterAware || slot.session.remote !== undefined) {
          door.refuse(slot, CROSS_SLOT)
        } else apart(door, slot, args, places)
        return
      }
      door.serve(slot, { hash, write }, (state, reply) => {
        const work = door.execution.workOn(state, args, reply)
        composite.execute(work)
        return work.changed
      })
    }
  }
}

/** The hash of all these keys if it is the same. */
export function commonHash(
  door: Door,
  args: Arguments,
  places: readonly number[]
): number | undefined {
  const { hash } = door.execution
  let common: number | undefined
  for (const place of places) {
    const own = hash.hash(args.bytes, args.offset(place), args.length(place))
    if (common !== undefined && own !== common) return undefined
    common = own
  }
  return common
}

export const SEVERAL_KEYS_COMMANDS: readonly DoorCommand[] = [
  ...EACH_KEY.map((each) =>
    compositeCommand(each, (door, slot, args, places) => {
      const { hash } = door.execution
      const parts = places.map((place) => ({
        hash: hash.hash(args.bytes, args.offset(place), args.length(place)),
        request: each.part(args, place)
      }))
      if (
        !each.write &&
        door.readHere(slot, parts, (replies, reply) => each.combine(replies, reply))
      )
        return
      const requests = parts.map(({ request }) => request)
      door.scatter(slot, requests, (replies, reply) => each.combine(replies, reply))
    })
  ),
  compositeCommand(MSETNX),
  ...COMPOSITES.map((composite) =>
    compositeCommand(composite, (door, slot, args, places) =>
      executeApart(door, composite, { slot, args, places })
    )
  )
]
