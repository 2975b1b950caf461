/**
 * Envelopes on a link: u32 little-endian length, then that many bytes. The node keeps parts of what it is
 * given, so a read out of the shared buffer is copied once here, and a large envelope is put together once,
 * when its last byte has come.
 */
import { FormatError } from '../core/bytes.js'
import { ENVELOPE_BYTES_MAX } from '../wire/peer/envelope.js'

export const FRAME_HEAD_BYTES = 4

export function frameHead(length: number): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES)
  head.writeUInt32LE(length, 0)
  return head
}

export class FrameReader {
  readonly #onEnvelope: (envelope: Uint8Array) => void
  #pieces: Buffer[] = []
  #gathered = 0
  /** Bytes with which it is worth looking again. */
  #wanted = FRAME_HEAD_BYTES

  constructor(onEnvelope: (envelope: Uint8Array) => void) {
    this.#onEnvelope = onEnvelope
  }

  /** The beginning of an envelope is here, and its end is not. */
  get isPartial(): boolean {
    return this.#gathered > 0
  }

  /** Takes the next piece, which may be reused afterwards. Throws `FormatError` for what is no frame. */
  push(piece: Uint8Array): void {
    this.#pieces.push(Buffer.from(piece))
    this.#gathered += piece.length
    if (this.#gathered < this.#wanted) return
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces)
    let at = 0
    this.#wanted = FRAME_HEAD_BYTES
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const length = bytes.readUInt32LE(at)
      if (length > ENVELOPE_BYTES_MAX) throw new FormatError(`an envelope of ${length} bytes`)
      const end = at + FRAME_HEAD_BYTES + length
      if (end > bytes.length) {
        this.#wanted = end - at
        break
      }
      // Not a `Buffer`: the node relies on `slice` being a copy.
      const from = bytes.byteOffset + at + FRAME_HEAD_BYTES
      this.#onEnvelope(new Uint8Array(bytes.buffer, from, length))
      at = end
    }
    this.#pieces = at === bytes.length ? [] : [bytes.subarray(at)]
    this.#gathered = bytes.length - at
  }
}
