/**
 * What a node of a ring does with every beat: it wishes for what the configuration does not say of it yet, tells the
 * others how far it is, notices who has fallen silent, and brings a change forward if that is up to it.
 */
import { findMember, type RingMemberRecord } from '../../core/placement/ring-configuration.js'
import type { Acquaintances } from './acquaintances.js'
import type { RingCluster } from './cluster.js'
import type { Coordinator } from './coordinator.js'
import type { Fill } from './fill.js'
import type { Standing } from './standing.js'
import type { Steward } from './steward.js'
import type { Succession } from './succession.js'

export interface PulseParts {
  readonly acquaintances: Acquaintances
  readonly coordinator: Coordinator
  readonly fill: Fill
  readonly standing: Standing
  readonly steward: Steward
  readonly succession: Succession
}

export class Pulse {
  readonly #cluster: RingCluster
  readonly #parts: PulseParts
  #nextMs = 0

  constructor(cluster: RingCluster, parts: PulseParts) {
    this.#cluster = cluster
    this.#parts = parts
  }

  get deadline(): number {
    return this.#nextMs
  }

  start(now: number): void {
    this.#nextMs = now
  }

  tick(): void {
    this.beat()
    this.#noticeSilence()
    this.#conduct()
  }

  beat(): void {
    const { config, configuration, joined, memory, now, peers, records } = this.#cluster
    const { acquaintances, fill, standing, steward } = this.#parts
    this.#nextMs = now + config.heartbeatMs
    if (standing.gone) return
    standing.wish()
    if (!joined) return
    if (acquaintances.isOwed) this.noticePaid()
    const others = configuration.members.filter(({ name }) => name !== config.name)
    if (others.every(({ name }) => this.#cluster.isUp(name))) peers.forgetContacts()
    this.wishAway()
    const own = {
      version: configuration.version,
      filled: fill.done && acquaintances.hasMetNewcomers,
      drained: records.count === 0,
      records: records.count
    }
    steward.report(config.name, { life: memory, ...own })
    peers.broadcast({ kind: 'ringBeat', ...own }, now)
  }

  /** It serves once everyone who can be heard has sent what it kept for it. */
  noticePaid(): void {
    const { acquaintances, standing } = this.#parts
    acquaintances.writeOff()
    if (!acquaintances.isOwed) standing.adopted()
  }

  /** What this node itself wants to be, to everyone. */
  tellWish(member: RingMemberRecord): void {
    const { peers, now } = this.#cluster
    this.#parts.steward.wish(member)
    for (const peer of peers.all()) {
      if (peer.stream.peerLife !== 0) peers.send(peer, { kind: 'ringWish', member }, now)
    }
  }

  /** Somebody's wish. Passed on, since it is the steward that must hear of it. */
  onWish(member: RingMemberRecord): void {
    const { joined, peers, now } = this.#cluster
    if (!joined || !this.#parts.steward.wish(member)) return
    peers.broadcast({ kind: 'ringWish', member }, now)
  }

  /** Those a person has given up are to leave, and cannot say so themselves. */
  wishAway(): void {
    for (const name of this.#parts.succession.forgotten) {
      const member = findMember(this.#cluster.configuration, name)
      if (member !== undefined) this.onWish({ ...member, wanted: [], leaving: true })
    }
  }

  #noticeSilence(): void {
    const { config, configuration, now, outbox, peers } = this.#cluster
    for (const peer of peers.all()) {
      if (peer.dead || findMember(configuration, peer.name) === undefined) continue
      if (now - peer.lastHeardMs <= config.deadAfterMs) continue
      peer.dead = true
      outbox.event({ kind: 'died', node: peer.name })
      this.#parts.coordinator.peerGone(peer.name)
    }
  }

  /** Brings a change of the ring forward, if that is up to this node. */
  #conduct(): void {
    const { steward, succession } = this.#parts
    if (!this.#cluster.joined || !succession.ready || !steward.isSteward) return
    const next = steward.decide()
    if (next !== undefined) succession.propose(next)
  }
}
