/**
 * Executing a command on a bucket that is here: the command itself, its way to the backups, what its reply has to
 * wait for, and who is told. Called for every command, so it makes no objects of its own.
 */
import { latin1Bytes, viewOf } from '../../core/bytes.js'
import type { PlacementHash } from '../../core/hash/placement-hash.js'
import { Call } from '../../commands/call.js'
import { Arguments } from '../../commands/arguments.js'
import type { Work } from '../../commands/composite.js'
import { findCommand, hasArity, type ListedCommand } from '../../commands/registry.js'
import { assert } from '../../core/assert.js'
import type { Random } from '../../core/random.js'
import type { Bucket } from '../../store/bucket.js'
import type { Key } from '../../store/key.js'
import { HybridClock } from '../../store/clock.js'
import { StoreLimitError } from '../../store/slab.js'
import { type Protocol, ReplyLimitError, ReplyWriter } from '../../wire/resp/reply-writer.js'
import { RequestParser } from '../../wire/resp/request-parser.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import type { Copies } from '../copies.js'
import { Eviction } from '../eviction.js'
import type { Watches } from '../watches.js'
import type { BlockedCommands } from './blocking.js'
import { compositeOf } from './composites.js'
import type { Tracking } from './tracking.js'

/** As Redis words them, where it has the same limit. */
const LIMIT_TEXTS = {
  'slab-full': "OOM command not allowed when used memory > 'maxmemory'.",
  'value-too-long': 'ERR string exceeds maximum allowed size (proto-max-bulk-len)',
  'key-too-long': 'ERR key is longer than 65535 bytes'
} as const

/** One client asked for more at once than fits into memory: that is its problem, not the node's. */
export const TOO_LONG = 'ERR the reply is too long'

export class Execution {
  readonly hash: PlacementHash
  /** For work that answers nobody. */
  readonly nowhere = new ReplyWriter({ initialBytes: 64 })
  readonly eviction: Eviction
  /** Those who cache what they read. */
  tracking: Tracking | undefined
  /** Those who wait for something to be written. */
  waiting: BlockedCommands | undefined
  /** Looks at commands before they are executed, while somebody needs that. */
  observer: Observer | undefined
  /** Reads that were executed here, and those of them that found no key, for statistics. */
  reads = 0
  misses = 0
  /** Changes that were made here, for statistics. */
  writes = 0
  readonly #cluster: Cluster
  readonly #copies: Copies
  readonly #watches: Watches
  /** For the commands that a composite is made of. */
  readonly #parser = new RequestParser()
  readonly #reply: ReplyWriter
  readonly #call: Call

  constructor(cluster: Cluster, parts: { copies: Copies; watches: Watches; hash: PlacementHash }) {
    this.#cluster = cluster
    this.#copies = parts.copies
    this.#watches = parts.watches
    this.hash = parts.hash
    this.eviction = new Eviction(cluster, parts.copies)
    const maxBytes = cluster.config.maxReplyBytes
    this.#reply = new ReplyWriter({ initialBytes: 4096, maxBytes })
    this.#call = this.createCall(this.#reply)
  }

