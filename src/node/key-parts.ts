/**
 * Commands that do to each of several keys what a command does to one (several-keys.ts), where all of the keys are here and
 * nobody looks on: each part is put together in one place and executed there. As requests with replies of their
 * own they would cost some five times as much. MGET has a shorter way still (key-reads.ts).
 */
import type { Call } from '../commands/call.js'
import { findCommand, type ListedCommand } from '../commands/registry.js'
import { assert } from '../core/assert.js'
import { ByteWriter, latin1Bytes } from '../core/bytes.js'
import { RequestParser } from '../wire/resp/request-parser.js'
import type { Cluster } from './cluster.js'
import type { Copies } from './copies.js'
import type { Execution } from './door/execution.js'
import type { DoorStatistics } from './door/statistics.js'
import type { Session } from './session.js'
import type { Gate } from './segment.js'

/** A command over more keys is executed like any other over several. */
const KEYS_MAX = 1024
const KEPT_BYTES_MAX = 1024 * 1024
const COLON = 0x3a
const MINUS = 0x2d
const ZERO = 0x30

/** What commands over several keys that are all here work with. */
export interface LocalKeys {
  readonly cluster: Cluster
  readonly copies: Copies
  readonly execution: Execution
  readonly statistics: DoorStatistics
  readonly call: Call
}

interface EachKey {
  readonly name: string
  readonly part: ListedCommand
  /** The beginning of each part: how many arguments, and the name. */
  readonly head: Uint8Array
  /** Arguments a key, itself included. */
  readonly step: number
}

const EACH_KEY: readonly EachKey[] = [
  eachKey('mset', 'SET', 2),
  ...['del', 'unlink', 'exists', 'touch'].map((name) => eachKey(name, name.toUpperCase(), 1))
]

export class KeyParts {
  readonly #door: LocalKeys
  readonly #parser: RequestParser
  #part = new ByteWriter()
  readonly #hashes = new Int32Array(KEYS_MAX)

  constructor(door: LocalKeys) {
    this.#door = door
    this.#parser = new RequestParser({ maxBulkBytes: door.cluster.config.maxRequestBytes })
  }

  /** False if it is another command or takes more than that; then nothing was done. */
  execute(session: Session, parser: RequestParser, gates: Gate[]): boolean {
    const each = findEachKey(session.input.bytes, parser.offsets[0], parser.lengths[0])
    if (each === undefined || session.remote !== undefined) return false
    const keys = (parser.count - 1) / each.step
    if (!Number.isInteger(keys) || keys < 1 || keys > KEYS_MAX) return false
    if (this.#door.execution.isLookedAt || !this.#door.cluster.mayServe()) return false
    if (!this.#areHere(session, parser, each, keys)) return false
    this.#door.statistics.aside++
    this.#door.statistics.note(each.name, 0)
    let sum = 0
    // Of the first part that failed: that one changed nothing, the others count.
    let error: Uint8Array | undefined
    for (let i = 0; i < keys; i++) {
      const answer = this.#executePart(session, parser, each, i, gates)
      if (typeof answer === 'number') sum += answer
      else error ??= answer
    }
    if (this.#part.bytes.length > KEPT_BYTES_MAX) this.#part = new ByteWriter()
    const { reply } = this.#door.call
    if (error !== undefined) reply.raw(error, 0, error.length)
    else if (each.step > 1) reply.ok()
    else reply.integer(sum)
    return true
  }

  #areHere(session: Session, parser: RequestParser, each: EachKey, keys: number): boolean {
    const { buckets, table } = this.#door.cluster
    const { bytes } = session.input
    for (let i = 0; i < keys; i++) {
      const place = 1 + i * each.step
      const hash = this.#door.execution.hash.hash(
        bytes,
        parser.offsets[place],
        parser.lengths[place]
      )
      const state = buckets[hash & table.mask]
      if (state?.role !== 'primary' || state.holding) return false
      if (each.part.writes && this.#door.copies.isCongested(state)) return false
      this.#hashes[i] = hash
      // Whoever knows where keys are names keys of one slot only, or is told so.
      if (hash !== this.#hashes[0] && session.isClusterAware) return false
    }
    return true
  }

  /** What it was answered: a number, 0 for OK, or an error. */
  #executePart(
    session: Session,
    parser: RequestParser,
    { head, step, part: command }: EachKey,
    index: number,
    gates: Gate[]
  ): number | Uint8Array {
    const part = this.#writePart(session, parser, head, { from: 1 + index * step, count: step })
    const call = this.#door.call
    const hash = this.#hashes[index]
    const state = this.#door.cluster.buckets[hash & this.#door.cluster.table.mask]
    assert(state !== undefined, 'a bucket that was here is here')
    const { offsets, lengths } = this.#parser
    call.bytes = part.bytes
    call.view = part.view
    call.key.set(part.bytes, part.view, offsets[1], lengths[1], hash)
    const { reply } = call
    const before = reply.length
    if (this.#door.execution.perform(call, this.#parser, command, state.items)) {
      if (call.change !== undefined) {
        this.#door.execution.writtenHere(call, state, 0, part.length)
        if (session.acksAll) this.#door.copies.gateWrite(state, gates)
      } else if (!state.isSettled()) this.#door.copies.gateRead(state, call.key, gates)
    }
    const first = reply.bytes[before]
    const answer =
      first === MINUS
        ? reply.bytes.slice(before, reply.length)
        : first === COLON
          ? reply.bytes[before + 1] - ZERO
          : 0
    reply.truncate(before)
    return answer
  }

  #writePart(
    { input }: Session,
    { offsets, lengths }: RequestParser,
    head: Uint8Array,
    { from, count }: { from: number; count: number }
  ): ByteWriter {
    const part = this.#part
    part.reset()
    part.raw(head)
    for (let place = from; place < from + count; place++) {
      // With its length before it, as it came, and the end of the line behind it.
      const start = startOfArgument(input.bytes, offsets[place])
      part.slice(input.bytes, input.view, start, offsets[place] + lengths[place] + 2 - start)
    }
    this.#parser.reset()
    const end = this.#parser.parse(part.bytes, part.view, 0, part.length)
    assert(end === part.length, 'a part is a whole command')
    return part
  }
}

/** Where the `$` of an argument stands. */
function startOfArgument(bytes: Uint8Array, offset: number): number {
  let at = offset - 3
  while (bytes[at] !== 0x24) at--
  return at
}

function eachKey(name: string, partName: string, step: number): EachKey {
  const bytes = latin1Bytes(partName)
  const part = findCommand(bytes, 0, bytes.length)
  assert(part !== undefined, `${partName} is a command`)
  const head = latin1Bytes(`*${step + 1}\r\n$${partName.length}\r\n${partName}\r\n`)
  return { name, part, head, step }
}

function findEachKey(bytes: Uint8Array, offset: number, length: number): EachKey | undefined {
  for (const each of EACH_KEY) if (isNamed(each.name, bytes, offset, length)) return each
  return undefined
}

/** In letters of any size. */
export function isNamed(name: string, bytes: Uint8Array, offset: number, length: number): boolean {
  if (length !== name.length) return false
  for (let i = 0; i < length; i++) {
    if ((bytes[offset + i] | 0x20) !== name.charCodeAt(i)) return false
  }
  return true
}
