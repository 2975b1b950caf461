/**
 * Questions to all other nodes about themselves: who listens there, and deliver this. Each is a command as RESP that is
 * answered at once; a node that cannot be heard does not count, and one that goes while it is asked does not either.
 */
import type { Cluster } from '../cluster.js'
import type { Peer } from '../peers.js'
import type { Slot } from '../session.js'

interface Poll {
  readonly slot: Slot
  readonly missing: Set<Peer>
  readonly replies: Uint8Array[]
  readonly done: (replies: readonly Uint8Array[]) => void
}

export class Polls {
  readonly #cluster: Cluster
  readonly #open = new Map<number, Poll>()
  #nextId = 1

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** The replies of those that answered, in no order. */
  begin(slot: Slot, request: Uint8Array, done: Poll['done']): void {
    const { peers, now } = this.#cluster
    const missing = new Set<Peer>()
    const id = this.#nextId++
    for (const peer of peers.all()) {
      if (!peer.isOpen || peer.left || peer.stream.peerLife === 0) continue
      if (peers.send(peer, { kind: 'ask', id, payload: request }, now) > 0) missing.add(peer)
    }
    if (missing.size === 0) done([])
    else this.#open.set(id, { slot, missing, replies: [], done })
  }

  /** The slot that may have been answered by this. */
  told(peer: Peer, id: number, reply: Uint8Array): Slot | undefined {
    const poll = this.#open.get(id)
    if (poll?.missing.delete(peer) !== true) return undefined
    poll.replies.push(reply)
    this.#finish(id, poll)
    return poll.slot
  }

  /** Nobody waits for its answers any more. */
  peerGone(peer: Peer): Slot[] {
    const slots: Slot[] = []
    for (const [id, poll] of this.#open) {
      if (!poll.missing.delete(peer)) continue
      this.#finish(id, poll)
      slots.push(poll.slot)
    }
    return slots
  }

  #finish(id: number, { missing, replies, done }: Poll): void {
    if (missing.size > 0) return
    this.#open.delete(id)
    done(replies)
  }
}