  /** Somebody wants to hear of single changes, or of keys that are not there. */
  get isLookedAt(): boolean {
    if (this.observer !== undefined || this.#watches.any) return true
    if (this.waiting !== undefined && this.waiting.list.size > 0) return true
    return this.tracking !== undefined && this.tracking.size > 0
  }

  createCall(reply: ReplyWriter): Call {
    return new Call(reply, this.#cluster.store.createKey(), this.#cluster.random.fork())
  }

  /**
   * Executes the command whose bytes and key the call points at. A limit of the store is the client's to hear,
   * and changes nothing.
   */
  perform(call: Call, parser: RequestParser, command: ListedCommand, bucket: Bucket): boolean {
    const { now, clock } = this.#cluster
    const write = command.writes
    if (write && this.eviction.limitBytes > 0 && command.takesMemory) {
      if (!this.eviction.makeRoom()) {
        call.reply.error(LIMIT_TEXTS['slab-full'])
        return false
      }
    }
    call.begin()
    call.bucket = bucket
    call.version = write ? clock.next(now) : 0
    // A write's time is in its version, so that backups execute it at the very same moment.
    call.now = write ? HybridClock.toMs(call.version) : now
    call.offsets = parser.offsets
    call.lengths = parser.lengths
    call.count = parser.count
    this.observer?.before(call, bucket, write)
    const { reply } = call
    const before = reply.length
    // What is written must not end half-way because of what is said about it.
    reply.boundless = write
    try {
      command.execute(call)
      if (!write) {
        this.reads++
        if (call.missed) this.misses++
      }
      if (write && reply.isTooLong) {
        reply.truncate(before)
        reply.error(TOO_LONG)
      }
      return true
    } catch (error) {
      reply.truncate(before)
      if (error instanceof StoreLimitError) reply.error(LIMIT_TEXTS[error.limit])
      else if (error instanceof ReplyLimitError) reply.error(TOO_LONG)
      else throw error
      return false
    }
  }

  /** Sends a write on its way and tells who watches. `raw` is the command as it came. */
  written(call: Call, state: BucketState, raw: Uint8Array, cause = ''): void {
    const sent = call.rewritten === undefined ? raw : encodeArguments(call.rewritten)
    this.#copies.replicate(state, call, sent)
    this.#tell(call, state, cause)
  }

  /** The same for the command that lies between these places of the call's bytes. */
  writtenHere(call: Call, state: BucketState, start: number, end: number): void {
    if (call.rewritten !== undefined) {
      this.#copies.replicate(state, call, encodeArguments(call.rewritten))
    } else this.#copies.replicateHere(state, call, start, end)
    this.#tell(call, state, '')
  }

  #tell(call: Call, state: BucketState, cause: string): void {
    this.writes++
    if (this.waiting !== undefined && this.waiting.list.size > 0) this.waiting.touched(call)
    if (this.tracking !== undefined && this.tracking.size > 0) this.tracking.executed(state, call)
    if (this.#watches.any) {
      const isNew = this.observer?.isNew(state.items) === true
      this.#watches.notify(state, call, { command: cause, isNew })
    }
  }

  /** What a composite works with on a bucket of this node. */
  workOn(state: BucketState, args: Arguments, reply: ReplyWriter): BucketWork {
    const written: Written = (call, raw, cause) => this.written(call, state, raw, cause)
    return this.createWork(state.items, { args, reply, written })
  }

  /** The same on any bucket; `written` hears of every change. */
  createWork(
    bucket: Bucket,
    of: { args: Arguments; reply: ReplyWriter; written: Written }
  ): BucketWork {
    const { now, store } = this.#cluster
    const { random } = this.#call
    return new BucketWork(this, { ...of, bucket, key: store.createKey(), now, random })
  }

  parse(request: Uint8Array): Arguments {
    this.#parser.reset()
    this.#parser.parse(request, viewOf(request), 0, request.length)
    return new Arguments(request, this.#parser)
  }

  /** The same for bytes that may be anything; undefined if they are not one command. */
  parseAny(request: Uint8Array): Arguments | undefined {
    const parser = this.#parser
    parser.reset()
    const end = parser.parse(request, viewOf(request), 0, request.length)
    return end === request.length && parser.count > 0 && !parser.inline
      ? new Arguments(request, parser)
      : undefined
  }

  /** One command of a composite; gives its reply. */
  runPart(
    bucket: Bucket,
    request: Uint8Array,
    { written, protocol, cause }: { written: Written; protocol: Protocol; cause: string }
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
    const done = this.perform(call, parser, command, bucket)
    const changed = done && call.change !== undefined
    if (changed) written(call, request, cause)
    return { reply: this.#reply.bytes.slice(0, this.#reply.length), changed }
  }
}

/** A change was made by this call, whose command came as these bytes, as a part of another one. */
export type Written = (call: Call, raw: Uint8Array, cause: string) => void

/** Whoever has to know what a command finds before it changes it. */
export interface Observer {
  before(call: Call, bucket: Bucket, write: boolean): void
  /** Whether the command that was just executed made its key. */
  isNew(bucket: Bucket): boolean
}

interface WorkParts {
  readonly args: Arguments
  readonly reply: ReplyWriter
  readonly bucket: Bucket
  readonly key: Key
  readonly now: number
  readonly random: Random
  readonly written: Written
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
  readonly #key: Key
  readonly #written: Written

  constructor(execution: Execution, parts: WorkParts) {
    this.#execution = execution
    this.#key = parts.key
    this.#written = parts.written
    this.args = parts.args
    this.reply = parts.reply
    this.bucket = parts.bucket
    this.now = parts.now
    this.random = parts.random
  }

  find(key: Uint8Array): number {
    const hash = this.#execution.hash.hash(key, 0, key.length)
    return this.bucket.find(this.#key.setBytes(key, hash), this.now)
  }

  run(...args: (string | Uint8Array)[]): Uint8Array {
    const words = args.map((arg) => (typeof arg === 'string' ? latin1Bytes(arg) : arg))
    return this.runRequest(encodeArguments(words))
  }

  runRequest(request: Uint8Array, protocol: Protocol = 2): Uint8Array {
    const options = { written: this.#written, protocol, cause: this.args.word(0) }
    const { reply, changed } = this.#execution.runPart(this.bucket, request, options)
    if (changed) this.changed = true
    return reply
  }

  /** Executes a command about one key or several of this bucket; gives its reply. */
  runAny(request: Uint8Array, protocol: Protocol): Uint8Array {
    const args = this.#execution.parse(request)
    const command = findCommand(request, args.offset(0), args.length(0))
    if (command !== undefined && hasArity(command, args.count)) {
      return this.runRequest(request, protocol)
    }
    const composite = compositeOf(args)
    assert(composite !== undefined, 'a transaction of commands that are none')
    const reply = new ReplyWriter({ protocol, initialBytes: 256 })
    const error = composite.keys(args)
    if (typeof error === 'string') reply.error(error)
    else {
      const work = this.#execution.createWork(this.bucket, { args, reply, written: this.#written })
      composite.execute(work)
      if (work.changed) this.changed = true
    }
    return reply.bytes.slice(0, reply.length)
  }
}
