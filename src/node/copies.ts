/**
 * Keeping copies equal. The primary numbers each write of a bucket and sends it, as the client's own bytes, to
 * the in-sync backups; all writes of a turn to one node are one batch, and its acknowledgement is the
 * stream's. A backup executes the same commands at the same time stamp with the same version.
 */
import {
  ByteReader,
  type ByteWriter,
  copyBytes,
  FormatError,
  NO_BYTES,
  Span,
  VARINT_BYTES_MAX,
  viewOf,
  writeVarint
} from '../core/bytes.js'
import { isMask } from '../core/mask.js'
import { placementHash, type PlacementHash } from '../core/hash/placement-hash.js'
import { Call } from '../commands/call.js'
import type { Command } from '../commands/command.js'
import { findCommand, hasArity } from '../commands/registry.js'
import { HybridClock } from '../store/clock.js'
import type { Key } from '../store/key.js'
import { TYPE_TOMBSTONE } from '../store/value-type.js'
import type { Message } from '../wire/peer/message.js'
import { RequestParser } from '../wire/resp/request-parser.js'
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import { COMMANDS_MAX, Lookahead } from './lookahead.js'
import { OnceNotes, readNote, writeNote, type Note } from './once-notes.js'
import type { Peer } from './peers.js'
import type { Gate } from './segment.js'

const EXPIRE = Uint8Array.from('oc.expire', (letter) => letter.charCodeAt(0))
const EVICT = Uint8Array.from('oc.evict', (letter) => letter.charCodeAt(0))

/** For bytes that are copied as a whole. */
const NO_VIEW = viewOf(NO_BYTES)

export class Copies {
  /** Items whose time was over, for statistics. */
  expired = 0
  readonly #cluster: Cluster
  readonly #hash: PlacementHash
  readonly #parser = new RequestParser()
  readonly #lookahead: Lookahead
  readonly #silent = new ReplyWriter()
  readonly #call: Call
  readonly #reader = new ByteReader()
  /** Writes of another node that were read and come next. */
  readonly #entries = Array.from({ length: COMMANDS_MAX }, () => new Entry())
  /** The command that is being replicated. */
  readonly #raw = new Span()
  readonly #onChange: (state: BucketState, call: Call) => void

