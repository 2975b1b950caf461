/**
 * Telling watchers what happens to their keys. Every node knows all watches of the cluster (watch-list.ts), so whichever
 * node is primary of a bucket can tell the watchers, and no watch has to travel when a bucket moves, switches or
 * splits. An event is told when its write is on every in-sync copy, as a read would show it, and never before: what is
 * told has happened and stays. Each copy notes the events that may not be with their watchers yet
 * (watch-log.ts), so that a backup that is promoted can tell them again; the node of the watcher drops
 * what came before (watch-delivery.ts). docs/decisions/0007-events.md has what is promised.
 */
import { latin1String } from '../core/bytes.js'
import type { Call } from '../commands/call.js'
import type { Message } from '../wire/peer/message.js'
import type { WatchEvent } from '../wire/peer/watch.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { Peer } from './peers.js'
import { Delivery } from './watch-delivery.js'
import { WatchList, type OwnWatch } from './watch-list.js'
import { EventLog, type PeerGate, type Teller } from './watch-log.js'

/** Events per message when a log is handed to the target of a move. */
const UNTOLD_EVENTS = 1000

/** In the place of the frame that tells of a gap. */
const NOT_SENT = 0

/** The command of which the executed one is a part, and what else is known only where it was executed. */
export interface Cause {
  /** In small letters; empty if it was executed by itself. */
  readonly command: string
  /** The key was not there before. */
  readonly isNew: boolean
}

