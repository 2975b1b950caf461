/**
 * After a cut in which both sides went on (policy `available`): the side whose row lost gives what it has, item by item,
 * to the bucket's new primary, which takes what is newer than its own as a write like any other. A copy is only
 * dropped when all of it has been taken in; until then nothing else happens to it. Where both sides wrote a key since
 * they parted, one of the two is dropped, and that is told.
 *
 * Of three sides the third may name a node that has given its copy away by then. It begins with nothing and serves when the
 * one that has the copy has given all of it back.
 */
import { ByteReader, ByteWriter, compareBytes, latin1Bytes } from '../core/bytes.js'
import type { CopyCursor } from '../store/copy-cursor.js'
import { decodeItem, Item } from '../store/item.js'
import type { Key } from '../store/key.js'
import type { Message } from '../wire/peer/message.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { Copies } from './copies.js'
import type { Peer } from './peers.js'
import type { Gate } from './segment.js'

const BATCH_RECORDS = 500
const OC_MERGE = latin1Bytes('oc.merge')

interface Merge {
  readonly state: BucketState
  peer: Peer | undefined
  cursor: CopyCursor | undefined
  /** The frame with the last piece sent. */
  frame: number
  /** All is sent; the answer is awaited. */
  complete: boolean
  /** When to begin again. */
  retryMs: number
}

/** All that a node has was taken in; it may drop it when every copy here has it. */
interface Taken {
  readonly peer: Peer
  readonly bucket: number
  readonly mask: number
  readonly state: BucketState
  readonly gates: readonly Gate[]
}

export interface MergeHandlers {
  /** Makes the bucket, which this node should have and has not, to be filled by that node; not where it is about to go. */
  startFor(giver: Peer, bucket: number): BucketState | undefined
  release(state: BucketState): void
}

export class Merges {
  readonly #cluster: Cluster
  readonly #copies: Copies
  readonly #handlers: MergeHandlers
  readonly #merges = new Map<number, Merge>()
  /** One a giver and bucket at the most: who gives waits for the answer. */
  #taken: Taken[] = []
  readonly #writer = new ByteWriter(16 * 1024)
  readonly #item = new Item()
  readonly #key: Key
  /** Keys of which one of two versions was dropped here. */
  conflicts = 0

  constructor(cluster: Cluster, copies: Copies, handlers: MergeHandlers) {
    this.#cluster = cluster
    this.#copies = copies
    this.#handlers = handlers
    this.#key = cluster.store.createKey()
  }

  get busy(): boolean {
    return this.#merges.size > 0 || this.#taken.length > 0
  }