  constructor(cluster: Cluster, onChange: (state: BucketState, call: Call) => void) {
    this.#cluster = cluster
    this.#onChange = onChange
    this.#hash = placementHash(cluster.config.hash)
    this.#lookahead = new Lookahead(cluster, {
      placement: this.#hash,
      createParser: () => new RequestParser()
    })
    this.#call = new Call(this.#silent, cluster.store.createKey(), cluster.random.fork())
  }

  isCongested(state: BucketState): boolean {
    const limit = this.#cluster.config.streamWindowBytes
    const { backups } = state
    for (let i = 0; i < backups.length; i++) {
      if (backups[i].stream.unackedBytes > limit) return true
    }
    return false
  }

  /** Sends a write on its way; called right after it was executed here. */
  replicate(state: BucketState, call: Call, raw: Uint8Array): void {
    this.#send(state, call, this.#raw.point(raw, NO_VIEW, 0, raw.length))
  }

  /** The same for the command that lies between these places of the call's bytes. */
  replicateHere(state: BucketState, call: Call, start: number, end: number): void {
    this.#send(state, call, this.#raw.point(call.bytes, call.view, start, end - start))
  }

  #send(state: BucketState, call: Call, raw: Span): void {
    if (this.#cluster.config.sabotage === 'forget-tombstone') forgetTombstone(state, call.key)
    state.seq++
    state.lastVersion = call.version
    for (let i = 0; i < state.backups.length; i++) {
      const peer = state.backups[i]
      writeEntry(peer.batch, state, call.version, raw)
      state.lastFrames[i] = peer.batchFrame
    }
    const { forwarding } = state
    if (forwarding === undefined || this.#cluster.config.sabotage === 'skip-forward') return
    if (!forwarding.complete && !state.items.isKeySent(call.key)) return
    writeEntry(forwarding.peer.batch, state, call.version, raw)
    forwarding.lastFrame = forwarding.peer.batchFrame
  }

  /**
   * Remembers, here and in the same frame on every copy, that the next write, or the one just
   * replicated, came from another node and what it was answered.
   */
  note(state: BucketState, note: Note): void {
    ;(state.notes ??= new OnceNotes()).add(note)
    for (let i = 0; i < state.backups.length; i++) {
      const peer = state.backups[i]
      writeNoteEntry(peer.batch, state, note)
      state.lastFrames[i] = peer.batchFrame
    }
    const { forwarding } = state
    // Before that, all notes are handed over at once.
    if (forwarding?.complete !== true) return
    writeNoteEntry(forwarding.peer.batch, state, note)
    forwarding.lastFrame = forwarding.peer.batchFrame
  }

  /** The reply to the write just replicated waits for these. */
  gateWrite(state: BucketState, gates: Gate[]): void {
    for (let i = 0; i < state.backups.length; i++) {
      addGate(gates, state.backups[i], state.lastFrames[i])
    }
    const { forwarding } = state
    if (forwarding?.gating === true) addGate(gates, forwarding.peer, forwarding.lastFrame)
  }

  /** A read that saw a write which is not everywhere yet waits until it is. */
  gateRead(state: BucketState, key: Key, gates: Gate[]): void {
    if (this.#cluster.config.sabotage === 'read-uncommitted') return
    const ref = state.items.findAny(key)
    if (ref !== 0 && state.items.versionOf(ref) > state.settledVersion) this.gateWrite(state, gates)
  }

  /** Executes the writes of another node's turn on the copies here. */
  applyBatch(peer: Peer, message: Extract<Message, { kind: 'batch' }>): void {
    if (this.#cluster.config.sabotage === 'drop-batch') {
      this.#pretend(message.payload)
      return
    }
    const { payload } = message
    const reader = this.#reader.point(payload, viewOf(payload), 0, payload.length)
    const ahead = this.#lookahead
    const entries = this.#entries
    while (reader.remaining > 0) {
      if (isNoteEntry(reader)) {
        this.#takeNote(peer, reader, entries[0])
        continue
      }
      const count = this.#readAhead(reader)
      for (let i = 0; i < count; i++) {
        this.#apply(peer, entries[i], entries[i].raw)
        ahead.advance()
      }
    }
    ahead.clear()
  }

  #apply(peer: Peer, entry: Entry, raw: Span): void {
    const own = this.#cluster.table.mask
    if (!isMask(entry.mask) || entry.bucket > entry.mask) {
      throw new FormatError(`a write to bucket ${entry.bucket} of mask ${entry.mask}`)
    }
    if (entry.mask > own) {
      // Meant for a former life of this node, which knew more than this one does yet.
      const { bucket, epoch } = entry
      this.#cluster.peers.send(peer, { kind: 'behind', bucket, epoch }, this.#cluster.now)
      return
    }
    const bucket = entry.mask < own ? this.#childOf(raw) : entry.bucket
    const state = this.#cluster.buckets[bucket]
    if (state === undefined || !this.#takes(state, peer, entry)) {
      this.#correct(peer, bucket)
      return
    }
    state.lastVersion = entry.version
    if (this.#execute(state, raw, entry.version)) this.#onChange(state, this.#call)
  }

  /** Reads the writes that follow in a row, one at least, and asks for the memory of their keys; says how many. */
  #readAhead(reader: ByteReader): number {
    const ahead = this.#lookahead
    let count = 0
    ahead.clear()
    while (reader.remaining > 0 && !ahead.isFull && !isNoteEntry(reader)) {
      const entry = this.#entries[count++]
      const { raw } = entry
      readEntry(reader, entry)
      if (ahead.add(raw.bytes, raw.view, raw.offset, raw.offset + raw.length) < 0) break
    }
    ahead.touch()
    return count
  }

  /** A write of the node itself, to a bucket that it is primary of; says whether it changed something. */
  write(state: BucketState, raw: Uint8Array): boolean {
    const version = this.#cluster.clock.next(this.#cluster.now)
    if (!this.#execute(state, Span.of(raw), version)) return false
    this.replicate(state, this.#call, raw)
    this.#onChange(state, this.#call)
    return true
  }

  /** Lets a key go whose time is over, as a write like any other. */
  expire(state: BucketState, key: Uint8Array): void {
    if (this.write(state, encodeArguments([EXPIRE, key]))) this.expired++
  }

  /** Lets a key go to make room, as a write like any other. */
  evict(state: BucketState, key: Uint8Array): void {
    this.write(state, encodeArguments([EVICT, key]))
  }

  /**
   * A note of a write that is not taken must not be taken either: this copy would answer for a write that it has not.
   * It lies right before or behind its write, so it is taken where the copy is as far as the primary was there.
   */
  #takeNote(peer: Peer, reader: ByteReader, entry: Entry): void {
    const note = readNoteEntry(reader, entry)
    const { buckets, table } = this.#cluster
    const bucket = note.hash & table.mask
    const state = buckets[bucket]
    if (state !== undefined && this.#isAsFar(state, peer, entry)) {
      ;(state.notes ??= new OnceNotes()).add(note)
    } else if (entry.mask <= table.mask) this.#correct(peer, bucket)
  }

  #isAsFar(state: BucketState, peer: Peer, { mask, epoch, seq }: Entry): boolean {
    if (state.source !== peer.name) return false
    if (state.role === 'incoming') return true
    if (state.role !== 'backup' || epoch !== state.epoch) return false
    if (state.shared !== undefined) return seq === state.shared.seq
    return mask === this.#cluster.table.mask && seq === state.seq
  }

  /** Whether this copy takes a write of that number from that node. */
  #takes(state: BucketState, peer: Peer, entry: Entry): boolean {
    if (state.source !== peer.name) return false
    if (state.role === 'incoming') {
      if (state.shared !== undefined) state.shared.seq = entry.seq
      else if (state.caughtUp) state.seq = entry.seq
      return true
    }
    if (state.role !== 'backup' || entry.epoch !== state.epoch) return false
    const old = entry.mask < this.#cluster.table.mask
    if (state.shared !== undefined) {
      if (entry.seq !== state.shared.seq + 1) return false
      if (old) state.shared.seq = entry.seq
      else state.shared = undefined
      state.seq = entry.seq
      return true
    }
    if (old || entry.seq !== state.seq + 1) return false
    state.seq = entry.seq
    return true
  }

  /** Executes a write; its time is in its version, the same on every copy. */
  #execute(state: BucketState, raw: Span, version: number): boolean {
    const call = this.#call
    const ahead = this.#lookahead
    const isKnown = ahead.covers(raw.bytes, raw.offset) && ahead.end === raw.offset + raw.length
    const command = (isKnown ? ahead.command : undefined) ?? this.#parse(raw)
    const parser = isKnown ? ahead.parser : this.#parser
    const offset = parser.offsets[command.key]
    const length = parser.lengths[command.key]
    this.#silent.reset()
    call.begin()
    if (isKnown) {
      call.key.setHashed(raw.bytes, raw.view, offset, length, ahead)
    } else {
      const hash = this.#hash.hash(raw.bytes, offset, length)
      call.key.set(raw.bytes, raw.view, offset, length, hash)
    }
    call.bytes = raw.bytes
    call.view = raw.view
    call.offsets = parser.offsets
    call.lengths = parser.lengths
    call.count = parser.count
    call.now = HybridClock.toMs(version)
    call.version = version
    call.bucket = state.items
    this.#cluster.clock.observe(version)
    command.execute(call)
    return call.change !== undefined
  }

  /** What a primary sends has been executed there: anything but a proper command is a broken peer. */
  #parse(raw: Span): Command {
    const parser = this.#parser
    parser.reset()
    const end = raw.offset + raw.length
    const whole = parser.parse(raw.bytes, raw.view, raw.offset, end) === end && parser.count > 0
    const command = whole ? findCommand(raw.bytes, parser.offsets[0], parser.lengths[0]) : undefined
    if (command === undefined || !hasArity(command, parser.count)) {
      throw new FormatError('a write that is no command')
    }
    return command
  }

  #childOf(raw: Span): number {
    const parser = this.#parser
    const place = this.#parse(raw).key
    const hash = this.#hash.hash(raw.bytes, parser.offsets[place], parser.lengths[place])
    return hash & this.#cluster.table.mask
  }

  /** Whoever sends us writes we cannot take is told what we know, and steps down or strikes us. */
  #correct(peer: Peer, bucket: number): void {
    const { table, peers, now } = this.#cluster
    const row = table.row(bucket)
    peers.send(peer, { kind: 'rows', mask: table.mask, rows: [{ bucket, row }] }, now)
    peers.send(peer, { kind: 'behind', bucket, epoch: row.epoch }, now)
  }

  #pretend(payload: Uint8Array): void {
    const reader = this.#reader.point(payload, viewOf(payload), 0, payload.length)
    const entry = new Entry()
    while (reader.remaining > 0) {
      if (isNoteEntry(reader)) {
        readNoteEntry(reader, entry)
        continue
      }
      readEntry(reader, entry)
      const state = this.#cluster.buckets[entry.bucket]
      if (state !== undefined) state.seq = entry.seq
    }
  }
}

