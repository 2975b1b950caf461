/**
 * What this node and each other one know of each other on their present stream: which configuration the other was told,
 * whose memory it has, and, after a restart with a disk, whether it has sent what it kept for this node. A stream
 * begins with a greeting that says whose memory a node has; before it has come, nothing is asked of that node.
 */
import { findMember } from '../../core/placement/ring-configuration.js'
import type { Peer } from '../peers.js'
import type { RingCluster } from './cluster.js'

export class Acquaintances {
  readonly #cluster: RingCluster
  readonly #told = new Map<string, number>()
  readonly #memories = new Map<string, number>()
  readonly #owing = new Set<string>()

  constructor(cluster: RingCluster) {
    this.#cluster = cluster
  }

  /** The life of the process whose memory it has; 0 while it has not said. */
  memoryOf(name: string): number {
    return this.#memories.get(name) ?? 0
  }

  greet(peer: Peer): void {
    const { peers, memory, now } = this.#cluster
    this.#told.delete(peer.name)
    peers.send(peer, { kind: 'ringHello', memory }, now)
  }

  greetedBy(peer: Peer, memory: number): void {
    this.#memories.set(peer.name, memory)
  }

  /** Its process is another one: it knows nothing, and has not said who it is. */
  restarted(name: string): void {
    this.#told.delete(name)
    this.#memories.delete(name)
  }

  /** Says what the ring is now, to one that may not know it. */
  tell(peer: Peer): void {
    const { configuration, peers, now } = this.#cluster
    if (configuration.version === 0 || peer.stream.peerLife === 0) return
    if ((this.#told.get(peer.name) ?? 0) >= configuration.version) return
    const message = { kind: 'ringConfig', cluster: peers.cluster, configuration } as const
    if (peers.send(peer, message, now) > 0) this.#told.set(peer.name, configuration.version)
  }

  /** Nothing new is told to those who are on the ring no more. */
  markLeft(): void {
    const { configuration, peers } = this.#cluster
    for (const peer of peers.all()) {
      const left = findMember(configuration, peer.name) === undefined
      if (left && !peer.left) this.tell(peer)
      // What one that had left was told while it could not be heard was thrown away, the greeting perhaps with it.
      if (!left && peer.left && peer.stream.peerLife !== 0) this.greet(peer)
      peer.left = left
    }
  }

  /** Reads will go to those who come: whoever coordinates must be able to ask them by then. */
  get hasMetNewcomers(): boolean {
    const { configuration, config } = this.#cluster
    return configuration.members.every(({ name, life, positions, wanted }) => {
      if (positions.length > 0 || wanted.length === 0 || name === config.name) return true
      return this.memoryOf(name) === life
    })
  }

  /** It may have kept something for this node, which has been away. */
  expect(name: string): void {
    this.#owing.add(name)
  }

  get isOwed(): boolean {
    return this.#owing.size > 0
  }

  /** It has sent everything. */
  paid(name: string): void {
    this.#owing.delete(name)
  }

  /** Nothing is waited for from those who have left or cannot be heard. */
  writeOff(): void {
    const { config, configuration } = this.#cluster
    for (const name of this.#owing) {
      const isMember = findMember(configuration, name) !== undefined
      if (!isMember || this.#cluster.silentMs(name) > config.deadAfterMs) this.#owing.delete(name)
    }
  }
}
