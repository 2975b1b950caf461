/**
 * Notes of forwarded writes on their way with their buckets: made on the primary, handed to the target of a move, cut
 * with a split, and forgotten in time (once-notes.ts has what they are for).
 */
import { ByteReader, ByteWriter } from '../core/bytes.js'
import type { Message } from '../wire/peer/message.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { Copies } from './copies.js'
import { OnceNotes, readNote, writeNote, type Note } from './once-notes.js'
import type { Peer } from './peers.js'

/** How often old notes are looked for. */
const SWEEP_MS = 1000
/** A message of notes for the target of a move. */
const PIECE_BYTES = 64 * 1024

export class Once {
  readonly #cluster: Cluster
  readonly #copies: Copies
  #nextSweepMs = 0

  constructor(cluster: Cluster, copies: Copies) {
    this.#cluster = cluster
    this.#copies = copies
  }

  /** The answer that the write has been given already. */
  find(state: BucketState, client: string, turn: number): Uint8Array | undefined {
    if (turn === 0 || this.#cluster.config.sabotage === 'forget-forwarded') return undefined
    return state.notes?.find(client, turn)
  }

  /** Whether a write sent again may be executed, since nothing says that it was. */
  isSure(state: BucketState): boolean {
    return state.notes?.isSure(this.#oldestMs) ?? true
  }

  note(state: BucketState, note: Note): void {
    if (note.turn > 0) this.#copies.note(state, note)
  }

  tick(): void {
    const { now, buckets } = this.#cluster
    if (now < this.#nextSweepMs) return
    this.#nextSweepMs = now + SWEEP_MS
    for (const state of buckets) {
      if (state?.notes === undefined) continue
      state.notes.sweep(this.#oldestMs)
      if (state.notes.size === 0) state.notes = undefined
    }
  }

  /** What waits anywhere is given up by now, and at both ends of its way. */
  get #oldestMs(): number {
    return this.#cluster.now - 3 * this.#cluster.config.holdMs
  }

  split(state: BucketState, children: readonly BucketState[]): void {
    const { notes } = state
    if (notes === undefined) return
    for (const child of children) {
      child.notes = notes.part((hash) => (hash & child.mask) === child.id)
    }
  }

  /** The target of a move gets them just before it has everything else. */
  handOn(state: BucketState, peer: Peer): void {
    const { peers, now } = this.#cluster
    const { id: bucket, mask, notes } = state
    if (notes === undefined) return
    const writer = new ByteWriter(1024)
    const send = (): void => {
      const payload = writer.copy()
      writer.reset()
      peers.send(peer, { kind: 'notes', bucket, mask, payload }, now)
    }
    for (const note of notes.all()) {
      writeNote(writer, note)
      if (writer.length > PIECE_BYTES) send()
    }
    if (writer.length > 0) send()
  }

  onNotes(peer: Peer, message: Extract<Message, { kind: 'notes' }>): void {
    const { buckets, table } = this.#cluster
    const state = buckets[message.bucket]
    const reader = ByteReader.over(message.payload)
    const isWanted =
      message.mask === table.mask && state?.role === 'incoming' && state.source === peer.name
    while (reader.remaining > 0) {
      const note = readNote(reader)
      if (isWanted) (state.notes ??= new OnceNotes()).add(note)
    }
  }
}
