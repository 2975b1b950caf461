/** CONFIG and DEBUG, as far as clients and their tests need them. */
import { SYNTAX_ERROR } from '../../commands/error-text.js'
import { matchesGlob } from '../../commands/glob.js'
import { container } from './container.js'
import type { DoorCommand } from './door.js'

export const CONFIG = container('config', {
  get: {
    arity: -3,
    execute(door, slot, args) {
      const patterns = args.texts(2).map((text) => text.toLowerCase())
      const names = door.settings.names.filter((name) =>
        patterns.some((pattern) => matchesGlob(pattern, name))
      )
      door.reply(slot, (reply) => {
        reply.map(names.length)
        for (const name of names) {
          reply.bulkString(name)
          reply.bulkString(door.settings.get(name) ?? '')
        }
      })
    }
  },
  set: {
    arity: -4,
    execute(door, slot, args) {
      const { settings } = door
      const pairs: [string, string][] = []
      for (let place = 2; place < args.count; place += 2) {
        pairs.push([args.word(place), args.text(place + 1)])
      }
      const unknown = pairs.find(([name]) => settings.get(name) === undefined)
      const fixed = pairs.find(([name]) => settings.isFixed(name))
      if (args.count % 2 === 1) door.refuse(slot, SYNTAX_ERROR)
      else if (unknown !== undefined) {
        const why = `ERR Unknown option or number of arguments for CONFIG SET - '${unknown[0]}'`
        door.refuse(slot, why)
      } else if (fixed !== undefined) {
        const why = "can't set immutable config"
        door.refuse(
          slot,
          `ERR CONFIG SET failed (possibly related to argument '${fixed[0]}') - ${why}`
        )
      } else {
        for (const [name, value] of pairs) settings.set(name, value)
        door.reply(slot, (reply) => reply.ok())
      }
    }
  },
  resetstat: {
    arity: 2,
    execute(door, slot) {
      door.statistics.reset()
      door.reply(slot, (reply) => reply.ok())
    }
  },
  rewrite: {
    arity: 2,
    execute: (door, slot) => door.refuse(slot, 'ERR The server is running without a config file')
  }
})

/** Only what has no effect on what is kept. */
const HARMLESS = new Set(['set-active-expire', 'log', 'jmap', 'sleep', 'change-repl-id'])

const NOT_ALLOWED =
  'ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.'

export const DEBUG = {
  name: 'debug',
  arity: -2,
  execute(door, slot, args) {
    if (HARMLESS.has(args.word(1))) door.reply(slot, (reply) => reply.ok())
    else door.refuse(slot, NOT_ALLOWED)
  }
} as const satisfies DoorCommand
