/** The arguments of one command that need not be fast: its name is 0. */
import { latin1String } from '../core/bytes.js'
import { parseInteger } from './number-text.js'
import type { RequestParser } from '../wire/resp/request-parser.js'
import { encodeArguments } from '../wire/resp/request-writer.js'

export class Arguments {
  readonly bytes: Uint8Array
  readonly count: number
  readonly #offsets: Int32Array
  readonly #lengths: Int32Array

  /** Copies what the parser found in these bytes. */
  constructor(bytes: Uint8Array, parser: RequestParser) {
    this.bytes = bytes
    this.count = parser.count
    this.#offsets = parser.offsets.slice(0, parser.count)
    this.#lengths = parser.lengths.slice(0, parser.count)
  }

  offset(place: number): number {
    return this.#offsets[place]
  }

  length(place: number): number {
    return this.#lengths[place]
  }

  at(place: number): Uint8Array {
    return this.bytes.subarray(this.#offsets[place], this.#offsets[place] + this.#lengths[place])
  }

  /** One character a byte; empty beyond the last. */
  text(place: number): string {
    if (place >= this.count) return ''
    return latin1String(this.bytes, this.#offsets[place], this.#lengths[place])
  }

  /** In small letters, for words that may be written either way. */
  word(place: number): string {
    return this.text(place).toLowerCase()
  }

  /** NaN if it is none. */
  integer(place: number): number {
    if (place >= this.count) return NaN
    return parseInteger(this.bytes, this.#offsets[place], this.#lengths[place])
  }

  texts(from: number): string[] {
    const texts: string[] = []
    for (let place = from; place < this.count; place++) texts.push(this.text(place))
    return texts
  }

  /** These arguments as a command of their own. */
  encode(...places: number[]): Uint8Array {
    return encodeArguments(places.map((place) => this.at(place)))
  }
}
