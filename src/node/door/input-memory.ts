/**
 * Memory for what clients have sent of commands that are not whole yet, shared by all of them: a large value is there for a
 * moment, in one client's buffer after the other's. Memory of its own for each made the collector go over the whole heap
 * several times a second, a quarter of what a node used under SET of 16 KB with a pipeline.
 */
import { viewOf } from '../../core/bytes.js'

export interface Piece {
  readonly bytes: Uint8Array
  readonly view: DataView
}

/** Smaller ones stay with their client. */
export const SHARED_BYTES_MIN = 4 * 1024
const BITS_MAX = 20
const FREE_BYTES_MAX = 16 * 1024 * 1024

export class InputMemory {
  /** By the power of two that is their size. */
  readonly #free: Piece[][] = Array.from({ length: BITS_MAX + 1 }, () => [])
  #freeBytes = 0

  /** At least so many bytes, with anything in them. */
  take(size: number): Piece {
    const bits = 32 - Math.clz32(size - 1)
    if (size < SHARED_BYTES_MIN || bits > BITS_MAX) return createPiece(size)
    const piece = this.#free[bits].pop()
    if (piece === undefined) return createPiece(1 << bits)
    this.#freeBytes -= piece.bytes.length
    return piece
  }

  /** Nobody looks at it any more. What is not from here, or too much, is left to the collector. */
  give(piece: Piece): void {
    const { length } = piece.bytes
    const bits = 31 - Math.clz32(length)
    if (length < SHARED_BYTES_MIN || bits > BITS_MAX || length !== 1 << bits) return
    if (this.#freeBytes + length > FREE_BYTES_MAX) return
    this.#freeBytes += length
    this.#free[bits].push(piece)
  }
}

function createPiece(size: number): Piece {
  const bytes = new Uint8Array(size)
  return { bytes, view: viewOf(bytes) }
}
