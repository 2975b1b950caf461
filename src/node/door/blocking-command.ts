/** BLPOP and its kin at the door; OC.TRY command: the same without waiting, for keys that live apart. */
import type { Arguments } from '../../commands/arguments.js'
import { BLOCKING, type Blocking } from '../../commands/blocking.js'
import { CROSS_SLOT } from '../../commands/error-text.js'
import type { Slot } from '../session.js'
import type { Door, DoorCommand } from './door.js'
import { commonHash, compositeCommand } from './several-keys.js'
import { executeApart } from './apart.js'

function command(blocking: Blocking): DoorCommand {
  const { name, arity } = blocking
  const atOnce = compositeCommand(blocking)
  return {
    name,
    arity,
    execute(door, slot, args) {
      const places = blocking.keys(args)
      const { session } = slot
      if (typeof places === 'string') door.refuse(slot, places)
      else if (slot.collector !== undefined) atOnce.execute(door, slot, args)
      else {
        const hash = commonHash(door, args, places)
        if (hash !== undefined) door.block(slot, { hash, blocking, args })
        else if (session.isClusterAware || session.remote !== undefined) {
          door.refuse(slot, CROSS_SLOT)
        } else door.keepVigil(slot, blocking, args)
      }
    }
  }
}

const BY_NAME = new Map(BLOCKING.map((blocking) => [blocking.name, blocking]))

function attempt(door: Door, slot: Slot, args: Arguments): void {
  const inner = door.execution.parseAny(args.at(1).slice())
  const blocking = inner === undefined ? undefined : BY_NAME.get(inner.word(0))
  const places = inner === undefined ? '' : (blocking?.keys(inner) ?? '')
  if (inner === undefined || blocking === undefined || typeof places === 'string') {
    door.refuse(slot, 'ERR nothing to try')
    return
  }
  const hash = commonHash(door, inner, places)
  if (hash === undefined) executeApart(door, blocking, { slot, args: inner, places })
  else {
    door.serve(slot, { hash, write: true }, (state, reply) => {
      const work = door.execution.workOn(state, inner, reply)
      blocking.execute(work)
      return work.changed
    })
  }
}

const OC_TRY = { name: 'oc.try', arity: 2, execute: attempt } as const satisfies DoorCommand

export const BLOCKING_COMMANDS: readonly DoorCommand[] = [...BLOCKING.map(command), OC_TRY]
