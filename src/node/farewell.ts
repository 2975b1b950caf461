/**
 * A node that leaves goes only when the others know that it does. Whoever does not know may still make a voter of it, which
 * then never answers: a node that could hear but was not heard went at once, and its cluster was short of a voter for
 * ever (seed 310656).
 */
import type { NodeName } from '../core/ids.js'
import type { MemberRecord } from '../core/membership/members.js'
import type { Cluster } from './cluster.js'
import type { Peer } from './peers.js'

export class Farewell {
  readonly #cluster: Cluster
  /** The frame by which each of them is told. */
  readonly #told = new Map<Peer, number>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** Tells who has not been told; true when all that can be heard have taken it in, and enough of the voters. */
  isKnown(record: MemberRecord, isQuorum: (has: (name: NodeName) => boolean) => boolean): boolean {
    const { peers, now } = this.#cluster
    let isMissing = false
    for (const peer of peers.all()) {
      if (peer.left || !peer.isOpen || peer.stream.peerLife === 0) continue
      if (!this.#told.has(peer)) {
        this.#told.set(peer, peers.send(peer, { kind: 'members', members: [record] }, now))
      }
      if (!this.#knows(peer)) isMissing = true
    }
    return !isMissing && isQuorum((name) => this.#knows(peers.get(name)))
  }

  /** It may be another process when it comes back. */
  gone(peer: Peer): void {
    this.#told.delete(peer)
  }

  #knows(peer: Peer | undefined): boolean {
    const frame = peer === undefined ? undefined : this.#told.get(peer)
    return peer !== undefined && frame !== undefined && peer.stream.acked >= frame
  }
}
