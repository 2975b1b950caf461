/**
 * Who watches which keys. Every node knows all watches of the cluster: each tells its own clients' to all
 * others, whole, whenever they change or a node is new. So whichever node is primary of a bucket can tell the
 * watchers, and nothing has to travel with a bucket when it moves, switches or splits.
 */
import type { NodeName } from '../core/ids.js'
import { latin1String } from '../core/bytes.js'
import type { Change } from '../commands/call.js'
import { matchesGlob } from '../commands/glob.js'
import type { Key } from '../store/key.js'
import type { Watch } from '../wire/peer/message.js'
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { Peer } from './peers.js'

/** Per node; a client that wants more gets an error at its door. */
export const WATCHES_MAX = 10_000

interface OwnWatch extends Watch {
  readonly session: number
}

export class Watches {
  readonly #cluster: Cluster
  #own: OwnWatch[] = []
  readonly #others = new Map<NodeName, readonly Watch[]>()
  readonly #writer = new ReplyWriter({ protocol: 3 })

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  get any(): boolean {
    return this.#own.length > 0 || this.#others.size > 0
  }

  /** Idempotent: the same client and pattern count once. False if there are too many. */
  add(watch: OwnWatch, now: number): boolean {
    const same = (other: OwnWatch): boolean =>
      other.client === watch.client && other.pattern === watch.pattern
    if (this.#own.length >= WATCHES_MAX && !this.#own.some(same)) return false
    this.#own = [...this.#own.filter((other) => !same(other)), watch]
    this.#cluster.peers.broadcast({ kind: 'watches', watches: this.#own }, now)
    return true
  }

  closeSession(session: number): void {
    const kept = this.#own.filter((watch) => watch.session !== session)
    if (kept.length === this.#own.length) return
    this.#own = kept
    this.#cluster.peers.broadcast({ kind: 'watches', watches: kept }, this.#cluster.now)
  }

  /** A new node, or a new life of one, has to know. */
  tell(peer: Peer, now: number): void {
    if (this.#own.length > 0)
      this.#cluster.peers.send(peer, { kind: 'watches', watches: this.#own }, now)
  }

  learn(peer: Peer, watches: readonly Watch[]): void {
    if (watches.length === 0) this.#others.delete(peer.name)
    else this.#others.set(peer.name, watches)
  }

  peerGone(peer: Peer): void {
    this.#others.delete(peer.name)
  }

  /** Tells everyone who watches the key; called on its primary, right after the write. */
  notify(state: BucketState, key: Key, change: Change): void {
    const name = latin1String(key.bytes, key.offset, key.length)
    let payload: Uint8Array | undefined
    for (const watch of this.#own) {
      if (!matchesGlob(watch.pattern, name)) continue
      payload ??= this.#encode(state, change, name)
      this.#cluster.outbox.output(watch.session, payload)
    }
    for (const [node, watches] of this.#others) {
      const peer = this.#cluster.peers.get(node)
      if (peer === undefined) continue
      const told = new Set<string>()
      for (const watch of watches) {
        if (told.has(watch.client) || !matchesGlob(watch.pattern, name)) continue
        told.add(watch.client)
        payload ??= this.#encode(state, change, name)
        this.#cluster.peers.send(
          peer,
          { kind: 'event', client: watch.client, payload },
          this.#cluster.now
        )
      }
    }
  }

  /** An event from the primary for a client that is connected here. */
  deliver(client: string, payload: Uint8Array): void {
    const watch = this.#own.find((own) => own.client === client)
    if (watch !== undefined) this.#cluster.outbox.output(watch.session, payload)
  }

  /** A push: oc.event, the bucket, its write number, what happened, the key. */
  #encode(state: BucketState, change: Change, name: string): Uint8Array {
    const writer = this.#writer
    writer.reset()
    writer.push(5)
    writer.bulkString('oc.event')
    writer.integer(state.id)
    writer.integer(state.seq)
    writer.bulkString(change)
    writer.bulkString(name)
    return writer.bytes.slice(0, writer.length)
  }
}
