/**
 * One node of a ring: a deterministic state machine, as `Node` is for buckets, and driven by the same drivers. There
 * is no primary: whoever a client asks coordinates, quorums of replicas answer, and the newest version wins. It
 * composes; who decides what is in the parts.
 */
import {
  findMember,
  ringOf,
  type RingConfiguration,
  type RingMemberRecord
} from '../../core/placement/ring-configuration.js'
import { Ring } from '../../core/placement/ring.js'
import { Random } from '../../core/random.js'
import { HybridClock } from '../../store/clock.js'
import type { Message } from '../../wire/peer/message.js'
import { isRingMessage, type RingMessage } from '../../wire/peer/ring.js'
import { decodeMemory } from '../../wire/ring-memory.js'
import { Peers, type Peer } from '../peers.js'
import type { RingCluster } from './cluster.js'
import { Comparison } from './comparison.js'
import type { RingNodeConfig } from './config.js'
import { Coordinator } from './coordinator.js'
import { Fill } from './fill.js'
import { Hints } from './hints.js'
import { describeRing, type RingInspection } from './inspection.js'
import { writeSnapshot } from './snapshot.js'
import { Memory } from './memory.js'
import { Offers } from './offers.js'
import type { RingOutbox, RingRequest } from './outbox.js'
import { RingRecords } from './records.js'
import { Replica } from './replica.js'
import { Scans, type ScanRequest } from './scans.js'
import { Standing } from './standing.js'
import { Steward } from './steward.js'
import { Succession } from './succession.js'
import { SurplusCopies } from './surplus.js'

const MAINTENANCE_BUDGET = 500
const NO_CONFIGURATION: RingConfiguration = { version: 0, stage: 'rest', copies: 1, members: [] }
const NO_RING = new Ring([])

export class RingNode implements RingCluster {
  readonly config: RingNodeConfig
  readonly outbox: RingOutbox
  readonly random: Random
  readonly clock = new HybridClock()
  readonly records: RingRecords
  readonly peers: Peers
  configuration = NO_CONFIGURATION
  current = NO_RING
  wanted = NO_RING
  readonly #hints: Hints
  readonly #coordinator: Coordinator
  readonly #replica: Replica
  readonly #fill: Fill
  readonly #offers: Offers
  readonly #surplus: SurplusCopies
  readonly #comparison: Comparison
  readonly #succession: Succession
  readonly #steward: Steward
  readonly #scans: Scans
  /** Which version each node was told on its present stream. */
  readonly #told = new Map<string, number>()
  /** Whose memory each other node has, as it said on its present stream. */
  readonly #memories = new Map<string, number>()
  /** After a restart with a disk: who has not yet sent what it kept for this node. */
  readonly #owing = new Set<string>()
  readonly #memory: Memory
  readonly #standing: Standing
  #members: ReadonlyMap<string, RingMemberRecord> = new Map()
  #now = 0
  #nextBeatMs = 0

