/** OC.TABLE [SUBSCRIBE]: where every bucket is, and on request every change of it from here on (table-feed.ts). */
import { FOLLOWERS_MAX } from '../table-feed.js'
import type { DoorCommand } from './door.js'

export const OC_TABLE = {
  name: 'oc.table',
  arity: -1,
  execute(door, slot, args) {
    const { session } = slot
    const subscribes = args.count > 1 && args.word(1) === 'subscribe'
    // A client's own node is the one that can tell it; one that came through another is only answered.
    const full = subscribes && session.remote === undefined && !door.feed.add(session.id)
    if (full) door.refuse(slot, `ERR no more than ${FOLLOWERS_MAX} followers a node`)
    else door.reply(slot, (reply) => door.feed.reply(reply))
  }
} as const satisfies DoorCommand
