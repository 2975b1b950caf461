/**
 * The second port, at which backups answer reads (`--replica-port`). To a Redis Cluster client one address has one role,
 * so the backups of a node can only be named under an address of their own. Each node tells the others it
 * meets where that is; CLUSTER SLOTS names those whose nodes can be heard.
 *
 * What a backup answers may be behind: it has every write that was acknowledged with `acks=all`, at the latest when the
 * writer hears of it, and it may show one that is not acknowledged yet. A node that may not serve as a primary, since it does not
 * hear a majority, does not answer as a backup either, so under `majority` what it says is never older than a lease.
 *
 *   OC.REPLICA name life address       where the backups of a node answer, in this life of it
 */
import { latin1Bytes } from '../../core/bytes.js'
import type { NodeName } from '../../core/ids.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { Cluster } from '../cluster.js'
import type { Peer } from '../peers.js'

/** A question to which nobody waits for the answer. */
const NO_QUESTION = 0

export class Replicas {
  readonly #cluster: Cluster
  readonly #addresses = new Map<NodeName, { address: string; life: number }>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    const { name, life, replicaAddress } = cluster.config
    if (replicaAddress !== '') this.learn(name, life, replicaAddress)
  }

  /** Whether there are any to name. */
  get any(): boolean {
    return this.#addresses.size > 0
  }

  learn(name: NodeName, life: number, address: string): void {
    this.#addresses.set(name, { address, life })
  }

  /** Where a node's backups answer; undefined if nowhere, or if the node cannot be heard. */
  addressOf(name: NodeName): string | undefined {
    const known = this.#addresses.get(name)
    if (known === undefined) return undefined
    const { config, peers } = this.#cluster
    const peer = peers.get(name)
    const isHeard = peer?.isOpen === true && peer.stream.peerLife === known.life
    return name === config.name || isHeard ? known.address : undefined
  }

  tell(peer: Peer): void {
    const { config, peers, now } = this.#cluster
    const { name, life, replicaAddress } = config
    if (replicaAddress === '') return
    const words = ['oc.replica', name, String(life), replicaAddress].map(latin1Bytes)
    peers.send(peer, { kind: 'ask', id: NO_QUESTION, payload: encodeArguments(words) }, now)
  }
}
