/**
 * The replies of one turn, for all connections: they are copied into one buffer as the node gives them
 * out, and each connection's part is written once at the end. When the buffer is full everything in it is written
 * at once, so that it stays small enough for the processor's caches whatever a turn brings. It is used again
 * unless a socket did not take its part whole; then the part still belongs to the socket, another buffer takes
 * over, and this one comes back when the sockets are done with it: fresh memory would cost a page fault every 4 KB.
 * Usually a connection has one part and nothing is allocated but the view of it.
 */
import type { Socket } from 'node:net'

const BUFFER_BYTES = 256 * 1024
/** Buffers that wait for sockets; the oldest beyond that are left to the collector. */
const LENT_MAX = 32

/** What one connection is to be sent at the end of the turn. */
export class Outgoing {
  readonly socket: Socket
  /** Its last part in the shared buffer. */
  start = 0
  end = 0
  /** Earlier parts, where others came in between. */
  earlier: Uint8Array[] | undefined
  waiting = false
  /** After this turn's output the connection ends. */
  last = false

  constructor(socket: Socket) {
    this.socket = socket
  }
}

interface Lent {
  readonly buffer: Buffer<ArrayBuffer>
  /** Those that had not taken all of it. */
  readonly to: readonly Socket[]
}

export class TurnOutput {
  readonly #after: (outgoing: Outgoing) => void
  readonly #lent: Lent[] = []
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #length = 0
  #waiting: Outgoing[] = []
  /** Also used in turns; empty between two flushes. */
  #written: Outgoing[] = []

  /** `after` is called for each connection that was written to. */
  constructor(after: (outgoing: Outgoing) => void) {
    this.#after = after
  }

  /** Takes a copy of the bytes. */
  put(outgoing: Outgoing, bytes: Uint8Array): void {
    if (this.#length + bytes.length > BUFFER_BYTES) {
      this.#writeAll()
      if (bytes.length > BUFFER_BYTES) {
        this.mark(outgoing)
        if (isOpen(outgoing.socket)) outgoing.socket.write(Buffer.from(bytes))
        return
      }
    }
    this.mark(outgoing)
    const at = this.#length
    const after = at + bytes.length
    this.#buffer.set(bytes, at)
    this.#length = after
    if (outgoing.end !== at || outgoing.start === outgoing.end) {
      this.#seal(outgoing)
      outgoing.start = at
    }
    outgoing.end = after
  }

  /** The end of what was put last, for the log. */
  tail(outgoing: Outgoing, bytes: number): string {
    const { start, end } = outgoing
    return this.#buffer.toString('latin1', Math.max(start, end - bytes), end)
  }

  /** It takes part in the end of this turn, with or without output. */
  mark(outgoing: Outgoing): void {
    if (outgoing.waiting) return
    outgoing.waiting = true
    this.#waiting.push(outgoing)
  }

  flush(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#writeAll()
    this.#waiting = this.#written
    this.#written = waiting
    for (const outgoing of waiting) {
      outgoing.waiting = false
      this.#after(outgoing)
    }
    waiting.length = 0
  }

  /** Writes what is in the buffer. Everybody still takes part in the end of the turn. */
  #writeAll(): void {
    let kept: Socket[] | undefined
    const waiting = this.#waiting
    for (let i = 0; i < waiting.length; i++) {
      const { socket, earlier, start, end } = waiting[i]
      if (start === end && earlier === undefined) continue
      waiting[i].start = 0
      waiting[i].end = 0
      waiting[i].earlier = undefined
      if (!isOpen(socket)) continue
      const part = this.#buffer.subarray(start, end)
      if (earlier === undefined) socket.write(part)
      else socket.write(Buffer.concat([...earlier, part]))
      // What was put together is the socket's own.
      if (earlier === undefined && socket.writableLength !== 0) (kept ??= []).push(socket)
    }
    if (kept !== undefined) this.#exchange(kept)
    this.#length = 0
  }

  #exchange(to: readonly Socket[]): void {
    const lent = this.#lent
    if (lent.length === LENT_MAX) lent.shift()
    lent.push({ buffer: this.#buffer, to })
    const back = lent.findIndex((each) => each.to.every((socket) => socket.writableLength === 0))
    this.#buffer = back < 0 ? Buffer.allocUnsafeSlow(BUFFER_BYTES) : lent.splice(back, 1)[0].buffer
  }

  /** Puts the part that was begun among the earlier ones, which stay valid until they are written. */
  #seal(outgoing: Outgoing): void {
    if (outgoing.end === outgoing.start) return
    const part = this.#buffer.subarray(outgoing.start, outgoing.end)
    ;(outgoing.earlier ??= []).push(part)
    outgoing.start = 0
    outgoing.end = 0
  }
}

function isOpen(socket: Socket): boolean {
  return !socket.destroyed && socket.writable
}
