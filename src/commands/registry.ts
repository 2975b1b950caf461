/**
 * All commands, and the way from the bytes of a name to one of them. The lookup is the first thing that
 * happens to every command, so it makes no string: the first eight bytes, in small letters, are packed
 * into two words, and those with the length are looked up in a small open-addressing table.
 */
import { assert } from '../core/assert.js'
import type { ReplyWriter } from '../wire/resp/reply-writer.js'
import { BITFIELD_COMMANDS } from './bitfield.js'
import { BIT_COMMANDS } from './bits.js'
import { CARDINALITY_COMMANDS } from './cardinality.js'
import type { Command } from './command.js'
import { COUNTER_COMMANDS } from './counter.js'
import { DUMP_COMMANDS } from './dump.js'
import { wrongArity } from './error-text.js'
import { EXPIRY_COMMANDS } from './expiry.js'
import { GEO_COMMANDS } from './geo.js'
import { HASH_COMMANDS } from './hash.js'
import { HASH_COUNT_COMMANDS } from './hash-count.js'
import { ITEM_COMMANDS } from './item-copy.js'
import { KEY_COMMANDS } from './key.js'
import { LIST_COMMANDS } from './list.js'
import { LIST_EDIT_COMMANDS } from './list-edit.js'
import { MERGE_COMMANDS } from './merge.js'
import { SET_COMMANDS } from './set.js'
import { STRING_COMMANDS } from './string.js'
import { SUBSTRING_COMMANDS } from './substring.js'
import { VERSION_COMMANDS } from './version.js'
import { ZSET_COMMANDS } from './zset.js'
import { ZSET_RANGE_COMMANDS } from './zset-range.js'
import { ZSET_TAKE_COMMANDS } from './zset-take.js'

const LISTED: readonly Command[] = [
  ...STRING_COMMANDS,
  ...SUBSTRING_COMMANDS,
  ...BIT_COMMANDS,
  ...BITFIELD_COMMANDS,
  ...CARDINALITY_COMMANDS,
  ...COUNTER_COMMANDS,
  ...KEY_COMMANDS,
  ...DUMP_COMMANDS,
  ...EXPIRY_COMMANDS,
  ...GEO_COMMANDS,
  ...HASH_COMMANDS,
  ...HASH_COUNT_COMMANDS,
  ...LIST_COMMANDS,
  ...LIST_EDIT_COMMANDS,
  ...MERGE_COMMANDS,
  ...SET_COMMANDS,
  ...ZSET_COMMANDS,
  ...ZSET_RANGE_COMMANDS,
  ...ZSET_TAKE_COMMANDS,
  ...VERSION_COMMANDS,
  ...ITEM_COMMANDS
]

/**
 * A command with its place in the list, for those who count by command, and with what is asked about every one that is
 * executed. All are of one shape: property loads on the data path know where to look.
 */
export class ListedCommand implements Command {
  readonly name: string
  readonly arity: number
  readonly flags: Command['flags']
  readonly key: number
  readonly execute: Command['execute']
  readonly place: number
  readonly writes: boolean
  readonly takesMemory: boolean

  constructor(command: Command, place: number) {
    this.name = command.name
    this.arity = command.arity
    this.flags = command.flags
    this.key = command.key
    this.execute = command.execute
    this.place = place
    this.writes = command.flags.includes('write')
    this.takesMemory = command.flags.includes('memory')
  }
}

export const COMMANDS: readonly ListedCommand[] = LISTED.map(
  (command, place) => new ListedCommand(command, place)
)

const PACKED_BYTES = 8
/** A blank bit makes a small letter of a capital, and leaves small letters, digits and points alone. */
const SMALL = 0x20

class CommandTable {
  readonly #mask: number
  readonly #commands: (ListedCommand | undefined)[]
  readonly #low: Int32Array
  readonly #high: Int32Array

  constructor(commands: readonly ListedCommand[]) {
    let size = 64
    while (size < commands.length * 4) size *= 2
    this.#mask = size - 1
    this.#commands = new Array<ListedCommand | undefined>(size).fill(undefined)
    this.#low = new Int32Array(size)
    this.#high = new Int32Array(size)
    for (const command of commands) this.#add(command)
  }

  #add(command: ListedCommand): void {
    const { name } = command
    const bytes = Uint8Array.from(name, (letter) => letter.charCodeAt(0))
    assert(this.find(bytes, 0, bytes.length) === undefined, `two commands are called ${name}`)
    const low = pack(bytes, 0, Math.min(4, bytes.length))
    const high = pack(bytes, 4, Math.min(PACKED_BYTES, bytes.length))
    let slot = placeOf(low, high, bytes.length) & this.#mask
    while (this.#commands[slot] !== undefined) slot = (slot + 1) & this.#mask
    this.#commands[slot] = command
    this.#low[slot] = low
    this.#high[slot] = high
  }

  find(bytes: Uint8Array, offset: number, length: number): ListedCommand | undefined {
    const end = offset + length
    const low = pack(bytes, offset, Math.min(offset + 4, end))
    const high = pack(bytes, offset + 4, Math.min(offset + PACKED_BYTES, end))
    let slot = placeOf(low, high, length) & this.#mask
    // A quarter of the slots is filled at most, so the search ends.
    for (;;) {
      const command = this.#commands[slot]
      if (command === undefined) return undefined
      if (
        this.#low[slot] === low &&
        this.#high[slot] === high &&
        command.name.length === length &&
        isTailOf(command.name, bytes, offset)
      ) {
        return command
      }
      slot = (slot + 1) & this.#mask
    }
  }
}

function pack(bytes: Uint8Array, from: number, to: number): number {
  let word = 0
  for (let at = from; at < to; at++) word = (word << 8) | bytes[at] | SMALL
  return word
}

function placeOf(low: number, high: number, length: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b) ^ length, 0xc2b2ae35)
  return mixed ^ (mixed >>> 15)
}

function isTailOf(name: string, bytes: Uint8Array, offset: number): boolean {
  for (let i = PACKED_BYTES; i < name.length; i++) {
    // On both sides, for the line in bitfield_ro.
    if ((bytes[offset + i] | SMALL) !== (name.charCodeAt(i) | SMALL)) return false
  }
  return true
}

const TABLE = new CommandTable(COMMANDS)

/** The command of that name, in letters of any size, or undefined. */
export function findCommand(
  bytes: Uint8Array,
  offset: number,
  length: number
): ListedCommand | undefined {
  return TABLE.find(bytes, offset, length)
}

/** Whether a command may have `count` arguments, its name included. */
export function hasArity(command: Command, count: number): boolean {
  return command.arity >= 0 ? count === command.arity : count >= -command.arity
}

/** Writes the error and answers false where the number of arguments is wrong. */
export function checkArity(command: Command, count: number, reply: ReplyWriter): boolean {
  if (hasArity(command, count)) return true
  reply.error(wrongArity(command.name))
  return false
}
