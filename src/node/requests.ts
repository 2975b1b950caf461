/**
 * The data path: parse, find the bucket, execute, replicate, reply. One `Call`, one parser and one reply buffer
 * serve all sessions, so a command on a bucket that is here costs no object. Everything else gets a slot in its
 * session's replies (door/errands.ts) and is executed aside, held or sent on, never refused: a bucket in hand-over
 * holds, another node's bucket is forwarded, a bucket without a reachable primary waits for one.
 *
 * A session may have many commands under way, and their replies go out in order. What happens to a bucket must happen
 * in order as well: so while a command waits for its bucket (it is parked) the session begins no other, and when
 * the table has changed it first waits for what it has under way.
 */
import { ByteReader, FormatError } from '../core/bytes.js'
import type { PlacementHash } from '../core/hash/placement-hash.js'
import type { Call } from '../commands/call.js'
import { findCommand, hasArity, type ListedCommand } from '../commands/registry.js'
import { RequestParser, INCOMPLETE, PROTOCOL_ERROR } from '../wire/resp/request-parser.js'
import { ReplyLimitError } from '../wire/resp/reply-writer.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import type { Message } from '../wire/peer/message.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { Copies } from './copies.js'
import type { BlockedCommands } from './door/blocking.js'
import type { Origin } from './door/client-state.js'
import { Clippings } from './door/clippings.js'
import { Errands } from './door/errands.js'
import type { Execution } from './door/execution.js'
import { AGAIN, asError, isAgain } from './door/fixed-replies.js'
import { dropMisplacedShards } from './door/pubsub-command.js'
import { InputLid } from './door/input-lid.js'
import { InputMemory } from './door/input-memory.js'
import { Mail } from './door/mail.js'
import { RemoteSessions } from './door/remote-sessions.js'
import type { DoorStatistics } from './door/statistics.js'
import { KeyParts } from './key-parts.js'
import { KeyReads } from './key-reads.js'
import { Lookahead } from './lookahead.js'
import type { Peer } from './peers.js'
import { Replies } from './replies.js'
import { Session, Slot } from './session.js'
import { Segment, type Processor } from './segment.js'
import type { Watches } from './watches.js'

/** Commands of one session that may be under way; the parts of a command count. */
const OPEN_MAX = 512
/** Replies of one turn that are gathered before they are put out: more would only leave the processor's caches. */
const REPLY_BYTES_MAX = 64 * 1024
/** A read of so many bytes is kept until the end of the turn; a longer one is parsed where it lies. */
const SHORT_BYTES_MAX = 512
/** A session that has so much waiting is not read from until it is down to the second. */
const PAUSE_BYTES = 1024 * 1024
const RESUME_BYTES = 64 * 1024
/** A command that lacks less is not completed by itself: its header may be cut, and what it lacks is not known then. */
const COMPLETED_BYTES_MIN = 512
/** An incomplete command longer than this gets a parser that remembers how far it came. */
const OWN_PARSER_BYTES = 64 * 1024

export class Requests {
  readonly #cluster: Cluster
  readonly #copies: Copies
  readonly #watches: Watches
  readonly #errands: Errands
  readonly #execution: Execution
  readonly #hash: PlacementHash
  readonly #statistics: DoorStatistics
  readonly #remotes: RemoteSessions
  readonly #mail: Mail
  readonly #lid: InputLid
  readonly #blocked: BlockedCommands
  readonly #sessions = new Map<number, Session>()
  /** Sessions that begin nothing because somebody said so. */
  readonly #paused = new Set<Session>()
  readonly #memory = new InputMemory()
  readonly #clippings = new Clippings()
  readonly #parser: RequestParser
  readonly #lookahead: Lookahead
  readonly #replies: Replies
  readonly #call: Call
  readonly #reads: KeyReads
  readonly #parts: KeyParts
  /** Sessions that sent something short in this turn. */
  #short: Session[] = []
  /** For those of the next turn. */
  #spare: Session[] = []

