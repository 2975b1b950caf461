/**
 * Memory for frames that are kept until they are acknowledged, used again afterwards. Each would otherwise be
 * memory of its own outside the heap, and some megabytes of that a second make the collector go over the whole heap
 * several times a second. Small frames are not worth it, and what is beyond the limit is left to the collector.
 */
import { assert } from '../assert.js'

/** More than half of the smallest piece. */
const SMALL_BYTES_MAX = 512
const BITS_MAX = 20
const FREE_BYTES_MAX = 16 * 1024 * 1024

export class FrameMemory {
  /** By the power of two that is their size. */
  readonly #free: ArrayBuffer[][] = Array.from({ length: BITS_MAX + 1 }, () => [])
  /** What was given out and has not come back: nothing comes back twice, and nothing that is not from here. */
  readonly #lent = new WeakSet<ArrayBufferLike>()
  #freeBytes = 0

  /** A copy of the bytes that is the caller's until it gives it back, or drops it. */
  copy(bytes: Uint8Array): Uint8Array {
    const { length } = bytes
    const bits = 32 - Math.clz32(length - 1)
    if (length <= SMALL_BYTES_MAX || bits > BITS_MAX) return bytes.slice()
    const buffer = this.#take(bits)
    assert(!this.#lent.has(buffer), 'memory of a frame is given out once')
    this.#lent.add(buffer)
    const frame = new Uint8Array(buffer, 0, length)
    frame.set(bytes)
    return frame
  }

  /** Nobody looks at the frame any more. */
  give(frame: Uint8Array): void {
    // Before its buffer is asked for: those of small arrays are made when they are, outside the heap.
    if (frame.length <= SMALL_BYTES_MAX) return
    const { buffer } = frame
    if (!(buffer instanceof ArrayBuffer) || !this.#lent.delete(buffer)) return
    if (this.#freeBytes + buffer.byteLength > FREE_BYTES_MAX) return
    this.#freeBytes += buffer.byteLength
    this.#free[31 - Math.clz32(buffer.byteLength)].push(buffer)
  }

  #take(bits: number): ArrayBuffer {
    const buffer = this.#free[bits].pop()
    if (buffer === undefined) return new ArrayBuffer(1 << bits)
    this.#freeBytes -= buffer.byteLength
    return buffer
  }
}
