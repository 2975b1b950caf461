/**
 * The far ends of lanes: for each client whose commands come from another node a session of its own, so that they are
 * executed and answered in order like those of a client that is here. One that has had nothing under way for a while
 * is forgotten; the next command makes a new one.
 */
import { ByteWriter, viewOf } from '../../core/bytes.js'
import type { Cluster } from '../cluster.js'
import type { Peer } from '../peers.js'
import { type Remote, Session, Slot } from '../session.js'
import { type Segment } from '../segment.js'

/** Sessions of other nodes' clients have negative numbers. */
const FIRST_ID = -1
/** One that is idle for so long is forgotten; looked for this often. */
const IDLE_MS = 1000
/** Replies that are gathered for one answer. */
const ANSWER_BYTES = 1024 * 1024

export class RemoteSessions {
  readonly #cluster: Cluster
  readonly #byPeer = new Map<Peer, Map<number, Session>>()
  readonly #writer = new ByteWriter(4096)
  #nextId = FIRST_ID
  #nextSweepMs = 0

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** The session for the command with this number on that lane. */
  sessionFor(
    peer: Peer,
    lane: number,
    options: { acksAll: boolean; first: number; client: string }
  ): Session {
    let lanes = this.#byPeer.get(peer)
    if (lanes === undefined) this.#byPeer.set(peer, (lanes = new Map<number, Session>()))
    const known = lanes.get(lane)
    const { first, acksAll, client } = options
    if (known?.remote?.nextIn === first) {
      // Its client changes this only while nothing is under way.
      known.acksAll = acksAll
      return known
    }
    const numbers = { hops: 0, nextIn: first, nextOut: first, floor: 0, idleMs: 0 }
    const remote: Remote = { peer, lane, client, ...numbers, turns: [], untils: [] }
    const session = new Session(this.#nextId--, acksAll, { remote })
    lanes.set(lane, session)
    return session
  }

  get(peer: Peer, lane: number): Session | undefined {
    return this.#byPeer.get(peer)?.get(lane)
  }

  /** The session may have nothing under way: it is forgotten soon. */
  release(session: Session): void {
    if (session.remote !== undefined) session.remote.idleMs = this.#cluster.now
  }

  /** Forgets sessions that have had nothing under way for a while. */
  tick(): void {
    const { now } = this.#cluster
    if (now < this.#nextSweepMs) return
    this.#nextSweepMs = now + IDLE_MS
    for (const [peer, lanes] of this.#byPeer) {
      for (const [lane, session] of lanes) {
        const { remote } = session
        if (remote !== undefined && session.isIdle && now - remote.idleMs >= IDLE_MS) {
          lanes.delete(lane)
        }
      }
      if (lanes.size === 0) this.#byPeer.delete(peer)
    }
  }

  /** Nobody waits for these answers any more. */
  peerGone(peer: Peer): Session[] {
    const sessions = [...(this.#byPeer.get(peer)?.values() ?? [])]
    this.#byPeer.delete(peer)
    return sessions
  }

  *all(): IterableIterator<Session> {
    for (const lanes of this.#byPeer.values()) yield* lanes.values()
  }

  /** Sends all replies that are ready; those that a segment holds have their lengths already. */
  answer(session: Session, remote: Remote): void {
    const writer = this.#writer
    for (let more = true; more;) {
      more = false
      writer.reset()
      writer.varint(remote.nextOut)
      const empty = writer.length
      for (let segment = session.takeReady(); segment; segment = session.takeReady()) {
        if (segment.bytes === undefined) break
        if (segment instanceof Slot) writer.varint(segment.bytes.length)
        writer.raw(segment.bytes)
        remote.nextOut += segment.replies
        more = writer.length > ANSWER_BYTES
        if (more) break
      }
      if (writer.length > empty) this.#send(remote)
    }
  }

  /** The same for replies that need not wait, each ending at one of these places. */
  answerNow(remote: Remote, bytes: Uint8Array, ends: readonly number[]): void {
    const writer = this.#writer
    writer.reset()
    writer.varint(remote.nextOut)
    writeReplies(writer, bytes, ends)
    remote.nextOut += ends.length
    this.#send(remote)
  }

  /** The same reply to all commands of a message. */
  answerAll(
    peer: Peer,
    lane: number,
    { first, count, reply }: { first: number; count: number; reply: Uint8Array }
  ): void {
    const writer = this.#writer
    writer.reset()
    writer.varint(first)
    for (let i = 0; i < count; i++) {
      writer.varint(reply.length)
      writer.raw(reply)
    }
    const { peers, now } = this.#cluster
    peers.send(peer, { kind: 'answer', id: lane, payload: writer.copy() }, now)
  }

  /** A segment of replies, each ending at one of these places. */
  frame(bytes: Uint8Array, ends: readonly number[]): Uint8Array {
    const writer = this.#writer
    writer.reset()
    writeReplies(writer, bytes, ends)
    return writer.copy()
  }

  /** Takes the place of all replies of a segment. */
  replace(segment: Segment, reply: Uint8Array): void {
    const writer = this.#writer
    writer.reset()
    if (segment instanceof Slot) writer.raw(reply)
    else {
      for (let i = 0; i < segment.replies; i++) {
        writer.varint(reply.length)
        writer.raw(reply)
      }
    }
    segment.bytes = writer.copy()
    segment.gates = []
  }

  #send(remote: Remote): void {
    const { peers, now } = this.#cluster
    // Sending copies it.
    const payload = this.#writer.bytes.subarray(0, this.#writer.length)
    peers.send(remote.peer, { kind: 'answer', id: remote.lane, payload }, now)
  }
}

function writeReplies(writer: ByteWriter, bytes: Uint8Array, ends: readonly number[]): void {
  const view = viewOf(bytes)
  let start = 0
  for (const end of ends) {
    writer.varint(end - start)
    writer.slice(bytes, view, start, end - start)
    start = end
  }
}
