/**
 * The next commands of a pipeline, or of several clients, parsed before the first of them is executed, so that the memory their keys lie in can be
 * asked for all at once. With a million keys a command spends a third of its time waiting for two places in memory, a slot
 * of the index and the record it names; sixteen such waits in a row cost sixteen times one, sixteen at once a third of
 * that. A processor waits for several places at once only if the loads are close together, so each step is a loop of its own:
 * parse and hash, touch the slots, touch the records. With the search for
 * the record in the same loop it won next to nothing.
 *
 * Nothing is decided here. Whatever happens between the look ahead and the execution, a command is executed by its bytes and
 * finds its key by itself; only what depends on the bytes alone (arguments, command, hashes) is kept.
 */
import { NO_BYTES } from '../core/bytes.js'
import type { PlacementHash } from '../core/hash/placement-hash.js'
import { COMMANDS, findCommand, hasArity, type ListedCommand } from '../commands/registry.js'
import type { KeyHasher, KeyHashes } from '../store/key.js'
import type { RequestParser } from '../wire/resp/request-parser.js'
import type { Cluster } from './cluster.js'

/** Enough loads to be waited for at once, and few enough that what they bring is still near when it is needed. */
export const COMMANDS_MAX = 16
/** Lines of a record that are touched: a key and a value of a hundred bytes together lie in up to three. */
const RECORD_WORDS = [0, 16, 28]
const STAR = 0x2a
/** A command over several keys, or none at all. */
const NONE = -1

export class Lookahead implements KeyHashes {
  /** How many commands are known, and which of them is next. */
  #count = 0
  #at = 0
  readonly #cluster: Cluster
  readonly #placement: PlacementHash
  readonly #hasher: KeyHasher
  readonly #parsers: RequestParser[]
  /** The bytes each of them lies in, and where. */
  readonly #sources: Uint8Array[] = Array.from({ length: COMMANDS_MAX }, () => NO_BYTES)
  readonly #starts = new Int32Array(COMMANDS_MAX)
  readonly #ends = new Int32Array(COMMANDS_MAX)
  /** By their places in the list of all commands. */
  readonly #commands = new Int32Array(COMMANDS_MAX)
  readonly #placements = new Int32Array(COMMANDS_MAX)
  readonly #hashes = new Int32Array(COMMANDS_MAX)
  /** Of the slab: what is touched next. */
  readonly #units = new Int32Array(COMMANDS_MAX)
  /** What was touched, so that no compiler may leave the touching out. */
  touched = 0

  constructor(
    cluster: Cluster,
    parts: { placement: PlacementHash; createParser: () => RequestParser }
  ) {
    this.#cluster = cluster
    this.#placement = parts.placement
    this.#hasher = cluster.store.hasher
    this.#parsers = Array.from({ length: COMMANDS_MAX }, parts.createParser)
  }

  /** Begins anew with what lies between two places. */
  fill(bytes: Uint8Array, view: DataView, start: number, end: number): void {
    this.clear()
    this.extend(bytes, view, start, end)
    this.touch()
  }

  /** Parses what lies between two places, as far as there is room, up to a command that is not whole or not plain. */
  extend(bytes: Uint8Array, view: DataView, start: number, end: number): void {
    let from = start
    while (from >= 0 && from < end && !this.isFull) from = this.add(bytes, view, from, end)
  }

  /** To be called before any of the bytes change. */
  clear(): void {
    for (let i = 0; i < this.#count; i++) this.#sources[i] = NO_BYTES
    this.#count = 0
    this.#at = 0
  }

  get isFull(): boolean {
    return this.#count === COMMANDS_MAX
  }

  /** Whether the command that begins here is the next one known. */
  covers(bytes: Uint8Array, start: number): boolean {
    return (
      this.#at < this.#count &&
      this.#starts[this.#at] === start &&
      this.#sources[this.#at] === bytes
    )
  }

  /** The next command was dealt with. */
  advance(): void {
    this.#at++
  }

  /** Parses one command and returns the offset after it; below 0 if it is not whole or not plain, and then it is not added. */
  add(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    // Quotes of an inline command are resolved where they lie, which must not happen twice.
    if (bytes[start] !== STAR) return NONE
    const parser = this.#parsers[this.#count]
    parser.reset()
    const after = parser.parse(bytes, view, start, end)
    if (after < 0) return after
    const at = this.#count++
    this.#sources[at] = bytes
    this.#starts[at] = start
    this.#ends[at] = after
    this.#commands[at] = NONE
    if (parser.count === 0) return after
    const command = findCommand(bytes, parser.offsets[0], parser.lengths[0])
    if (command === undefined || !hasArity(command, parser.count)) return after
    const offset = parser.offsets[command.key]
    const length = parser.lengths[command.key]
    this.#commands[at] = command.place
    this.#placements[at] = this.#placement.hash(bytes, offset, length)
    this.#hashes[at] = this.#hasher.hash(view, offset, length)
    return after
  }

  /** Asks for the memory of all keys, if there are several. */
  touch(): void {
    if (this.#count < 2) return
    const { buckets, table, store } = this.#cluster
    const { mask } = table
    const commands = this.#commands
    const placements = this.#placements
    const hashes = this.#hashes
    const count = this.#count
    const units = this.#units
    for (let i = 0; i < count; i++) {
      const items = commands[i] === NONE ? undefined : buckets[placements[i] & mask]?.items
      units[i] = items === undefined ? 0 : items.slotUnit(hashes[i])
    }
    this.touched ^= store.touch(units, count, 0)
    for (let i = 0; i < count; i++) {
      const items = commands[i] === NONE ? undefined : buckets[placements[i] & mask]?.items
      units[i] = items === undefined ? 0 : items.candidate(hashes[i])
    }
    for (const words of RECORD_WORDS) this.touched ^= store.touch(units, count, words)
  }

  /** Of the next command: its arguments. */
  get parser(): RequestParser {
    return this.#parsers[this.#at]
  }

  /** The offset after it. */
  get end(): number {
    return this.#ends[this.#at]
  }

  /** What it is, if it is about one key. */
  get command(): ListedCommand | undefined {
    const place = this.#commands[this.#at]
    return place === NONE ? undefined : COMMANDS[place]
  }

  get placementHash(): number {
    return this.#placements[this.#at]
  }

  /** The table hash of its key. */
  get keyHash(): number {
    return this.#hashes[this.#at]
  }
}