export class Watches {
  readonly #cluster: Cluster
  readonly #list: WatchList
  readonly #delivery: Delivery
  /** Primaries here with something to tell. */
  readonly #open = new Set<BucketState>()
  /** Nodes that an event may not have reached: they are told that they missed something, when they can be; by frame. */
  readonly #gaps = new Map<Peer, number>()
  /** Of the bucket that is being told of. */
  #mask = 0
  readonly #teller: Teller = {
    tell: (event) => this.#tell(event, this.#mask),
    tellGap: () => this.#tellGap(),
    isTold: (gate) => this.#isTold(gate)
  }
  /** Waits until a version of this node's watches is known everywhere, like a peer until a frame is processed. */
  readonly confirmation = { hasProcessed: (version: number) => this.#list.isKnown(version) }

  /** Gives what has just been executed the names by which Redis tells it; unset while nobody wants them. */
  naming: ((call: Call, cause: Cause | undefined) => string) | undefined

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#list = new WatchList(cluster)
    this.#delivery = new Delivery(cluster, this.#list)
  }

  /** Whether there is anything to do at a write at all. */
  get any(): boolean {
    return this.#list.any
  }

  /** Somebody may have missed something and does not know it yet: whoever comes after this node has to say it. */
  get owesGap(): boolean {
    return this.#gaps.size > 0
  }

  /** The version that `confirmation` has to have processed before the client is answered; undefined: too many. */
  add(watch: OwnWatch): number | undefined {
    return this.#list.add(watch)
  }

  remove(watch: OwnWatch): void {
    this.#list.remove(watch)
  }

  /** What this node itself has to hear of; gives the version that `confirmation` has to have processed. */
  setOwn(patterns: ReadonlySet<string>): number {
    return this.#list.setOwn(patterns)
  }

  /** Who hears the events that this node itself watches. */
  set heard(heard: (event: WatchEvent) => void) {
    this.#delivery.heard = heard
  }

  /** Other nodes with somebody who watches the key. */
  nodesOf(key: string): Iterable<Peer> {
    return this.#list.nodesOf(key)
  }

  isWatched(key: string): boolean {
    return this.#list.isWatched(key)
  }

  closeSession(session: number): void {
    this.#list.closeSession(session)
  }

  /** A new node, or a new life of one, has to know. */
  tell(peer: Peer): void {
    this.#list.tell(peer)
  }

  /** Before a bucket is offered to it. */
  relay(peer: Peer): void {
    this.#list.relay(peer)
  }

  learn(message: Extract<Message, { kind: 'watches' }>): void {
    this.#list.learn(message)
  }

  /** The peer is another process now. */
  peerGone(peer: Peer): void {
    this.#list.forget(peer)
    this.#gaps.delete(peer)
  }

  /** It had been taken for dead: neither side knows what the other one could not be told. */
  returned(peer: Peer): void {
    this.#list.tell(peer)
    this.#delivery.tellGap()
    this.#admitGaps()
  }

  flush(): void {
    this.#list.flush()
  }

  /** A write was executed on the copy here: on the primary it is told when it may be, on a backup it is noted. */
  notify(state: BucketState, call: Call, cause?: Cause): void {
    const { key, change } = call
    if (!this.#list.any || change === undefined) return
    const name = latin1String(key.bytes, key.offset, key.length)
    if (!this.#list.isWatched(name)) return
    const seq = numberOf(state)
    if (seq === undefined) return
    const log = (state.events ??= new EventLog())
    const isPrimary = state.role === 'primary'
    const names = this.naming?.(call, cause) ?? ''
    log.add({ seq, change, key: name, names }, isPrimary ? gatesOf(state) : [])
    if (!isPrimary) return
    this.#open.add(state)
    this.#advance(state, log)
  }

  /** Acknowledgements came, or need not come any more. */
  acked(): void {
    for (const state of this.#open) {
      const { events } = state
      const isHere = this.#cluster.buckets[state.id] === state && state.role === 'primary'
      if (isHere && events !== undefined) this.#advance(state, events)
      else this.#open.delete(state)
    }
    this.#admitGaps()
  }

  /** The copy here has become the primary; it has just said so to its backups, with its write number. */
  promoted(state: BucketState): void {
    const log = state.events
    if (log === undefined) return
    if (this.#cluster.config.sabotage === 'lose-event') {
      state.events = undefined
      return
    }
    // Who has processed that has the same writes, or is in the row no more.
    log.reopen(state.backups.map((peer) => ({ peer, frame: peer.stream.sent })))
    this.#open.add(state)
    this.#advance(state, log)
  }

  split(state: BucketState, children: readonly BucketState[]): void {
    const { events } = state
    if (events === undefined) return
    const wasOpen = this.#open.delete(state)
    for (const child of children) {
      const isInPart = (key: string): boolean =>
        this.#delivery.bucketOf(key, child.mask) === child.id
      child.events = events.part(isInPart)
      if (wasOpen) this.#open.add(child)
    }
  }

  /** The target of a move gets what may have to be told again, just before it has everything else. */
  handOn(state: BucketState, peer: Peer): void {
    const { peers, now } = this.#cluster
    const { id: bucket, mask, events: log } = state
    if (!this.#list.any && log === undefined) return
    const events = log?.events ?? []
    // Whoever could not be told from here can perhaps be told from there, and must hear that something is missing.
    const lostUpTo = Math.max(log?.lostUpTo ?? 0, this.#gaps.size > 0 ? state.seq : 0)
    for (let at = 0; at === 0 || at < events.length; at += UNTOLD_EVENTS) {
      const piece = events.slice(at, at + UNTOLD_EVENTS)
      const first = at === 0
      peers.send(peer, { kind: 'untold', bucket, mask, first, lostUpTo, events: piece }, now)
    }
  }

  onUntold(peer: Peer, message: Extract<Message, { kind: 'untold' }>): void {
    const { buckets, table } = this.#cluster
    const state = buckets[message.bucket]
    if (message.mask !== table.mask || state?.role !== 'incoming') return
    if (state.source !== peer.name) return
    const log = message.first || state.events === undefined ? new EventLog() : state.events
    if (message.lostUpTo > 0) log.noteLost(message.lostUpTo)
    for (const event of message.events) log.add(event, [])
    state.events = log
  }

  /** An event from the primary for clients that are connected here. */
  deliver(message: Extract<Message, { kind: 'event' }>): void {
    this.#delivery.deliver(message, message.mask)
  }

  onGap(): void {
    this.#delivery.tellGap()
  }

  #advance(state: BucketState, log: EventLog): void {
    this.#mask = state.mask
    log.advance(this.#teller)
    if (!log.isEmpty) return
    this.#open.delete(state)
    state.events = undefined
  }

  #tell(event: WatchEvent, mask: number): PeerGate[] {
    this.#delivery.deliver(event, mask)
    const gates: PeerGate[] = []
    for (const peer of this.#list.nodesOf(event.key)) {
      if (!this.#mayTell(peer)) continue
      const { seq, change, key, names } = event
      const message = { kind: 'event', mask, seq, change, key, names } as const
      gates.push({ peer, frame: this.#cluster.peers.send(peer, message, this.#cluster.now) })
    }
    return gates
  }

  #tellGap(): PeerGate[] {
    this.#delivery.tellGap()
    const gates: PeerGate[] = []
    for (const peer of this.#list.nodesOf()) {
      this.#owe(peer)
      this.#admitGap(peer)
      const frame = this.#gaps.get(peer)
      if (frame !== undefined && frame > NOT_SENT) gates.push({ peer, frame })
    }
    return gates
  }

  /** Unless the last thing it was sent is a gap anyway. */
  #owe(peer: Peer): void {
    if (this.#gaps.get(peer) !== peer.stream.sent) this.#gaps.set(peer, NOT_SENT)
  }

  #admitGaps(): void {
    for (const peer of this.#gaps.keys()) this.#admitGap(peer)
  }

  #admitGap(peer: Peer): void {
    const frame = this.#gaps.get(peer)
    if (frame === undefined) return
    if (peer.left || (frame > NOT_SENT && peer.stream.acked >= frame)) {
      this.#gaps.delete(peer)
    } else if (frame === NOT_SENT && peer.isOpen && !this.#isSwamped(peer)) {
      const { peers, now } = this.#cluster
      this.#gaps.set(peer, peers.send(peer, { kind: 'gap' }, now))
    }
  }

  /** One that is gone without having taken it in may still be there, and hear of it from the next primary. */
  #isTold({ peer, frame }: PeerGate): boolean {
    if (peer.stream.acked >= frame || peer.left) return true
    if (peer.isOpen) return false
    this.#owe(peer)
    return true
  }

  /** Whether it can be sent an event now. If not, it will hear that it missed something, before the next one. */
  #mayTell(peer: Peer): boolean {
    if (!peer.isOpen || this.#isSwamped(peer)) {
      this.#owe(peer)
      return false
    }
    this.#admitGap(peer)
    return true
  }

  /** It does not keep up; clients who write are not held up by those who watch. */
  #isSwamped(peer: Peer): boolean {
    return peer.stream.unackedBytes > this.#cluster.config.streamWindowBytes
  }
}

/** The number of the write just executed; undefined on a copy that does not know it, and is told later. */
function numberOf(state: BucketState): number | undefined {
  if (state.role !== 'incoming') return state.seq
  return state.caughtUp ? (state.shared?.seq ?? state.seq) : undefined
}

/** What the last write of a bucket waits for before it may be shown to anybody. */
function gatesOf(state: BucketState): PeerGate[] {
  const gates = state.backups.map((peer, i) => ({ peer, frame: state.lastFrames[i] }))
  const { forwarding } = state
  if (forwarding?.gating === true) {
    gates.push({ peer: forwarding.peer, frame: forwarding.lastFrame })
  }
  return gates
}
