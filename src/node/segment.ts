/**
 * A part of a conversation's output: replies in a row, and what they wait for before they may be given out.
 */

/** Whoever has to have processed something: another node, as a rule. */
export interface Processor {
  hasProcessed(frame: number): boolean
}

export interface Gate {
  readonly peer: Processor
  readonly frame: number
}

export const NO_GATES: readonly Gate[] = []

/** Some replies in a row, and the acknowledgements they wait for. */
export class Segment {
  /** Undefined while the reply is not known. */
  bytes: Uint8Array | undefined
  gates: readonly Gate[]
  /** How many replies the bytes hold. */
  readonly replies: number
  /** Where the bytes lie, if that is used again. */
  piece: Piece | undefined

  constructor(bytes: Uint8Array | undefined, gates: readonly Gate[], replies = 1) {
    this.bytes = bytes
    this.gates = gates
    this.replies = replies
  }

  get isOpen(): boolean {
    for (const { peer, frame } of this.gates) if (!peer.hasProcessed(frame)) return false
    return true
  }
}

/** Memory that several replies lie in (reply-memory.ts). */
export interface Piece {
  readonly bytes: Uint8Array
  used: number
  /** Replies in it that are waited for. */
  held: number
}
