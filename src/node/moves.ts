/**
 * Moving copies: the stages of `core/migration/stage`, on the side of the primary, which ships every copy, and
 * of the target, which receives it. A node takes part in one move at a time. Until the row is changed a
 * move can be given up by either side and leaves nothing behind; the row is changed only when the target has
 * every write, and from `hand over` on no write is acknowledged without it.
 */
import { assert } from '../core/assert.js'
import { ByteReader, ByteWriter } from '../core/bytes.js'
import { NOBODY, type NodeIndex } from '../core/ids.js'
import { mayFollow, type MoveStage } from '../core/migration/stage.js'
import type { RuleSet } from '../core/placement/rule.js'
import type { CopyCursor } from '../store/copy-cursor.js'
import { decodeItem, Item } from '../store/item.js'
import type { Key } from '../store/key.js'
import type { Message } from '../wire/peer/message.js'
import { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { MoveDescription } from './inspection.js'
import { holdersOf } from './knowledge.js'
import type { Peer } from './peers.js'

/** Records per batch of a copy; small ones would make very large batches otherwise. */
const BATCH_RECORDS = 1000
/** Batches per turn: clients' requests go in between. */
const BATCHES_A_TURN = 2

export interface MoveRequest {
  readonly bucket: number
  readonly to: NodeIndex
  readonly role: 'primary' | 'backup'
  /** A backup whose place the new one takes, or NOBODY. */
  readonly replaces: NodeIndex
  readonly beyondShare: boolean
  readonly reason: string
  /** The backup that wanted this, to be told the end. */
  readonly initiator?: Peer
}

interface Outgoing extends MoveRequest {
  readonly id: number
  readonly state: BucketState
  readonly peer: Peer
  stage: MoveStage
  cursor: CopyCursor | undefined
  /** A switch ships nothing. */
  readonly ships: boolean
  sent: number
  /** The frame that the target must have processed before the next stage. */
  frame: number
  progressMs: number
  /** The row is being changed: from here on only the outcome ends the move. */
  deciding: boolean
}

interface Incoming {
  readonly id: number
  readonly peer: Peer
  /** One, or its pieces after a split; those whose row names this node leave the list. */
  states: BucketState[]
  progressMs: number
  /** It is being found out whether the rows name this node. */
  resolving: boolean
}

export interface MoveHandlers {
  /** The peer may soon hold a bucket for the first time. */
  offering(peer: Peer): void
  /** The target is about to have everything of this bucket. */
  catchingUp(state: BucketState, peer: Peer, role: 'primary' | 'backup'): void
  /** Requests of this bucket may go on. */
  release(state: BucketState): void
  /** A move has ended, well or not: time to look for the next one. `target` is whom this node has given something. */
  ended(done: boolean, target?: Peer): void
  /** Makes sure that a change which another node may have begun never comes to be, and says whether it is sure. */
  touch(bucket: number, reason: string, done: (settled: boolean) => void): void
  /** Finds out what became of a change that was begun here; then calls back. */
  resolve(bucket: number, reason: string, done: () => void): void
}

export class Moves {
  readonly #cluster: Cluster
  readonly #rules: RuleSet
  readonly #handlers: MoveHandlers
  readonly #writer = new ByteWriter(64 * 1024)
  readonly #item = new Item()
  readonly #key: Key
  #outgoing: Outgoing | undefined
  #incoming: Incoming | undefined
  /** A move that this node asked a primary for. */
  #asked: { bucket: number; sinceMs: number } | undefined
  #nextId = 1
  shipped = 0

  constructor(cluster: Cluster, rules: RuleSet, handlers: MoveHandlers) {
    this.#cluster = cluster
    this.#rules = rules
    this.#handlers = handlers
    this.#key = cluster.store.createKey()
  }

  /** In a transfer, as source or as target. */
  get engaged(): boolean {
    return this.#outgoing !== undefined || this.#incoming !== undefined
  }

  /** In a transfer, or waiting for one that another node was asked for. */
  get busy(): boolean {
    return this.engaged || this.#asked !== undefined
  }

  /** For status and checkers. */
  describe(): MoveDescription[] {
    const out = this.#outgoing
    if (out === undefined) return []
    const { bucket, role, stage, reason, sent } = out
    return [{ bucket, to: out.peer.name, role, stage, reason, sent, isSwitch: !out.ships }]
  }

  /** Writes count on this peer's acknowledgements because of a move. */
  isForwardingTo(peer: Peer): boolean {
    const out = this.#outgoing
    return out?.peer === peer && (out.deciding || out.state.forwarding?.gating === true)
  }

  /** This node gives the primary role of the bucket away, and the row says that it has. */
  isHandedOver(bucket: number): boolean {
    const out = this.#outgoing
    if (out?.deciding !== true || out.bucket !== bucket || out.role !== 'primary') return false
    return this.#cluster.table.primaryOf(bucket) === out.to
  }

  isIncoming(bucket: number): boolean {
    return this.#incoming?.states.some((state) => state.id === bucket) === true
  }

  /** Begins to ship a copy of one of this node's primaries. */
  begin(request: MoveRequest): boolean {
    const cluster = this.#cluster
    const state = cluster.buckets[request.bucket]
    const peer = cluster.peerOf(request.to)
    if (
      this.engaged ||
      state?.role !== 'primary' ||
      state.holding ||
      peer === undefined ||
      peer.dead ||
      cluster.isDeciding(request.bucket)
    )
      return false
    const out = this.#start(request, { state, peer, ships: true })
    const { table, now } = cluster
    this.#handlers.offering(peer)
    cluster.peers.send(
      peer,
      {
        kind: 'offer',
        move: out.id,
        bucket: request.bucket,
        mask: table.mask,
        epoch: table.epochOf(request.bucket),
        role: request.role,
        beyondShare: request.beyondShare,
        items: state.items.items,
        reason: request.reason
      },
      now
    )
    return true
  }

  /** Gives the primary role to a backup: no data travels, only a hand-over. */
  beginSwitch(bucket: number, to: NodeIndex, reason: string): boolean {
    const cluster = this.#cluster
    const state = cluster.buckets[bucket]
    const peer = cluster.peerOf(to)
    if (
      this.busy ||
      state?.role !== 'primary' ||
      state.holding ||
      peer === undefined ||
      !state.backups.includes(peer) ||
      cluster.isDeciding(bucket)
    )
      return false
    const request = {
      bucket,
      to,
      role: 'primary',
      replaces: NOBODY,
      beyondShare: false,
      reason
    } as const
    const out = this.#start(request, { state, peer, ships: false })
    out.stage = 'caught up'
    this.#enter(out, 'hand over')
    state.handing = true
    this.#finishIfReady(out)
    return true
  }

  /** Asks the primary of a backup held here to ship it elsewhere. */
  ask(message: Extract<Message, { kind: 'ship' }>): void {
    const { table, peers, now } = this.#cluster
    const primary = this.#cluster.peerOf(table.primaryOf(message.bucket))
    if (this.busy || primary === undefined || primary.dead) return
    this.#asked = { bucket: message.bucket, sinceMs: now }
    this.#refresh()
    peers.send(primary, message, now)
  }

  onShip(peer: Peer, message: Extract<Message, { kind: 'ship' }>): void {
    const { table, peers, now } = this.#cluster
    const { bucket, reason, beyondShare } = message
    const refusal = this.#shipRefusal(peer, message)
    const [to, replaces] = [table.indexOf(message.to), table.indexOf(peer.name)]
    const request = { bucket, to, role: 'backup', replaces, beyondShare, reason } as const
    if (refusal === undefined && this.begin({ ...request, initiator: peer })) return
    const why = refusal ?? 'the bucket or the target is not free'
    peers.send(peer, { kind: 'shipEnd', bucket, done: false, reason: why }, now)
  }

  /** Why a backup's copy cannot be shipped for it now; undefined if it can. */
  #shipRefusal(peer: Peer, message: Extract<Message, { kind: 'ship' }>): string | undefined {
    const { table, view } = this.#cluster
    const { bucket } = message
    const to = table.indexOf(message.to)
    if (this.engaged) return 'already in a transfer'
    if (message.mask !== table.mask) return 'another mask'
    if (message.epoch !== table.epochOf(bucket)) return 'another row'
    if (table.primaryOf(bucket) !== view.self) return 'not the primary'
    if (!table.isHolder(bucket, table.indexOf(peer.name))) return 'not a holder'
    if (to === NOBODY || table.isHolder(bucket, to)) return 'not a target'
    return undefined
  }

  onShipEnd(bucket: number, done: boolean): void {
    if (this.#asked?.bucket !== bucket) return
    this.#asked = undefined
    this.#refresh()
    this.#handlers.ended(done)
  }

  onOffer(peer: Peer, message: Extract<Message, { kind: 'offer' }>): void {
    const { table, peers, now, store, buckets } = this.#cluster
    const { move, bucket } = message
    const refusal = this.#refusal(message)
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
    this.#refresh()
    peers.send(peer, { kind: 'accept', move }, now)
  }

  /** Why an offer cannot be taken now; undefined if it can. */
  #refusal(offer: Extract<Message, { kind: 'offer' }>): string | undefined {
    const { table, view, buckets } = this.#cluster
    if (this.engaged) return 'already in a transfer'
    if (offer.mask !== table.mask) return 'another mask'
    if (buckets[offer.bucket] !== undefined) return 'already held here'
    const { bucket, beyondShare, role } = offer
    const action = { kind: 'move', bucket, to: view.self, copy: role, beyondShare } as const
    const verdict = this.#rules.accept(view, action)
    return verdict.allow ? undefined : verdict.reason
  }

  onAccept(peer: Peer, id: number): void {
    const out = this.#outgoingOf(peer, id)
    if (out?.stage !== 'offer') return
    this.#enter(out, 'copy')
    out.cursor = out.state.items.openCopy()
    out.state.forwarding = { peer, complete: false, gating: false, lastFrame: 0 }
    this.shipped++
    if (this.#cluster.config.sabotage === 'early-in-sync') this.#changeRow(out, () => undefined)
    this.pump()
  }

  onBusy(peer: Peer, id: number, reason: string): void {
    const out = this.#outgoingOf(peer, id)
    if (out !== undefined) this.#cancel(out, reason, false)
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
    incoming.states[0].partedVersion = parted
  }

  onCancel(peer: Peer, id: number, reason: string): void {
    const incoming = this.#incomingOf(peer, id)
    if (incoming !== undefined) this.#dropIncoming(incoming)
    const out = this.#outgoingOf(peer, id)
    if (out !== undefined && !out.deciding) this.#cancel(out, reason, false)
  }

  /** The row of the bucket now names this node: the copy that came in is a real one. */
  arrived(bucket: number): void {
    const incoming = this.#incoming
    if (incoming === undefined) return
    incoming.states = incoming.states.filter((state) => state.id !== bucket)
    this.#cluster.view.lastTransfer = bucket
    if (incoming.states.length > 0) return
    this.#incoming = undefined
    this.#refresh()
    this.#handlers.ended(true)
  }

  /**
   * A copy on its way here was cut in pieces with everything else. It has everything by then, so that only the
   * source knows whether the row is changed already: it is kept until the source says.
   */
  incomingSplit(children: BucketState[]): void {
    if (this.#incoming !== undefined) this.#incoming.states = children
  }

  /** Sends the next batches of a copy, as far as the window allows. */
  pump(): void {
    const out = this.#outgoing
    if (out?.stage !== 'copy' || out.cursor === undefined) return
    const { config, peers, now } = this.#cluster
    for (let batch = 0; batch < BATCHES_A_TURN && !out.cursor.done; batch++) {
      // Other writes to the same node may fill the window by themselves: one batch always travels.
      const full = out.peer.stream.unackedBytes > config.copyWindowBytes
      if (full && !out.peer.hasProcessed(out.frame)) return
      const writer = this.#writer
      writer.reset()
      out.cursor.next(BATCH_RECORDS, config.copyBatchBytes, (ref) => {
        out.state.items.encodeItem(ref, writer)
        out.sent++
      })
      if (writer.length === 0) continue
      out.progressMs = now
      // Sending copies it.
      const payload = writer.bytes.subarray(0, writer.length)
      out.frame = peers.send(out.peer, { kind: 'items', move: out.id, payload }, now)
    }
    if (!out.cursor.done) return
    const { forwarding, seq, partedVersion: parted } = out.state
    if (forwarding !== undefined) forwarding.complete = true
    this.#handlers.catchingUp(out.state, out.peer, out.role)
    out.frame = peers.send(out.peer, { kind: 'caughtUp', move: out.id, seq, parted }, now)
    this.#enter(out, 'caught up')
  }

  /** Acknowledgements came: perhaps the target has everything now. */
  acked(): void {
    this.pump()
    const out = this.#outgoing
    if (out === undefined) return
    if (this.#isWaived(out)) {
      this.#cancel(out, `${out.peer.name} acknowledges nothing`, true)
      return
    }
    if (out.stage === 'caught up' && out.ships && out.peer.hasProcessed(out.frame))
      this.#handOver(out)
    else if (out.stage === 'hand over') this.#finishIfReady(out)
  }

  tick(): void {
    const { now, config } = this.#cluster
    const out = this.#outgoing
    if (out !== undefined && !out.deciding) {
      const limit = out.stage === 'hand over' ? config.handOverMs : config.moveStallMs
      if (now - out.progressMs > limit) this.#cancel(out, `no progress in stage ${out.stage}`, true)
    }
    const incoming = this.#incoming
    if (incoming !== undefined && now - incoming.progressMs > 2 * config.moveStallMs) {
      this.#giveUp(incoming, 'the source is silent')
      if (this.#incoming === incoming) this.#loseSource(incoming)
    }
    if (this.#asked !== undefined && now - this.#asked.sinceMs > 2 * config.moveStallMs) {
      this.onShipEnd(this.#asked.bucket, false)
    }
    this.pump()
  }

  /** A node is gone, or nothing it said counts any more. */
  peerGone(peer: Peer): void {
    const out = this.#outgoing
    if (out?.peer === peer && !out.deciding) this.#cancel(out, `${peer.name} is gone`, false)
    if (this.#incoming?.peer === peer) this.#loseSource(this.#incoming)
    const asked = this.#asked
    if (asked !== undefined) {
      const primary = this.#cluster.table.primaryOf(asked.bucket)
      if (this.#cluster.peerOf(primary) === peer) this.onShipEnd(asked.bucket, false)
    }
  }

  /** Before a split: moves of the old buckets mean nothing afterwards. */
  cancelAll(reason: string): void {
    const out = this.#outgoing
    if (out?.deciding === true) out.cursor?.close()
    else if (out !== undefined) this.#cancel(out, reason, true)
    if (this.#incoming !== undefined) this.#giveUp(this.#incoming, reason)
    this.#asked = undefined
    this.#refresh()
  }

  /**
   * The buckets are in pieces. Where the row of one was being changed, each piece may have gone either way: none is
   * served until it is known which, so that the copy at the target is right in both cases.
   */
  splitDone(): void {
    const out = this.#outgoing
    if (out?.deciding !== true) return
    const { buckets, table } = this.#cluster
    const { mask } = table
    const pieces: number[] = []
    for (let bucket = out.bucket; bucket <= mask; bucket += out.state.mask + 1) pieces.push(bucket)
    let left = pieces.length
    for (const bucket of pieces) {
      const piece = buckets[bucket]
      if (piece?.role === 'primary') piece.handing = true
    }
    for (const bucket of pieces) {
      this.#handlers.resolve(bucket, 'split while its row was changed', () => {
        // Split once more: the smaller pieces have their own answers.
        if (table.mask !== mask) return
        const piece = buckets[bucket]
        if (piece?.role === 'primary') {
          piece.handing = false
          this.#handlers.release(piece)
        }
        if (--left === 0 && this.#outgoing === out) this.#cancel(out, 'the buckets are split', true)
      })
    }
  }

  /** The row of a bucket in a move was changed by somebody else. */
  rowChanged(bucket: number): void {
    const out = this.#outgoing
    if (out === undefined || out.bucket !== bucket || out.deciding) return
    if (out.state.role !== 'primary') this.#cancel(out, 'the row changed', true)
  }

  #start(request: MoveRequest, how: { state: BucketState; peer: Peer; ships: boolean }): Outgoing {
    const out: Outgoing = {
      ...request,
      ...how,
      id: this.#nextId++,
      stage: 'offer',
      cursor: undefined,
      sent: 0,
      frame: 0,
      progressMs: this.#cluster.now,
      deciding: false
    }
    this.#outgoing = out
    this.#refresh()
    this.#report(out)
    return out
  }

  #handOver(out: Outgoing): void {
    this.#enter(out, 'hand over')
    const { forwarding } = out.state
    assert(forwarding !== undefined, 'a hand-over without forwarding')
    forwarding.gating = true
    // Writes up to here did not wait for the target; those from here on do.
    out.frame = forwarding.lastFrame
    if (out.role === 'primary') out.state.handing = true
    this.#finishIfReady(out)
  }

  /** Everything is at the target: the row may change. Until it is known whether it did, nothing else may happen. */
  #finishIfReady(out: Outgoing): void {
    if (this.#cluster.config.sabotage === 'forget-to-finish' || out.deciding) return
    const ready = out.role === 'primary' ? out.state.isSettled() : out.peer.hasProcessed(out.frame)
    if (!ready || this.#cluster.isDeciding(out.bucket)) return
    out.deciding = true
    const { bucket } = out
    this.#changeRow(out, (decided) => {
      // After a split the pieces have their own answers.
      if (this.#outgoing !== out || this.#cluster.table.mask !== out.state.mask) return
      out.deciding = false
      if (decided) this.#finish(out)
      else this.#cancel(out, `the row of ${bucket} was changed otherwise`, true)
    })
  }

  /** What the target was sent counts as processed only because nobody waits for it any more: it may have nothing. */
  #isWaived({ stage, ships, frame, peer }: Outgoing): boolean {
    return ships && (stage === 'copy' || stage === 'caught up') && frame > 0 && peer.waived >= frame
  }

  #finish(out: Outgoing): void {
    this.#enter(out, 'done')
    this.#end(out)
    if (out.initiator !== undefined) {
      const { peers, now } = this.#cluster
      const { bucket, reason } = out
      peers.send(out.initiator, { kind: 'shipEnd', bucket, done: true, reason }, now)
    }
    this.#handlers.release(out.state)
    this.#handlers.ended(true, out.peer)
  }

  #changeRow(out: Outgoing, done: (decided: boolean) => void): void {
    const { table } = this.#cluster
    const holders = holdersOf(table, out.bucket)
    if (holders.includes(out.to) && out.ships) {
      done(true)
      return
    }
    let next: NodeIndex[]
    if (!out.ships) next = [out.to, ...holders.filter((node) => node !== out.to)]
    else if (out.role === 'primary') next = this.#withTarget(holders, out.to)
    else next = [...holders.filter((node) => node !== out.replaces), out.to]
    const change = { bucket: out.bucket, holders: next }
    this.#cluster.changeRows([change], out.reason, { done: (_, decided) => done(decided) })
  }

  /** The target in the place of this node, which stays as a backup if there would be too few: the target may be dead. */
  #withTarget(holders: readonly NodeIndex[], target: NodeIndex): NodeIndex[] {
    const { self, view } = this.#cluster
    const next = holders.map((node) => (node === self ? target : node))
    return next.length < view.arrangement.copies ? [...next, self] : next
  }

  #cancel(out: Outgoing, reason: string, tell: boolean): void {
    const { peers, now } = this.#cluster
    this.#enter(out, 'cancelled', reason)
    this.#end(out)
    if (tell && out.ships) peers.send(out.peer, { kind: 'cancel', move: out.id, reason }, now)
    if (out.initiator !== undefined) {
      peers.send(out.initiator, { kind: 'shipEnd', bucket: out.bucket, done: false, reason }, now)
    }
    this.#handlers.release(out.state)
    this.#handlers.ended(false)
  }

  #end(out: Outgoing): void {
    out.cursor?.close()
    out.state.forwarding = undefined
    out.state.handing = false
    this.#outgoing = undefined
    this.#refresh()
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

  /** Not once it has everything: then the row may be changed already, and only the source can tell. */
  #giveUp(incoming: Incoming, reason: string): void {
    if (incoming.states.some((state) => state.caughtUp)) return
    const { peers, now } = this.#cluster
    peers.send(incoming.peer, { kind: 'cancel', move: incoming.id, reason }, now)
    this.#dropIncoming(incoming)
  }

  #dropIncoming(incoming: Incoming): void {
    const { buckets, store } = this.#cluster
    for (const state of incoming.states) {
      if (buckets[state.id] !== state) continue
      buckets[state.id] = undefined
      store.drop(state.id)
    }
    this.#incoming = undefined
    this.#refresh()
    this.#handlers.ended(false)
  }

  #enter(out: Outgoing, stage: MoveStage, reason = out.reason): void {
    assert(mayFollow(out.stage, stage), `a move cannot go from ${out.stage} to ${stage}`)
    out.stage = stage
    out.progressMs = this.#cluster.now
    this.#report(out, reason)
  }

  #report(out: Outgoing, reason = out.reason): void {
    const { config, outbox } = this.#cluster
    const { bucket, role, stage, sent } = out
    outbox.event({
      kind: 'stage',
      bucket,
      from: config.name,
      to: out.peer.name,
      role,
      stage,
      sent,
      isSwitch: !out.ships,
      reason
    })
  }

  #refresh(): void {
    this.#cluster.view.transferring = this.engaged
  }

  #outgoingOf(peer: Peer, id: number): Outgoing | undefined {
    return this.#outgoing?.peer === peer && this.#outgoing.id === id ? this.#outgoing : undefined
  }

  #incomingOf(peer: Peer, id: number): Incoming | undefined {
    return this.#incoming?.peer === peer && this.#incoming.id === id ? this.#incoming : undefined
  }
}
