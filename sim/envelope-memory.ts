/**
 * Where envelopes lie on their way. There are up to a million in a run, each of which would have memory of its own outside
 * the heap: pieces of one size are used again instead. An envelope that is lost is left to the collector.
 */

/** Nearly all envelopes fit; a larger one has memory of its own. */
const PIECE_BYTES = 1024

export class EnvelopeMemory {
  readonly #free: ArrayBufferLike[] = []

  copy(envelope: Uint8Array): Uint8Array {
    const { length } = envelope
    if (length > PIECE_BYTES) return envelope.slice()
    const piece = this.#free.pop() ?? new ArrayBuffer(PIECE_BYTES)
    const copy = new Uint8Array(piece, 0, length)
    copy.set(envelope)
    return copy
  }

  /** Nobody needs it any more. */
  release({ buffer }: Uint8Array): void {
    if (buffer.byteLength === PIECE_BYTES) this.#free.push(buffer)
  }
}
