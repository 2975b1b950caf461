/**
 * Commands without a node: one bucket that executes them and a second one that is kept as a backup is, by
 * what the first says must be sent to it. After every command the two must be equal, and one that claims
 * to have changed nothing must have left the bucket as it was.
 */
import { latin1Bytes, viewOf } from '../../src/core/bytes.js'
import { Random } from '../../src/core/random.js'
import { type Change, Call } from '../../src/commands/call.js'
import { checkArity, findCommand } from '../../src/commands/registry.js'
import type { Bucket } from '../../src/store/bucket.js'
import { Store } from '../../src/store/store.js'
import { ReplyParser } from '../../src/wire/resp/reply-parser.js'
import type { ReplyValue } from '../../src/wire/resp/reply-value.js'
import { type Protocol, ReplyWriter } from '../../src/wire/resp/reply-writer.js'

export interface Outcome {
  /** The bytes of the reply, one character each. */
  readonly reply: string
  readonly change: Change | undefined
  readonly rewritten: readonly string[] | undefined
}

class Copy {
  readonly bucket: Bucket
  readonly call: Call
  readonly #store: Store

  constructor(seed: number, protocol: Protocol) {
    this.#store = new Store({ seed })
    this.bucket = this.#store.open(0)
    const reply = new ReplyWriter({ protocol })
    this.call = new Call(reply, this.#store.createKey(), new Random(seed))
    this.call.bucket = this.bucket
  }

  /** Lays the arguments out as a request parser does: one behind the other in one buffer. */
  execute(args: readonly string[], now: number, version: number): void {
    const { call } = this
    const bytes = latin1Bytes(args.join('\r\n'))
    call.bytes = bytes
    call.view = viewOf(bytes)
    call.count = args.length
    call.lengths = Int32Array.from(args, (text) => text.length)
    call.offsets = new Int32Array(args.length)
    for (let i = 1; i < args.length; i++) {
      call.offsets[i] = call.offsets[i - 1] + args[i - 1].length + 2
    }
    call.now = now
    call.version = version
    call.begin()
    call.reply.reset()
    const command = findCommand(bytes, 0, args[0].length)
    if (command === undefined) {
      call.reply.error(`ERR unknown command '${args[0]}'`)
      return
    }
    if (!checkArity(command, args.length, call.reply)) return
    const place = command.key
    call.key.set(bytes, call.view, call.offsets[place], call.lengths[place], 0)
    command.execute(call)
  }

  check(): void {
    this.#store.check()
  }
}

export class OneBucket {
  now = 1_700_000_000_000
  readonly #primary: Copy
  readonly #backup: Copy
  #version = 1

  constructor(seed = 1, protocol: Protocol = 2) {
    this.#primary = new Copy(seed, protocol)
    this.#backup = new Copy(seed + 1, 2)
  }

  get bucket(): Bucket {
    return this.#primary.bucket
  }

  set protocol(protocol: Protocol) {
    this.#primary.call.reply.protocol = protocol
  }

  execute(...args: string[]): Outcome {
    const before = this.#digest(this.#primary)
    const version = ++this.#version
    this.#primary.execute(args, this.now, version)
    const { call } = this.#primary
    const reply = String.fromCharCode(...call.reply.bytes.subarray(0, call.reply.length))
    const rewritten = call.rewritten?.map((bytes) => String.fromCharCode(...bytes))
    if (call.change !== undefined) this.#backup.execute(rewritten ?? args, this.now, version)
    const after = this.#digest(this.#primary)
    if ((call.change === undefined) !== (before === after)) {
      throw new Error(`${args.join(' ')}: change ${call.change ?? 'none'} is not what happened`)
    }
    if (after !== this.#digest(this.#backup)) throw new Error(`copies differ: ${args.join(' ')}`)
    return { reply, change: call.change, rewritten }
  }

  /** The reply as a value. */
  run(...args: string[]): ReplyValue {
    return parseReply(this.execute(...args).reply)
  }

  change(...args: string[]): Change | undefined {
    return this.execute(...args).change
  }

  /** The reply to one command after the other; for sequences in one line each: `set k v`. */
  all(...lines: string[]): ReplyValue[] {
    return lines.map((line) => this.run(...line.split(' ')))
  }

  check(): void {
    this.#primary.check()
    this.#backup.check()
  }

  #digest(copy: Copy): string {
    return JSON.stringify(copy.bucket.digest())
  }
}

export function parseReply(reply: string): ReplyValue {
  const values: ReplyValue[] = []
  const parser = new ReplyParser({ onReply: (value) => values.push(value) })
  parser.push(latin1Bytes(reply))
  if (values.length !== 1) throw new Error(`${values.length} replies: ${JSON.stringify(reply)}`)
  return values[0]
}
