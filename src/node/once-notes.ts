/**
 * Which writes of other nodes' clients a bucket has executed, and what they were answered. A node that passed a write on
 * and lost the node it passed it to sends it again to the next primary, under the same name: the client and the
 * write's turn in that client's conversation. Every copy of the bucket notes a write in the very frame that brings it,
 * so whoever is primary next has either both or neither, and gives the same answer or executes it for the
 * first time (docs/decisions/0009-forwarded-once.md).
 *
 * Bounded: a client's later writes say up to which turn it has all its answers (what comes of a lower turn after that was
 * on its way for too long and is not executed), notes are forgotten after a time in
 * which nobody can send again any more, and when there are too many the oldest go and `isSure` says so.
 */
import {
  compareBytes,
  FormatError,
  latin1Bytes,
  NO_BYTES,
  type ByteReader,
  type ByteWriter
} from '../core/bytes.js'

/** Of a bucket. More are under way only where thousands of clients write through other nodes to one bucket. */
const NOTES_MAX = 20_000
const NOTE_BYTES_MAX = 16 * 1024 * 1024
/** What a note takes besides its reply. */
const NOTE_BYTES = 64
const CLIENT_LENGTH_MAX = 300
/** A longer reply is not compared. */
const SHARED_BYTES_MAX = 16
/** So long a client's notes may be in a place that is not the last although they are the newest. */
const ORDER_MS = 1000

export interface Note {
  /** Of the write's key, so that it stays with it in a split. */
  readonly hash: number
  /** Unique in the cluster and for ever. */
  readonly client: string
  readonly turn: number
  /** The client has its answers to all turns before this one. */
  readonly floor: number
  /** When the write was executed; the same on every copy. */
  readonly ms: number
  /** Never written to; most are the same few bytes, and share them. */
  reply: Uint8Array
}

interface ClientNotes {
  readonly notes: Note[]
  /** What comes of a lower turn has been on its way for too long. */
  floor: number
  /** Of its first note since it went to the end of the list. */
  movedMs: number
}

/** Said to nobody: whoever waited for it has been answered. */
export const STALE = latin1Bytes('-OC_UNKNOWN the write was sent again\r\n')

export class OnceNotes {
  /** By client, those who wrote last at the end, give or take `ORDER_MS`: to move one costs more than its note. */
  readonly #byClient = new Map<string, ClientNotes>()
  #count = 0
  #bytes = 0
  #lastReply: Uint8Array = NO_BYTES
  /** When the newest of the notes was made that had to go too early. */
  #droppedMs = -Infinity

  get size(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#bytes
  }

  add(note: Note): void {
    const { client, floor, turn, ms } = note
    note.reply = this.#share(note.reply)
    this.#count++
    this.#bytes += NOTE_BYTES + note.reply.length
    const known = this.#byClient.get(client)
    if (known === undefined) this.#byClient.set(client, { notes: [note], floor, movedMs: ms })
    else {
      const { notes } = known
      let kept = 0
      for (const other of notes) {
        if (other.turn >= floor && other.turn !== turn) notes[kept++] = other
        else this.#uncount(other)
      }
      notes[kept++] = note
      if (kept < notes.length) notes.length = kept
      known.floor = Math.max(floor, known.floor)
      if (ms - known.movedMs >= ORDER_MS) {
        known.movedMs = ms
        this.#byClient.delete(client)
        this.#byClient.set(client, known)
      }
    }
    while (this.#count > NOTES_MAX || this.#bytes > NOTE_BYTES_MAX) this.#dropOldest()
  }

  /** The answer to a write that has been executed already; `STALE` if its client has it, or has given it up. */
  find(client: string, turn: number): Uint8Array | undefined {
    const known = this.#byClient.get(client)
    if (known === undefined) return undefined
    return turn < known.floor ? STALE : known.notes.find((note) => note.turn === turn)?.reply
  }

  /** Whether a write that was first sent at that time and is not noted was not executed. */
  isSure(sinceMs: number): boolean {
    return this.#droppedMs < sinceMs
  }

  /** Forgets what was executed before that time. */
  sweep(beforeMs: number): void {
    for (const [client, { notes }] of this.#byClient) {
      // Those behind it are younger, or so little older that they may stay for a while.
      if ((notes.at(-1)?.ms ?? 0) >= beforeMs) return
      for (const note of notes) this.#uncount(note)
      this.#byClient.delete(client)
    }
  }

  all(): Note[] {
    return [...this.#byClient.values()].flatMap(({ notes }) => notes)
  }

  /**
   * Those of one bucket that this one was cut into. Up to which turn a client has its answers counts for all its keys, so
   * its newest note goes into every part, without its answer where that is about another.
   */
  part(isInPart: (hash: number) => boolean): OnceNotes {
    const part = new OnceNotes()
    part.#droppedMs = this.#droppedMs
    for (const { notes, floor } of this.#byClient.values()) {
      const newest = notes.at(-1)
      for (const note of notes) {
        if (isInPart(note.hash)) part.add({ ...note, floor })
        else if (note === newest) part.add({ ...note, floor, reply: NO_BYTES })
      }
    }
    return part
  }

  #share(reply: Uint8Array): Uint8Array {
    const isShort = reply.length <= SHARED_BYTES_MAX
    if (!isShort || compareBytes(this.#lastReply, reply) !== 0) this.#lastReply = reply
    return this.#lastReply
  }

  #dropOldest(): void {
    const [[client, { notes }]] = this.#byClient
    const note = notes.shift()
    if (note !== undefined) this.#drop(note)
    if (notes.length === 0) this.#byClient.delete(client)
  }

  #drop(note: Note): void {
    this.#uncount(note)
    this.#droppedMs = Math.max(this.#droppedMs, note.ms)
  }

  #uncount({ reply }: Note): void {
    this.#count--
    this.#bytes -= NOTE_BYTES + reply.length
  }
}

/** varint hash, client, varint turn, varint floor, f64 ms, varint length, the reply's bytes. */
export function writeNote(w: ByteWriter, note: Note): void {
  w.varint(note.hash)
  w.latin1Text(note.client)
  w.varint(note.turn)
  w.varint(note.floor)
  w.f64(note.ms)
  w.varint(note.reply.length)
  w.raw(note.reply)
}

export function readNote(r: ByteReader): Note {
  const [hash, client, turn, floor, ms] = [
    r.varint(),
    r.latin1Text(),
    r.varint(),
    r.varint(),
    r.f64()
  ]
  if (client.length > CLIENT_LENGTH_MAX) throw new FormatError('the name of a client is too long')
  if (!(ms >= 0 && ms <= Number.MAX_SAFE_INTEGER)) throw new FormatError('not a moment')
  return { hash, client, turn, floor, ms, reply: r.copy(r.varint()) }
}
