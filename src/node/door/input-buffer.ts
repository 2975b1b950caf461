/**
 * What a client has sent and nobody has executed yet. Usually a read holds whole commands and is parsed where it
 * lies (`lend`); only what is left over is copied (`keep`). What comes after that is appended to a buffer that
 * doubles, so a value of any size is copied a constant number of times however many reads it comes in.
 */
import { NO_BYTES, viewOf } from '../../core/bytes.js'

const BYTES_MIN = 1024
/** A buffer that grew past this is given back once it is empty. */
const KEPT_BYTES = 64 * 1024

const NO_VIEW = viewOf(NO_BYTES)

export class InputBuffer {
  bytes: Uint8Array = NO_BYTES
  view: DataView = NO_VIEW
  /** What has not been consumed lies between these. */
  start = 0
  end = 0
  /** The bytes belong to somebody else and may be used in this turn only. */
  #lent = false
  /** Over all of the memory that was lent last: a driver reads into the same again and again. */
  #lentView = NO_VIEW

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
    this.#forget()
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
    this.start = 0
    this.end = 0
    if (!this.#lent && this.bytes.length > KEPT_BYTES) this.#forget()
  }

  clear(): void {
    this.#forget()
  }

  #grow(size: number): void {
    const bytes = new Uint8Array(size)
    bytes.set(this.bytes.subarray(this.start, this.end))
    this.bytes = bytes
    this.view = viewOf(bytes)
  }

  #forget(): void {
    this.bytes = NO_BYTES
    this.view = NO_VIEW
    this.start = 0
    this.end = 0
    this.#lent = false
  }
}
