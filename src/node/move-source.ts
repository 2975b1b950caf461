/**
 * The side of a move that ships: the primary of the bucket. It takes the copy through the stages of
 * `core/migration/stage`, and holds the requests of the bucket while the role is handed over. Until the row is changed
 * the move can be given up and leaves nothing behind.
 */
import { assert } from '../core/assert.js'
import { ByteWriter } from '../core/bytes.js'
import { NOBODY, type NodeIndex } from '../core/ids.js'
import { mayFollow, type MoveStage } from '../core/migration/stage.js'
import type { CopyCursor } from '../store/copy-cursor.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { MoveDescription } from './inspection.js'
import { holdersOf } from './knowledge.js'
import { Pace } from './pace.js'
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
  /** The target's process. */
  readonly life: number
  stage: MoveStage
  cursor: CopyCursor | undefined
  /** A switch ships nothing. */
  readonly ships: boolean
  /** A copy that is lacking, or one of a node that goes, takes all the time it can get. */
  readonly isUrgent: boolean
  sent: number
  /** The frame that the target must have processed before the next stage. */
  frame: number
  progressMs: number
  /** The row is being changed: from here on only the outcome ends the move. */
  deciding: boolean
}

export interface SourceHandlers {
  /** The peer may soon hold a bucket for the first time. */
  offering(peer: Peer): void
  /** The target is about to have everything of this bucket. */
  catchingUp(state: BucketState, peer: Peer, role: 'primary' | 'backup'): void
  /** Requests of this bucket may go on. */
  release(state: BucketState): void
  /** Finds out what became of a change that was begun here; then calls back. */
  resolve(bucket: number, reason: string, done: () => void): void
}

/** What both sides tell whoever keeps a node to one move at a time. */
export interface SideHandlers {
  /** It has begun or ended. */
  changed(): void
  /** It has ended, well or not: time to look for the next one. `target` is whom this node has given something. */
  ended(done: boolean, target?: Peer): void
}

export class MoveSource {
  readonly #cluster: Cluster
  readonly #handlers: SourceHandlers
  readonly #side: SideHandlers
  readonly #writer = new ByteWriter(64 * 1024)
  readonly #pace: Pace
  #outgoing: Outgoing | undefined
  #nextId = 1
  shipped = 0

  constructor(cluster: Cluster, handlers: SourceHandlers, side: SideHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
    this.#side = side
    this.#pace = new Pace(cluster.config.moveShare)
  }

  /** When the next batch of a copy may go, if it has to wait for that. */
  get deadline(): number {
    const out = this.#outgoing
    return out?.stage === 'copy' && this.#isResting(out) ? this.#pace.dueMs : Infinity
  }

  get isEngaged(): boolean {
    return this.#outgoing !== undefined
  }

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

