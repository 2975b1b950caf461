/**
 * The replies of one turn, for all connections: they are copied into one buffer as the node gives them
 * out, and each connection's part is written once at the end. The buffer is used again for the next turn
 * unless a socket did not take its part whole; then the part still belongs to the socket, and a new buffer takes
 * over. Usually a connection has one part and nothing is allocated but the view of it.
 */
import type { Socket } from 'node:net'

/** Replies of a turn beyond this get buffers of their own. */
const BUFFER_BYTES = 256 * 1024

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

export class TurnOutput {
  readonly #after: (outgoing: Outgoing) => void
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #length = 0
  #waiting: Outgoing[] = []

  /** `after` is called for each connection that was written to. */
  constructor(after: (outgoing: Outgoing) => void) {
    this.#after = after
  }

  /** Takes a copy of the bytes. */
  put(outgoing: Outgoing, bytes: Uint8Array): void {
    this.mark(outgoing)
    const at = this.#length
    const after = at + bytes.length
    if (after > BUFFER_BYTES) {
      this.#seal(outgoing)
      ;(outgoing.earlier ??= []).push(Buffer.from(bytes))
      return
    }
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
    this.#waiting = []
    let kept = false
    for (const outgoing of waiting) {
      outgoing.waiting = false
      const { socket, earlier, start, end } = outgoing
      outgoing.start = 0
      outgoing.end = 0
      outgoing.earlier = undefined
      if (!socket.destroyed && socket.writable) {
        const part = this.#buffer.subarray(start, end)
        if (earlier === undefined) {
          if (end > start) socket.write(part)
        } else socket.write(Buffer.concat([...earlier, part]))
        if (socket.writableLength !== 0) kept = true
      }
      this.#after(outgoing)
    }
    if (kept) this.#buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
    this.#length = 0
  }

  /** Puts the part that was begun among the earlier ones, which stay valid until the end of the turn. */
  #seal(outgoing: Outgoing): void {
    if (outgoing.end === outgoing.start) return
    const part = this.#buffer.subarray(outgoing.start, outgoing.end)
    ;(outgoing.earlier ??= []).push(part)
    outgoing.start = 0
    outgoing.end = 0
  }
}
