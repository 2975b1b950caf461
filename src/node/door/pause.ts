/**
 * CLIENT PAUSE: nobody's commands, or nobody's writes, are begun for a while. The cluster is one server to its clients, so
 * a pause is for the clients of all nodes: each node holds back what its own clients send, and a write of another node's
 * client that was on its way when the pause came is given back to be held there. Nodes that come later are told
 * when they are met.
 *
 *   OC.PAUSE ms all|write       so long from when it is heard; 0 ends it
 */
import { latin1Bytes } from '../../core/bytes.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { Cluster } from '../cluster.js'
import type { Peer } from '../peers.js'

export type Paused = 'all' | 'write'

/** A question to which nobody waits for the answer. */
const NO_QUESTION = 0

export function encodePause(ms: number, what: Paused): Uint8Array {
  return encodeArguments(['oc.pause', String(ms), what].map(latin1Bytes))
}

export class Pause {
  readonly #cluster: Cluster
  #untilMs = 0
  #what: Paused = 'all'

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** One that is on does not become shorter or less; 0 ends it. */
  begin(ms: number, what: Paused): void {
    const { now } = this.#cluster
    const on = ms > 0 && this.#untilMs > now
    this.#what = on && this.#what === 'all' ? 'all' : what
    this.#untilMs = on ? Math.max(this.#untilMs, now + ms) : now + ms
  }

  get untilMs(): number {
    return this.#untilMs
  }

  /** Nothing is to be begun. */
  get ofAll(): boolean {
    return this.#what === 'all' && this.#untilMs > this.#cluster.now
  }

  get ofWrites(): boolean {
    return this.#untilMs > this.#cluster.now
  }

  /** A node that may not have heard of it. */
  tell(peer: Peer): void {
    const { now, peers } = this.#cluster
    if (!this.ofWrites) return
    const payload = encodePause(Math.ceil(this.#untilMs - now), this.#what)
    peers.send(peer, { kind: 'ask', id: NO_QUESTION, payload }, now)
  }
}
