/**
 * The cursor of a move: goes through a bucket once, in hash order, in small batches, while the bucket is
 * read and written. No record needs a mark for it: what lies before the position has been sent, what
 * lies behind it has not. A record written before the position must be forwarded (`Bucket.isSent`), one
 * written behind it will be met. Growth and shrinking of the index keep the order, so nothing is lost or
 * sent twice, and closing the cursor leaves nothing to clean up.
 */
import { POSITIONS } from './key-index.js'

/** What the cursor needs of a bucket. */
export interface CopySource {
  walk(from: number, visit: (ref: number, position: number) => boolean): number
  bytesOf(ref: number): number
}

export class CopyCursor {
  /** Everything below has been sent. */
  position = 0

  readonly #bucket: CopySource
  readonly #onClose: () => void

  constructor(bucket: CopySource, onClose: () => void) {
    this.#bucket = bucket
    this.#onClose = onClose
  }

  get done(): boolean {
    return this.position === POSITIONS
  }

  /**
   * Visits up to `maxRecords` items and tombstones, and stops after the one that fills `maxBytes`.
   * Records whose table hash is equal go together, in excess of the limits if need be. True while there
   * is more to come. `visit` must not write to the bucket.
   */
  next(maxRecords: number, maxBytes: number, visit: (ref: number) => void): boolean {
    let records = 0
    let bytes = 0
    let last = -1
    this.position = this.#bucket.walk(this.position, (ref, position) => {
      if ((records >= maxRecords || bytes >= maxBytes) && position !== last) return false
      records++
      bytes += this.#bucket.bytesOf(ref)
      last = position
      visit(ref)
      return true
    })
    return !this.done
  }

  close(): void {
    this.#onClose()
  }
}
