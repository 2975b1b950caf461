/**
 * Commands that have a slot: executed aside, sent on, or parked until they can be. The parts of a command over
 * several keys are commands with slots too, whose replies are gathered.
 *
 * In a session everything that happens to a bucket happens in order. Commands that are under way were all routed by
 * the same table, so those of one bucket took the same lane; when the table has changed, a parked command
 * waits for the others that are under way before it goes another way than they did.
 */
import { latin1Bytes, viewOf } from '../../core/bytes.js'
import { placementHash } from '../../core/hash/placement-hash.js'
import { NOBODY } from '../../core/ids.js'
import { Arguments } from '../../commands/arguments.js'
import type { Call } from '../../commands/call.js'
import { unknownCommand, wrongArity } from '../../commands/error-text.js'
import { findCommand, hasArity } from '../../commands/registry.js'
import { ReplyLimitError, ReplyWriter } from '../../wire/resp/reply-writer.js'
import { RequestParser } from '../../wire/resp/request-parser.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import type { Copies } from '../copies.js'
import type { Peer } from '../peers.js'
import { type Gate, type Session, Slot, type Wait } from '../session.js'
import { TableFeed } from '../table-feed.js'
import type { Watches } from '../watches.js'
import { findDoorCommand } from './commands.js'
import type { Act, Combine, Door, Next } from './door.js'
import { Execution } from './execution.js'
import { Gathering } from './gathering.js'
import { Lanes } from './lanes.js'
import { RankOrder } from './rank.js'
import { DoorSettings } from './settings.js'
import { DoorStatistics } from './statistics.js'
import { queue } from './transaction.js'

/** A request is passed on so often before it waits where it is. */
const HOPS_MAX = 6