  /** Begins to ship a copy of one of this node's primaries. */
  begin(request: MoveRequest): boolean {
    const cluster = this.#cluster
    const state = cluster.buckets[request.bucket]
    const peer = cluster.peerOf(request.to)
    if (
      this.isEngaged ||
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
      this.isEngaged ||
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

  onAccept(peer: Peer, id: number): void {
    const out = this.#outgoingOf(peer, id)
    if (out?.stage !== 'offer') return
    this.#enter(out, 'copy')
    out.cursor = out.state.items.openCopy()
    out.state.forwarding = { peer, complete: false, gating: false, lastFrame: 0 }
    this.shipped++
    this.#cluster.prepareRow(out.bucket, out.reason)
    if (this.#cluster.config.sabotage === 'early-in-sync') this.#changeRow(out, () => undefined)
    this.pump()
  }

  onBusy(peer: Peer, id: number, reason: string): void {
    const out = this.#outgoingOf(peer, id)
    if (out !== undefined) this.#cancel(out, reason, false)
  }

  onCancel(peer: Peer, id: number, reason: string): void {
    const out = this.#outgoingOf(peer, id)
    if (out !== undefined && !out.deciding) this.#cancel(out, reason, false)
  }

  /** Sends the next batches of a copy, as far as the window allows. */
  pump(): void {
    const out = this.#outgoing
    // What is sent to one that is gone goes nowhere, and nobody waits for it: it must not look as if it had come.
    if (out?.stage !== 'copy' || out.cursor === undefined || !out.peer.isOpen) return
    const { config, peers, now, isCalm } = this.#cluster
    for (let batch = 0; batch < BATCHES_A_TURN && !out.cursor.done; batch++) {
      // Other writes to the same node may fill the window by themselves: one batch always travels. While there are clients
      // it travels alone, so that only one of the two ends works on the copy at a time.
      const full = !isCalm || out.peer.stream.unackedBytes > config.copyWindowBytes
      if (full && !out.peer.hasProcessed(out.frame)) return
      if (this.#isResting(out)) return
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
      this.#pace.sent(now)
    }
    if (!out.cursor.done) return
    const { forwarding, seq, partedVersion: parted } = out.state
    if (forwarding !== undefined) forwarding.complete = true
    // While the row is decided another may be told, by which this copy is to be merged: that takes a cursor of its own.
    out.cursor.close()
    this.#handlers.catchingUp(out.state, out.peer, out.role)
    out.frame = peers.send(out.peer, { kind: 'caughtUp', move: out.id, seq, parted }, now)
    this.#enter(out, 'caught up')
  }

  /** There is more to copy, and the window has room: waiting for an acknowledgement would leave both ends idle by turns. */
  get unfinished(): boolean {
    const out = this.#outgoing
    if (out?.stage !== 'copy' || !out.peer.isOpen) return false
    return out.peer.stream.unackedBytes <= this.#cluster.config.copyWindowBytes
  }

  /** Acknowledgements came: perhaps the target has everything now. */
  acked(): void {
    const out = this.#outgoing
    if (out?.ships === true && out.peer.hasProcessed(out.frame))
      this.#pace.arrived(this.#cluster.now)
    this.pump()
    if (out === undefined || this.#outgoing !== out) return
    if (!out.deciding && (!out.peer.isOpen || this.#isWaived(out))) {
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
  }

  peerGone(peer: Peer): void {
    const out = this.#outgoing
    if (out?.peer === peer && !out.deciding) this.#cancel(out, `${peer.name} is gone`, false)
  }

  /** Before a split. */
  giveUp(reason: string): void {
    const out = this.#outgoing
    if (out?.deciding === true) out.cursor?.close()
    else if (out !== undefined) this.#cancel(out, reason, true)
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
    // A backup that was struck because it lacks something looks settled from then on: nobody waits for it.
    const isStruck = !out.ships && !out.state.backups.includes(out.peer)
    if (out.state.role !== 'primary' || isStruck) this.#cancel(out, 'the row changed', true)
  }

  #start(request: MoveRequest, how: { state: BucketState; peer: Peer; ships: boolean }): Outgoing {
    const out: Outgoing = {
      ...request,
      ...how,
      isUrgent: this.#isUrgent(request),
      id: this.#nextId++,
      life: how.peer.stream.peerLife,
      stage: 'offer',
      cursor: undefined,
      sent: 0,
      frame: 0,
      progressMs: this.#cluster.now,
      deciding: false
    }
    this.#outgoing = out
    this.#side.changed()
    this.#report(out)
    return out
  }

  #isResting({ isUrgent }: Outgoing): boolean {
    const { isCalm, now } = this.#cluster
    return !isUrgent && !isCalm && this.#pace.dueMs > now
  }

  #isUrgent({ role, replaces }: MoveRequest): boolean {
    const { self, view } = this.#cluster
    const { roster } = view.arrangement
    if (roster.isLeaving(self)) return true
    return role === 'backup' && (replaces === NOBODY || roster.isLeaving(replaces))
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
    this.#side.ended(true, out.peer)
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
    this.#cluster.changeRows([change], out.reason, {
      // A target that ended meanwhile has nothing any more.
      isWanted: () => out.peer.isOpen && out.peer.stream.peerLife === out.life,
      done: (_, decided) => done(decided)
    })
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
    this.#side.ended(false)
  }

  #end(out: Outgoing): void {
    out.cursor?.close()
    out.state.endForwarding()
    out.state.handing = false
    this.#outgoing = undefined
    this.#side.changed()
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

  #outgoingOf(peer: Peer, id: number): Outgoing | undefined {
    return this.#outgoing?.peer === peer && this.#outgoing.id === id ? this.#outgoing : undefined
  }
}
