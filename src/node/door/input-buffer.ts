/**
 * What a client has sent and nobody has executed yet. Usually a read holds whole commands and is parsed where it
 * lies (`lend`); only what is left over is copied (`keep`). What comes after that is appended to a buffer that
 * doubles, so a value of any size is copied a constant number of times however many reads it comes in.
 */
import { NO_BYTES, viewOf } from '../../core/bytes.js'
import { InputMemory, SHARED_BYTES_MIN, type Piece } from './input-memory.js'

const BYTES_MIN = 1024

const NO_VIEW = viewOf(NO_BYTES)
const NO_PIECE: Piece = { bytes: NO_BYTES, view: NO_VIEW }

export class InputBuffer {
  bytes: Uint8Array = NO_BYTES
  view: DataView = NO_VIEW
  /** What has not been consumed lies between these. */
  start = 0
  end = 0
  readonly #memory: InputMemory
  #own = NO_PIECE
  /** The bytes belong to somebody else and may be used in this turn only. */
  #lent = false
  /** Over all of the memory that was lent last: a driver reads into the same again and again. */
  #lentView = NO_VIEW

  constructor(memory = new InputMemory()) {
    this.#memory = memory
  }

  get length(): number {
    return this.end - this.start
  }

  /** Points at bytes that are the caller's; `keep` must follow before they change. */
  lend(bytes: Uint8Array): void {
    if (bytes.byteOffset !== 0) this.view = viewOf(bytes)
    else {
      if (this.#lentView.buffer !== bytes.buffer) this.#lentView = new DataView(bytes.buffer)
      this.view = this.#lentView
    }
    this.bytes = bytes
    this.start = 0
    this.end = bytes.length
    this.#lent = true
  }

  /** Makes what is left of lent bytes its own. */
  keep(): void {
    if (!this.#lent) return
    const rest = this.bytes
    const [start, end] = [this.start, this.end]
    this.#empty()
    if (end > start) this.append(rest.subarray(start, end))
  }

  append(more: Uint8Array): void {
    const length = this.length
    if (this.end + more.length > this.bytes.length) {
      const needed = length + more.length
      // Moving to the front is enough while that is less than half of what there is.
      if (needed * 2 > this.bytes.length) this.#grow(Math.max(BYTES_MIN, needed * 2))
      else this.bytes.copyWithin(0, this.start, this.end)
      this.start = 0
      this.end = length
    }
    this.bytes.set(more, this.end)
    this.end += more.length
  }

  /** Everything before this place in `bytes` has been executed. */
  consume(to: number): void {
    this.start = to
    if (this.start < this.end) return
    if (this.#lent) {
      this.start = 0
      this.end = 0
    } else this.#empty()
  }

  clear(): void {
    this.#empty()
  }

  #grow(size: number): void {
    const piece = this.#memory.take(size)
    piece.bytes.set(this.bytes.subarray(this.start, this.end))
    this.#memory.give(this.#own)
    this.#own = piece
    this.bytes = piece.bytes
    this.view = piece.view
  }

  /** Nothing is in it: a small buffer stays for the next time. */
  #empty(): void {
    if (this.#own.bytes.length >= SHARED_BYTES_MIN) {
      this.#memory.give(this.#own)
      this.#own = NO_PIECE
    }
    this.bytes = this.#own.bytes
    this.view = this.#own.view
    this.start = 0
    this.end = 0
    this.#lent = false
  }
}
