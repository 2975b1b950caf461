/**
 * One node of a ring: a deterministic state machine, as `Node` is for buckets, and driven by the same drivers. There
 * is no primary: whoever a client asks coordinates, quorums of replicas answer, and the newest version wins. It
 * composes; who decides what is in the parts.
 */
import {
  findMember,
  ringOf,
  samePositions,
  type RingConfiguration,
  type RingMemberRecord
} from '../../core/placement/ring-configuration.js'
import { Ring } from '../../core/placement/ring.js'
import { Random } from '../../core/random.js'
import { HybridClock } from '../../store/clock.js'
import type { Message } from '../../wire/peer/message.js'
import { isRingMessage, type RingMessage } from '../../wire/peer/ring.js'
import { Peers, type Peer } from '../peers.js'
import type { RingCluster } from './cluster.js'
import { Comparison } from './comparison.js'
import type { RingNodeConfig } from './config.js'
import { Coordinator } from './coordinator.js'
import { Fill } from './fill.js'
import { Hints } from './hints.js'
import { describeRing, type RingInspection } from './inspection.js'
import { Offers } from './offers.js'
import type { RingOutbox, RingRequest } from './outbox.js'
import { RingRecords } from './records.js'
import { Replica } from './replica.js'
import { Scans, type ScanRequest } from './scans.js'
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
  #members: ReadonlyMap<string, RingMemberRecord> = new Map()
  #now = 0
  #nextBeatMs = 0
  #positions: readonly number[]
  #leaving = false
  #gone = false
  #wasJoined = false

  constructor(config: RingNodeConfig, outbox: RingOutbox) {
    this.config = config
    this.outbox = outbox
    this.random = new Random(config.seed)
    const forgetTombstones = config.sabotage === 'forget-tombstone'
    this.records = new RingRecords(this.random.uint32(), { forgetTombstones })
    this.#positions = config.positions
    this.peers = new Peers(config, outbox, {
      message: (peer, message) => this.#onMessage(peer, message),
      met: (peer) => this.#onMet(peer),
      restarted: (peer) => {
        this.#told.delete(peer.name)
        this.#coordinator.peerGone(peer.name)
      },
      returned: (peer) => this.#onReturned(peer),
      acked: () => undefined
    })
    this.#hints = new Hints(this)
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
    this.#succession = new Succession(this, (configuration) => this.#adopt(configuration))
    this.#steward = new Steward(this)
    this.#scans = new Scans(this)
  }

  get now(): number {
    return this.#now
  }

  get joined(): boolean {
    return this.#members.get(this.config.name)?.life === this.config.life
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
    // A process that the configuration does not know yet has forgotten everything, and takes nothing.
    if (this.#members.get(name)?.life !== peer.stream.peerLife) return false
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
    if (join.length > 0) {
      for (const address of join) this.peers.contact(address, now)
      return
    }
    this.peers.cluster = this.random.uint32() || 1
    const positions = this.#positions
    this.#adopt({
      version: 1,
      stage: 'rest',
      copies: this.config.copies,
      members: [{ ...this.#record(), positions, wanted: positions, hollow: false }]
    })
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
    this.peers.linkDown(address)
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
    this.#leaving = true
    if (this.joined && this.configuration.members.length === 1) this.#go()
    else this.#wish()
    this.#goIfStruck()
  }

  /** Other positions for this node, from now on. */
  place(positions: readonly number[], now: number): void {
    this.#now = now
    this.#positions = positions
    this.#wish()
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
      statusOf: (name) => this.#steward.statusOf(name)
    })
  }

  #record(): RingMemberRecord {
    const { name, life, address, url, zone } = this.config
    const wanted = this.#leaving ? [] : this.#positions
    const leaving = this.#leaving
    return { name, life, address, url, zone, positions: [], wanted, hollow: false, leaving }
  }

  /** Whether the configuration does not say of this node what it wants. */
  #isWishing(): boolean {
    const own = findMember(this.configuration, this.config.name)
    if (own?.life !== this.config.life) return !this.#gone
    return own.leaving !== this.#leaving || !samePositions(own.wanted, this.#record().wanted)
  }

  #wish(): void {
    if (!this.#isWishing()) return
    const member = this.#record()
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
    if (this.#gone) return
    this.#wish()
    if (!this.joined) return
    this.#wishAway()
    const own = {
      version: this.configuration.version,
      filled: this.#fill.done && this.#hasMetNewcomers(),
      drained: this.records.count === 0,
      records: this.records.count
    }
    this.#steward.report(this.config.name, { life: this.config.life, ...own })
    this.peers.broadcast({ kind: 'ringBeat', ...own }, this.#now)
  }

  /** Reads will go to those who come: whoever coordinates must be able to ask them by then. */
  #hasMetNewcomers(): boolean {
    return this.configuration.members.every(({ name, life, positions, wanted }) => {
      if (positions.length > 0 || wanted.length === 0 || name === this.config.name) return true
      return this.peers.get(name)?.stream.peerLife === life
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
    this.configuration = configuration
    this.#members = new Map(configuration.members.map((member) => [member.name, member]))
    this.current = ringOf(configuration, 'positions')
    this.wanted = configuration.stage === 'rest' ? this.current : ringOf(configuration, 'wanted')
    for (const { name, address } of configuration.members) {
      if (name !== this.config.name) this.peers.ensure(name, address, this.#now)
    }
    const { version, stage, members } = configuration
    this.outbox.event({ kind: 'ring', version, stage, members: members.map(({ name }) => name) })
    this.#noticeSelf()
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

  #noticeSelf(): void {
    if (this.joined && !this.#wasJoined) {
      this.#wasJoined = true
      this.peers.forgetContacts()
      this.outbox.event({ kind: 'joined', node: this.config.name })
    }
    this.#goIfStruck()
  }

  /** Nobody counts on it any more: it has left, or was given up before it had come. */
  #goIfStruck(): void {
    const isKnown = this.configuration.version === 0 || this.#members.has(this.config.name)
    if (this.#leaving && !isKnown) this.#go()
  }

  #go(): void {
    if (this.#gone) return
    this.#gone = true
    this.outbox.event({ kind: 'left', node: this.config.name })
    this.outbox.event({ kind: 'mayGo' })
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
    if (this.joined) this.#tell(peer)
    if (!this.#isWishing()) return
    this.peers.send(peer, { kind: 'ringWish', member: this.#record() }, this.#now)
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
    if (this.#onControl(peer, message) || !(this.joined || this.#gone)) return
    this.#onData(peer, message)
  }

  #onControl(peer: Peer, message: RingMessage): boolean {
    switch (message.kind) {
      case 'ringBeat': {
        const { version, filled, drained, records } = message
        const life = peer.stream.peerLife
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

  /** Passed on, since it is the steward that must hear of it. */
  #onWish(member: RingMemberRecord): void {
    if (!this.joined || !this.#steward.wish(member)) return
    this.peers.broadcast({ kind: 'ringWish', member }, this.#now)
  }
}
