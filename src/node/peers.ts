/**
 * The other nodes: a stream to each, what was last heard of it, and the batch of writes that will travel at the
 * end of this turn. Frames leave in the order in which they were given: a control message first closes
 * the batch that was begun before it.
 */
import { ByteReader, ByteWriter, FormatError } from '../core/bytes.js'
import { isNodeName, type NodeName } from '../core/ids.js'
import { FrameMemory } from '../core/replication/frame-memory.js'
import { Stream } from '../core/replication/stream.js'
import {
  decodeEnvelopeHead,
  encodeEnvelopeHead,
  ENVELOPE_BYTES_MAX,
  type EnvelopeHead
} from '../wire/peer/envelope.js'
import { decodeMessage, encodeMessage, type Message } from '../wire/peer/message.js'
import type { NodeConfig } from './config.js'
import type { Gate } from './segment.js'

/** Frames of one envelope; a large item makes one larger frame. */
const ENVELOPE_BYTES = 256 * 1024

/**
 * Nobody waits for the acknowledgement of these: either an answer of their own follows, which takes it along, or they
 * are answers. Half of all envelopes would be bare acknowledgements of them otherwise.
 */
const UNAWAITED: ReadonlySet<Message['kind']> = new Set<Message['kind']>([
  'beat',
  'forward',
  'answer',
  'event',
  'sync',
  'levelAsk',
  'level',
  'members',
  'prepare',
  'promise',
  'propose',
  'accepted'
])
const ACK_LATER_MS = 20
/** A beat waits for the beat of the other direction; a lease, which lives on it, is several beats long. */
const BEAT_ACK_SHARE = 2 / 3

/** The frame that says nothing is its kind alone. */
const NOTHING_BYTES = 1

export class Peer {
  readonly name: NodeName
  address: string
  readonly stream: Stream
  /** Writes for this peer of the present turn. */
  readonly batch = new ByteWriter(1024)
  lastHeardMs: number
  /** Silent for too long, to this node. Nothing is sent to it until it is heard again. */
  dead = false
  /** It goes in good order: it may still ask and is answered, but is told nothing new. */
  left = false
  /** It said something that cannot be understood; ignored until its next life. */
  broken = false
  /** Its table was another one at the last beat. */
  differs = false
  /** When it was last greeted, while its process is not known. */
  greetedMs = 0
  /** Its link broke and nothing was heard since: perhaps dead, and worth acting on where a lease protects it. */
  suspect = false
  /** Acknowledgements up to this frame are no longer waited for: it was struck from all rows. */
  waived = 0
  /** Frames that went with a former life, from the one behind the first to the second. */
  #lostFrom = 0
  #lostTo = 0
  #gate: Gate | undefined
  /** Frames with writes that it did not take, by bucket. */
  readonly #refused = new Map<number, { readonly from: number; readonly to: number }>()

  constructor(
    name: NodeName,
    address: string,
    options: { now: number; retransmitMs: number; memory: FrameMemory }
  ) {
    this.name = name
    this.address = address
    this.lastHeardMs = options.now
    const { retransmitMs, memory } = options
    this.stream = new Stream({ retransmitMs, envelopeBytes: ENVELOPE_BYTES, memory })
  }

  /** Whether it can be told something. */
  get isOpen(): boolean {
    return !this.dead && !this.broken
  }

  /** The number of the frame that the writes of this turn will be in. */
  get batchFrame(): number {
    return this.stream.sent + 1
  }

