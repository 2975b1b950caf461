/**
 * One command on its way through a node: where its arguments lie, the bucket its key is in, and where the
 * reply goes. There is one `Call` per data path, pointed at one command after the other, so a command
 * costs no allocation.
 *
 * A command is executed twice: on the primary, and with the same arguments, time and version on every
 * backup, where the reply goes nowhere. So it must be a function of the bucket, the arguments, `now` and
 * `version` alone, and every command that writes concerns exactly one key (commands over several keys
 * are taken apart before). One that must choose by chance rewrites itself into its result with `rewrite`.
 */
import type { Span } from '../core/bytes.js'
import { ByteWriter, latin1String, Span as SpanClass } from '../core/bytes.js'
import type { Random } from '../core/random.js'
import type { Bucket } from '../store/bucket.js'
import type { Key } from '../store/key.js'
import { PackedDraft, PackedHash } from '../store/values/packed-hash.js'
import type { ReplyWriter } from '../wire/resp/reply-writer.js'
import { WRONG_TYPE } from './error-text.js'
import { parseDigits, parseFiniteOrInfinite, parseInteger, parseLong } from './number-text.js'

/** Of `Call.find`: the key holds another type, and the error is written. */
export const REFUSED = -1

/** What happened to the key, for those who watch it. */
export type Change = 'set' | 'deleted' | 'expired' | 'evicted'

export class Call {
  bytes: Uint8Array = new Uint8Array(0)
  view: DataView = new DataView(new ArrayBuffer(0))
  offsets: Int32Array = new Int32Array(0)
  lengths: Int32Array = new Int32Array(0)
  /** Arguments, the command's name included. */
  count = 0
  /** Milliseconds; the same on the primary and its backups. */
  now = 0
  /** The version a write gives its item; already drawn, used only if something is written. */
  version = 0
  readonly reply: ReplyWriter
  readonly key: Key
  readonly random: Random
  /** For a second and third argument; reused. */
  readonly first: Span = new SpanClass()
  readonly second: Span = new SpanClass()
  /** For small hashes: one to read and one to change; reused. */
  readonly packed = new PackedHash()
  readonly draft = new PackedDraft()
  /** For a value made by the command itself; reused. */
  readonly scratch = new ByteWriter(64)
  #bucket: Bucket | undefined
  /** Set by `changed`; undefined if nothing was written. */
  change: Change | undefined
  /** The key was looked for and is not there. */
  missed = false
  /** The arguments that take the command's place on backups, or undefined if it goes as it came. */
  rewritten: Uint8Array[] | undefined

  constructor(reply: ReplyWriter, key: Key, random: Random) {
    this.reply = reply
    this.key = key
    this.random = random
  }

  get bucket(): Bucket {
    if (this.#bucket === undefined) throw new Error('a command without a bucket')
    return this.#bucket
  }

  set bucket(bucket: Bucket) {
    this.#bucket = bucket
  }

  /** Forgets the effects of the command before. */
  begin(): void {
    this.change = undefined
    this.missed = false
    this.rewritten = undefined
  }

  /** The command wrote something. Without this, nothing is sent to the backups. */
  changed(change: Change): void {
    this.change = change
  }

  rewrite(args: Uint8Array[]): void {
    this.rewritten = args
  }

  /** Points the span at an argument; 0 is the command's name. */
  argument(place: number, into: Span): Span {
    return into.point(this.bytes, this.view, this.offsets[place], this.lengths[place])
  }

  /** The argument as a 64-bit integer, NaN if it is none; not exact beyond 2^53. */
  integer(place: number): number {
    return parseInteger(this.bytes, this.offsets[place], this.lengths[place])
  }

  /** The same with all 64 bits. */
  longInteger(place: number): bigint | undefined {
    return parseLong(this.bytes, this.offsets[place], this.lengths[place])
  }

  /** The argument as a double, infinite ones included, or NaN if it is none. */
  float(place: number): number {
    const digits = parseDigits(this.bytes, this.offsets[place], this.lengths[place])
    return Number.isNaN(digits) ? parseFiniteOrInfinite(this.text(place)) : digits
  }

  /** The argument as a string, one character a byte. */
  text(place: number): string {
    return latin1String(this.bytes, this.offsets[place], this.lengths[place])
  }

  /** Whether the argument is this word, given in small letters. */
  is(place: number, word: string): boolean {
    const length = this.lengths[place]
    if (length !== word.length) return false
    const offset = this.offsets[place]
    for (let i = 0; i < length; i++) {
      // Only a letter and its capital become that letter.
      if ((this.bytes[offset + i] | 0x20) !== word.charCodeAt(i)) return false
    }
    return true
  }

  /** The ref of the key's item whatever it holds, 0 if there is none. */
  look(): number {
    const ref = this.bucket.find(this.key, this.now)
    if (ref === 0) this.missed = true
    return ref
  }

  /** The ref of the key's item, 0 if there is none, REFUSED if it has another type. */
  find(type: number): number {
    const ref = this.look()
    if (ref === 0 || this.bucket.typeOf(ref) === type) return ref
    this.reply.error(WRONG_TYPE)
    return REFUSED
  }
}
