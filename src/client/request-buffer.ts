/**
 * Commands as bytes, written one after another into one buffer that is reused. Most arguments are short and plain, so
 * they are written by hand into the place they would have if every character is one byte; the first character that is
 * more takes the long way. Where the key lies is remembered, because its hash says which node the bytes go to.
 */
import { ByteWriter, utf8Length } from '../core/bytes.js'
import type { Argument } from './argument.js'

const ARRAY = 0x2a // *
const BULK = 0x24 // $
const CR = 0x0d
const LF = 0x0a
const ZERO = 0x30
/** A type, the digits of any length, CR LF. */
const HEADER_BYTES_MAX = 16
/** Longer texts are written by the engine, which is faster from about here on. */
const BY_HAND_MAX = 96
const KEPT_BYTES_MAX = 1024 * 1024

export class RequestBuffer extends ByteWriter {
  keyOffset = 0
  keyLength = 0
  #argumentLength = 0

  constructor() {
    super(4096)
  }

  /** Starts over with this command. `keyPlace` is the place of the key among the arguments, or -1. */
  encode(args: readonly Argument[], keyPlace: number): void {
    // One large value must not cost its memory for ever.
    if (this.bytes.length > KEPT_BYTES_MAX) this.renew(4096)
    this.length = 0
    this.keyOffset = 0
    this.keyLength = 0
    this.ensure(HEADER_BYTES_MAX)
    this.#header(ARRAY, args.length)
    for (let place = 0; place < args.length; place++) {
      const argument = args[place]
      if (typeof argument === 'string') this.#text(argument)
      else if (argument instanceof Uint8Array) this.#bytes(argument)
      else if (typeof argument === 'number' || typeof argument === 'bigint') {
        this.#text(String(argument))
      } else throw new TypeError(`argument ${place} is neither text, number nor bytes`)
      if (place === keyPlace) {
        this.keyLength = this.#argumentLength
        this.keyOffset = this.length - 2 - this.keyLength
      }
    }
  }

  /** Leaves the old memory to whoever still needs it. */
  renew(bytes: number): void {
    this.bytes = new Uint8Array(bytes)
    this.view = new DataView(this.bytes.buffer)
    this.length = 0
  }

  #text(text: string): void {
    const { length } = text
    if (length > BY_HAND_MAX) {
      this.#longText(text)
      return
    }
    this.ensure(HEADER_BYTES_MAX + length + 2)
    const start = this.length
    this.#header(BULK, length)
    const { bytes } = this
    let at = this.length
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) {
        this.length = start
        this.#longText(text)
        return
      }
      bytes[at++] = code
    }
    bytes[at] = CR
    bytes[at + 1] = LF
    this.length = at + 2
    this.#argumentLength = length
  }

  #longText(text: string): void {
    const length = utf8Length(text)
    this.ensure(HEADER_BYTES_MAX + length + 2)
    this.#header(BULK, length)
    encoder.encodeInto(text, this.bytes.subarray(this.length, this.length + length))
    this.#end(length)
  }

  #bytes(argument: Uint8Array): void {
    this.ensure(HEADER_BYTES_MAX + argument.length + 2)
    this.#header(BULK, argument.length)
    this.bytes.set(argument, this.length)
    this.#end(argument.length)
  }

  #end(length: number): void {
    this.length += length
    this.bytes[this.length++] = CR
    this.bytes[this.length++] = LF
    this.#argumentLength = length
  }

  /** The caller has made room. */
  #header(type: number, value: number): void {
    const { bytes } = this
    bytes[this.length++] = type
    if (value < 10) bytes[this.length++] = ZERO + value
    else {
      let digits = 1
      for (let power = 10; power <= value; power *= 10) digits++
      let rest = value
      for (let at = this.length + digits - 1; at >= this.length; at--) {
        const tenth = Math.floor(rest / 10)
        bytes[at] = ZERO + (rest - tenth * 10)
        rest = tenth
      }
      this.length += digits
    }
    bytes[this.length++] = CR
    bytes[this.length++] = LF
  }
}

const encoder = new TextEncoder()