/** The planted defect: a deleted key leaves nothing, so nobody knows that its deletion is not everywhere yet. */
function forgetTombstone({ items }: BucketState, key: Key): void {
  const ref = items.findAny(key)
  if (ref !== 0 && items.typeOf(ref) === TYPE_TOMBSTONE) items.remove(ref)
}

class Entry {
  bucket = 0
  mask = 0
  epoch = 0
  seq = 0
  version = 0
  /** The command. */
  readonly raw = new Span()
}

/** Bucket and mask. */
const ENTRY_HEAD_BYTES = 4
const VERSION_BYTES = 8
const WRITE_HEAD_BYTES_MAX = ENTRY_HEAD_BYTES + VERSION_BYTES + 3 * VARINT_BYTES_MAX

/**
 * u16 bucket, u16 mask, varint epoch, varint seq, f64 version, varint length, the command's bytes. Once for each write
 * and backup, so the room is made sure of once and not for each field.
 */
function writeEntry(w: ByteWriter, state: BucketState, version: number, raw: Span): void {
  const { length } = raw
  w.ensure(WRITE_HEAD_BYTES_MAX + length)
  const { bytes, view } = w
  let at = w.length
  view.setUint16(at, state.id, true)
  view.setUint16(at + 2, state.mask, true)
  at = writeVarint(bytes, at + ENTRY_HEAD_BYTES, state.epoch)
  at = writeVarint(bytes, at, state.seq)
  view.setFloat64(at, version, true)
  at = writeVarint(bytes, at + VERSION_BYTES, length)
  if (raw.view === NO_VIEW) bytes.set(raw.bytes, at)
  else copyBytes(raw.bytes, raw.view, raw.offset, bytes, view, at, length)
  w.length = at + length
}