  constructor(config: RingNodeConfig, outbox: RingOutbox) {
    this.config = config
    this.outbox = outbox
    this.random = new Random(config.seed)
    this.#memory = new Memory(outbox.keep)
    const memory = this.#memory
    this.records = new RingRecords(this.random.uint32(), {
      forgetTombstones: config.sabotage === 'forget-tombstone',
      ...(memory.isKept
        ? {
            onTaken: (payload) => {
              if (config.sabotage !== 'forget-disk') memory.note({ kind: 'record', payload })
            },
            onRemoved: (key) => memory.note({ kind: 'removed', key })
          }
        : {})
    })
    this.peers = new Peers(config, outbox, {
      message: (peer, message) => this.#onMessage(peer, message),
      met: (peer) => this.#onMet(peer),
      // Its place in the ring says it.
      hasLeft: () => false,
      restarted: (peer) => {
        this.#told.delete(peer.name)
        this.#memories.delete(peer.name)
        this.#hints.restarted(peer.name)
        this.#coordinator.peerGone(peer.name)
      },
      returned: (peer) => this.#onReturned(peer),
      acked: () => undefined
    })
    this.#hints = new Hints(this, memory)
    this.#coordinator = new Coordinator(this, this.#hints)
    this.#replica = new Replica(this)
    this.#offers = new Offers(this)
    this.#surplus = new SurplusCopies(this, this.#offers)
    this.#comparison = new Comparison(this, this.#offers, () => this.#surplus.look())
    this.#fill = new Fill(this, () => {
      const { version } = this.configuration
      outbox.event({ kind: 'filled', version, records: this.records.count })
      this.#beat()
    })
    this.#succession = new Succession(this, memory, (configuration) => this.#adopt(configuration))
    this.#steward = new Steward(this)
    this.#scans = new Scans(this)
    this.#standing = new Standing(this, (member) => this.#tellWish(member))
  }

  get now(): number {
    return this.#now
  }

  get joined(): boolean {
    return this.#members.get(this.config.name)?.life === this.memory
  }

  get memory(): number {
    return this.#memory.life || this.config.life
  }

  memoryOf(name: string): number {
    return this.#memories.get(name) ?? 0
  }

  get mayRead(): boolean {
    return !this.isHollow && this.#owing.size === 0
  }

  get isHollow(): boolean {
    return this.isHollowMember(this.config.name)
  }

  /** How many nodes can hold a record. */
  get size(): number {
    return this.#coordinator.size
  }

  isHollowMember(name: string): boolean {
    return this.#members.get(name)?.hollow === true
  }

  isUp(name: string): boolean {
    const peer = this.peers.get(name as Peer['name'])
    if (peer === undefined || peer.stream.peerLife === 0 || !peer.isOpen || peer.left) return false
    // Its link broke, and it was not heard since.
    if (peer.suspect) return false
    // A process that the configuration does not know yet has forgotten everything, and takes nothing.
    if (this.#members.get(name)?.life !== this.memoryOf(name)) return false
    return peer.stream.unackedBytes < this.config.streamWindowBytes
  }

  silentMs(name: string): number {
    if (name === this.config.name) return 0
    if (this.#succession.isForgotten(name)) return Infinity
    const peer = this.peers.get(name as Peer['name'])
    return peer === undefined ? Infinity : this.#now - peer.lastHeardMs
  }

  send(name: string, message: RingMessage): boolean {
    const peer = this.peers.get(name as Peer['name'])
    if (peer === undefined || !peer.isOpen) return false
    this.#tell(peer)
    return this.peers.send(peer, message, this.#now) > 0
  }

  reply(peer: Peer, message: RingMessage): void {
    this.send(peer.name, message)
  }

  start(now: number): void {
    this.#now = now
    this.#nextBeatMs = now
    const { join } = this.config
    if (this.joined) {
      this.#resume()
      return
    }
    this.#memory.begin(this.config.life)
    if (join.length > 0) {
      for (const address of join) this.peers.contact(address, now)
      return
    }
    this.peers.cluster = this.random.uint32() || 1
    const { positions } = this.config
    this.#adopt({
      version: 1,
      stage: 'rest',
      copies: this.config.copies,
      members: [{ ...this.#standing.record, positions, hollow: false }]
    })
  }

  /** Before the start: what an earlier process of this name put down, in its order. */
  recall(bytes: Uint8Array, now: number): void {
    this.#now = now
    const entry = decodeMemory(bytes)
    switch (entry.kind) {
      case 'memory':
        this.#memory.life = entry.life
        return
      case 'record':
        this.clock.observe(this.records.applyAll(entry.payload, now))
        return
      case 'removed':
        this.records.remove(entry.key)
        return
      case 'ring':
        this.peers.cluster = entry.cluster
        this.#take(entry.configuration)
        this.#succession.adopted()
        return
      case 'promise':
        this.#succession.recall(entry)
        return
      case 'hint':
        this.#hints.recall(entry.name, entry.payload)
        return
      case 'hintsGone':
        this.#hints.drop(entry.name)
    }
  }

  /** Whether what was recalled is the memory of a member of the ring it tells of. If not, it is of no use. */
  get remembers(): boolean {
    return this.#memory.life !== 0 && this.joined
  }

  /** One part of everything it would have to recall, of `SNAPSHOT_PARTS`. */
  snapshot(part: number, write: (entry: Uint8Array) => void): void {
    const [memory, hints, succession] = [this.#memory, this.#hints, this.#succession]
    writeSnapshot(part, { cluster: this, memory, hints, succession }, write)
  }

  receive(envelope: Uint8Array, now: number): void {
    this.#now = now
    this.peers.receive(envelope, now)
  }

  linkUp(address: string, now: number): void {
    this.#now = now
    this.peers.linkUp(address, now)
  }

  linkDown(address: string, now: number): void {
    this.#now = now
    for (const { name } of this.peers.linkDown(address)) this.#coordinator.peerGone(name)
  }

  request(request: RingRequest, now: number): void {
    this.#now = now
    this.#coordinator.begin(request)
  }

  scan(request: ScanRequest, now: number): void {
    this.#now = now
    this.#scans.begin(request)
  }

  /** Asks to go; `mayGo` comes when everything it held is elsewhere. */
  leave(now: number): void {
    this.#now = now
    this.#standing.leave()
  }

  /** Other positions for this node, from now on. */
  place(positions: readonly number[], now: number): void {
    this.#now = now
    this.#standing.place(positions)
  }

  /** Strikes a node that will not come back; says why it cannot be. */
  forget(name: string, now: number): string | undefined {
    this.#now = now
    const member = findMember(this.configuration, name)
    if (member === undefined) return `there is no node named ${name}`
    if (name === this.config.name) return 'this is the node itself; let it leave'
    if (this.isUp(name)) return `${name} is alive; let it leave`
    this.#succession.forget(name)
    this.#wishAway()
    return undefined
  }

  tick(now: number): void {
    this.#now = now
    this.peers.tick(now)
    if (now >= this.#nextBeatMs) {
      this.#beat()
      this.#noticeSilence()
      this.#conduct()
      this.#hints.deliverAll()
      this.records.expire(now)
    }
    this.#coordinator.tick()
    this.#scans.tick()
    this.#fill.tick()
    this.#surplus.tick()
    this.#comparison.tick()
    this.records.maintain(MAINTENANCE_BUDGET)
  }

  flush(now: number): void {
    this.#now = now
    this.peers.flush(now)
  }

  get deadline(): number {
    return Math.min(
      this.#nextBeatMs,
      this.peers.deadline,
      this.#coordinator.deadline,
      this.#scans.deadline,
      this.#fill.deadline,
      this.#surplus.deadline,
      this.#comparison.deadline
    )
  }

  inspect(): RingInspection {
    return describeRing(this, {
      hints: this.#hints.size,
      removed: this.#surplus.removed,
      filled: this.#fill.done,
      received: this.#fill.received,
      pending: this.#coordinator.pending,
      requests: { ...this.#coordinator.requests },
      statusOf: (name) => this.#steward.statusOf(name)
    })
  }

  /** It has been away with its memory: the others are where they were, and may have kept something for it. */
  #resume(): void {
    const { members, version } = this.configuration
    this.#standing.resume()
    for (const { name, address } of members) {
      if (name === this.config.name) continue
      this.peers.ensure(name, address, this.#now)
      this.#owing.add(name)
    }
    for (const address of this.config.join) this.peers.contact(address, this.#now)
    this.outbox.event({ kind: 'recalled', version, records: this.records.count })
    this.#fill.adopted()
    this.#surplus.adopted()
    this.#noticeHinted()
  }

  /** It serves once everyone who can be heard has sent what it kept for it. */
  #noticeHinted(name?: string): void {
    const { deadAfterMs } = this.config
    if (name !== undefined) this.#owing.delete(name)
    for (const other of this.#owing) {
      if (!this.#members.has(other) || this.silentMs(other) > deadAfterMs) this.#owing.delete(other)
    }
    if (this.#owing.size === 0) this.#standing.adopted()
  }

  #tellWish(member: RingMemberRecord): void {
    this.#steward.wish(member)
    for (const peer of this.peers.all()) {
      if (peer.stream.peerLife !== 0) this.peers.send(peer, { kind: 'ringWish', member }, this.#now)
    }
  }

  /** Those a person has given up are to leave, and cannot say so themselves. */
  #wishAway(): void {
    for (const name of this.#succession.forgotten) {
      const member = this.#members.get(name)
      if (member !== undefined) this.#onWish({ ...member, wanted: [], leaving: true })
    }
  }

  #beat(): void {
    this.#nextBeatMs = this.#now + this.config.heartbeatMs
    if (this.#standing.gone) return
    this.#standing.wish()
    if (!this.joined) return
    if (this.#owing.size > 0) this.#noticeHinted()
    const others = this.configuration.members.filter(({ name }) => name !== this.config.name)
    if (others.every(({ name }) => this.isUp(name))) this.peers.forgetContacts()
    this.#wishAway()
    const own = {
      version: this.configuration.version,
      filled: this.#fill.done && this.#hasMetNewcomers(),
      drained: this.records.count === 0,
      records: this.records.count
    }
    this.#steward.report(this.config.name, { life: this.memory, ...own })
    this.peers.broadcast({ kind: 'ringBeat', ...own }, this.#now)
  }

  /** Reads will go to those who come: whoever coordinates must be able to ask them by then. */
  #hasMetNewcomers(): boolean {
    return this.configuration.members.every(({ name, life, positions, wanted }) => {
      if (positions.length > 0 || wanted.length === 0 || name === this.config.name) return true
      return this.memoryOf(name) === life
    })
  }

  #noticeSilence(): void {
    for (const peer of this.peers.all()) {
      if (peer.dead || findMember(this.configuration, peer.name) === undefined) continue
      if (this.#now - peer.lastHeardMs <= this.config.deadAfterMs) continue
      peer.dead = true
      this.outbox.event({ kind: 'died', node: peer.name })
      this.#coordinator.peerGone(peer.name)
    }
  }

  /** Brings a change of the ring forward, if that is up to this node. */
  #conduct(): void {
    if (!this.joined || !this.#succession.ready || !this.#steward.isSteward) return
    const next = this.#steward.decide()
    if (next !== undefined) this.#succession.propose(next)
  }

  #adopt(configuration: RingConfiguration): void {
    if (configuration.version <= this.configuration.version) return
    this.#take(configuration)
    this.#memory.note({ kind: 'ring', cluster: this.peers.cluster, configuration })
    for (const { name, address } of configuration.members) {
      // One that has been heard says itself where it is: the configuration may be behind.
      const isHeard = (this.peers.get(name)?.stream.peerLife ?? 0) !== 0
      if (name !== this.config.name && !isHeard) this.peers.ensure(name, address, this.#now)
    }
    const { version, stage, members } = configuration
    this.outbox.event({ kind: 'ring', version, stage, members: members.map(({ name }) => name) })
    if (this.#owing.size === 0) this.#standing.adopted()
    this.#markLeft()
    this.#succession.adopted()
    for (const { name } of members) {
      const peer = this.peers.get(name)
      if (peer?.isOpen === true && peer.stream.peerLife !== 0) this.#tell(peer)
    }
    this.#hints.adopted()
    this.#fill.adopted()
    this.#surplus.adopted()
    this.#hints.deliverAll()
    this.#coordinator.adopted()
    this.#beat()
  }

  #take(configuration: RingConfiguration): void {
    this.configuration = configuration
    this.#members = new Map(configuration.members.map((member) => [member.name, member]))
    this.current = ringOf(configuration, 'positions')
    this.wanted = configuration.stage === 'rest' ? this.current : ringOf(configuration, 'wanted')
  }

  /** Nothing new is told to those who are on the ring no more. */
  #markLeft(): void {
    for (const peer of this.peers.all()) {
      const left = findMember(this.configuration, peer.name) === undefined
      if (left && !peer.left) this.#tell(peer)
      peer.left = left
    }
  }

  #tell(peer: Peer): void {
    const { configuration, peers } = this
    if (configuration.version === 0 || peer.stream.peerLife === 0) return
    if ((this.#told.get(peer.name) ?? 0) >= configuration.version) return
    const message = { kind: 'ringConfig', cluster: peers.cluster, configuration } as const
    if (peers.send(peer, message, this.#now) > 0) this.#told.set(peer.name, configuration.version)
  }

  #onMet(peer: Peer): void {
    this.#told.delete(peer.name)
    this.peers.send(peer, { kind: 'ringHello', memory: this.memory }, this.#now)
    if (this.joined) this.#tell(peer)
    if (!this.#standing.isWishing) return
    this.peers.send(peer, { kind: 'ringWish', member: this.#standing.record }, this.#now)
  }

  #onReturned(peer: Peer): void {
    this.outbox.event({ kind: 'returned', node: peer.name })
    if (this.joined) this.#tell(peer)
    this.#hints.deliver(peer.name)
  }

  #onMessage(peer: Peer, message: Message): void {
    if (!isRingMessage(message)) {
      const reason = `${peer.name} is a node of another kind: the placement is not the same`
      const isAsked = !this.joined && this.config.join.includes(peer.address)
      const node = isAsked ? this.config.name : peer.name
      this.outbox.event({ kind: 'peerError', node, reason })
      return
    }
    // One that has left still answers the clients it has.
    if (this.#onControl(peer, message) || !(this.joined || this.#standing.gone)) return
    this.#onData(peer, message)
  }

  #onControl(peer: Peer, message: RingMessage): boolean {
    switch (message.kind) {
      case 'ringHello':
        this.#onHello(peer, message.memory)
        return true
      case 'ringHinted':
        this.#noticeHinted(peer.name)
        return true
      case 'ringBeat': {
        const { version, filled, drained, records } = message
        const life = this.memoryOf(peer.name)
        this.#steward.report(peer.name, { life, version, filled, drained, records })
        return true
      }
      case 'ringWish':
        this.#onWish(message.member)
        return true
      case 'ringConfig':
        if (this.peers.cluster === 0) this.peers.cluster = message.cluster
        if (this.peers.cluster === message.cluster) this.#adopt(message.configuration)
        return true
      case 'ringPrepare':
      case 'ringPromise':
      case 'ringPropose':
      case 'ringAccepted':
        if (this.joined) this.#succession.onMessage(peer, message)
        return true
      default:
        return false
    }
  }

  #onData(peer: Peer, message: RingMessage): void {
    switch (message.kind) {
      case 'ringRead':
        this.#replica.onRead(peer, message)
        return
      case 'ringWrite':
        this.#replica.onWrite(peer, message)
        return
      case 'ringItems':
        this.clock.observe(this.records.applyAll(message.payload, this.#now))
        return
      case 'ringValue':
        this.#coordinator.onValue(peer, message)
        return
      case 'ringWritten':
        this.#coordinator.onWritten(peer, message)
        return
      case 'ringPull':
        this.#fill.onPull(peer, message)
        return
      case 'ringPulled':
        this.#fill.onPulled(peer, message)
        return
      case 'ringFetch':
        this.#fill.onFetch(peer, message.keys)
        return
      case 'ringDigests':
        this.#comparison.onDigests(peer, message)
        return
      case 'ringDiffer':
        this.#comparison.onDiffer(peer, message)
        return
      case 'ringOffer':
        this.#offers.onOffer(peer, message)
        return
      case 'ringLacks':
        this.#offers.onLacks(peer, message)
        return
      case 'ringScan':
        this.#scans.onScan(peer, message)
        return
      case 'ringScanned':
        this.#scans.onScanned(peer, message)
    }
  }

  /** What was kept for it goes first, before anything is asked of it. */
  #onHello(peer: Peer, memory: number): void {
    this.#memories.set(peer.name, memory)
    if (this.joined) this.#tell(peer)
    this.#hints.deliver(peer.name)
    this.peers.send(peer, { kind: 'ringHinted' }, this.#now)
  }

  /** Passed on, since it is the steward that must hear of it. */
  #onWish(member: RingMemberRecord): void {
    if (!this.joined || !this.#steward.wish(member)) return
    this.peers.broadcast({ kind: 'ringWish', member }, this.#now)
  }
}