  /** What waits for a frame; the same for all that wait for the same. */
  gateAt(frame: number): Gate {
    if (this.#gate?.frame !== frame) this.#gate = { peer: this, frame }
    return this.#gate
  }

  /** Whether a frame has been processed there, or need not be any more. */
  hasProcessed(frame: number): boolean {
    if (this.waived >= frame) return true
    if (frame > this.#lostFrom && frame <= this.#lostTo) return false
    if (this.stream.acked < frame) return false
    // Asked for every reply and every read, and even an empty list costs more than all of the above.
    if (this.#refused.size === 0) return true
    for (const { from, to } of this.#refused.values()) if (frame > from && frame <= to) return false
    return true
  }

  /**
   * It has not taken the writes of a bucket, up to this frame, although it will acknowledge the frames: until the row
   * names it no more, they do not count as processed. Writes of other buckets in these frames wait with them.
   */
  refuse(bucket: number, frame: number): void {
    const from = this.#refused.get(bucket)?.from ?? this.stream.acked
    this.#refused.set(bucket, { from, to: Math.max(frame, this.#refused.get(bucket)?.to ?? 0) })
  }

  hasRefused(bucket: number): boolean {
    return this.#refused.has(bucket)
  }

  get refuses(): boolean {
    return this.#refused.size > 0
  }

  /** The row does not name it any more. */
  excuse(bucket: number): void {
    this.#refused.delete(bucket)
  }

  split(old: number, mask: number): void {
    for (const [bucket, range] of [...this.#refused]) {
      for (let piece = bucket; piece <= mask; piece += old + 1) this.#refused.set(piece, range)
    }
  }

  /** Something was lost with its former life that may still be waited for. */
  get owes(): boolean {
    return this.#lostTo > this.waived
  }

  /** Nothing relies on its former life any more; what the present one was sent is still waited for. */
  forgive(): void {
    this.waived = Math.max(this.waived, this.#lostTo)
  }

  /** Its process is another one: nothing that was said is known there. */
  restart(life: number): void {
    const { stream } = this
    const known = stream.peerLife !== 0
    if (known && !this.owes) this.#lostFrom = stream.acked
    stream.restart(life)
    if (known) this.#lostTo = stream.sent
  }
}

export interface PeerHandlers {
  message(peer: Peer, message: Message, now: number): void
  /** A process answered for the first time, or for the first time in a new life. */
  met(peer: Peer, now: number): void
  /** Whether this process of it is known to have left: what it said before may come late. */
  hasLeft(name: NodeName, life: number): boolean
  /** The peer's process is another one than before: it has forgotten everything. */
  restarted(peer: Peer, now: number): void
  /** It had been dead to us and speaks again. */
  returned(peer: Peer, now: number): void
  /** Something was acknowledged. */
  acked(peer: Peer): void
}

/** What it asks of the driver. */
export interface PeersOutbox {
  /** The envelope is valid only during the call. */
  send(address: string, envelope: Uint8Array): void
  event(event: { kind: 'peerError'; node: string; reason: string }): void
}

/** What it must know of its own node. */
export type PeersConfig = Pick<
  NodeConfig,
  'name' | 'address' | 'life' | 'heartbeatMs' | 'deadAfterMs' | 'retransmitMs'
>

export class Peers {
  readonly #config: PeersConfig
  readonly #outbox: PeersOutbox
  readonly #memory = new FrameMemory()
  readonly #handlers: PeerHandlers
  readonly #byName = new Map<NodeName, Peer>()
  /** All but those that have left and are silent: over the years these may be many, and every turn looks at all. */
  readonly #near = new Set<Peer>()
  readonly #writer = new ByteWriter(4096)
  readonly #contacts = new Map<string, number>()
  #now = 0
  /** 0 until this node belongs to a cluster. */
  cluster = 0

  constructor(config: PeersConfig, outbox: PeersOutbox, handlers: PeerHandlers) {
    this.#config = config
    this.#outbox = outbox
    this.#handlers = handlers
  }

  get(name: NodeName): Peer | undefined {
    return this.#byName.get(name)
  }

  all(): IterableIterator<Peer> {
    return this.#byName.values()
  }

  ensure(name: NodeName, address: string, now: number): Peer {
    let peer = this.#byName.get(name)
    if (peer === undefined) {
      const { retransmitMs } = this.#config
      peer = new Peer(name, address, { now, retransmitMs, memory: this.#memory })
      this.#byName.set(name, peer)
      this.#near.add(peer)
      this.#introduce(address)
    }
    peer.address = address
    return peer
  }

  /** Says hello to an address whose node is not known yet, now and until somebody answers. */
  contact(address: string, now: number): void {
    this.#contacts.set(address, now + this.#config.heartbeatMs)
    this.#introduce(address)
  }

  forgetContacts(): void {
    this.#contacts.clear()
  }

  send(peer: Peer, message: Message, now: number): number {
    if (!peer.isOpen) return 0
    this.#closeBatch(peer, now)
    return peer.stream.push(this.#encode(message), now)
  }

  broadcast(message: Message, now: number): void {
    let frame: Uint8Array | undefined
    for (const peer of this.#byName.values()) {
      if (!peer.isOpen || peer.left || peer.stream.peerLife === 0) continue
      if (message.kind === 'beat' && this.isStalled(peer, now)) continue
      this.#closeBatch(peer, now)
      // The batch of the next one is encoded in the same place.
      frame ??= this.#encode(message).slice()
      peer.stream.push(frame, now)
    }
  }

  /**
   * It can be heard, but has taken nothing in for as long as a dead one: what it will ask for again, or be told again
   * anyway, is not put on top of what it owes. A cut in one direction may last.
   */
  isStalled(peer: Peer, now: number): boolean {
    return peer.stream.stalledMs(now) > this.#config.deadAfterMs
  }

  /** A new link to that address: whatever the old one swallowed goes again. */
  linkUp(address: string, now: number): void {
    for (const peer of this.#byName.values()) if (peer.address === address) peer.stream.rewind(now)
  }

  /** The link to that address broke, and with it perhaps the node. */
  linkDown(address: string): Peer[] {
    const peers = [...this.#byName.values()].filter((peer) => peer.address === address)
    for (const peer of peers) peer.suspect = !peer.left
    return peers
  }

  /** Nobody waits any more for what it was sent so far: it is struck from all rows here. */
  waive(peer: Peer, now: number): void {
    this.#closeBatch(peer, now)
    peer.waived = peer.stream.sent
  }

  /** Part of an envelope has come from it: it lives, although what it says cannot be understood yet. */
  hearing(name: string, now: number): void {
    const peer = isNodeName(name) ? this.#byName.get(name) : undefined
    if (peer === undefined || !peer.isOpen) return
    peer.lastHeardMs = now
    peer.suspect = false
  }

  receive(envelope: Uint8Array, now: number): void {
    this.#now = now
    const reader = ByteReader.over(envelope)
    const head = this.#readHead(reader)
    if (head === undefined) return
    if (head.from === this.#config.name) return
    if (this.cluster !== 0 && head.cluster !== 0 && head.cluster !== this.cluster) {
      this.#refuseForeigner(head)
      return
    }
    const peer = this.ensure(head.from, head.address, now)
    this.#near.add(peer)
    const { stream } = peer
    if (head.fromLife < stream.peerLife) return
    if (head.fromLife > stream.peerLife) {
      const known = stream.peerLife !== 0
      const wasDead = peer.dead
      if (known) peer.batch.reset()
      peer.left = this.#handlers.hasLeft(peer.name, head.fromLife)
      peer.broken = false
      peer.restart(head.fromLife)
      peer.lastHeardMs = now
      peer.dead = false
      if (known) this.#handlers.restarted(peer, now)
      else if (wasDead) this.#handlers.returned(peer, now)
      stream.owesAck = true
      this.#handlers.met(peer, now)
    }
    if (peer.broken) return
    peer.lastHeardMs = now
    peer.suspect = false
    if (peer.dead) {
      peer.dead = false
      stream.rewind(now)
      this.#handlers.returned(peer, now)
    }
    if (head.toLife !== this.#config.life) {
      // It does not know yet who is here now; it will from the answer.
      stream.owesAck = true
      return
    }
    this.#process(peer, reader, head.sent)
    if (stream.received >= head.total && stream.acknowledge(head.acked, now)) {
      this.#handlers.acked(peer)
    }
  }

  /**
   * Both sides say so: a greeting is answered with one that has this node's cluster on it, and an answer, which names a
   * life, is not answered again.
   */
  #refuseForeigner({ from, fromLife, toLife, address }: EnvelopeHead): void {
    const reason = 'it belongs to another cluster'
    this.#outbox.event({ kind: 'peerError', node: from, reason })
    if (toLife === 0) this.#introduce(address, fromLife)
  }

  /** Hands everything that is due to the network. */
  flush(now: number): void {
    for (const peer of this.#near) {
      if (peer.broken) continue
      this.#closeBatch(peer, now)
      const { stream } = peer
      if (stream.peerLife === 0 || peer.dead) continue
      for (;;) {
        const part = stream.take()
        if (part === undefined) break
        this.#post(peer, part)
      }
    }
  }

  tick(now: number): void {
    this.#now = now
    for (const [address, due] of this.#contacts) {
      if (due > now) continue
      this.#contacts.set(address, now + this.#config.heartbeatMs)
      this.#introduce(address)
    }
    for (const peer of this.#byName.values()) {
      const { stream } = peer
      // One that goes still gets the answers it waits for, as long as it can be heard.
      if (this.#isAway(peer, now)) {
        this.#blank(peer)
        if (peer.batch.length === 0) this.#near.delete(peer)
        else this.#near.add(peer)
        continue
      }
      this.#near.add(peer)
      if (stream.peerLife === 0 || peer.dead) {
        if (now - peer.greetedMs < this.#config.heartbeatMs) continue
        peer.greetedMs = now
        this.#introduce(peer.address)
      } else {
        if (stream.ackByMs <= now) {
          stream.owesAck = true
          stream.ackByMs = Infinity
        }
        if (this.#config.retransmitMs > 0 && stream.deadline <= now) stream.rewind(now)
      }
    }
  }

  /** It has left, and cannot be heard any more. */
  #isAway(peer: Peer, now: number): boolean {
    return peer.left && now - peer.lastHeardMs > this.#config.deadAfterMs
  }

  /** What was meant for it is not kept for ever; should it come back after all, it asks for what it lacks. */
  #blank({ stream }: Peer): void {
    if (stream.unackedBytes <= (stream.sent - stream.acked) * NOTHING_BYTES) return
    stream.blank(this.#encode({ kind: 'nothing' }).slice())
  }

  /** When something has to be sent again, or acknowledged. */
  get deadline(): number {
    let deadline = Infinity
    for (const due of this.#contacts.values()) deadline = Math.min(deadline, due)
    const resends = this.#config.retransmitMs > 0
    for (const peer of this.#near) {
      if (peer.dead || peer.stream.peerLife === 0 || this.#isAway(peer, this.#now)) continue
      deadline = Math.min(deadline, peer.stream.ackByMs)
      if (resends) deadline = Math.min(deadline, peer.stream.deadline)
    }
    return deadline
  }

  get queuedBytes(): number {
    let bytes = 0
    for (const peer of this.#byName.values()) bytes += peer.stream.unackedBytes + peer.batch.length
    return bytes
  }

  /** Whoever sends what is no envelope is not known by name: it is reported and forgotten. */
  #readHead(reader: ByteReader): EnvelopeHead | undefined {
    try {
      if (reader.remaining > ENVELOPE_BYTES_MAX) throw new FormatError('an envelope is too large')
      return decodeEnvelopeHead(reader)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      this.#outbox.event({ kind: 'peerError', node: 'unknown', reason: error.message })
      return undefined
    }
  }

  #process(peer: Peer, reader: ByteReader, sent: number): void {
    const { stream } = peer
    if (sent > stream.received) {
      // Something before this was lost; what is here will come again behind it. A bare acknowledgement is not answered:
      // where both directions lack something, each would answer the other's for ever, and doubled ones ever more.
      if (reader.remaining > 0) stream.owesAck = true
      return
    }
    let number = sent
    while (reader.remaining > 0) {
      number++
      try {
        const length = reader.varint()
        const at = reader.skip(length)
        if (number !== stream.received + 1) {
          stream.owesAck = true
          continue
        }
        const message = decodeMessage(reader.bytes.subarray(at, at + length))
        this.#oweAck(stream, message.kind)
        if (message.kind !== 'nothing') this.#handlers.message(peer, message, this.#now)
      } catch (error) {
        if (!(error instanceof FormatError)) throw error
        peer.broken = true
        this.#outbox.event({ kind: 'peerError', node: peer.name, reason: error.message })
        return
      }
      if (stream.received + 1 !== number) return
      stream.received = number
    }
  }

  #oweAck(stream: Stream, kind: Message['kind']): void {
    if (!UNAWAITED.has(kind)) {
      stream.owesAck = true
      return
    }
    const laterMs = kind === 'beat' ? this.#config.heartbeatMs * BEAT_ACK_SHARE : ACK_LATER_MS
    stream.ackByMs = Math.min(stream.ackByMs, this.#now + laterMs)
  }

  #closeBatch(peer: Peer, now: number): void {
    if (peer.batch.length === 0) return
    const { batch } = peer
    const payload = batch.bytes.subarray(0, batch.length)
    const frame = this.#encode({ kind: 'batch', payload })
    batch.reset()
    peer.stream.push(frame, now)
  }

  /** Valid until the next one. */
  #encode(message: Message): Uint8Array {
    this.#writer.reset()
    encodeMessage(message, this.#writer)
    return this.#writer.written()
  }

  #introduce(address: string, toLife = 0): void {
    this.#writer.reset()
    this.#writeHead({ toLife, sent: 0, total: 0, acked: 0 })
    this.#outbox.send(address, this.#writer.written())
  }

  #post(peer: Peer, part: { sent: number; frames: Uint8Array[] }): void {
    const { stream } = peer
    const writer = this.#writer
    writer.reset()
    this.#writeHead({
      toLife: stream.peerLife,
      sent: part.sent,
      total: stream.total,
      acked: stream.received
    })
    for (const frame of part.frames) {
      writer.varint(frame.length)
      writer.raw(frame)
    }
    this.#outbox.send(peer.address, writer.written())
  }

  #writeHead(head: { toLife: number; sent: number; total: number; acked: number }): void {
    const { name, address, life } = this.#config
    encodeEnvelopeHead(
      { cluster: this.cluster, from: name, address, fromLife: life, ...head },
      this.#writer
    )
  }
}
