/**
 * Envelopes on a link: u32 little-endian length, then that many bytes. The node keeps nothing of an envelope, so one that
 * came whole is handed on where it lies in the shared read buffer, and one that did not is put together in memory that
 * serves the next as well.
 */
import { FormatError } from '../core/bytes.js'
import { ENVELOPE_BYTES_MAX } from '../wire/peer/envelope.js'

export const FRAME_HEAD_BYTES = 4
/** Larger envelopes have memory of their own. */
const SHARED_BYTES_MAX = 256 * 1024

/** Writes what stands before an envelope of that length. */
export function frameHead(length: number, head = new Uint8Array(FRAME_HEAD_BYTES)): Uint8Array {
  for (let i = 0; i < FRAME_HEAD_BYTES; i++) head[i] = length >>> (8 * i)
  return head
}

export class FrameReader {
  readonly #onEnvelope: (envelope: Uint8Array) => void
  readonly #head = new Uint8Array(FRAME_HEAD_BYTES)
  #headBytes = 0
  /** Where the envelope goes whose end is not here. */
  #partial: Uint8Array | undefined
  #gathered = 0
  #shared = new Uint8Array(0)

  /** What `onEnvelope` is given is valid only during the call. */
  constructor(onEnvelope: (envelope: Uint8Array) => void) {
    this.#onEnvelope = onEnvelope
  }

  /** The beginning of an envelope is here, and its end is not. */
  get isPartial(): boolean {
    return this.#partial !== undefined || this.#headBytes > 0
  }

  /** Takes the next piece, which may be reused afterwards. Throws `FormatError` for what is no frame. */
  push(piece: Uint8Array): void {
    let at = 0
    while (at < piece.length) {
      if (this.#partial !== undefined) {
        at = this.#gather(this.#partial, piece, at)
        continue
      }
      this.#head[this.#headBytes++] = piece[at++]
      if (this.#headBytes < FRAME_HEAD_BYTES) continue
      this.#headBytes = 0
      const length = lengthIn(this.#head)
      if (length > ENVELOPE_BYTES_MAX) throw new FormatError(`an envelope of ${length} bytes`)
      if (length > piece.length - at) {
        this.#partial = this.#makeRoom(length)
        this.#gathered = 0
        continue
      }
      // Not a `Buffer`: the node relies on `slice` being a copy.
      this.#onEnvelope(new Uint8Array(piece.buffer, piece.byteOffset + at, length))
      at += length
    }
  }

  /** Gives the place behind what it took. */
  #gather(envelope: Uint8Array, piece: Uint8Array, at: number): number {
    const end = Math.min(piece.length, at + envelope.length - this.#gathered)
    envelope.set(piece.subarray(at, end), this.#gathered)
    this.#gathered += end - at
    if (this.#gathered === envelope.length) {
      this.#partial = undefined
      this.#onEnvelope(envelope)
    }
    return end
  }

  #makeRoom(length: number): Uint8Array {
    if (length > SHARED_BYTES_MAX) return new Uint8Array(length)
    if (this.#shared.length < length) {
      this.#shared = new Uint8Array(Math.min(SHARED_BYTES_MAX, 2 * length))
    }
    return this.#shared.subarray(0, length)
  }
}

function lengthIn(head: Uint8Array): number {
  return (head[0] | (head[1] << 8) | (head[2] << 16) | (head[3] << 24)) >>> 0
}
