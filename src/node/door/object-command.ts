/** OBJECT and MEMORY: containers with a key behind the name of the part. */
import { MEMORY_USAGE, OBJECT_PARTS } from '../../commands/object.js'
import { container } from './container.js'
import { compositeCommand } from './several-keys.js'

export const OBJECT = container(
  'object',
  Object.fromEntries(
    OBJECT_PARTS.map((part) => [part.name.slice('object|'.length), compositeCommand(part)])
  )
)

export const MEMORY = container('memory', {
  usage: compositeCommand(MEMORY_USAGE),
  doctor: {
    arity: 2,
    execute: (door, slot) =>
      door.reply(slot, (reply) => reply.verbatim('txt', 'See `opencluster status`.'))
  },
  purge: { arity: 2, execute: (door, slot) => door.reply(slot, (reply) => reply.ok()) }
})
