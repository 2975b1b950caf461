/**
 * Commands that have a slot: executed aside, sent on, or parked until they can be. The parts of a command over
 * several keys are commands with slots too, whose replies are gathered.
 *
 * In a session everything that happens to a bucket happens in order. Commands that are under way were all routed by
 * the same table, so those of one bucket took the same lane; when the table has changed, a parked command
 * waits for the others that are under way before it goes another way than they did.
 */
import { viewOf } from '../../core/bytes.js'
import { escapeGlob } from '../../core/glob.js'
import { placementHash } from '../../core/hash/placement-hash.js'
import { assert } from '../../core/assert.js'
import { Arguments } from '../../commands/arguments.js'
import type { Blocking } from '../../commands/blocking.js'
import type { Call } from '../../commands/call.js'
import { unknownCommand, wrongArity } from '../../commands/error-text.js'
import { findCommand, hasArity, type ListedCommand } from '../../commands/registry.js'
import type { Unblocking } from '../../wire/peer/door.js'
import { HybridClock } from '../../store/clock.js'
import { ReplyLimitError, ReplyWriter } from '../../wire/resp/reply-writer.js'
import { RequestParser } from '../../wire/resp/request-parser.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import type { Copies } from '../copies.js'
import type { Peer } from '../peers.js'
import { type Session, Slot, type Wait } from '../session.js'
import { type Gate } from '../segment.js'
import { TableFeed } from '../table-feed.js'
import type { Cause, Watches } from '../watches.js'
import { rememberReads, takesCaching } from './cached-reads.js'
import { findDoorCommand } from './commands.js'
import { BlockedCommands } from './blocking.js'
import {
  type Act,
  type BlockingCall,
  type Combine,
  type Door,
  fits,
  type Next,
  type Part
} from './door.js'
import { Execution, TOO_LONG } from './execution.js'
import { AGAIN, asError } from './fixed-replies.js'
import { Gathering } from './gathering.js'
import { Lanes } from './lanes.js'
import { refuseListener } from './listener.js'
import { countedName, Observer } from './observer.js'
import { Parking } from './parking.js'
import { Pause, type Paused } from './pause.js'
import { answerQuestion } from './questions.js'
import { RankOrder } from './rank.js'
import { Repetitions } from './repetitions.js'
import { Replicas } from './replicas.js'
import { Routes } from './routes.js'
import { Takes } from './takes.js'
import { DoorSettings } from './settings.js'
import { SharedSettings } from './shared-settings.js'
import { DoorStatistics } from './statistics.js'
import { Maintenance } from './maintenance.js'
import { Notifications } from './notifications.js'
import { Polls } from './polls.js'
import { PubSub } from './pubsub.js'
import { Tracking, WRITER } from './tracking.js'
import { queue } from './transaction.js'

/** Of a client that listens and does not read what it hears; as Redis has it for the same. */
const UNREAD_BYTES_MAX = 32 * 1024 * 1024

const WRITES_NOTHING = (): void => assert(false, 'a read that writes')

export class Errands implements Door {
  readonly cluster: Cluster
  readonly watches: Watches
  readonly feed: TableFeed
  readonly execution: Execution
  readonly ranks: RankOrder
  readonly lanes: Lanes
  readonly settings: DoorSettings
  readonly statistics = new DoorStatistics()
  readonly observer: Observer
  readonly pubsub: PubSub
  readonly notifications: Notifications
  readonly shared: SharedSettings
  readonly polls: Polls
  readonly blocked: BlockedCommands
  readonly tracking: Tracking
  readonly maintenance: Maintenance
  readonly replicas: Replicas
  ownPatternsVersion = 0
  /** Sessions that something was done for in another's turn. */
  readonly awake = new Set<Session>()
  readonly parking: Parking
  readonly pauses: Pause
  readonly routes: Routes
  readonly takes: Takes
  readonly repetitions: Repetitions
  readonly #copies: Copies
  readonly #hangUp: (session: Session) => void
  readonly #sessions: ReadonlyMap<number, Session>
  readonly #parser: RequestParser
  readonly #reply: ReplyWriter
  readonly #call: Call

