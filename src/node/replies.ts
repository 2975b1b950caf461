/**
 * The replies of the session that is being served: gathered in one buffer that serves all sessions, and put out at once or,
 * if a backup must have processed something first, kept with their gates until it has. Usually nothing has to wait, and
 * nothing is made but the bytes themselves.
 */
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import type { Cluster } from './cluster.js'
import type { RemoteSessions } from './door/remote-sessions.js'
import type { DoorStatistics } from './door/statistics.js'
import { ReplyMemory } from './reply-memory.js'
import { Slot, type Session } from './session.js'
import { Segment, type Gate } from './segment.js'

export interface RepliesOptions {
  readonly remotes: RemoteSessions
  readonly statistics: DoorStatistics
  /** The last reply of a session that ends was given out. */
  readonly ended: (session: Session) => void
}

const NO_GATES: Gate[] = []

export class Replies {
  readonly writer: ReplyWriter
  /** What those that were gathered have to wait for. */
  gates: Gate[] = []
  /** Where each reply of another node's client ends. */
  #ends: number[] = []
  readonly #cluster: Cluster
  readonly #options: RepliesOptions
  readonly #memory = new ReplyMemory()
  /** Sessions with replies that wait for something; each knows its place. */
  #gated: Session[] = []
  /** For those that still wait when all have been looked at. */
  #spare: Session[] = []

  constructor(cluster: Cluster, options: RepliesOptions) {
    this.#cluster = cluster
    this.#options = options
    this.writer = new ReplyWriter({ maxBytes: cluster.config.maxReplyBytes })
  }

  get length(): number {
    return this.writer.length
  }

  /** How many sessions have replies that wait. */
  get held(): number {
    return this.#gated.length
  }

  /** Those sessions, as they are now. */
  get waiting(): Session[] {
    return [...this.#gated]
  }

  /** The session has a reply that is not there yet. */
  hold(session: Session): void {
    if (session.gatedAt >= 0) return
    session.gatedAt = this.#gated.length
    this.#gated.push(session)
  }

  forget(session: Session): void {
    const at = session.gatedAt
    if (at < 0) return
    session.gatedAt = -1
    const last = this.#gated.pop()
    if (last === undefined || last === session) return
    this.#gated[at] = last
    last.gatedAt = at
  }

  /** A reply of another node's client ends here. */
  mark(): void {
    this.#ends.push(this.writer.length)
  }

  /** Usually nothing was noted about the replies, and the lists serve for ever. */
  clear(): void {
    this.writer.reset()
    if (this.gates.length > 0) this.gates = []
    if (this.#ends.length > 0) this.#ends = []
  }

  /** Sends what was gathered, or keeps it until its gates open. */
  put(session: Session): void {
    const { writer } = this
    if (writer.length === 0) return
    const { remotes } = this.#options
    const gates = this.#cluster.config.sabotage === 'reply-before-backup' ? NO_GATES : this.gates
    const { remote } = session
    const written = writer.bytes.subarray(0, writer.length)
    if (!session.waits && areOpen(gates)) {
      if (remote === undefined) this.#output(session, written)
      else remotes.answerNow(remote, written, this.#ends)
    } else {
      const count = this.#ends.length
      session.enqueue(
        remote === undefined
          ? this.#memory.keep(written, gates, count)
          : new Segment(remotes.frame(written, this.#ends), [...gates], count)
      )
      this.hold(session)
    }
    this.clear()
  }

  /** Gives out what may open now, of all sessions in the order in which they began to wait. */
  settleAll(): void {
    const waiting = this.#gated
    if (waiting.length === 0) return
    this.#gated = this.#spare
    this.#spare = []
    for (let i = 0; i < waiting.length; i++) waiting[i].gatedAt = -1
    for (let i = 0; i < waiting.length; i++) this.settle(waiting[i])
    waiting.length = 0
    this.#spare = waiting
  }

  /** Gives out what has waited, as far as it need not wait any longer. */
  settle(session: Session): void {
    if (session.closed) return
    const { remotes, ended } = this.#options
    const { remote } = session
    if (remote !== undefined) {
      remotes.answer(session, remote)
      remotes.release(session)
    } else {
      for (let segment = session.takeReady(); segment; segment = session.takeReady()) {
        if (segment.bytes === undefined || (segment instanceof Slot && segment.silent)) continue
        this.#output(session, segment.bytes)
        this.#memory.give(segment)
      }
    }
    if (session.waits) {
      this.hold(session)
      return
    }
    this.forget(session)
    if (!session.ending) return
    this.#cluster.outbox.hangUp(session.id)
    ended(session)
  }

  #output(session: Session, bytes: Uint8Array): void {
    this.#options.statistics.outputBytes += bytes.length
    this.#cluster.outbox.output(session.id, bytes)
  }
}

function areOpen(gates: readonly Gate[]): boolean {
  for (let i = 0; i < gates.length; i++) {
    if (!gates[i].peer.hasProcessed(gates[i].frame)) return false
  }
  return true
}
