/** COMMAND: the table of commands, for clients that find keys by it. */
import {
  COMMAND_SPECS,
  findSpec,
  keyPlaces,
  type CommandSpec
} from '../../commands/command-specs.js'
import { accessOf } from '../../commands/key-access.js'
import { matchesGlob } from '../../core/glob.js'
import { SYNTAX_ERROR } from '../../commands/error-text.js'
import type { Arguments } from '../../commands/arguments.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import { writeDocs } from './command-docs.js'
import { container, partsOf } from './container.js'

const FIELDS = 10

function partNames(name: string): string[] {
  return partsOf(name).map((part) => part.name)
}

/** A command, or a part of one by both names: `config|get`. */
function find(name: string): CommandSpec | undefined {
  const [whole] = name.toLowerCase().split('|')
  const spec = findSpec(whole)
  if (spec === undefined || whole.length === name.length) return spec
  return parts(spec).find((part) => part.name === name.toLowerCase())
}

/** What is true of a container is true of its parts, but that the key is theirs: redis-py finds it by this. */
function parts(spec: CommandSpec): CommandSpec[] {
  return partsOf(spec.name).map(({ name, arity }) => {
    const [key = 0] = arity === 2 ? [] : keyPlaces(spec, [spec.name, '', ''])
    const flags = key > 0 ? ['readonly'] : spec.flags
    return { ...spec, name, arity, flags, first: key, last: key, step: Math.min(key, 1) }
  })
}

function writeSpec(reply: ReplyWriter, spec: CommandSpec): void {
  reply.array(FIELDS)
  reply.bulkString(spec.name)
  reply.integer(spec.arity)
  reply.set(spec.flags.length)
  for (const flag of spec.flags) reply.simple(flag)
  reply.integer(spec.first)
  reply.integer(spec.last)
  reply.integer(spec.step)
  reply.set(spec.categories.length)
  for (const category of spec.categories) reply.simple(category)
  // Tips and key specifications are for those who want to know more than where keys are.
  for (let i = 0; i < 2; i++) reply.set(0)
  const subcommands = parts(spec)
  reply.set(subcommands.length)
  for (const part of subcommands) writeSpec(reply, part)
}

function writeSpecs(reply: ReplyWriter, specs: readonly (CommandSpec | undefined)[]): void {
  reply.array(specs.length)
  for (const spec of specs) {
    if (spec === undefined) reply.nil()
    else writeSpec(reply, spec)
  }
}

function listNames(args: Arguments): string[] | string {
  const names = COMMAND_SPECS.flatMap(({ name }) => [name, ...partNames(name)])
  if (args.count === 2) return names
  if (args.count !== 5 || args.word(2) !== 'filterby') return SYNTAX_ERROR
  const [kind, value] = [args.word(3), args.text(4)]
  if (kind === 'pattern') return names.filter((name) => matchesGlob(value.toLowerCase(), name))
  if (kind === 'module') return []
  if (kind !== 'aclcat') return SYNTAX_ERROR
  const category = `@${value.toLowerCase()}`
  return COMMAND_SPECS.filter(({ categories }) => categories.includes(category)).flatMap(
    ({ name }) => [name, ...partNames(name)]
  )
}

/** The keys of the command that stands behind `COMMAND GETKEYS`, or the error. */
function findKeys(args: Arguments): { spec: CommandSpec; places: number[] } | string {
  const spec = findSpec(args.text(2))
  if (spec === undefined) return 'ERR Invalid command specified'
  const count = args.count - 2
  if (spec.arity >= 0 ? count !== spec.arity : count < -spec.arity) {
    return 'ERR Invalid number of arguments specified for command'
  }
  const places = keyPlaces(spec, args.texts(2))
  if (places.length > 0) return { spec, places }
  return spec.first === 0 && !spec.flags.includes('movablekeys')
    ? 'ERR The command has no key arguments'
    : 'ERR Invalid arguments specified for command'
}

export const COMMAND = container(
  'command',
  {
    count: {
      arity: 2,
      execute: (door, slot) => door.reply(slot, (reply) => reply.integer(COMMAND_SPECS.length))
    },
    list: {
      arity: -2,
      execute(door, slot, args) {
        const names = listNames(args)
        if (typeof names === 'string') {
          door.refuse(slot, names)
          return
        }
        door.reply(slot, (reply) => {
          reply.array(names.length)
          for (const name of names) reply.bulkString(name)
        })
      }
    },
    info: {
      arity: -2,
      execute(door, slot, args) {
        const wanted = args.count === 2 ? COMMAND_SPECS : args.texts(2).map(find)
        door.reply(slot, (reply) => writeSpecs(reply, wanted))
      }
    },
    docs: {
      arity: -2,
      execute(door, slot, args) {
        const wanted =
          args.count === 2 ? COMMAND_SPECS : args.texts(2).flatMap((name) => find(name) ?? [])
        door.reply(slot, (reply) => writeDocs(reply, wanted))
      }
    },
    getkeys: {
      arity: -4,
      execute(door, slot, args) {
        const found = findKeys(args)
        if (typeof found === 'string') {
          door.refuse(slot, found)
          return
        }
        door.reply(slot, (reply) => {
          reply.array(found.places.length)
          for (const place of found.places) reply.bulkString(args.text(place + 2))
        })
      }
    },
    getkeysandflags: {
      arity: -4,
      execute(door, slot, args) {
        const found = findKeys(args)
        if (typeof found === 'string') {
          door.refuse(slot, found)
          return
        }
        door.reply(slot, (reply) => {
          reply.array(found.places.length)
          found.places.forEach((place, order) => {
            const flags = accessOf(found.spec, args.texts(2), order)
            reply.array(2)
            reply.bulkString(args.text(place + 2))
            reply.set(flags.length)
            for (const flag of flags) reply.simple(flag)
          })
        })
      }
    }
  },
  {
    arity: -1,
    bare: (door, slot) => door.reply(slot, (reply) => writeSpecs(reply, COMMAND_SPECS))
  }
)
