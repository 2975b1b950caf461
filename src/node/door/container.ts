/** Commands that are made of subcommands: CLIENT, CONFIG, OBJECT. */
import type { Arguments } from '../../commands/arguments.js'
import { unknownSubcommand, wrongArity } from '../../commands/error-text.js'
import type { Slot } from '../session.js'
import type { Door, DoorCommand } from './door.js'

export interface Subcommand {
  /** Arguments including both names; -n means at least n. */
  readonly arity: number
  execute(door: Door, slot: Slot, args: Arguments): void
}

export interface Container extends DoorCommand {
  readonly subcommands: Readonly<Record<string, Subcommand>>
}

/** A subcommand as COMMAND names it: `client|list`. */
export interface Part {
  readonly name: string
  readonly arity: number
}

const PARTS = new Map<string, readonly Part[]>()

/** None unless it is a container. */
export function partsOf(name: string): readonly Part[] {
  return PARTS.get(name) ?? []
}

/** Also knows HELP, which names the others. */
export function container(
  name: string,
  subcommands: Readonly<Record<string, Subcommand>>,
  options: { arity?: number; alone?: boolean; bare?: Subcommand['execute'] } = {}
): Container {
  const { arity = -2, alone = false, bare } = options
  const parts = [...Object.entries(subcommands), ['help', { arity: 2 }] as const]
  PARTS.set(
    name,
    parts.map(([word, part]) => ({ name: `${name}|${word}`, arity: part.arity }))
  )
  return {
    name,
    arity,
    alone,
    subcommands,
    execute(door, slot, args) {
      if (args.count === 1) {
        bare?.(door, slot, args)
        return
      }
      const word = args.word(1)
      const found = Object.hasOwn(subcommands, word) ? subcommands[word] : undefined
      if (found !== undefined) {
        const { arity: wanted } = found
        const fits = wanted >= 0 ? args.count === wanted : args.count >= -wanted
        if (fits) found.execute(door, slot, args)
        else door.refuse(slot, wrongArity(`${name}|${word}`))
      } else if (word === 'help' && args.count === 2) help(door, slot, name, subcommands)
      else if (word === 'help') door.refuse(slot, wrongArity(`${name}|help`))
      else door.refuse(slot, unknownSubcommand(args.text(1), name))
    }
  }
}

function help(
  door: Door,
  slot: Slot,
  name: string,
  subcommands: Readonly<Record<string, Subcommand>>
): void {
  const upper = name.toUpperCase()
  const lines = [
    `${upper} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`,
    ...Object.keys(subcommands).map((word) => word.toUpperCase()),
    'HELP',
    '    Prints this help.'
  ]
  door.reply(slot, (reply) => {
    reply.array(lines.length)
    for (const line of lines) reply.simple(line)
  })
}
