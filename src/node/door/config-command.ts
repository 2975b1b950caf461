/** CONFIG and DEBUG, as far as clients and their tests need them. */
import { latin1Bytes } from '../../core/bytes.js'
import { SYNTAX_ERROR } from '../../commands/error-text.js'
import { matchesGlob } from '../../core/glob.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { Slot } from '../session.js'
import { container } from './container.js'
import type { Answer, Door, DoorCommand } from './door.js'
import { normalizeClasses, WRONG_CLASSES } from './key-events.js'

const SETTING = latin1Bytes('oc.setting')

/** Answered when all nodes know it. */
function share(door: Door, slot: Slot, pairs: readonly [string, string][]): void {
  const words: Uint8Array[] = [SETTING]
  for (const [name, value] of pairs) {
    const classes = normalizeClasses(value)
    if (classes === undefined) {
      door.refuse(
        slot,
        `ERR CONFIG SET failed (possibly related to argument '${name}') - ${WRONG_CLASSES}`
      )
      return
    }
    const version = door.shared.set(name, classes)
    words.push(...[name, classes, String(version)].map(latin1Bytes))
  }
  door.poll(slot, encodeArguments(words), () => door.reply(slot, (reply) => reply.ok()))
}

export const SETTING_ANSWERS: Readonly<Record<string, Answer>> = {
  /** OC.SETTING (name value version)…: what another node was told. */
  'oc.setting': (door, args, reply) => {
    for (let place = 1; place + 2 < args.count; place += 3) {
      door.shared.learn(args.text(place), args.text(place + 1), Number(args.text(place + 2)))
    }
    reply.ok()
  }
}

/** All or nothing: what is wrong with any of them. */
function findFault({ settings }: Door, pairs: readonly [string, string][]): string | undefined {
  const unknown = pairs.find(([name]) => settings.get(name) === undefined)
  if (unknown !== undefined) {
    return `ERR Unknown option or number of arguments for CONFIG SET - '${unknown[0]}'`
  }
  const failed = (name: string, why: string): string =>
    `ERR CONFIG SET failed (possibly related to argument '${name}') - ${why}`
  const twice = pairs.find(([name], i) =>
    pairs.slice(0, i).some(([other]) => settings.isSame(name, other))
  )
  if (twice !== undefined) return failed(twice[0], 'duplicate parameter')
  for (const [name, value] of pairs) {
    const why = settings.refusal(name, value)
    if (why !== undefined) return failed(name, why)
  }
  return undefined
}

export const CONFIG = container('config', {
  get: {
    arity: -3,
    execute(door, slot, args) {
      const patterns = args.texts(2).map((text) => text.toLowerCase())
      const { settings } = door
      const names = new Set(
        settings.names.filter((name) => patterns.some((pattern) => matchesGlob(pattern, name)))
      )
      // What is hidden is told to those who know its name.
      for (const name of patterns) if (settings.get(name) !== undefined) names.add(name)
      door.reply(slot, (reply) => {
        reply.map(names.size)
        for (const name of names) {
          reply.bulkString(name)
          reply.bulkString(settings.get(name) ?? '')
        }
      })
    }
  },
  set: {
    arity: -4,
    execute(door, slot, args) {
      if (args.count % 2 === 1) {
        door.refuse(slot, SYNTAX_ERROR)
        return
      }
      const pairs: [string, string][] = []
      for (let place = 2; place < args.count; place += 2) {
        pairs.push([args.word(place), args.text(place + 1)])
      }
      const fault = findFault(door, pairs)
      if (fault !== undefined) {
        door.refuse(slot, fault)
        return
      }
      for (const [name, value] of pairs) {
        if (!door.shared.isShared(name)) door.settings.set(name, value)
      }
      const shared = pairs.filter(([name]) => door.shared.isShared(name))
      if (shared.length === 0) door.reply(slot, (reply) => reply.ok())
      else share(door, slot, shared)
    }
  },
  resetstat: {
    arity: 2,
    execute(door, slot) {
      door.statistics.reset()
      door.execution.reads = 0
      door.execution.misses = 0
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
