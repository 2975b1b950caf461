/**
 * Commands on their way to other nodes. A lane leads from one session to one node: commands travel on it in order
 * and are executed in order at its end, where a session of the same shape stands for the client
 * (remote-sessions.ts). All commands that one turn of a session sends to a node are one message, and so are the replies
 * that come together. Both carry the number of their first command on the lane, so that a reply that never comes
 * cannot be mistaken for another:
 *
 *   forward  varint number, varint count, varint floor, a varint for each command, then the commands as RESP, one
 *            behind the other. The varint is 0 for reads, 1 if what they read is cached; for a write twice its turn in the conversation of its client,
 *            and one more if it was sent before. The client has its answers to all turns below the floor.
 *   answer   varint number, then for each reply varint length, bytes
 */
import { ByteReader, ByteWriter } from '../../core/bytes.js'
import type { Cluster } from '../cluster.js'
import type { Peer } from '../peers.js'
import type { Unblocking } from '../../wire/peer/door.js'
import type { Session, Slot } from '../session.js'

/** Commands that are gathered for a message at most. */
const MESSAGE_BYTES = 256 * 1024

class Lane {
  readonly id: number
  readonly session: Session
  readonly peer: Peer
  /** By their numbers, in order. */
  readonly sent = new Map<number, Slot>()
  next = 1
  /** Not handed over yet. */
  outgoing: Slot[] = []
  outgoingBytes = 0

  constructor(id: number, session: Session, peer: Peer) {
    this.id = id
    this.session = session
    this.peer = peer
  }
}

