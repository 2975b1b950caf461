/** Reads of clients that cache what they read: which keys they are about, so that the client is told when those change. */
import { findCommand, hasArity } from '../../commands/registry.js'
import type { Slot } from '../session.js'
import type { ClientTracking } from './client-state.js'
import { compositeOf } from './composites.js'
import type { Door } from './door.js'

/** CLIENT CACHING is about the command behind it. */
export function takesCaching(door: Door, slot: Slot, tracking: ClientTracking): boolean {
  return door.execution.parse(slot.request).word(0) !== 'client' && tracking.takeCaching()
}

/** Remembers who caches what a command reads. */
export function rememberReads(door: Door, slot: Slot): void {
  const args = door.execution.parse(slot.request)
  const command = findCommand(slot.request, args.offset(0), args.length(0))
  const { session } = slot
  const whom = session.remote?.peer ?? session
  if (command !== undefined && hasArity(command, args.count)) {
    if (!command.flags.includes('write')) door.tracking.remember([args.text(command.key)], whom)
    return
  }
  const composite = compositeOf(args)
  if (composite === undefined || composite.write) return
  const places = composite.keys(args)
  if (typeof places === 'string') return
  door.tracking.remember(
    places.map((place) => args.text(place)),
    whom
  )
}