  constructor(
    cluster: Cluster,
    parts: {
      copies: Copies
      watches: Watches
      sessions: ReadonlyMap<number, Session>
      hangUp: (session: Session) => void
    }
  ) {
    const { copies, watches } = parts
    const hash = placementHash(cluster.config.hash)
    this.cluster = cluster
    this.watches = watches
    this.feed = new TableFeed(cluster)
    this.execution = new Execution(cluster, { copies, watches, hash })
    this.ranks = new RankOrder(hash)
    this.lanes = new Lanes(cluster)
    this.settings = new DoorSettings(cluster.config)
    this.settings.onChange(() => this.settings.limit(this.execution.eviction))
    this.observer = new Observer(this.settings, {
      parse: (request) => this.execution.parse(request),
      push: (session, line) => this.push(session, (reply) => reply.simple(line))
    })
    this.polls = new Polls(cluster)
    this.repetitions = new Repetitions(cluster, copies, this.lanes)
    this.parking = new Parking(cluster)
    this.pauses = new Pause(cluster)
    this.replicas = new Replicas(cluster)
    this.routes = new Routes(this, copies)
    this.takes = new Takes(this, copies)
    this.blocked = new BlockedCommands(this)
    this.execution.waiting = this.blocked
    this.pubsub = new PubSub(cluster.outbox, UNREAD_BYTES_MAX, parts.hangUp)
    this.tracking = new Tracking(this)
    this.maintenance = new Maintenance(this)
    this.execution.tracking = this.tracking
    const changed = (): void => this.#watchOwn()
    this.notifications = new Notifications(cluster, { watches, pubsub: this.pubsub, changed })
    this.tracking.changed = changed
    watches.heard = (event) => {
      this.notifications.heard(event)
      this.tracking.heard(event)
    }
    watches.naming = (call, cause) => this.#nameEvent(call, cause)
    this.shared = new SharedSettings(cluster, this.settings, {
      'notify-keyspace-events': (classes) => {
        this.notifications.classes = classes
        this.execution.observer = this.notifications.observes ? this.notifications : undefined
      }
    })
    this.#copies = copies
    this.#sessions = parts.sessions
    this.#hangUp = parts.hangUp
    this.#parser = new RequestParser({ maxBulkBytes: cluster.config.maxRequestBytes })
    const maxBytes = cluster.config.maxReplyBytes
    this.#reply = new ReplyWriter({ initialBytes: 4096, maxBytes })
    this.#call = this.execution.createCall(this.#reply)
  }

  sessions(): Iterable<Session> {
    return this.#sessions.values()
  }

  session(id: number): Session | undefined {
    return this.#sessions.get(id)
  }

  clientOf(session: Session): string {
    return this.lanes.clientOf(session)
  }

  /** Whose command is executed next, for those who do not want to hear of their own. */
  setWriter(session: Session): void {
    if (this.tracking.size > 0 || this.watches.any) this.tracking.writer = this.clientOf(session)
  }

  reply(slot: Slot, write: (reply: ReplyWriter) => void, gates: readonly Gate[] = []): void {
    const reply = this.#reply
    reply.reset()
    reply.protocol = slot.session.protocol
    try {
      write(reply)
    } catch (error) {
      if (!(error instanceof ReplyLimitError)) throw error
      // One client asked for more at once than fits into memory: that is its problem, not the node's.
      this.refuse(slot, TOO_LONG)
      return
    }
    this.fill(slot, reply.bytes.slice(0, reply.length), gates)
  }

  refuse(slot: Slot, text: string): void {
    this.fill(slot, asError(text), [])
  }

  serve(slot: Slot, place: { hash: number; write: boolean }, act: Act): void {
    slot.hash = place.hash
    slot.write = place.write
    const state = this.routes.find(slot)
    if (state === undefined || this.recall(slot, state)) return
    const reply = this.#reply
    reply.reset()
    reply.protocol = slot.session.protocol
    const changed = this.#act(state, reply, act)
    const bytes = reply.bytes.slice(0, reply.length)
    const noted = this.repetitions.isNoted(slot, changed)
    if (noted) this.repetitions.note(slot, state, bytes, this.cluster.now)
    const gates: Gate[] = []
    // What it read may be anything in the bucket.
    if (changed || noted ? slot.session.acksAll : isOpen(state)) {
      this.#copies.gateWrite(state, gates)
    }
    this.fill(slot, bytes, gates)
    if (this.blocked.list.isTouched) this.serveWaiting()
  }

