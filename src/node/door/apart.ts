/**
 * Commands about keys that live apart, for clients that do not care where keys live. The items are fetched into a
 * bucket of their own, the command is executed there, and what it changed is done again where the keys are. Each key
 * changes at once and for good, but others may see the time between, and what they change meanwhile is
 * overwritten: whoever cannot have that gives the keys a common hash tag.
 */
import { latin1Bytes } from '../../core/bytes.js'
import type { Arguments } from '../../commands/arguments.js'
import type { Composite } from '../../commands/composite.js'
import { ReplyWriter } from '../../wire/resp/reply-writer.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import { Store } from '../../store/store.js'
import type { Slot } from '../session.js'
import { readReply } from './bucket-reply.js'
import type { Door } from './door.js'

const FETCH = latin1Bytes('OC.FETCH')
const PUT = latin1Bytes('OC.PUT')
const ERROR = 0x2d
const SCRATCH = 0

export function executeApart(
  door: Door,
  composite: Composite,
  { slot, args, places }: { slot: Slot; args: Arguments; places: readonly number[] }
): void {
  const keys = [...new Set(places.map((place) => args.text(place)))].map(latin1Bytes)
  door.ask(
    slot,
    keys.map((key) => encodeArguments([FETCH, key])),
    (parts) => {
      const error = parts.find((part) => part[0] === ERROR)
      if (error !== undefined) {
        door.reply(slot, (reply) => reply.raw(error, 0, error.length))
        return
      }
      const { reply, effects } = rehearse(door, composite, { slot, args, keys, parts })
      door.ask(slot, effects, (done) => {
        const failed = done.find((part) => part[0] === ERROR)
        const answer = failed ?? reply
        door.reply(slot, (writer) => writer.raw(answer, 0, answer.length))
      })
    }
  )
}

/** Executes it on copies; gives the reply and the commands that changed something. */
function rehearse(
  door: Door,
  composite: Composite,
  of: { slot: Slot; args: Arguments; keys: Uint8Array[]; parts: readonly Uint8Array[] }
): { reply: Uint8Array; effects: Uint8Array[] } {
  // The same hasher, so that the node's own keys find what is in it.
  const { hasher } = door.cluster.store
  const bucket = new Store({ seed: 0, hasher }).open(SCRATCH)
  const { protocol } = of.slot.session
  const reply = new ReplyWriter({ protocol, initialBytes: 1024 })
  const effects: Uint8Array[] = []
  let rehearsing = false
  const work = door.execution.createWork(bucket, {
    args: of.args,
    reply,
    written: (call, raw) => {
      if (!rehearsing) return
      effects.push(call.rewritten === undefined ? raw : encodeArguments(call.rewritten))
    }
  })
  of.keys.forEach((key, i) => {
    const item = readReply(of.parts[i])
    if (!Array.isArray(item)) return
    const words = item.filter((word) => word instanceof Uint8Array)
    work.runRequest(encodeArguments([PUT, key, ...words]))
  })
  rehearsing = true
  composite.execute(work)
  return { reply: reply.bytes.slice(0, reply.length), effects }
}