  begin(state: BucketState): void {
    // It may have been the primary's again in between, and nobody has looked at this since.
    this.#merges.get(state.id)?.cursor?.close()
    this.#merges.set(state.id, {
      state,
      peer: undefined,
      cursor: undefined,
      frame: 0,
      complete: false,
      retryMs: 0
    })
  }

  /** Another node is primary now, or something was lost on the way: from the beginning. */
  restart(bucket: number): void {
    const merge = this.#merges.get(bucket)
    if (merge === undefined) return
    merge.cursor?.close()
    merge.cursor = undefined
    merge.peer = undefined
    merge.complete = false
    merge.retryMs = this.#cluster.now + this.#cluster.config.heartbeatMs
  }

  peerGone(peer: Peer): void {
    for (const [bucket, merge] of this.#merges) if (merge.peer === peer) this.restart(bucket)
    this.#taken = this.#taken.filter((taken) => taken.peer !== peer)
    // What it has not given it still has: the bucket goes on with what there is, and the rest is merged when it is back.
    for (const state of this.#cluster.buckets) if (state?.filling === peer) this.#filled(state)
  }

  /** Before a split, in which no bucket may be under way. */
  suspend(): void {
    for (const bucket of this.#merges.keys()) this.restart(bucket)
    this.#merges.clear()
    this.#taken = []
  }

  /** After it: the pieces go on. */
  resume(): void {
    for (const state of this.#cluster.buckets) if (state?.role === 'merging') this.begin(state)
  }

  tick(): void {
    for (const merge of [...this.#merges.values()]) this.#advance(merge)
    if (this.#taken.length > 0) this.#answer()
  }

  onMerge(peer: Peer, message: Extract<Message, { kind: 'merge' }>): void {
    const { table, peers, now } = this.#cluster
    const { bucket, mask, last } = message
    const state = mask === table.mask ? this.#taker(peer, bucket) : undefined
    if (state !== undefined) this.#take(state, message.payload)
    if (last && state?.filling === peer) this.#filled(state)
    if (state === undefined) {
      peers.send(peer, { kind: 'merged', bucket, mask, done: false }, now)
      return
    }
    if (!last) return
    const gates: Gate[] = []
    this.#copies.gateWrite(state, gates)
    this.#taken = this.#taken.filter((taken) => taken.peer !== peer || taken.bucket !== bucket)
    this.#taken.push({ peer, bucket, mask, state, gates })
    this.#answer()
  }

  /** A giver drops its copy at once, so it is told only when what it gave cannot be lost with this node alone. */
  #answer(): void {
    const { buckets, peers, now } = this.#cluster
    this.#taken = this.#taken.filter(({ peer, bucket, mask, state, gates }) => {
      const isHere = buckets[bucket] === state && state.role === 'primary'
      if (isHere && !gates.every((gate) => gate.peer.hasProcessed(gate.frame))) return true
      peers.send(peer, { kind: 'merged', bucket, mask, done: isHere }, now)
      return false
    })
  }

  onMerged(peer: Peer, message: Extract<Message, { kind: 'merged' }>): void {
    const { table, peers, buckets, store, now, self } = this.#cluster
    const { bucket } = message
    const merge = this.#merges.get(bucket)
    if (merge?.peer !== peer || message.mask !== table.mask) return
    // While it is decided whether this node takes over, its copy may be what it takes over with.
    if (!message.done || !merge.complete || this.#cluster.isDeciding(bucket)) {
      this.restart(bucket)
      return
    }
    merge.cursor?.close()
    this.#merges.delete(bucket)
    if (buckets[bucket] !== merge.state) return
    buckets[bucket] = undefined
    store.drop(bucket)
    // If the row still names this node, it wants a fresh copy.
    if (!table.isHolder(bucket, self)) return
    peers.send(peer, { kind: 'behind', bucket, epoch: table.epochOf(bucket) }, now)
  }

  #advance(merge: Merge): void {
    const { table, config, peers, buckets, now } = this.#cluster
    const { state } = merge
    if (buckets[state.id] !== state || state.role !== 'merging') {
      merge.cursor?.close()
      this.#merges.delete(state.id)
      return
    }
    if (merge.complete || now < merge.retryMs) return
    const peer = merge.peer ?? this.#cluster.peerOf(table.primaryOf(state.id))
    if (peer?.isOpen !== true) return
    merge.peer = peer
    merge.cursor ??= state.items.openCopy()
    if (peer.stream.unackedBytes > config.copyWindowBytes && !peer.hasProcessed(merge.frame)) return
    const writer = this.#writer
    writer.reset()
    merge.cursor.next(BATCH_RECORDS, config.copyBatchBytes, (ref) => {
      state.items.encodeItem(ref, writer)
    })
    const last = merge.cursor.done
    merge.complete = last
    const [bucket, mask, payload] = [state.id, table.mask, writer.copy()]
    merge.frame = peers.send(peer, { kind: 'merge', bucket, mask, last, payload }, now)
  }

  /** The bucket that takes in what the peer has of it, if this is the place for it. */
  #taker(peer: Peer, bucket: number): BucketState | undefined {
    const { buckets, table, self, byMajority } = this.#cluster
    const state = buckets[bucket]
    if (state?.role === 'primary') return state.handing || state.conceded ? undefined : state
    if (state !== undefined || byMajority || table.primaryOf(bucket) !== self) return undefined
    return this.#handlers.startFor(peer, bucket)
  }

  #filled(state: BucketState): void {
    state.filling = undefined
    if (!state.holding) this.#handlers.release(state)
  }

  /** Takes what is newer. */
  #take(state: BucketState, payload: Uint8Array): void {
    const { clock } = this.#cluster
    const reader = ByteReader.over(payload)
    const item = this.#item
    while (reader.remaining > 0) {
      const from = reader.offset
      decodeItem(reader, item)
      const { version } = item
      clock.observe(version)
      const { bytes, view, offset, length } = item.key
      this.#key.set(bytes, view, offset, length, item.placementHash)
      const ref = state.items.findAny(this.#key)
      const own = ref === 0 ? 0 : state.items.versionOf(ref)
      const key = item.key.copy()
      if (own === version) {
        // Two clocks can give the same version to two values: this node's stays, and that is told, too.
        const same = this.#isSame(state, ref, payload.subarray(from, reader.offset))
        if (!same) this.#conflict(state, key, [own, version])
        continue
      }
      const raw = encodeArguments([OC_MERGE, key, payload.subarray(from, reader.offset)])
      const taken = this.#copies.write(state, raw)
      // An older one was on both sides before they parted.
      if (own > 0 && Math.min(own, version) > state.partedVersion)
        this.#conflict(state, key, taken ? [version, own] : [own, version])
    }
  }

  #isSame(state: BucketState, ref: number, other: Uint8Array): boolean {
    const writer = this.#writer
    writer.reset()
    state.items.encodeItem(ref, writer)
    return compareBytes(writer.written(), other) === 0
  }

  #conflict(state: BucketState, key: Uint8Array, versions: readonly [number, number]): void {
    this.conflicts++
    const [keptVersion, droppedVersion] = versions
    const name = String.fromCharCode(...key.subarray(0, KEY_SHOWN_MAX))
    const { id: bucket } = state
    const { outbox } = this.#cluster
    outbox.event({ kind: 'conflict', bucket, key: name, keptVersion, droppedVersion })
  }
}

/** A key is shown up to this many bytes. */
const KEY_SHOWN_MAX = 256