/** In the place of the mask: not a write but a note about the next one, or the one before. */
const NOTE = 0xfffe

/** u16 bucket, u16 0xfffe, then as of a write: u16 mask, varint epoch, varint seq; the note. */
function writeNoteEntry(w: ByteWriter, state: BucketState, note: Note): void {
  w.u16(state.id)
  w.u16(NOTE)
  w.u16(state.mask)
  w.varint(state.epoch)
  w.varint(state.seq)
  writeNote(w, note)
}

function isNoteEntry(r: ByteReader): boolean {
  if (r.remaining <= ENTRY_HEAD_BYTES) return false
  return (r.bytes[r.offset + 2] | (r.bytes[r.offset + 3] << 8)) === NOTE
}

function readNoteEntry(r: ByteReader, entry: Entry): Note {
  entry.bucket = r.u16()
  r.u16()
  entry.mask = r.u16()
  entry.epoch = r.varint()
  entry.seq = r.varint()
  return readNote(r)
}

function readEntry(r: ByteReader, entry: Entry): void {
  entry.bucket = r.u16()
  entry.mask = r.u16()
  entry.epoch = r.varint()
  entry.seq = r.varint()
  entry.version = r.f64()
  r.span(r.varint(), entry.raw)
}

function addGate(gates: Gate[], peer: Peer, frame: number): void {
  for (let i = 0; i < gates.length; i++) {
    if (gates[i].peer !== peer) continue
    if (gates[i].frame < frame) gates[i] = peer.gateAt(frame)
    return
  }
  gates.push(peer.gateAt(frame))
}
