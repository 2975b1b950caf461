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
import type { RingMessage } from '../../wire/peer/ring.js'
import { decodeMemory } from '../../wire/ring-memory.js'
import { Peers, type Peer } from '../peers.js'
import { Acquaintances } from './acquaintances.js'
import type { RingCluster } from './cluster.js'
import { Comparison } from './comparison.js'
import type { RingNodeConfig } from './config.js'
import { Coordinator } from './coordinator.js'
import { Fill } from './fill.js'
import { Hints } from './hints.js'
import { describeRing, type RingInspection } from './inspection.js'
import { Memory } from './memory.js'
import { Offers } from './offers.js'
import type { RingOutbox, RingRequest } from './outbox.js'
import { Pulse } from './pulse.js'
import { Reception } from './reception.js'
import { RingRecords } from './records.js'
import { Replica } from './replica.js'
import { Scans, type ScanRequest } from './scans.js'
import { recallEntry, writeSnapshot, type SnapshotSource } from './snapshot.js'
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
  readonly #fill: Fill
  readonly #surplus: SurplusCopies
  readonly #comparison: Comparison
  readonly #succession: Succession
  readonly #steward: Steward
  readonly #scans: Scans
  readonly #memory: Memory
  readonly #standing: Standing
  readonly #acquaintances: Acquaintances
  readonly #pulse: Pulse
  #members: ReadonlyMap<string, RingMemberRecord> = new Map()
  #now = 0

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
    this.#hints = new Hints(this, memory)
    this.#coordinator = new Coordinator(this, this.#hints)
    const offers = new Offers(this)
    this.#surplus = new SurplusCopies(this, offers)
    this.#comparison = new Comparison(this, offers, () => this.#surplus.look())
    this.#fill = new Fill(this, () => {
      const { version } = this.configuration
      outbox.event({ kind: 'filled', version, records: this.records.count })
      this.#pulse.beat()
    })
    this.#succession = new Succession(this, memory, (configuration) => this.#adopt(configuration))
    this.#steward = new Steward(this)
    this.#scans = new Scans(this)
    this.#standing = new Standing(this, (member) => this.#pulse.tellWish(member))
    this.#acquaintances = new Acquaintances(this)
    const parts = {
      acquaintances: this.#acquaintances,
      coordinator: this.#coordinator,
      fill: this.#fill,
      standing: this.#standing,
      steward: this.#steward,
      succession: this.#succession
    }
    this.#pulse = new Pulse(this, parts)
    const reception = new Reception(this, {
      ...parts,
      comparison: this.#comparison,
      hints: this.#hints,
      offers,
      pulse: this.#pulse,
      replica: new Replica(this),
      scans: this.#scans,
      adopt: (configuration) => this.#adopt(configuration)
    })
    this.peers = new Peers(config, outbox, reception)
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
    return this.#acquaintances.memoryOf(name)
  }

  get mayRead(): boolean {
    return !this.isHollow && !this.#acquaintances.isOwed
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
    this.#acquaintances.tell(peer)
    return this.peers.send(peer, message, this.#now) > 0
  }

  reply(peer: Peer, message: RingMessage): void {
    this.send(peer.name, message)
  }

  start(now: number): void {
    this.#now = now
    this.#pulse.start(now)
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
    recallEntry(decodeMemory(bytes), this.#snapshotSource, (configuration) => {
      this.#take(configuration)
    })
  }

  /** Whether what was recalled is the memory of a member of the ring it tells of. If not, it is of no use. */
  get remembers(): boolean {
    return this.#memory.life !== 0 && this.joined
  }

  /** One part of everything it would have to recall, of `SNAPSHOT_PARTS`. */
  snapshot(part: number, write: (entry: Uint8Array) => void): void {
    writeSnapshot(part, this.#snapshotSource, write)
  }

  get #snapshotSource(): SnapshotSource {
    const [memory, hints, succession] = [this.#memory, this.#hints, this.#succession]
    return { cluster: this, memory, hints, succession }
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
    this.#pulse.wishAway()
    return undefined
  }

  tick(now: number): void {
    this.#now = now
    this.peers.tick(now)
    if (now >= this.#pulse.deadline) {
      this.#pulse.tick()
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
      this.#pulse.deadline,
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
      wanted: this.#standing.record.wanted,
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
      this.#acquaintances.expect(name)
    }
    for (const address of this.config.join) this.peers.contact(address, this.#now)
    this.outbox.event({ kind: 'recalled', version, records: this.records.count })
    this.#fill.adopted()
    this.#surplus.adopted()
    this.#pulse.noticePaid()
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
    if (!this.#acquaintances.isOwed) this.#standing.adopted()
    this.#acquaintances.markLeft()
    this.#succession.adopted()
    for (const { name } of members) {
      const peer = this.peers.get(name)
      if (peer?.isOpen === true && peer.stream.peerLife !== 0) this.#acquaintances.tell(peer)
    }
    this.#hints.adopted()
    this.#fill.adopted()
    this.#surplus.adopted()
    this.#hints.deliverAll()
    this.#coordinator.adopted()
    this.#pulse.beat()
  }

  #take(configuration: RingConfiguration): void {
    this.configuration = configuration
    this.#members = new Map(configuration.members.map((member) => [member.name, member]))
    this.current = ringOf(configuration, 'positions')
    this.wanted = configuration.stage === 'rest' ? this.current : ringOf(configuration, 'wanted')
  }
}