export class Lanes {
  readonly #cluster: Cluster
  readonly #byId = new Map<number, Lane>()
  readonly #bySession = new Map<Session, Lane[]>()
  readonly #writer = new ByteWriter(4096)
  /** Unique in the cluster and for ever: another life of a node has another. */
  readonly #prefix: string
  /** What the others' clocks showed when they last said it, and when that was here. */
  readonly #clocks = new Map<Peer, { theirs: number; own: number; life: number }>()
  #unflushed: Lane[] = []
  #nextId = 1

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    const { name, life } = cluster.config
    this.#prefix = `${name}/${life.toString(36)}/`
  }

  /** Puts a command on its way; it leaves with the next `flush`. */
  add(slot: Slot, peer: Peer): void {
    const lane = this.#laneOf(slot.session, peer)
    if (lane.outgoing.length === 0) this.#unflushed.push(lane)
    lane.outgoing.push(slot)
    lane.outgoingBytes += slot.request.length
    if (lane.outgoingBytes > MESSAGE_BYTES) this.#flush(lane)
  }

  flush(): void {
    if (this.#unflushed.length === 0) return
    const lanes = this.#unflushed
    this.#unflushed = []
    for (const lane of lanes) this.#flush(lane)
  }

  /** The replies of an answer, with the slots they are for. */
  answered(id: number, payload: Uint8Array, fill: (slot: Slot, reply: Uint8Array) => void): void {
    const lane = this.#byId.get(id)
    if (lane === undefined) return
    const reader = ByteReader.over(payload)
    for (let number = reader.varint(); reader.remaining > 0; number++) {
      const length = reader.varint()
      const at = reader.skip(length)
      const slot = lane.sent.get(number)
      if (slot === undefined) continue
      lane.sent.delete(number)
      fill(slot, payload.subarray(at, at + length))
    }
  }

  sessionOf(id: number): Session | undefined {
    return this.#byId.get(id)?.session
  }

  /** Everything that was on its way to a node that is gone, in order. */
  takeFrom(peer: Peer): Slot[] {
    const slots: Slot[] = []
    for (const lane of [...this.#byId.values()]) {
      if (lane.peer !== peer) continue
      this.#flush(lane)
      slots.push(...lane.sent.values())
      this.#remove(lane)
    }
    return slots
  }

  /** What has been on its way since before that moment. */
  takeOld(beforeMs: number): Slot[] {
    const slots: Slot[] = []
    for (const lane of this.#byId.values()) {
      for (const [number, slot] of lane.sent) {
        // Some wait for as long as their clients want.
        if (slot.blocking !== undefined) continue
        if (slot.sinceMs > beforeMs) break
        lane.sent.delete(number)
        slots.push(slot)
      }
    }
    return slots
  }

  /** Tells whoever keeps a command of the session waiting that it must not wait any longer. */
  unblock(session: Session, how: Unblocking): boolean {
    let any = false
    this.flush()
    for (const { id, peer, sent } of this.#bySession.get(session) ?? []) {
      if (![...sent.values()].some(({ blocking }) => blocking !== undefined)) continue
      any = true
      this.#cluster.peers.send(peer, { kind: 'unblock', lane: id, how }, this.#cluster.now)
    }
    return any
  }

  forget(session: Session): void {
    this.unblock(session, 'gone')
    for (const lane of this.#bySession.get(session) ?? []) {
      lane.outgoing = []
      this.#byId.delete(lane.id)
    }
    this.#bySession.delete(session)
  }

  /** Another node's clock shows this. */
  setClock(peer: Peer, ms: number): void {
    this.#clocks.set(peer, { theirs: ms, own: this.#cluster.now, life: peer.stream.peerLife })
  }

  /** Whether it can be said when it is too late for that node to execute something: from its first heartbeat on. */
  knowsClock(peer: Peer): boolean {
    return this.#clocks.get(peer)?.life === peer.stream.peerLife
  }

  /**
   * When it is too late for a node to execute what it is sent now, by its own clock. What it shows at present is at
   * least what it said plus the time since then. `own` is when it is too late here already.
   */
  #untilMs(peer: Peer, own: number): number {
    const clock = this.#clocks.get(peer)
    if (clock?.life !== peer.stream.peerLife) return 0
    const { now, config } = this.#cluster
    const left = Math.min(config.holdMs, own - now)
    return Math.max(1, clock.theirs + (now - clock.own) + left)
  }

  /** The name under which a session's writes are known to those who execute them. */
  clientOf(session: Session): string {
    return session.remote?.client ?? this.#prefix + session.id.toString(36)
  }

  /** The first turn of a session that has no answer yet. */
  #floorOf(session: Session): number {
    if (session.remote !== undefined) return session.remote.floor
    let floor = session.nextOrder
    for (const lane of this.#bySession.get(session) ?? []) {
      // Not only the first: one that was sent again is behind later ones.
      for (const { order } of lane.sent.values()) if (order < floor) floor = order
      for (const { order } of lane.outgoing) if (order < floor) floor = order
    }
    for (const slot of session.parked) floor = Math.min(floor, slot.order)
    return floor
  }

  #laneOf(session: Session, peer: Peer): Lane {
    let lanes = this.#bySession.get(session)
    if (lanes === undefined) this.#bySession.set(session, (lanes = []))
    for (const lane of lanes) if (lane.peer === peer) return lane
    const lane = new Lane(this.#nextId++, session, peer)
    lanes.push(lane)
    this.#byId.set(lane.id, lane)
    return lane
  }

  #remove(lane: Lane): void {
    this.#byId.delete(lane.id)
    const lanes = this.#bySession.get(lane.session)?.filter((other) => other !== lane) ?? []
    if (lanes.length === 0) this.#bySession.delete(lane.session)
    else this.#bySession.set(lane.session, lanes)
  }

  #flush(lane: Lane): void {
    if (lane.outgoing.length === 0) return
    const { session, peer, id } = lane
    const writer = this.#writer
    writer.reset()
    writer.varint(lane.next)
    writer.varint(lane.outgoing.length)
    for (const slot of lane.outgoing) lane.sent.set(lane.next++, slot)
    writer.varint(this.#floorOf(session))
    let until = Infinity
    for (const slot of lane.outgoing) {
      writer.varint(slot.write ? slot.turn * 2 + (slot.sentOn ? 1 : 0) : slot.tracks ? 1 : 0)
      slot.sentOn = true
      if (slot.untilMs > 0 && slot.untilMs < until) until = slot.untilMs
    }
    for (const slot of lane.outgoing) writer.raw(slot.request)
    lane.outgoing = []
    lane.outgoingBytes = 0
    const { acksAll, protocol } = session
    const hops = (session.remote?.hops ?? 0) + 1
    // Sending copies it.
    const payload = writer.bytes.subarray(0, writer.length)
    const { peers, now } = this.#cluster
    const client = this.clientOf(session)
    const untilMs = this.#untilMs(peer, until)
    const head = { id, hops, acksAll, protocol, client, untilMs }
    peers.send(peer, { kind: 'forward', ...head, payload }, now)
  }
}
