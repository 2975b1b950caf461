/**
 * Where replies lie while they wait for a backup. They come by the turn and go by the turn, so one piece of memory serves
 * nearly always: it begins anew whenever nothing in it is waited for, which is at every acknowledgement. Each reply in memory
 * of its own outside the heap, with the lists that came with it, was a tenth of what a write with a backup costs at sixteen commands a round trip.
 *
 * Whoever is told of a closed session does not give its replies back: then the piece is not used again, and the collector
 * takes it with them.
 */
import { compareBytes, NO_BYTES } from '../core/bytes.js'
import { Segment, type Gate, type Piece } from './segment.js'

const PIECE_BYTES = 64 * 1024
/** Up to this, an array lies in the heap and costs less than a place in a piece. */
const SMALL_BYTES_MAX = 64
/** A larger one would leave too little room for others. */
const LARGE_BYTES_MIN = 8 * 1024
/** Pieces that are kept for the next time more is waiting than one can hold. */
const FREE_MAX = 64

export class ReplyMemory {
  #piece = createPiece()
  readonly #free: Piece[] = []
  /** What was kept last: most clients of a turn get the same reply, and wait for the same. */
  #lastSmall: Uint8Array = NO_BYTES
  #lastGates: readonly Gate[] = []

  /** A segment with a copy of these bytes that waits for these gates. */
  keep(bytes: Uint8Array, gates: readonly Gate[], replies: number): Segment {
    const { length } = bytes
    const awaited = this.#keepGates(gates)
    if (length <= SMALL_BYTES_MAX) return new Segment(this.#keepSmall(bytes), awaited, replies)
    if (length >= LARGE_BYTES_MIN) return new Segment(bytes.slice(), awaited, replies)
    const piece = this.#pieceFor(length)
    const start = piece.used
    piece.bytes.set(bytes, start)
    piece.used += length
    piece.held++
    const segment = new Segment(piece.bytes.subarray(start, piece.used), awaited, replies)
    segment.piece = piece
    return segment
  }

  /** Nobody looks at its bytes any more. */
  give(segment: Segment): void {
    const { piece } = segment
    if (piece === undefined) return
    segment.piece = undefined
    if (--piece.held > 0) return
    piece.used = 0
    if (piece !== this.#piece && this.#free.length < FREE_MAX) this.#free.push(piece)
  }

  #pieceFor(length: number): Piece {
    if (this.#piece.used + length > PIECE_BYTES) this.#piece = this.#free.pop() ?? createPiece()
    return this.#piece
  }

  #keepSmall(bytes: Uint8Array): Uint8Array {
    if (compareBytes(this.#lastSmall, bytes) !== 0) this.#lastSmall = bytes.slice()
    return this.#lastSmall
  }

  #keepGates(gates: readonly Gate[]): readonly Gate[] {
    const last = this.#lastGates
    const { length } = gates
    let same = last.length === length
    for (let i = 0; same && i < length; i++) same = last[i] === gates[i]
    if (!same) this.#lastGates = gates.slice()
    return this.#lastGates
  }
}

function createPiece(): Piece {
  return { bytes: new Uint8Array(PIECE_BYTES), used: 0, held: 0 }
}
