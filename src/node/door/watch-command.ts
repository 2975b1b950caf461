/** OC.WATCH client pattern: from here on the client hears what happens to keys that match, until OC.UNWATCH client pattern. */
import { WATCHES_MAX } from '../watch-list.js'
import type { DoorCommand } from './door.js'

export const OC_WATCH = {
  name: 'oc.watch',
  arity: 3,
  execute(door, slot, args) {
    const { session } = slot
    const watch = { session: session.id, client: args.text(1), pattern: args.text(2) }
    const version = door.watches.add(watch)
    // Answered when every node knows it.
    if (version !== undefined) slot.gates = [{ peer: door.watches.confirmation, frame: version }]
    door.reply(slot, (reply) => {
      if (version !== undefined) reply.ok()
      else reply.error(`ERR no more than ${WATCHES_MAX} watches a node`)
    })
  }
} as const satisfies DoorCommand

export const OC_UNWATCH = {
  name: 'oc.unwatch',
  arity: 3,
  execute(door, slot, args) {
    const { session } = slot
    door.watches.remove({ session: session.id, client: args.text(1), pattern: args.text(2) })
    door.reply(slot, (reply) => reply.ok())
  }
} as const satisfies DoorCommand