export class Errands implements Door {
  readonly cluster: Cluster
  readonly watches: Watches
  readonly feed: TableFeed
  readonly execution: Execution
  readonly ranks: RankOrder
  readonly lanes: Lanes
  readonly settings: DoorSettings
  readonly statistics = new DoorStatistics()
  /** Sessions with commands that wait to be tried again. */
  readonly parked = new Set<Session>()
  #pausedUntilMs = 0
  #paused: 'all' | 'write' = 'all'
  readonly #copies: Copies
  readonly #hangUp: (session: Session) => void
  readonly #sessions: ReadonlyMap<number, Session>
  readonly #parser: RequestParser
  readonly #reply = new ReplyWriter({ initialBytes: 4096 })
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
    this.#copies = copies
    this.#sessions = parts.sessions
    this.#hangUp = parts.hangUp
    this.#parser = new RequestParser({ maxBulkBytes: cluster.config.maxRequestBytes })
    this.#call = this.execution.createCall(this.#reply)
  }

  sessions(): Iterable<Session> {
    return this.#sessions.values()
  }

  reply(slot: Slot, write: (reply: ReplyWriter) => void): void {
    const reply = this.#reply
    reply.reset()
    reply.protocol = slot.session.protocol
    try {
      write(reply)
    } catch (error) {
      if (!(error instanceof ReplyLimitError)) throw error
      // One client asked for more at once than fits into memory: that is its problem, not the node's.
      this.refuse(slot, `ERR ${error.message}`)
      return
    }
    this.fill(slot, reply.bytes.slice(0, reply.length), [])
  }

  refuse(slot: Slot, text: string): void {
    this.fill(slot, asError(text), [])
  }

  serve(slot: Slot, place: { hash: number; write: boolean }, act: Act): void {
    slot.hash = place.hash
    slot.write = place.write
    const state = this.#route(slot)
    if (state === undefined) return
    const reply = this.#reply
    reply.reset()
    reply.protocol = slot.session.protocol
    const changed = act(state, reply)
    const bytes = reply.bytes.slice(0, reply.length)
    const gates: Gate[] = []
    // What it read may be anything in the bucket.
    if (changed ? slot.session.acksAll : !state.isSettled()) this.#copies.gateWrite(state, gates)
    this.fill(slot, bytes, gates)
  }

  scatter(slot: Slot, requests: readonly Uint8Array[], combine: Combine): void {
    this.ask(slot, requests, (parts) => this.reply(slot, (reply) => combine(parts, reply)))
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
    session.open += parts.length
    parts.forEach((part, place) => gathering.expect(part, place))
    for (const part of parts) this.attempt(part)
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

  pause(ms: number, what: 'all' | 'write'): void {
    this.#pausedUntilMs = this.cluster.now + ms
    this.#paused = what
  }

  /** Whether somebody said that nothing is to be begun for now. */
  get isPaused(): boolean {
    return this.#paused === 'all' && this.#pausedUntilMs > this.cluster.now
  }

  get areWritesPaused(): boolean {
    return this.#pausedUntilMs > this.cluster.now
  }

  moved(session: Session, hash: number): string | undefined {
    if (!session.isClusterAware) return undefined
    const { table, self } = this.cluster
    const primary = table.primaryOf(hash & table.mask)
    if (primary === NOBODY || primary === self) return undefined
    const peer = this.cluster.peers.get(table.nameOf(primary))
    // Nobody is sent to a node that is dead, as far as is known here.
    return peer?.isOpen ? `MOVED ${this.ranks.reverse(hash)} ${peer.address}` : undefined
  }

  /** A new command of the session. */
  begin(session: Session, request: Uint8Array): void {
    if (session.open === 0) this.#setRoute(session)
    const slot = new Slot(session, request)
    session.open++
    session.enqueue(slot)
    if (session.aside) {
      this.#mute(slot)
      if (queue(this, slot, findDoorCommand)) return
    }
    this.attempt(slot)
  }

  /** Whether the command must wait until those before it are done. */
  isAlone(request: Uint8Array): boolean {
    this.#parse(request)
    return findDoorCommand(new Arguments(request, this.#parser).word(0))?.alone === true
  }

  /** Executes a command that has a slot, sends it on, or makes it wait. */
  attempt(slot: Slot): void {
    const bytes = slot.request
    const parser = this.#parser
    const view = this.#parse(bytes)
    const command = findCommand(bytes, parser.offsets[0], parser.lengths[0])
    if (command !== undefined && hasArity(command, parser.count)) {
      const [offset, length] = [parser.offsets[command.key], parser.lengths[command.key]]
      slot.hash = this.execution.hash.hash(bytes, offset, length)
      slot.write = command.flags.includes('write')
      const state = this.#route(slot)
      if (state === undefined) return
      const call = this.#call
      call.key.set(bytes, view, offset, length, slot.hash)
      call.bytes = bytes
      call.view = view
      const reply = this.#reply
      reply.reset()
      reply.protocol = slot.session.protocol
      const gates: Gate[] = []
      if (this.execution.perform(call, parser, command, state.items))
        this.#finish(slot, state, gates)
      this.fill(slot, reply.bytes.slice(0, reply.length), gates)
      return
    }
    const args = new Arguments(bytes, parser)
    const named = findDoorCommand(args.word(0))
    const known = named ?? command
    if (named !== undefined && fits(named.arity, args.count)) named.execute(this, slot, args)
    else if (named?.wrongArity !== undefined) named.wrongArity(this, slot)
    else if (known !== undefined) this.refuse(slot, wrongArity(known.name))
    else this.refuse(slot, unknownCommand(args.text(0), args.texts(1)))
  }

  /** Tries what is parked again, in order. */
  retry(session: Session): void {
    if (session.closed) return
    const parked = session.parked.filter(({ done }) => !done).sort((a, b) => a.order - b.order)
    session.parked = []
    this.parked.delete(session)
    const stuck = new Set<number>()
    let left = parked.length
    for (const slot of parked) {
      const others = session.open - left - session.parked.length
      left--
      if (others === 0 && session.parked.length === 0) this.#setRoute(session)
      if (others > 0 && !session.isRoutedBy(this.cluster.table)) this.park(slot, 'order')
      else if (stuck.has(slot.hash)) this.park(slot, 'limbo')
      else this.attempt(slot)
      if (session.parked.at(-1) === slot) stuck.add(slot.hash)
    }
  }

  park(slot: Slot, wait: Wait): void {
    if (slot.sinceMs === 0) slot.sinceMs = this.cluster.now
    slot.wait = wait
    slot.session.parked.push(slot)
    this.parked.add(slot.session)
  }

  /** The reply to a command is known; it goes out when its turn comes. */
  fill(slot: Slot, reply: Uint8Array, gates: readonly Gate[]): void {
    if (slot.done) return
    slot.done = true
    if (!slot.apart) slot.session.open--
    if (slot.collector !== undefined) {
      slot.collector.collect(slot, reply, gates)
      return
    }
    slot.bytes = reply
    if (gates.length > 0 && this.cluster.config.sabotage !== 'reply-before-backup') {
      slot.gates = gates
    }
  }

  /** Commands that were passed on to a node that is gone: reads go again, of writes nobody knows what became. */
  takeBack(peer: Peer): Set<Session> {
    const sessions = new Set<Session>()
    for (const slot of this.lanes.takeFrom(peer)) {
      sessions.add(slot.session)
      if (slot.write) {
        this.refuse(slot, 'OC_UNKNOWN the primary died; the write may have happened')
      } else this.park(slot, 'limbo')
    }
    return sessions
  }

  /** Commands that could not be served in time; gives the sessions they are of. */
  timeOut(): Set<Session> {
    const beforeMs = this.cluster.now - this.cluster.config.holdMs
    const late = this.lanes.takeOld(beforeMs)
    for (const { parked } of this.parked) {
      late.push(...parked.filter(({ sinceMs }) => sinceMs <= beforeMs))
    }
    const sessions = new Set<Session>()
    for (const slot of late) {
      sessions.add(slot.session)
      this.refuse(slot, 'OC_TIMEOUT nobody could serve this in time')
    }
    return sessions
  }

  forget(session: Session): void {
    session.parked = []
    this.parked.delete(session)
    this.lanes.forget(session)
  }

  #finish(slot: Slot, state: BucketState, gates: Gate[]): void {
    const call = this.#call
    if (call.change !== undefined) {
      this.execution.written(call, state, slot.request)
      if (slot.session.acksAll) this.#copies.gateWrite(state, gates)
    } else if (!state.isSettled()) this.#copies.gateRead(state, call.key, gates)
  }

  #mute(slot: Slot): void {
    const { session } = slot
    const { client } = session
    slot.silent = client.replies !== 'on'
    if (client.replies === 'skip') client.replies = 'on'
    session.updateAside()
  }

  #setRoute(session: Session): void {
    const { table } = this.cluster
    session.routeTable = table
    session.routeVersion = table.version
    session.waitsAlone = false
  }

  /** The bucket of the slot's hash if it can be served here and now; otherwise the slot is seen to. */
  #route(slot: Slot): BucketState | undefined {
    const { cluster } = this
    const bucket = slot.hash & cluster.table.mask
    const state = cluster.buckets[bucket]
    if (state?.role !== 'primary') {
      this.#sendOn(slot, bucket)
      return undefined
    }
    if (!cluster.mayServe()) this.park(slot, 'limbo')
    else if (slot.write && this.areWritesPaused) {
      slot.sinceMs = this.#pausedUntilMs
      this.park(slot, 'limbo')
    } else if (state.holding) {
      if (cluster.config.sabotage === 'refuse-during-hand-over') {
        this.refuse(slot, 'TRYAGAIN the bucket is being handed over')
        return undefined
      }
      this.park(slot, 'bucket')
      state.waiting.push(slot.session)
    } else if (slot.write && this.#copies.isCongested(state)) this.park(slot, 'window')
    else return state
    return undefined
  }

  /** The bucket's primary is not here. */
  #sendOn(slot: Slot, bucket: number): void {
    const { table, peers, self, now } = this.cluster
    const primary = table.primaryOf(bucket)
    const peer =
      primary === NOBODY || primary === self ? undefined : peers.get(table.nameOf(primary))
    const { session } = slot
    const hops = session.remote?.hops ?? 0
    if (!peer?.isOpen || peer.stream.peerLife === 0 || hops >= HOPS_MAX) {
      this.park(slot, 'limbo')
      return
    }
    const moved = slot.collector === undefined ? this.moved(session, slot.hash) : undefined
    if (moved !== undefined) {
      this.refuse(slot, moved)
      return
    }
    if (slot.sinceMs === 0) slot.sinceMs = now
    this.lanes.add(slot, peer)
  }

  #parse(request: Uint8Array): DataView {
    const view = viewOf(request)
    this.#parser.reset()
    this.#parser.parse(request, view, 0, request.length)
    return view
  }
}

function fits(arity: number, count: number): boolean {
  return arity >= 0 ? count === arity : count >= -arity
}

export function asError(text: string): Uint8Array {
  return latin1Bytes(`-${text}\r\n`)
}
