/**
 * Executing a command on a bucket that is here: the command itself, its way to the backups, what its reply has to
 * wait for, and who is told. Called for every command, so it makes no objects of its own.
 */
import { latin1Bytes, viewOf } from '../../core/bytes.js'
import type { PlacementHash } from '../../core/hash/placement-hash.js'
import { Call } from '../../commands/call.js'
import { Arguments } from '../../commands/arguments.js'
import type { Command } from '../../commands/command.js'
import type { Work } from '../../commands/composite.js'
import { findCommand, hasArity } from '../../commands/registry.js'
import { assert } from '../../core/assert.js'
import type { Random } from '../../core/random.js'
import type { Bucket } from '../../store/bucket.js'
import { HybridClock } from '../../store/clock.js'
import { StoreLimitError } from '../../store/slab.js'
import { type Protocol, ReplyWriter } from '../../wire/resp/reply-writer.js'
import { RequestParser } from '../../wire/resp/request-parser.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import type { Copies } from '../copies.js'
import type { Watches } from '../watches.js'
import { compositeOf } from './composites.js'

/** As Redis words them, where it has the same limit. */
const LIMIT_TEXTS = {
  'slab-full': "OOM command not allowed when used memory > 'maxmemory'.",
  'value-too-long': 'ERR string exceeds maximum allowed size (proto-max-bulk-len)',
  'key-too-long': 'ERR key is longer than 65535 bytes'
} as const

export class Execution {
  readonly hash: PlacementHash
  /** For work that answers nobody. */
  readonly nowhere = new ReplyWriter({ initialBytes: 64 })
  readonly #cluster: Cluster
  readonly #copies: Copies
  readonly #watches: Watches
  /** For the commands that a composite is made of. */
  readonly #parser = new RequestParser()
  readonly #reply = new ReplyWriter({ initialBytes: 4096 })
  readonly #call: Call

  constructor(cluster: Cluster, parts: { copies: Copies; watches: Watches; hash: PlacementHash }) {
    this.#cluster = cluster
    this.#copies = parts.copies
    this.#watches = parts.watches
    this.hash = parts.hash
    this.#call = this.createCall(this.#reply)
  }

  createCall(reply: ReplyWriter): Call {
    return new Call(reply, this.#cluster.store.createKey(), this.#cluster.random.fork())
  }

  /**
   * Executes the command whose bytes and key the call points at. A limit of the store is the client's to hear,
   * and changes nothing.
   */
  perform(call: Call, parser: RequestParser, command: Command, state: BucketState): boolean {
    const { now, clock } = this.#cluster
    const write = command.flags.includes('write')
    call.begin()
    call.bucket = state.items
    call.version = write ? clock.next(now) : 0
    // A write's time is in its version, so that backups execute it at the very same moment.
    call.now = write ? HybridClock.toMs(call.version) : now
    call.offsets = parser.offsets
    call.lengths = parser.lengths
    call.count = parser.count
    const before = call.reply.length
    try {
      command.execute(call)
      return true
    } catch (error) {
      if (!(error instanceof StoreLimitError)) throw error
      call.reply.truncate(before)
      call.reply.error(LIMIT_TEXTS[error.limit])
      return false
    }
  }

  /** Sends a write on its way and tells who watches. `raw` is the command as it came. */
  written(call: Call, state: BucketState, raw: Uint8Array): void {
    const sent = call.rewritten === undefined ? raw : encodeArguments(call.rewritten)
    this.#copies.replicate(state, call, sent)
    if (this.#watches.any && call.change !== undefined) {
      this.#watches.notify(state, call.key, call.change)
    }
  }

  /** What a composite works with on this bucket. */
  workOn(state: BucketState, args: Arguments, reply: ReplyWriter): BucketWork {
    return new BucketWork(this, { state, args, reply, call: this.#call, cluster: this.#cluster })
  }

  parse(request: Uint8Array): Arguments {
    this.#parser.reset()
    this.#parser.parse(request, viewOf(request), 0, request.length)
    return new Arguments(request, this.#parser)
  }

  /** One command of a composite; gives its reply. */
  runPart(
    state: BucketState,
    request: Uint8Array,
    protocol: Protocol = 2
  ): { reply: Uint8Array; changed: boolean } {
    const parser = this.#parser
    const call = this.#call
    const view = viewOf(request)
    parser.reset()
    parser.parse(request, view, 0, request.length)
    const command = findCommand(request, parser.offsets[0], parser.lengths[0])
    assert(command !== undefined && hasArity(command, parser.count), 'a composite of no commands')
    const [offset, length] = [parser.offsets[command.key], parser.lengths[command.key]]
    call.key.set(request, view, offset, length, this.hash.hash(request, offset, length))
    call.bytes = request
    call.view = view
    this.#reply.reset()
    this.#reply.protocol = protocol
    const done = this.perform(call, parser, command, state)
    const changed = done && call.change !== undefined
    if (changed) this.written(call, state, request)
    return { reply: this.#reply.bytes.slice(0, this.#reply.length), changed }
  }
}

export class BucketWork implements Work {
  readonly args: Arguments
  readonly reply: ReplyWriter
  readonly bucket: Bucket
  readonly now: number
  readonly random: Random
  /** Something was written. */
  changed = false
  readonly #execution: Execution
  readonly #state: BucketState
  readonly #call: Call

  constructor(
    execution: Execution,
    of: { state: BucketState; args: Arguments; reply: ReplyWriter; call: Call; cluster: Cluster }
  ) {
    this.#execution = execution
    this.#state = of.state
    this.#call = of.call
    this.args = of.args
    this.reply = of.reply
    this.bucket = of.state.items
    this.now = of.cluster.now
    this.random = of.call.random
  }

  find(key: Uint8Array): number {
    const hash = this.#execution.hash.hash(key, 0, key.length)
    return this.bucket.find(this.#call.key.setBytes(key, hash), this.now)
  }

  run(...args: (string | Uint8Array)[]): Uint8Array {
    const words = args.map((arg) => (typeof arg === 'string' ? latin1Bytes(arg) : arg))
    return this.runRequest(encodeArguments(words))
  }

  runRequest(request: Uint8Array, protocol: Protocol = 2): Uint8Array {
    const { reply, changed } = this.#execution.runPart(this.#state, request, protocol)
    if (changed) this.changed = true
    return reply
  }

  /** Executes a command about one key or several of this bucket; gives its reply. */
  runAny(request: Uint8Array, protocol: Protocol): Uint8Array {
    const args = this.#execution.parse(request)
    const composite = compositeOf(args)
    const command = findCommand(request, args.offset(0), args.length(0))
    if (command !== undefined && hasArity(command, args.count)) {
      return this.runRequest(request, protocol)
    }
    assert(composite !== undefined, 'a transaction of commands that are none')
    const reply = new ReplyWriter({ protocol, initialBytes: 256 })
    const work = this.#execution.workOn(this.#state, args, reply)
    composite.execute(work)
    if (work.changed) this.changed = true
    return reply.bytes.slice(0, reply.length)
  }
}
