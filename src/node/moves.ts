/**
 * Moving copies. A node takes part in one move at a time, as the source (move-source.ts) or as the target (move-target.ts);
 * a backup that wants its copy elsewhere asks the primary, which ships every copy, and waits for the end. The row is
 * changed only when the target has every write, and from `hand over` on no write is acknowledged without it.
 */
import { NOBODY, type NodeIndex } from '../core/ids.js'
import type { RuleSet } from '../core/placement/rule.js'
import type { Message } from '../wire/peer/message.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { MoveDescription } from './inspection.js'
import {
  MoveSource,
  type MoveRequest,
  type SideHandlers,
  type SourceHandlers
} from './move-source.js'
import { MoveTarget, type TargetHandlers } from './move-target.js'
import type { Peer } from './peers.js'

export interface MoveHandlers extends SourceHandlers, TargetHandlers, Pick<SideHandlers, 'ended'> {}

export class Moves {
  readonly #cluster: Cluster
  readonly #source: MoveSource
  readonly #target: MoveTarget
  readonly #handlers: MoveHandlers
  /** A move that this node asked a primary for. */
  #asked: { bucket: number; sinceMs: number } | undefined

  constructor(cluster: Cluster, rules: RuleSet, handlers: MoveHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
    const side = {
      changed: () => this.#refresh(),
      ended: (done: boolean, target?: Peer) => handlers.ended(done, target)
    }
    this.#source = new MoveSource(cluster, handlers, side)
    this.#target = new MoveTarget(cluster, { rules, handlers, side })
  }

  /** In a transfer, as source or as target. */
  get engaged(): boolean {
    return this.#source.isEngaged || this.#target.isEngaged
  }

  /** In a transfer, or waiting for one that another node was asked for. */
  get busy(): boolean {
    return this.engaged || this.#asked !== undefined
  }

  /** When a copy goes on that gives way to clients. */
  get deadline(): number {
    return this.#source.deadline
  }

  /** Copies it began to ship so far. */
  get shipped(): number {
    return this.#source.shipped
  }

  /** For status and checkers. */
  describe(): MoveDescription[] {
    return this.#source.describe()
  }

  /** Writes count on this peer's acknowledgements because of a move. */
  isForwardingTo(peer: Peer): boolean {
    return this.#source.isForwardingTo(peer)
  }

  /** This node gives the primary role of the bucket away, and the row says that it has. */
  isHandedOver(bucket: number): boolean {
    return this.#source.isHandedOver(bucket)
  }

  isIncoming(bucket: number): boolean {
    return this.#target.isIncoming(bucket)
  }

  /** Begins to ship a copy of one of this node's primaries. */
  begin(request: MoveRequest): boolean {
    return !this.engaged && this.#source.begin(request)
  }

  /** Gives the primary role to a backup: no data travels, only a hand-over. */
  beginSwitch(bucket: number, to: NodeIndex, reason: string): boolean {
    return !this.busy && this.#source.beginSwitch(bucket, to, reason)
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
    this.#target.onOffer(peer, message, this.engaged)
  }

  onAccept(peer: Peer, id: number): void {
    this.#source.onAccept(peer, id)
  }

  onBusy(peer: Peer, id: number, reason: string): void {
    this.#source.onBusy(peer, id, reason)
  }

  onItems(peer: Peer, id: number, payload: Uint8Array): void {
    this.#target.onItems(peer, id, payload)
  }

  onCaughtUp(peer: Peer, message: Extract<Message, { kind: 'caughtUp' }>): void {
    this.#target.onCaughtUp(peer, message)
  }

  onCancel(peer: Peer, id: number, reason: string): void {
    this.#target.onCancel(peer, id)
    this.#source.onCancel(peer, id, reason)
  }

  /** The row of the bucket now names this node: the copy that came in is a real one. */
  arrived(bucket: number): void {
    this.#target.arrived(bucket)
  }

  /** A copy on its way here was cut in pieces with everything else. */
  incomingSplit(children: BucketState[]): void {
    this.#target.split(children)
  }

  /** Sends the next batches of a copy, as far as the window allows. */
  pump(): void {
    this.#source.pump()
  }

  /** The window has room for more of a copy. */
  get unfinished(): boolean {
    return this.#source.unfinished
  }

  /** Acknowledgements came: perhaps the target has everything now. */
  acked(): void {
    this.#source.acked()
  }

  tick(): void {
    this.#source.tick()
    this.#target.tick()
    const { now, config } = this.#cluster
    if (this.#asked !== undefined && now - this.#asked.sinceMs > 2 * config.moveStallMs) {
      this.onShipEnd(this.#asked.bucket, false)
    }
    this.#source.pump()
  }

  /** A node is gone, or nothing it said counts any more. */
  peerGone(peer: Peer): void {
    this.#source.peerGone(peer)
    this.#target.peerGone(peer)
    const asked = this.#asked
    if (asked === undefined) return
    const primary = this.#cluster.table.primaryOf(asked.bucket)
    if (this.#cluster.peerOf(primary) === peer) this.onShipEnd(asked.bucket, false)
  }

  /** Before a split: moves of the old buckets mean nothing afterwards. */
  cancelAll(reason: string): void {
    this.#source.giveUp(reason)
    this.#target.giveUp(reason)
    this.#asked = undefined
    this.#refresh()
  }

  /** The buckets are in pieces. */
  splitDone(): void {
    this.#source.splitDone()
  }

  /** The row of a bucket in a move was changed by somebody else. */
  rowChanged(bucket: number): void {
    this.#source.rowChanged(bucket)
  }

  #refresh(): void {
    this.#cluster.view.transferring = this.engaged
  }
}