  constructor(cluster: Cluster, copies: Copies, watches: Watches) {
    this.#cluster = cluster
    this.#copies = copies
    this.#watches = watches
    this.#errands = new Errands(cluster, {
      copies,
      watches,
      sessions: this.#sessions,
      hangUp: (session) => {
        cluster.outbox.hangUp(session.id)
        this.close(session.id)
      }
    })
    this.#execution = this.#errands.execution
    this.#hash = this.#execution.hash
    this.#statistics = this.#errands.statistics
    this.#blocked = this.#errands.blocked
    this.#remotes = new RemoteSessions(cluster)
    this.#mail = new Mail(cluster, this.#errands, this.#remotes)
    this.#lid = new InputLid(cluster.config.maxInputBytes)
    this.#parser = this.#createParser()
    this.#lookahead = new Lookahead(cluster, {
      placement: this.#hash,
      createParser: () => this.#createParser()
    })
    this.#replies = new Replies(cluster, {
      remotes: this.#remotes,
      statistics: this.#statistics,
      ended: (session) => this.close(session.id)
    })
    this.#call = this.#execution.createCall(this.#replies.writer)
    const [call, execution, statistics] = [this.#call, this.#execution, this.#statistics]
    const local = { cluster, copies, execution, statistics, call }
    this.#reads = new KeyReads(local)
    this.#parts = new KeyParts(local)
  }

  open(id: number, origin?: Origin): void {
    const { config, now } = this.#cluster
    this.#errands.statistics.connections++
    const options = { openedMs: now, origin, memory: this.#memory }
    this.#sessions.set(id, new Session(id, config.acks === 'all', options))
  }

  close(id: number): void {
    const session = this.#sessions.get(id)
    if (session === undefined) return
    // What it sent before it went happens.
    if (this.#short.includes(session) && !session.ending) this.runShort()
    if (!this.#sessions.delete(id)) return
    this.#forget(session)
    this.#watches.closeSession(id)
    this.#errands.feed.remove(id)
    this.#errands.observer.forget(session)
    this.#errands.pubsub.forget(session)
    this.#errands.tracking.off(session)
    this.#errands.maintenance.off(session)
  }

  request(id: number, bytes: Uint8Array, _now: number): void {
    const session = this.#sessions.get(id)
    if (session === undefined || session.ending) return
    const { input } = session
    session.heardMs = this.#cluster.now
    this.#statistics.inputBytes += bytes.length
    if (input.length + bytes.length > this.#cluster.config.maxRequestBytes) {
      this.#complain(session, 'ERR Protocol error: too big request')
    } else if (bytes.length <= SHORT_BYTES_MAX && input.length === 0) {
      input.append(bytes)
      this.#short.push(session)
      return
    } else this.#take(session, bytes)
    this.#throttle(session)
    this.#finishTurn()
  }

  /**
   * Executes the short requests that came in during this turn, in the order in which they came. Clients that send one
   * command at a time get the same as a pipeline: the memory of all their keys is asked for at once.
   */
  runShort(): void {
    const short = this.#short
    if (short.length === 0) return
    // Whoever is closed by what is executed here must not begin it again.
    this.#short = this.#spare
    const ahead = this.#lookahead
    for (let done = 0; done < short.length;) {
      let known = done
      ahead.clear()
      while (known < short.length && !ahead.isFull) {
        const { bytes, view, start, end } = short[known++].input
        ahead.extend(bytes, view, start, end)
      }
      ahead.touch()
      for (; done < known; done++) {
        const session = short[done]
        if (session.input.length > 0 && this.#mayBegin(session)) this.#runGuarded(session)
        this.#throttle(session)
      }
    }
    ahead.clear()
    short.length = 0
    this.#spare = short
    this.#finishTurn()
  }

  /**
   * What has come is parsed where it lies, and only what is left over is kept. A command that was left over gets what it
   * lacks and no more, so that large values are not all copied once more on their way.
   */
  #take(session: Session, all: Uint8Array): void {
    const { input, needed } = session
    let bytes = all
    if (input.length > 0 && needed >= COMPLETED_BYTES_MIN && needed < all.length) {
      if (this.#mayBegin(session)) {
        input.append(all.subarray(0, needed))
        this.#runAlone(session)
        bytes = all.subarray(needed)
      }
    }
    if (session.closed || session.ending) return
    if (input.length === 0 && this.#mayBegin(session)) {
      input.lend(bytes)
      this.#runAlone(session)
      input.keep()
    } else {
      input.append(bytes)
      if (this.#mayBegin(session)) this.#runAlone(session)
    }
  }

  /** What another node says; false if it is not for the door. */
  onMessage(peer: Peer, message: Message): boolean {
    if (message.kind === 'forward') this.#forwarded(peer, message)
    else if (message.kind === 'answer') this.#answered(message.id, message.payload)
    else {
      const awakes = this.#mail.take(peer, message)
      if (awakes === true) this.#finishTurn()
      return awakes !== undefined
    }
    return true
  }

  /** Requests that another node passed on. */
  #forwarded(peer: Peer, message: Extract<Message, { kind: 'forward' }>): void {
    const { id, hops, acksAll, client, untilMs, payload } = message
    const reader = ByteReader.over(payload)
    const first = reader.varint()
    const count = reader.count(2)
    if (untilMs > 0 && this.#cluster.now > untilMs) {
      this.#remotes.answerAll(peer, id, { first, count, reply: AGAIN })
      return
    }
    const session = this.#remotes.sessionFor(peer, id, { acksAll, first, client })
    const { remote } = session
    if (remote === undefined) return
    remote.hops = hops
    remote.nextIn += count
    remote.floor = reader.varint()
    for (let i = 0; i < count; i++) {
      remote.turns.push(reader.varint())
      remote.untils.push(untilMs)
    }
    session.protocol = message.protocol === 3 ? 3 : 2
    this.#take(session, payload.subarray(reader.offset))
    this.#advance(session)
    this.#finishTurn()
  }

  /** Answers to requests that were passed on from here. */
  #answered(id: number, payload: Uint8Array): void {
    const session = this.#errands.lanes.sessionOf(id)
    if (session === undefined) return
    this.#errands.lanes.answered(id, payload, (slot, reply) => {
      if (isAgain(reply)) this.#errands.again(slot)
      else this.#errands.fill(slot, reply, [])
    })
    this.#advance(session)
    this.#finishTurn()
  }

  /** When a client has waited long enough, or has to be told something. */
  get deadline(): number {
    return Math.min(this.#blocked.deadline, this.#errands.maintenance.deadline)
  }

  /** The node itself wrote, or another for whom the copy here is a backup. */
  changed(state: BucketState, call: Call): void {
    const { tracking } = this.#errands
    tracking.writer = ''
    if (tracking.size > 0 && state.role === 'primary') tracking.executed(state, call)
  }

  /** The end of a turn: behind all answers. */
  flush(): void {
    if (this.#errands.tracking.hasPending) this.#errands.tracking.flush()
  }

  onClock(peer: Peer, ms: number): void {
    this.#errands.lanes.setClock(peer, ms)
  }

  /** Forwarded writes that the target of a move has to know of. */
  handOn(state: BucketState, peer: Peer, role: 'primary' | 'backup'): void {
    this.#errands.repetitions.once.handOn(state, peer)
    if (role === 'primary') this.#errands.maintenance.migrating(state)
  }

  split(state: BucketState, children: readonly BucketState[]): void {
    this.#errands.repetitions.once.split(state, children)
  }

  /** A node that may not know what all share. */
  met(peer: Peer): void {
    this.#errands.shared.tell(peer)
    this.#errands.pauses.tell(peer)
    this.#errands.replicas.tell(peer)
  }

  /** Acknowledgements came, or need not come any more. */
  acked(_now: number): void {
    this.#replies.settleAll()
    for (const session of [...this.#errands.parked]) {
      if (session.parked.some(({ wait }) => wait === 'window')) this.#retry(session)
    }
    this.#finishTurn()
  }

  /** The rows of some buckets changed: whoever waits tries again. */
  rowsChanged(_now: number): void {
    this.#errands.feed.rowsChanged()
    dropMisplacedShards(this.#errands)
    this.#errands.followBuckets()
    this.#errands.tracking.rowsChanged()
    this.#errands.maintenance.rowsChanged()
    for (const session of [...this.#errands.parked]) this.#retry(session)
    this.#finishTurn()
  }

  /**
   * Another node is primary of the bucket while writes wait for its backups here. Their acknowledgements, should they
   * come, mean nothing any more: nobody is told that these writes happened.
   */
  deposed(state: BucketState): void {
    const waits = (peer: Processor, frame: number): boolean =>
      state.isBehind(peer, frame) && !peer.hasProcessed(frame)
    for (const session of this.#replies.waiting) {
      const waiting = session.waitingFor(waits)
      if (waiting.length === 0) continue
      if (session.remote === undefined) {
        this.#cluster.outbox.hangUp(session.id)
        this.close(session.id)
        continue
      }
      for (const segment of waiting) {
        // Whoever sent it on finds out at the new primary.
        if (segment instanceof Slot) this.#errands.fill(segment, AGAIN, [])
        this.#remotes.replace(segment, AGAIN)
      }
      this.#replies.settle(session)
    }
  }

  /** The hand-over of a bucket has ended, one way or the other. */
  releaseHeld(state: BucketState, _now: number): void {
    const waiting = state.waiting
    state.waiting = []
    for (const session of new Set(waiting)) this.#retry(session)
    this.#finishTurn()
  }

  /** What was passed on to a node that is gone is taken back, and nobody waits for what it passed on. */
  peerGone(peer: Peer, _now: number): void {
    for (const session of this.#remotes.peerGone(peer)) this.#forget(session)
    for (const session of this.#errands.takeBack(peer)) this.#retry(session)
    this.#blocked.peerGone(peer)
    for (const { session } of this.#errands.polls.peerGone(peer)) this.#errands.awake.add(session)
    this.#finishTurn()
  }

  tick(_now: number): void {
    this.#errands.repetitions.once.tick()
    this.#remotes.tick()
    this.#blocked.tick()
    this.#errands.maintenance.tick()
    const largest = this.#lid.find(this.#sessions.values(), this.#cluster.now)
    if (largest !== undefined) this.#complain(largest, 'ERR Protocol error: too much input at once')
    const sessions = this.#errands.timeOut()
    for (const session of this.#errands.parked) sessions.add(session)
    for (const session of sessions) this.#retry(session)
    if (this.#paused.size > 0 && !this.#errands.isPaused) {
      const paused = [...this.#paused]
      this.#paused.clear()
      for (const session of paused) this.#advance(session)
    }
    this.#finishTurn()
  }

  get statistics(): DoorStatistics {
    return this.#statistics
  }

  /** Clients whose replies wait for a backup, another node or a bucket. */
  get held(): number {
    return this.#replies.held
  }

  get queuedBytes(): number {
    let bytes = 0
    for (const session of this.#sessions.values()) bytes += session.queuedBytes
    for (const session of this.#remotes.all()) bytes += session.queuedBytes
    return bytes
  }

  /** Somebody waits for a primary or a backup, so that time alone may change something. */
  get waiting(): boolean {
    return this.#errands.parked.size > 0 || this.#paused.size > 0
  }

  /** Whether the session may begin another command now. */
  #mayBegin(session: Session): boolean {
    if (session.parked.length > 0 || session.closed || session.ending) return false
    if (this.#errands.isPaused && session.remote === undefined) {
      this.#paused.add(session)
      return false
    }
    if (session.open === 0) return !session.vigil
    if (session.waitsAlone || session.open >= OPEN_MAX) return false
    return session.isRoutedBy(this.#cluster.table)
  }

  /** One client asked for more at once than fits into memory: that is its problem, not that of the others in this turn. */
  #runGuarded(session: Session): void {
    try {
      this.#run(session)
    } catch (error) {
      if (!(error instanceof ReplyLimitError)) throw error
      this.#replies.clear()
      this.#complain(session, `ERR ${error.message}`)
    }
  }

  /** What is known of the commands of one session must not outlive their bytes. */
  #runAlone(session: Session): void {
    this.#run(session)
    this.#lookahead.clear()
  }

  #run(session: Session): void {
    // A command that was put off until its turn came lets the next ones begin.
    while (this.#runOnce(session) && session.input.length > 0 && this.#mayBegin(session));
  }

  /** False if nothing more can be done with what has come. */
  #runOnce(session: Session): boolean {
    const { input } = session
    let whole = true
    const replies = this.#replies
    const ahead = this.#lookahead
    if (session.parser === undefined) this.#parser.reset()
    session.needed = 0
    replies.clear()
    replies.writer.protocol = session.protocol
    while (input.length > 0 && this.#mayBegin(session)) {
      const { bytes, view, start, end } = input
      const ownParser = session.parser
      if (ownParser === undefined && !ahead.covers(bytes, start)) {
        ahead.fill(bytes, view, start, end)
      }
      const isKnown = ownParser === undefined && ahead.covers(bytes, start)
      const parser = isKnown ? ahead.parser : (ownParser ?? this.#parser)
      const after = isKnown ? ahead.end : parser.parse(bytes, view, start, end)
      if (after < 0 && session.remote !== undefined) {
        throw new FormatError('what was passed on is not made of whole commands')
      }
      if (after === INCOMPLETE) {
        session.needed = parser.needed
        this.#keepParser(session)
        whole = false
        break
      }
      if (after === PROTOCOL_ERROR) {
        this.#replies.put(session)
        this.#complain(session, parser.errorText)
        whole = false
        break
      }
      if (parser.count > 0 && !this.#execute(session, parser, after, isKnown)) {
        if (!this.#begin(session, parser, after)) break
      }
      if (session.remote !== undefined) {
        session.remote.turns.shift()
        session.remote.untils.shift()
      }
      // Whatever was executed may have ended the session and with it the input.
      if (input.length === 0) break
      input.consume(after)
      if (isKnown) ahead.advance()
      if (ownParser !== undefined) {
        session.parser = undefined
        this.#parser.reset()
      }
      // A pipeline of large reads must not gather all its replies first.
      if (replies.length > REPLY_BYTES_MAX) replies.put(session)
    }
    this.#replies.put(session)
    if (session.waits || session.ending) this.#replies.settle(session)
    return whole
  }

  /** Executes a command about one key whose bucket is here; false if it takes more than that. */
  #execute(session: Session, parser: RequestParser, after: number, isKnown: boolean): boolean {
    if (session.aside || parser.inline || this.#errands.observer.watchful) return false
    const { bytes, view, start } = session.input
    const ahead = this.#lookahead
    const command = isKnown ? ahead.command : this.#commandOf(bytes, parser)
    if (command === undefined) return this.#executeSeveral(session, parser)
    const offset = parser.offsets[command.key]
    const length = parser.lengths[command.key]
    const hash = isKnown ? ahead.placementHash : this.#hash.hash(bytes, offset, length)
    const state = this.#cluster.buckets[hash & this.#cluster.table.mask]
    if (state?.role !== 'primary' || state.holding || !this.#cluster.mayServe()) return false
    const { remote } = session
    if (command.writes) {
      if (this.#copies.isCongested(state) || this.#errands.areWritesPaused) return false
      // One that may have been executed before is looked at more closely.
      if (remote !== undefined && this.#errands.repetitions.mayBe(state, remote)) return false
      this.#errands.setWriter(session)
    } else if (remote?.turns[0] === 1) return false
    this.#statistics.commands++
    this.#statistics.calls[command.place]++
    const call = this.#call
    if (isKnown) call.key.setHashed(bytes, view, offset, length, ahead)
    else call.key.set(bytes, view, offset, length, hash)
    call.bytes = bytes
    call.view = view
    const before = this.#replies.length
    if (this.#execution.perform(call, parser, command, state.items)) {
      if (call.change !== undefined) {
        if (remote !== undefined)
          this.#errands.repetitions.noteForwarded(state, call, remote, before)
        this.#execution.writtenHere(call, state, start, after)
        if (session.acksAll) this.#copies.gateWrite(state, this.#replies.gates)
        if (this.#blocked.list.isTouched) this.#errands.serveWaiting()
      } else if (!state.isSettled()) this.#copies.gateRead(state, call.key, this.#replies.gates)
    }
    if (remote !== undefined) this.#replies.mark()
    return true
  }

  /** The command about one key that these arguments are, if they are one. */
  #commandOf(bytes: Uint8Array, parser: RequestParser): ListedCommand | undefined {
    const command = findCommand(bytes, parser.offsets[0], parser.lengths[0])
    return command !== undefined && hasArity(command, parser.count) ? command : undefined
  }

  /** The same for a command over several keys. */
  #executeSeveral(session: Session, parser: RequestParser): boolean {
    if (this.#reads.execute(session, parser, this.#replies.gates)) return true
    return (
      !this.#errands.areWritesPaused && this.#parts.execute(session, parser, this.#replies.gates)
    )
  }

  /** Gives a command its place among the replies and sees to it; false if it must not begin yet. */
  #begin(session: Session, parser: RequestParser, after: number): boolean {
    const { bytes, view, start } = session.input
    // Quotes of an inline command were resolved in place: from here on it is a command like any other.
    const request = parser.inline
      ? plainForm(parser, bytes)
      : this.#clippings.cut(bytes, view, start, after)
    const command = parser.inline
      ? undefined
      : findCommand(bytes, parser.offsets[0], parser.lengths[0])
    if (session.open > 0 && command === undefined && this.#errands.isAlone(session, request)) {
      session.waitsAlone = true
      return false
    }
    this.#replies.put(session)
    this.#replies.hold(session)
    this.#statistics.aside++
    if (command === undefined || !hasArity(command, parser.count)) {
      this.#errands.begin(session, request)
    } else {
      const at = parser.offsets[command.key]
      const hash = this.#hash.hash(bytes, at, parser.lengths[command.key])
      this.#errands.begin(session, request, { command, hash })
    }
    this.#replies.writer.protocol = session.protocol
    return true
  }

  /** Tries what is parked again and goes on if nothing is any more. */
  #retry(session: Session): void {
    this.#errands.retry(session)
    this.#advance(session)
  }

  /** Gives out what can be, and begins what can be begun. */
  #advance(session: Session): void {
    if (session.closed) return
    if (session.waits) this.#replies.settle(session)
    if (session.parked.some(({ wait }) => wait === 'order')) {
      if (session.open === session.parked.length) this.#retry(session)
      return
    }
    if (session.input.length > 0 && this.#mayBegin(session)) this.#runAlone(session)
    this.#throttle(session)
    if (session.remote !== undefined) this.#remotes.release(session)
  }

  /** What was begun for others in this turn goes on as well, and what is for other nodes leaves. */
  #finishTurn(): void {
    const { awake } = this.#errands
    if (awake.size > 0) {
      for (const session of awake) {
        awake.delete(session)
        this.#advance(session)
      }
    }
    this.#errands.lanes.flush()
  }

  /** The last words to a client that does not speak the protocol. */
  #complain(session: Session, text: string): void {
    session.enqueue(new Segment(asError(text), []))
    this.#errands.end(session)
    this.#replies.settle(session)
  }

  /** A client that has more waiting than is good is not read from for a while. */
  #throttle(session: Session): void {
    if (session.remote !== undefined || session.closed) return
    const { outbox } = this.#cluster
    // What is not a whole command yet must be read on.
    const stuck = !this.#mayBegin(session)
    if (stuck && !session.paused && session.input.length > PAUSE_BYTES) {
      session.paused = true
      outbox.pauseReading?.(session.id)
    } else if (session.paused && (!stuck || session.input.length < RESUME_BYTES)) {
      session.paused = false
      outbox.resumeReading?.(session.id)
    }
  }

  #forget(session: Session): void {
    session.closed = true
    session.input.clear()
    this.#replies.forget(session)
    this.#paused.delete(session)
    this.#errands.forget(session)
  }

  /** A long command that is not complete is not looked at from its start again. */
  #keepParser(session: Session): void {
    const { input } = session
    if (input.length <= OWN_PARSER_BYTES || session.parser !== undefined) return
    session.parser = this.#createParser()
    session.parser.parse(input.bytes, input.view, input.start, input.end)
  }

  #createParser(): RequestParser {
    return new RequestParser({ maxBulkBytes: this.#cluster.config.maxRequestBytes })
  }
}

function plainForm(parser: RequestParser, bytes: Uint8Array): Uint8Array {
  const { offsets, lengths, count } = parser
  const words: Uint8Array[] = []
  for (let place = 0; place < count; place++) {
    words.push(bytes.subarray(offsets[place], offsets[place] + lengths[place]))
  }
  return encodeArguments(words)
}
