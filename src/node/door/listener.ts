/** A RESP2 client that listens to channels can say little else meanwhile. */
import { findCommand } from '../../commands/registry.js'
import type { Slot } from '../session.js'
import { findDoorCommand } from './commands.js'
import { fits, type Door } from './door.js'
import { whileListening } from './pubsub-command.js'

/** Refuses what a listener must not say; false if it may. */
export function refuseListener(door: Door, slot: Slot): boolean {
  const args = door.execution.parse(slot.request)
  const command =
    findDoorCommand(args.word(0)) ?? findCommand(slot.request, args.offset(0), args.length(0))
  // What is no command is refused as that.
  if (command === undefined || !fits(command.arity, args.count)) return false
  const part = args.word(1)
  const parts = 'subcommands' in command ? (command.subcommands as object) : undefined
  if (parts !== undefined && !Object.hasOwn(parts, part)) return false
  const wrong = whileListening(parts === undefined ? command.name : `${command.name}|${part}`)
  if (wrong !== undefined) door.refuse(slot, wrong)
  return wrong !== undefined
}
