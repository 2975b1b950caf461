/**
 * One ordered stream between two nodes, in both directions, over a network that may lose, double, delay
 * and reorder: frames are numbered, kept until they are acknowledged, and sent again from the first one
 * that was not. Everything two nodes say to each other goes through it, so "behind it on the same
 * stream" means "later at the other end", which moves and replication rest on.
 *
 * A frame is acknowledged when it has been processed, not when it has arrived: for a batch of writes the
 * acknowledgement of the stream is the acknowledgement of the backup. The stream ends with either process: a peer
 * that began a new life has forgotten everything, and whoever relied on it is told.
 */
import { assert } from '../assert.js'
import type { FrameMemory } from './frame-memory.js'

export interface StreamOptions {
  /** How long to wait for an acknowledgement before sending again. */
  readonly retransmitMs: number
  /** Bytes of frames per envelope. */
  readonly envelopeBytes: number
  /** Where frames are kept; several streams may share it. */
  readonly memory: FrameMemory
}

export class Stream {
  /** When the other process began; 0 until it has answered. */
  peerLife = 0
  /** Frames put on the stream so far. */
  sent = 0
  /** Of these, processed by the other end. */
  acked = 0
  /** Frames of the other direction processed here. */
  received = 0
  /** Bytes of frames not yet acknowledged: what back-pressure looks at. */
  unackedBytes = 0
  /** An acknowledgement is owed, and somebody may be waiting for it. */
  owesAck = false
  /** One is owed by then at the latest; what is said before takes it along. */
  ackByMs = Infinity
  readonly #options: StreamOptions
  #frames: Uint8Array[] = []
  /** What `sent` was when the other process began: on the wire, counting starts there. */
  #base = 0
  /** Frames already handed to the network since the last acknowledgement or loss. */
  #handed = 0
  /** When frames were last sent again or acknowledged; and when they were last acknowledged. */
  #lastProgressMs = 0
  #lastAckMs = 0

  constructor(options: StreamOptions) {
    this.#options = options
  }

  /** Queues a copy of the frame and returns its number. */
  push(frame: Uint8Array, now: number): number {
    if (this.#frames.length === 0) {
      this.#lastProgressMs = now
      this.#lastAckMs = now
    }
    this.#frames.push(this.#options.memory.copy(frame))
    this.unackedBytes += frame.length
    return ++this.sent
  }

  /** Frames put on the stream in the other process's life, as the wire counts them. */
  get total(): number {
    return this.sent - this.#base
  }

  /** The other end has processed this many frames of this life. True if that is news. */
  acknowledge(total: number, now: number): boolean {
    const count = total + this.#base
    if (count <= this.acked || count > this.sent) return false
    const news = count - this.acked
    for (let i = 0; i < news; i++) this.unackedBytes -= this.#frames[i].length
    this.#forget(news)
    this.#handed = Math.max(0, this.#handed - news)
    this.acked = count
    this.#lastProgressMs = now
    this.#lastAckMs = now
    return true
  }

  /**
   * The frames to hand to the network now, with the number of frames before the first; undefined if
   * there is nothing to say. Called again until then. They are valid until the next acknowledgement.
   */
  take(): { sent: number; frames: Uint8Array[] } | undefined {
    if (this.#handed >= this.#frames.length && !this.owesAck) return undefined
    const sent = this.acked - this.#base + this.#handed
    const frames: Uint8Array[] = []
    let bytes = 0
    while (this.#handed < this.#frames.length && bytes < this.#options.envelopeBytes) {
      const frame = this.#frames[this.#handed++]
      frames.push(frame)
      bytes += frame.length
    }
    this.owesAck = false
    this.ackByMs = Infinity
    return { sent, frames }
  }

  /** Nobody is there to read what is kept: the same number of frames that say nothing takes its place. */
  blank(frame: Uint8Array): void {
    const count = this.#frames.length
    this.#forget(count)
    this.#frames = new Array<Uint8Array>(count).fill(frame)
    this.unackedBytes = this.#frames.length * frame.length
  }

  /** Something may be lost: everything unacknowledged goes again. */
  rewind(now: number): void {
    this.#handed = 0
    this.#lastProgressMs = now
  }

  /** For how long the other end has acknowledged nothing of what it was sent; 0 if it owes nothing. */
  stalledMs(now: number): number {
    return this.#frames.length === 0 ? 0 : now - this.#lastAckMs
  }

  /** When to look again, or Infinity. */
  get deadline(): number {
    return this.#frames.length === 0 ? Infinity : this.#lastProgressMs + this.#options.retransmitMs
  }

  /**
   * The other process is another one now: nothing that was said counts, and nobody need wait for it.
   * Numbers go on, one is left out for a batch that was being written.
   */
  restart(peerLife: number): void {
    assert(peerLife > this.peerLife, 'a new life begins later')
    const first = this.peerLife === 0
    this.peerLife = peerLife
    // What was queued before the first answer is for this very process.
    if (first) return
    this.sent++
    this.acked = this.sent
    this.#base = this.sent
    this.received = 0
    this.unackedBytes = 0
    this.owesAck = false
    this.ackByMs = Infinity
    this.#forget(this.#frames.length)
    this.#handed = 0
  }

  #forget(count: number): void {
    for (let i = 0; i < count; i++) this.#options.memory.give(this.#frames[i])
    this.#frames.splice(0, count)
  }
}
