/**
 * What comes from other nodes, and which part takes it. What makes the ring (greetings, wishes, decisions) is taken at any
 * time; what is about records only by those who are on it, or were.
 */
import type { RingConfiguration } from '../../core/placement/ring-configuration.js'
import type { Message } from '../../wire/peer/message.js'
import { isRingMessage, type RingMessage } from '../../wire/peer/ring.js'
import type { Peer, PeerHandlers } from '../peers.js'
import type { RingCluster } from './cluster.js'
import type { Comparison } from './comparison.js'
import type { Hints } from './hints.js'
import type { Offers } from './offers.js'
import type { Pulse, PulseParts } from './pulse.js'
import type { Replica } from './replica.js'
import type { Scans } from './scans.js'

export interface ReceptionParts extends PulseParts {
  readonly comparison: Comparison
  readonly hints: Hints
  readonly offers: Offers
  readonly pulse: Pulse
  readonly replica: Replica
  readonly scans: Scans
  readonly adopt: (configuration: RingConfiguration) => void
}

export class Reception implements PeerHandlers {
  readonly #cluster: RingCluster
  readonly #parts: ReceptionParts

  constructor(cluster: RingCluster, parts: ReceptionParts) {
    this.#cluster = cluster
    this.#parts = parts
  }

  met(peer: Peer): void {
    const { joined, now, peers } = this.#cluster
    const { acquaintances, standing } = this.#parts
    acquaintances.greet(peer)
    if (joined) acquaintances.tell(peer)
    if (!standing.isWishing) return
    peers.send(peer, { kind: 'ringWish', member: standing.record }, now)
  }

  /** Its place in the ring says it. */
  hasLeft(): boolean {
    return false
  }

  restarted({ name }: Peer): void {
    const { acquaintances, coordinator, hints } = this.#parts
    acquaintances.restarted(name)
    hints.restarted(name)
    coordinator.peerGone(name)
  }

  returned(peer: Peer): void {
    const { joined, outbox } = this.#cluster
    outbox.event({ kind: 'returned', node: peer.name })
    if (joined) this.#parts.acquaintances.tell(peer)
    this.#parts.hints.deliver(peer.name)
  }

  acked(): void {
    // Whoever waits for an acknowledgement looks for it by itself.
  }

  message(peer: Peer, message: Message): void {
    const { config, joined, outbox } = this.#cluster
    if (!isRingMessage(message)) {
      const reason = `${peer.name} is a node of another kind: the placement is not the same`
      const isAsked = !joined && config.join.includes(peer.address)
      const node = isAsked ? config.name : peer.name
      outbox.event({ kind: 'peerError', node, reason })
      return
    }
    if (this.#takeControl(peer, message)) return
    // One that has left still answers the clients it has.
    if (this.#cluster.joined || this.#parts.standing.gone) this.#takeData(peer, message)
  }

  #takeControl(peer: Peer, message: RingMessage): boolean {
    const { acquaintances, pulse, steward, succession, adopt } = this.#parts
    switch (message.kind) {
      case 'ringHello':
        this.#takeGreeting(peer, message.memory)
        return true
      case 'ringHinted':
        acquaintances.paid(peer.name)
        pulse.noticePaid()
        return true
      case 'ringBeat': {
        const { version, filled, drained, records } = message
        const life = acquaintances.memoryOf(peer.name)
        steward.report(peer.name, { life, version, filled, drained, records })
        return true
      }
      case 'ringWish':
        pulse.onWish(message.member)
        return true
      case 'ringConfig': {
        const { peers } = this.#cluster
        if (peers.cluster === 0) peers.cluster = message.cluster
        if (peers.cluster === message.cluster) adopt(message.configuration)
        return true
      }
      case 'ringPrepare':
      case 'ringPromise':
      case 'ringPropose':
      case 'ringAccepted':
        if (this.#cluster.joined) succession.onMessage(peer, message)
        return true
      default:
        return false
    }
  }

  /** What was kept for it goes first, before anything is asked of it. */
  #takeGreeting(peer: Peer, memory: number): void {
    const { joined, now, peers } = this.#cluster
    const { acquaintances, hints } = this.#parts
    acquaintances.greetedBy(peer, memory)
    if (joined) acquaintances.tell(peer)
    hints.deliver(peer.name)
    peers.send(peer, { kind: 'ringHinted' }, now)
  }

  #takeData(peer: Peer, message: RingMessage): void {
    switch (message.kind) {
      case 'ringRead':
        this.#parts.replica.onRead(peer, message)
        return
      case 'ringWrite':
        this.#parts.replica.onWrite(peer, message)
        return
      case 'ringItems': {
        const { clock, records, now } = this.#cluster
        clock.observe(records.applyAll(message.payload, now))
        return
      }
      case 'ringValue':
        this.#parts.coordinator.onValue(peer, message)
        return
      case 'ringWritten':
        this.#parts.coordinator.onWritten(peer, message)
        return
      case 'ringPull':
        this.#parts.fill.onPull(peer, message)
        return
      case 'ringPulled':
        this.#parts.fill.onPulled(peer, message)
        return
      case 'ringFetch':
        this.#parts.fill.onFetch(peer, message.keys)
        return
      case 'ringDigests':
        this.#parts.comparison.onDigests(peer, message)
        return
      case 'ringDiffer':
        this.#parts.comparison.onDiffer(peer, message)
        return
      case 'ringOffer':
        this.#parts.offers.onOffer(peer, message)
        return
      case 'ringLacks':
        this.#parts.offers.onLacks(peer, message)
        return
      case 'ringScan':
        this.#parts.scans.onScan(peer, message)
        return
      case 'ringScanned':
        this.#parts.scans.onScanned(peer, message)
    }
  }
}