  /** A reply that is too long is the client's problem; what was written before stays written. */
  #act(state: BucketState, reply: ReplyWriter, act: Act): boolean {
    const before = state.seq
    try {
      const changed = act(state, reply)
      this.notifications.ended()
      return changed
    } catch (error) {
      if (!(error instanceof ReplyLimitError)) throw error
      reply.reset()
      reply.error(TOO_LONG)
      return state.seq !== before
    }
  }

  scatter(slot: Slot, requests: readonly Uint8Array[], combine: Combine): void {
    this.ask(slot, requests, (parts) => this.reply(slot, (reply) => combine(parts, reply)))
  }

  readHere(slot: Slot, parts: readonly Part[], combine: Combine): boolean {
    const { session } = slot
    const { cluster } = this
    // Whatever was given before it and has not been executed yet comes first.
    if (session.remote !== undefined || session.parked.length > 0 || slot.tracks) return false
    if (!cluster.mayServe()) return false
    const states: BucketState[] = []
    for (const { hash } of parts) {
      const state = cluster.buckets[hash & cluster.table.mask]
      if (state?.role !== 'primary' || state.holding) return false
      states.push(state)
    }
    const how = { written: WRITES_NOTHING, protocol: session.protocol, cause: '' }
    const replies = parts.map(
      ({ request }, place) => this.execution.runPart(states[place].items, request, how).reply
    )
    const gates: Gate[] = []
    for (const state of new Set(states)) {
      if (!state.isSettled()) this.#copies.gateWrite(state, gates)
    }
    this.reply(slot, (reply) => combine(replies, reply), gates)
    return true
  }

  ask(slot: Slot, requests: readonly Uint8Array[], next: Next): void {
    if (requests.length === 0) {
      next([])
      return
    }
    const { session } = slot
    const gathering = new Gathering(slot, requests.length, next)
    // From here on its parts are under way instead of it.
    if (!slot.apart) session.open--
    slot.apart = true
    const parts = requests.map((request) => new Slot(session, request, gathering))
    if (slot.tracks) for (const part of parts) part.tracks = true
    session.open += parts.length
    parts.forEach((part, place) => gathering.expect(part, place))
    for (const part of parts) this.attempt(part)
  }

  poll(slot: Slot, request: Uint8Array, next: Next): void {
    this.polls.begin(slot, request, next)
  }

  answer(request: Uint8Array): Uint8Array {
    return answerQuestion(this, request)
  }

  push(session: Session, write: (reply: ReplyWriter) => void): void {
    const reply = new ReplyWriter({ protocol: session.protocol, initialBytes: 256 })
    write(reply)
    this.pubsub.push(session, reply.bytes.slice(0, reply.length))
  }

  wake(session: Session): void {
    this.awake.add(session)
  }

  block(slot: Slot, command: BlockingCall): void {
    this.takes.begin(slot, command)
  }

  keepVigil(slot: Slot, blocking: Blocking, args: Arguments): void {
    this.blocked.keepVigil(slot, blocking, args)
  }

  answerNothing(slot: Slot): void {
    this.takes.answerNothing(slot)
  }

  unblockElsewhere(session: Session, how: Unblocking): void {
    this.lanes.unblock(session, how)
  }

  /** Those who wait for what is not here any more go after it. */
  followBuckets(): void {
    for (const slot of this.blocked.rowsChanged()) {
      if (slot.session.remote !== undefined) this.fill(slot, AGAIN, [])
      else this.park(slot, 'limbo')
      this.awake.add(slot.session)
    }
  }

  /** Gives what was just written to those who wait for it. */
  serveWaiting(): void {
    this.blocked.serve()
  }

  /** Another node answered a question of one here. */
  told(peer: Peer, id: number, reply: Uint8Array): void {
    const slot = this.polls.told(peer, id, reply)
    if (slot !== undefined) this.awake.add(slot.session)
  }

  whenFirst(slot: Slot, act: () => void): void {
    slot.session.waitsAlone = true
    slot.whenFirst = act
  }

  end(session: Session): void {
    session.ending = true
    session.input.clear()
  }

  hangUp(session: Session): void {
    this.#hangUp(session)
  }

  pause(ms: number, what: Paused): void {
    this.pauses.begin(ms, what)
  }

  /** Whether somebody said that nothing is to be begun for now. */
  get isPaused(): boolean {
    return this.pauses.ofAll
  }

  get areWritesPaused(): boolean {
    return this.pauses.ofWrites
  }

  get expired(): number {
    return this.#copies.expired
  }

  get postponed(): number {
    return this.areWritesPaused ? this.parking.writers : 0
  }

  moved(session: Session, hash: number): string | undefined {
    return this.routes.moved(session, hash)
  }

  /** Sessions with commands that wait to be tried again. */
  get parked(): ReadonlySet<Session> {
    return this.parking.sessions
  }

  /** A new command of the session; `known` if it is about one key and has been looked at already. */
  begin(
    session: Session,
    request: Uint8Array,
    known?: { readonly command: ListedCommand; readonly hash: number }
  ): void {
    if (session.open === 0) this.routes.set(session)
    const slot = new Slot(session, request)
    const { remote } = session
    if (remote !== undefined && remote.turns.length > 0) {
      slot.turn = Math.floor(remote.turns[0] / 2)
      slot.sentOn = remote.turns[0] % 2 === 1
      slot.untilMs = remote.untils[0]
      slot.tracks = remote.turns[0] === 1
      if (slot.tracks) slot.sentOn = false
    }
    slot.beganMs = this.cluster.now
    if (remote === undefined) {
      slot.name = nameOf(request, known?.command)
      session.client.lastCommand = slot.name ?? 'NULL'
    }
    session.open++
    session.enqueue(slot)
    this.observer.begun(slot, slot.beganMs)
    if (session.aside) {
      if (session.tracking !== undefined) slot.tracks = takesCaching(this, slot, session.tracking)
      this.#mute(slot)
      if (queue(this, slot, findDoorCommand)) return
      if (session.isListening && refuseListener(this, slot)) return
    } else if (known !== undefined && !slot.tracks) {
      // Most of these are for other nodes, and need not be looked at again.
      slot.hash = known.hash
      slot.write = known.command.writes
      if (this.routes.find(slot) === undefined) return
    }
    this.attempt(slot)
  }

  /** Whether the command must wait until those before it are done. */
  isAlone(session: Session, request: Uint8Array): boolean {
    this.#parse(request)
    const command = findDoorCommand(new Arguments(request, this.#parser).word(0))
    return command?.alone === true || (command?.loose === true && session.open > session.loose)
  }

  /** Executes a command that has a slot, sends it on, or makes it wait. */
  attempt(slot: Slot): void {
    if (slot.tracks) rememberReads(this, slot)
    this.setWriter(slot.session)
    const bytes = slot.request
    const parser = this.#parser
    const view = this.#parse(bytes)
    const command = findCommand(bytes, parser.offsets[0], parser.lengths[0])
    if (command !== undefined && hasArity(command, parser.count)) {
      const [offset, length] = [parser.offsets[command.key], parser.lengths[command.key]]
      slot.hash = this.execution.hash.hash(bytes, offset, length)
      slot.write = command.flags.includes('write')
      const state = this.routes.find(slot)
      if (state === undefined || this.recall(slot, state)) return
      const call = this.#call
      call.key.set(bytes, view, offset, length, slot.hash)
      call.bytes = bytes
      call.view = view
      const reply = this.#reply
      reply.reset()
      reply.protocol = slot.session.protocol
      const gates: Gate[] = []
      const done = this.execution.perform(call, parser, command, state.items)
      this.#finish(slot, state, { done, gates })
      this.fill(slot, reply.bytes.slice(0, reply.length), gates)
      if (this.blocked.list.isTouched) this.serveWaiting()
      return
    }
    const args = new Arguments(bytes, parser)
    const named = findDoorCommand(args.word(0))
    const known = named ?? command
    if (named !== undefined && fits(named.arity, args.count)) {
      if (this.areWritesPaused && PUBLISHING.has(named.name) && slot.session.remote === undefined) {
        this.routes.postpone(slot)
        return
      }
      if (named.loose === true) this.#loosen(slot)
      named.execute(this, slot, args)
    } else if (named?.wrongArity !== undefined) named.wrongArity(this, slot)
    else if (known !== undefined) this.refuse(slot, wrongArity(known.name))
    else this.refuse(slot, unknownCommand(args.text(0), args.texts(1)))
  }

  /** Tries what is parked again, in order. */
  retry(session: Session): void {
    if (session.closed) return
    const parked = this.parking.take(session)
    const stuck = new Set<number>()
    let left = parked.length
    for (const slot of parked) {
      const others = session.open - left - session.parked.length
      left--
      if (others === 0 && session.parked.length === 0) this.routes.set(session)
      if (others > 0 && !session.isRoutedBy(this.cluster.table)) this.park(slot, 'order')
      else if (stuck.has(slot.hash)) this.park(slot, 'limbo')
      else this.attempt(slot)
      if (session.parked.at(-1) === slot) stuck.add(slot.hash)
    }
  }

  park(slot: Slot, wait: Wait): void {
    this.parking.park(slot, wait)
  }

  /** The reply to a command is known; it goes out when its turn comes. */
  fill(slot: Slot, reply: Uint8Array, gates: readonly Gate[] = []): void {
    if (slot.done) return
    slot.done = true
    if (!slot.apart) slot.session.open--
    if (slot.loose) slot.session.loose--
    if (slot.blocking !== undefined) this.blocked.answered(slot)
    if (slot.collector !== undefined) {
      slot.collector.collect(slot, reply, gates)
      return
    }
    if (slot.session.remote === undefined) this.#observe(slot)
    slot.bytes = reply
    if (gates.length > 0 && this.cluster.config.sabotage !== 'reply-before-backup') {
      slot.gates = gates
    }
  }

  /** Commands that were passed on to a node that is gone go again, to the next primary. */
  takeBack(peer: Peer): Set<Session> {
    const sessions = new Set<Session>()
    for (const slot of this.lanes.takeFrom(peer)) {
      sessions.add(slot.session)
      this.again(slot)
    }
    return sessions
  }

  /** Whether a command that was passed on was executed is not known: the next primary knows. */
  again(slot: Slot): void {
    if (slot.blocking !== undefined) slot.sinceMs = 0
    if (slot.write && slot.turn === 0) {
      this.refuse(slot, UNKNOWN)
    } else this.park(slot, 'limbo')
  }

  /** Commands that could not be served in time; gives the sessions they are of. */
  timeOut(): Set<Session> {
    const beforeMs = this.cluster.now - this.cluster.config.holdMs
    const late = [...this.lanes.takeOld(beforeMs), ...this.parking.late(beforeMs)]
    const sessions = new Set<Session>()
    for (const slot of late) {
      sessions.add(slot.session)
      this.refuse(slot, 'OC_TIMEOUT nobody could serve this in time')
    }
    return sessions
  }

  forget(session: Session): void {
    this.parking.forget(session)
    this.lanes.forget(session)
    this.blocked.forget(session)
  }

  #finish(slot: Slot, state: BucketState, { done, gates }: { done: boolean; gates: Gate[] }): void {
    const call = this.#call
    const changed = done && call.change !== undefined
    const noted = this.repetitions.isNoted(slot, changed)
    if (noted) {
      const answer = this.#reply.bytes.slice(0, this.#reply.length)
      const ms = changed ? HybridClock.toMs(call.version) : this.cluster.now
      this.repetitions.note(slot, state, answer, ms)
    }
    if (changed) this.execution.written(call, state, slot.request)
    if (changed || noted) {
      if (slot.session.acksAll) this.#copies.gateWrite(state, gates)
    } else if (done && isOpen(state)) this.#copies.gateRead(state, call.key, gates)
  }

  /** Answers a write that was executed when it came before; true if it did, or if that cannot be known. */
  recall(slot: Slot, state: BucketState): boolean {
    const known = this.repetitions.find(slot, state)
    if (known === undefined) return false
    if (known === 'unknown') this.refuse(slot, UNKNOWN)
    else {
      const gates: Gate[] = []
      this.#copies.gateWrite(state, gates)
      this.fill(slot, known, gates)
    }
    return true
  }

  #loosen(slot: Slot): void {
    if (slot.loose) return
    slot.loose = true
    slot.session.loose++
  }

  #observe(slot: Slot): void {
    const { now } = this.cluster
    this.statistics.note(slot.name, now - slot.beganMs)
    this.observer.ended(slot, now)
  }

  /** What this node wants to hear of keys, for all its clients. */
  #watchOwn(): void {
    const patterns = new Set(this.notifications.patterns)
    for (const prefix of this.tracking.prefixes) patterns.add(`${escapeGlob(prefix)}*`)
    this.ownPatternsVersion = this.watches.setOwn(patterns)
  }

  #nameEvent(call: Call, cause: Cause | undefined): string {
    const names = this.notifications.name(call, cause)
    const { writer } = this.tracking
    return writer === '' ? names : `${names} ${WRITER}${writer}`.trimStart()
  }

  #mute(slot: Slot): void {
    const { session } = slot
    const { client } = session
    slot.silent = client.replies !== 'on'
    if (client.replies === 'skip') client.replies = 'on'
    session.updateAside()
  }

  #parse(request: Uint8Array): DataView {
    const view = viewOf(request)
    this.#parser.reset()
    this.#parser.parse(request, view, 0, request.length)
    return view
  }
}

/** Not writes, but heard elsewhere. */
const PUBLISHING = new Set(['publish', 'spublish'])

const UNKNOWN = 'OC_UNKNOWN the primary died; the write may have happened'

/** Whether a primary has writes that some backup may not have; what a backup shows waits for nobody. */
function isOpen(state: BucketState): boolean {
  return state.role === 'primary' && !state.isSettled()
}

/** By which a command is counted; nodes' own are not. */
function nameOf(request: Uint8Array, command: ListedCommand | undefined): string | undefined {
  if (command === undefined || command.name.startsWith('oc.')) return countedName(request)
  return command.name
}
