/**
 * One client's conversation: bytes in, replies out in the same order. A reply that must wait for
 * acknowledgements is kept with its gates, and everything behind it waits with it. A command that cannot
 * be served yet (its bucket is being handed over, or it was sent on to another node) blocks the ones behind it.
 */
import { NO_BYTES } from '../core/bytes.js'
import type { Peer } from './peers.js'

export interface Gate {
  readonly peer: Peer
  readonly frame: number
}

interface Segment {
  readonly bytes: Uint8Array
  readonly gates: readonly Gate[]
}

/** Why the next command waits. */
export type Block =
  | { readonly kind: 'bucket' }
  | { readonly kind: 'window' }
  | { readonly kind: 'limbo' }
  | { readonly kind: 'forward'; readonly id: number; readonly peer: Peer; readonly write: boolean }

export class Session {
  readonly id: number
  protocol: 2 | 3 = 2
  acksAll: boolean
  /** Bytes not yet consumed; the blocked command is the first. */
  input: Uint8Array = NO_BYTES
  /** Length of the command that blocks, to be stepped over when its answer has come. */
  blockedLength = 0
  block: Block | undefined
  blockedSinceMs = 0
  closed = false
  /** For a request that another node forwarded: whom to answer, under which number, after how many hops. */
  readonly remote: { readonly peer: Peer; readonly id: number; readonly hops: number } | undefined
  #segments: Segment[] = []

  constructor(id: number, acksAll: boolean, remote?: Session['remote']) {
    this.id = id
    this.acksAll = acksAll
    this.remote = remote
  }

  get isBlocked(): boolean {
    return this.block !== undefined
  }

  get waits(): boolean {
    return this.#segments.length > 0
  }

  get queuedBytes(): number {
    let bytes = this.input.length
    for (const segment of this.#segments) bytes += segment.bytes.length
    return bytes
  }

  /** Whether a reply waits for an acknowledgement of this kind. */
  waitsFor(kind: (peer: Peer, frame: number) => boolean): boolean {
    return this.#segments.some(({ gates }) => gates.some(({ peer, frame }) => kind(peer, frame)))
  }

  /** Puts a reply behind those that wait; the bytes are kept. */
  enqueue(bytes: Uint8Array, gates: readonly Gate[]): void {
    this.#segments.push({ bytes, gates })
  }

  /** Gives out what has all its acknowledgements, in order. */
  release(put: (bytes: Uint8Array) => void): void {
    let done = 0
    for (const segment of this.#segments) {
      if (!segment.gates.every(({ peer, frame }) => peer.hasProcessed(frame))) break
      put(segment.bytes)
      done++
    }
    if (done > 0) this.#segments.splice(0, done)
  }
}
