/**
 * Copies of commands that cannot be executed where they lie. Such a copy lives for a moment, and memory of its own outside
 * the heap costs several times the copying, so many lie in one piece. The piece is small, since a command
 * that waits for long keeps all of it.
 */
import { copyBytes, viewOf } from '../../core/bytes.js'

const PIECE_BYTES = 8 * 1024
/** Shorter ones lie in the heap, longer ones are worth memory of their own. */
const SHORT_BYTES_MAX = 64
const LONG_BYTES_MIN = 1024

export class Clippings {
  #bytes = new Uint8Array(0)
  #view = viewOf(this.#bytes)
  #used = 0

  /** A copy of what lies between two places. */
  cut(bytes: Uint8Array, view: DataView, start: number, end: number): Uint8Array {
    const length = end - start
    if (length <= SHORT_BYTES_MAX || length >= LONG_BYTES_MIN) return bytes.slice(start, end)
    if (this.#used + length > this.#bytes.length) {
      this.#bytes = new Uint8Array(PIECE_BYTES)
      this.#view = viewOf(this.#bytes)
      this.#used = 0
    }
    const at = this.#used
    this.#used += length
    copyBytes(bytes, view, start, this.#bytes, this.#view, at, length)
    return this.#bytes.subarray(at, this.#used)
  }
}
