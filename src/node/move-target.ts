/**
 * The side of a move that receives. The copy is nobody's until the row names this node: it can be dropped before, but
 * once it has everything only the row tells whether it is a real one, so that is found out before it goes.
 */
import { ByteReader } from '../core/bytes.js'
import type { RuleSet } from '../core/placement/rule.js'
import { decodeItem, Item } from '../store/item.js'
import type { Key } from '../store/key.js'
import type { Message } from '../wire/peer/message.js'
import { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { SideHandlers } from './move-source.js'
import type { Peer } from './peers.js'

interface Incoming {
  readonly id: number
  readonly peer: Peer
  /** One, or its pieces after a split; those whose row names this node leave the list. */
  states: BucketState[]
  progressMs: number
  /** It is being found out whether the rows name this node. */
  resolving: boolean
}

export interface TargetHandlers {
  /** Makes sure that a change which another node may have begun never comes to be, and says whether it is sure. */
  touch(bucket: number, reason: string, done: (settled: boolean) => void): void
}

export class MoveTarget {
  readonly #cluster: Cluster
  readonly #rules: RuleSet
  readonly #handlers: TargetHandlers
  readonly #side: SideHandlers
  readonly #item = new Item()
  readonly #key: Key
  #incoming: Incoming | undefined

  constructor(
    cluster: Cluster,
    { rules, handlers, side }: { rules: RuleSet; handlers: TargetHandlers; side: SideHandlers }
  ) {
    this.#cluster = cluster
    this.#rules = rules
    this.#handlers = handlers
    this.#side = side
    this.#key = cluster.store.createKey()
  }

  get isEngaged(): boolean {
    return this.#incoming !== undefined
  }

  isIncoming(bucket: number): boolean {
    return this.#incoming?.states.some((state) => state.id === bucket) === true
  }

  /** `isBusy`: this node is in a transfer already. */
  onOffer(peer: Peer, message: Extract<Message, { kind: 'offer' }>, isBusy: boolean): void {
    const { table, peers, now, store, buckets } = this.#cluster
    const { move, bucket } = message
    const refusal = isBusy ? 'already in a transfer' : this.#refusal(message)
    if (refusal !== undefined) {
      peers.send(peer, { kind: 'busy', move, reason: refusal }, now)
      return
    }
    store.drop(bucket)
    const items = store.open(bucket)
    const state = new BucketState(items, {
      mask: table.mask,
      role: 'incoming',
      epoch: message.epoch
    })
    state.source = peer.name
    buckets[bucket] = state
    this.#incoming = { id: move, peer, states: [state], progressMs: now, resolving: false }
    this.#side.changed()
    peers.send(peer, { kind: 'accept', move }, now)
  }

  /** Why an offer cannot be taken now; undefined if it can. */
  #refusal(offer: Extract<Message, { kind: 'offer' }>): string | undefined {
    const { table, view, buckets } = this.#cluster
    if (offer.mask !== table.mask) return 'another mask'
    if (buckets[offer.bucket] !== undefined) return 'already held here'
    const { bucket, beyondShare, role } = offer
    const action = { kind: 'move', bucket, to: view.self, copy: role, beyondShare } as const
    const verdict = this.#rules.accept(view, action)
    return verdict.allow ? undefined : verdict.reason
  }

  onItems(peer: Peer, id: number, payload: Uint8Array): void {
    const incoming = this.#incomingOf(peer, id)
    if (incoming === undefined) return
    incoming.progressMs = this.#cluster.now
    const reader = ByteReader.over(payload)
    const item = this.#item
    while (reader.remaining > 0) {
      decodeItem(reader, item)
      const { bytes, view, offset, length } = item.key
      this.#key.set(bytes, view, offset, length, item.placementHash)
      this.#cluster.clock.observe(item.version)
      incoming.states[0].items.applyItem(this.#key, item)
    }
  }

  onCaughtUp(peer: Peer, message: Extract<Message, { kind: 'caughtUp' }>): void {
    const { move: id, seq, parted } = message
    const incoming = this.#incomingOf(peer, id)
    if (incoming === undefined) return
    incoming.progressMs = this.#cluster.now
    incoming.states[0].caughtUp = true
    incoming.states[0].seq = seq
    incoming.states[0].part(parted)
  }

  onCancel(peer: Peer, id: number): void {
    const incoming = this.#incomingOf(peer, id)
    if (incoming !== undefined) this.#dropIncoming(incoming)
  }

  /** The row of the bucket now names this node: the copy that came in is a real one. */
  arrived(bucket: number): void {
    const incoming = this.#incoming
    if (incoming === undefined) return
    incoming.states = incoming.states.filter((state) => state.id !== bucket)
    this.#cluster.view.lastTransfer = bucket
    if (incoming.states.length > 0) return
    this.#incoming = undefined
    this.#side.changed()
    this.#side.ended(true)
  }

  /**
   * A copy on its way here was cut in pieces with everything else. It has everything by then, so that only the
   * source knows whether the row is changed already: it is kept until the source says.
   */
  split(children: BucketState[]): void {
    if (this.#incoming !== undefined) this.#incoming.states = children
  }

  tick(): void {
    const { now, config } = this.#cluster
    const incoming = this.#incoming
    if (incoming === undefined || now - incoming.progressMs <= 2 * config.moveStallMs) return
    this.giveUp('the source is silent')
    if (this.#incoming === incoming) this.#loseSource(incoming)
  }

  peerGone(peer: Peer): void {
    if (this.#incoming?.peer === peer) this.#loseSource(this.#incoming)
  }

  /** Not once it has everything: then the row may be changed already, and only the source can tell. */
  giveUp(reason: string): void {
    const incoming = this.#incoming
    if (incoming === undefined || incoming.states.some((state) => state.caughtUp)) return
    const { peers, now } = this.#cluster
    peers.send(incoming.peer, { kind: 'cancel', move: incoming.id, reason }, now)
    this.#dropIncoming(incoming)
  }

  /** The source is gone. A copy that has everything may be a real one by now: that is found out first. */
  #loseSource(incoming: Incoming): void {
    if (!incoming.states.some((state) => state.caughtUp)) {
      this.#dropIncoming(incoming)
      return
    }
    if (incoming.resolving) return
    incoming.resolving = true
    // Should it come to nothing now, it is tried again soon.
    incoming.progressMs = -Infinity
    const { table, config, self } = this.#cluster
    let left = incoming.states.length
    let certain = true
    for (const { id } of [...incoming.states]) {
      this.#handlers.touch(id, `${config.name} lost the source of its copy`, (settled) => {
        certain &&= settled
        if (--left > 0 || this.#incoming !== incoming) return
        incoming.resolving = false
        const named = incoming.states.some((state) => table.isHolder(state.id, self))
        if (certain && !named) this.#dropIncoming(incoming)
      })
    }
  }

  #dropIncoming(incoming: Incoming): void {
    const { buckets, store } = this.#cluster
    for (const state of incoming.states) {
      if (buckets[state.id] !== state) continue
      buckets[state.id] = undefined
      store.drop(state.id)
    }
    this.#incoming = undefined
    this.#side.changed()
    this.#side.ended(false)
  }

  #incomingOf(peer: Peer, id: number): Incoming | undefined {
    return this.#incoming?.peer === peer && this.#incoming.id === id ? this.#incoming : undefined
  }
}
