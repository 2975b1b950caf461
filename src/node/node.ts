/**
 * One node: a deterministic state machine. Whatever happens to it comes in by one of the methods below with the
 * time, and what it wants done goes to its outbox. The simulator and the real runtime drive this very class.
 * It only composes: who decides what is in the parts.
 */
import { maskOf } from '../core/mask.js'
import type { NodeIndex } from '../core/ids.js'
import { NOBODY } from '../core/ids.js'
import { Members } from '../core/membership/members.js'
import { CurrentRules } from '../core/placement/current.js'
import type { View } from '../core/placement/view.js'
import { Random } from '../core/random.js'
import type { Table } from '../core/table.js'
import { HybridClock } from '../store/clock.js'
import { Store } from '../store/store.js'
import type { BucketRow, Message } from '../wire/peer/message.js'
import { Balancer } from './balancer.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster, RowChange } from './cluster.js'
import type { NodeConfig } from './config.js'
import { Copies } from './copies.js'
import { inspect, type Inspection } from './inspection.js'
import { Knowledge } from './knowledge.js'
import { Membership } from './membership.js'
import { Moves } from './moves.js'
import type { Outbox } from './outbox.js'
import { Peers, type Peer } from './peers.js'
import { Requests } from './requests.js'
import { Rows } from './rows.js'
import { Watches } from './watches.js'

/** Records of put-off store work per turn. */
const MAINTENANCE_BUDGET = 500
const SYNC_MS = 1000

export class Node implements Cluster {
  readonly config: NodeConfig
  readonly outbox: Outbox
  readonly random: Random
  readonly clock = new HybridClock()
  readonly store: Store
  readonly peers: Peers
  readonly members = new Members()
  readonly buckets: (BucketState | undefined)[] = []
  readonly #membership: Membership
  readonly #rows: Rows
  readonly #copies: Copies
  readonly #watches: Watches
  readonly #requests: Requests
  readonly #moves: Moves
  readonly #balancer: Balancer
  #knowledge: Knowledge
  #copiesWanted: number
  #now = 0
  #nextSyncMs = 0

  constructor(config: NodeConfig, outbox: Outbox) {
    this.config = config
    this.outbox = outbox
    this.random = new Random(config.seed)
    this.store = new Store({ seed: this.random.uint32() })
    this.#copiesWanted = config.copies
    this.#knowledge = this.#know(maskOf(config.buckets))
    this.peers = new Peers(config, outbox, {
      message: (peer, message) => this.#onMessage(peer, message),
      met: (peer) => this.#membership.onMet(peer),
      restarted: (peer) => this.#membership.onGone(peer, 'restarted'),
      returned: (peer) => this.#membership.onReturned(peer),
      acked: () => this.#onAcked()
    })
    this.#watches = new Watches(this)
    this.#copies = new Copies(this, (state, key, change) =>
      this.#watches.notify(state, key, change)
    )
    this.#requests = new Requests(this, this.#copies, this.#watches)
    const rules = new CurrentRules()
    this.#moves = new Moves(this, rules, {
      release: (state) => this.#requests.releaseHeld(state, this.#now),
      ended: (done) => (done ? this.#balancer.wake() : this.#balancer.backOff())
    })
    this.#rows = this.#createRows()
    this.#membership = this.#createMembership()
    const split = (mask: number, reason: string): void => this.#rows.split(mask, reason)
    this.#balancer = new Balancer(this, { rules, moves: this.#moves, split })
  }

  get table(): Table {
    return this.#knowledge.table
  }

  get view(): View {
    return this.#knowledge.view
  }

  get self(): NodeIndex {
    return this.#knowledge.view.self
  }

  get now(): number {
    return this.#now
  }

  /** Part of a cluster, its own or one it was let into. */
  get joined(): boolean {
    return this.#membership.joined
  }

  start(now: number): void {
    this.#now = now
    this.#nextSyncMs = now + SYNC_MS
    this.#membership.start()
    if (this.joined) this.#rows.create()
  }

  receive(envelope: Uint8Array, now: number): void {
    this.#now = now
    this.peers.receive(envelope, now)
  }

  /** The driver has a new link to another node; what was on an old one may be lost. */
  linkUp(address: string, now: number): void {
    this.#now = now
    this.peers.linkUp(address, now)
  }

  open(session: number, now: number): void {
    this.#now = now
    this.#requests.open(session)
  }

  request(session: number, bytes: Uint8Array, now: number): void {
    this.#now = now
    this.#requests.request(session, bytes, now)
  }

  close(session: number, now: number): void {
    this.#now = now
    this.#requests.close(session)
  }

  /** Asks to go; `mayGo` comes when everything it held is elsewhere. */
  leave(now: number): void {
    this.#now = now
    this.#membership.leave()
  }

  tick(now: number): void {
    this.#now = now
    this.peers.tick(now)
    if (now >= this.#membership.nextBeatMs) {
      this.#membership.beat()
      if (this.joined) this.#rows.adoptOrphans()
    }
    if (this.joined) {
      this.#moves.tick()
      this.#balancer.tick()
      this.#requests.tick(now)
      this.#copies.expire(now)
      if (now >= this.#nextSyncMs) {
        this.#nextSyncMs = now + SYNC_MS
        this.#copies.sync(now)
      }
      if (this.#membership.leaving) this.#membership.goIfEmpty(this.#moves.busy)
    }
    this.store.maintain(MAINTENANCE_BUDGET)
  }

  /** The end of a turn: everything that was said goes out, one batch a node. */
  flush(now: number): void {
    this.#now = now
    this.#moves.pump()
    this.peers.flush(now)
  }

  /** When `tick` has something to do. */
  get deadline(): number {
    const restless = this.#moves.busy || this.#requests.waiting
    const busy = restless ? this.#now + this.config.askFastMs : Infinity
    const ask = this.joined ? this.#balancer.due : Infinity
    const beat = this.#membership.nextBeatMs
    return Math.min(beat, this.#nextSyncMs, ask, busy, this.peers.deadline)
  }

  inspect(): Inspection {
    const shipped = this.#moves.shipped
    const queuedBytes = this.peers.queuedBytes + this.#requests.queuedBytes
    return inspect(this, { moves: this.#moves.describe(), shipped, queuedBytes })
  }

  peerOf(node: NodeIndex): Peer | undefined {
    if (node === NOBODY || node === this.self) return undefined
    return this.peers.get(this.table.nameOf(node))
  }

  changeRows(changes: readonly RowChange[], reason: string): void {
    this.#rows.change(changes, reason)
  }

  #know(mask: number): Knowledge {
    const { name, splitAt } = this.config
    return new Knowledge({ name, mask, copies: this.#copiesWanted, splitAt })
  }

  #createRows(): Rows {
    return new Rows(this, {
      release: (state) => this.#requests.releaseHeld(state, this.#now),
      changed: () => {
        this.#requests.rowsChanged(this.#now)
        this.#balancer.wake()
      },
      arrived: (bucket) => this.#moves.arrived(bucket),
      isIncoming: (bucket) => this.#moves.isIncoming(bucket),
      rowChanged: (bucket) => this.#moves.rowChanged(bucket),
      deposed: (state) => this.#requests.deposed(state),
      cancelMoves: (reason) => this.#moves.cancelAll(reason),
      incomingSplit: (children) => this.#moves.incomingSplit(children),
      isAlive: (node) => this.#membership.isAlive(node)
    })
  }

  #createMembership(): Membership {
    return new Membership(this, {
      adopt: ({ copies }) => {
        this.#copiesWanted = copies
        this.#knowledge = this.#know(this.table.mask)
      },
      gone: (peer, how) => {
        this.#moves.peerGone(peer)
        // One that only fell silent still has its clients when it is heard again.
        if (how === 'restarted') this.#watches.peerGone(peer)
        this.#requests.peerGone(peer, this.#now)
        this.#onAcked()
      },
      waived: () => this.#onAcked(),
      rosterChanged: () => this.#balancer.wake(),
      sendTable: (peer) => this.#rows.send(peer),
      tellWatches: (peer) => this.#watches.tell(peer, this.#now),
      split: (mask, reason) => this.#rows.split(mask, reason)
    })
  }

  #onAcked(): void {
    this.#moves.acked()
    this.#requests.acked(this.#now)
  }

  #onRows(mask: number, rows: readonly BucketRow[]): void {
    if (!this.joined) return
    // Nothing is known yet: the mask of the cluster is taken over, smaller or larger.
    if (mask !== this.table.mask && this.table.version === 0) {
      this.#knowledge = this.#know(mask)
      this.#membership.spreadRoster()
    }
    this.#rows.onRows(mask, rows)
  }

  #onMessage(peer: Peer, message: Message): void {
    if (!this.#onData(peer, message) && !this.#onMove(peer, message)) this.#onControl(peer, message)
  }

  #onData(peer: Peer, message: Message): boolean {
    switch (message.kind) {
      case 'batch':
        this.#copies.applyBatch(peer, message)
        return true
      case 'sync':
        this.#copies.synced(peer, message.buckets, this.#now)
        return true
      case 'forward':
        this.#requests.forwarded(peer, message, this.#now)
        return true
      case 'answer':
        this.#requests.answered(message.id, message.payload, this.#now)
        return true
      case 'watches':
        this.#watches.learn(peer, message.watches)
        return true
      case 'event':
        this.#watches.deliver(message.client, message.payload)
        return true
      default:
        return false
    }
  }

  #onMove(peer: Peer, message: Message): boolean {
    switch (message.kind) {
      case 'offer':
        this.#moves.onOffer(peer, message)
        return true
      case 'accept':
        this.#moves.onAccept(peer, message.move)
        return true
      case 'busy':
        this.#moves.onBusy(peer, message.move, message.reason)
        return true
      case 'items':
        this.#moves.onItems(peer, message.move, message.payload)
        return true
      case 'caughtUp':
        this.#moves.onCaughtUp(peer, message.move, message.seq)
        return true
      case 'cancel':
        this.#moves.onCancel(peer, message.move, message.reason)
        return true
      case 'ship':
        this.#moves.onShip(peer, message)
        return true
      case 'shipEnd':
        this.#moves.onShipEnd(message.bucket, message.done)
        return true
      default:
        return false
    }
  }

  #onControl(peer: Peer, message: Message): void {
    switch (message.kind) {
      case 'beat':
        this.#membership.onBeat(peer, message.mask, message.digest)
        return
      case 'members':
        this.#membership.learn(message.members)
        return
      case 'join':
        this.#membership.onJoin(peer, message.member)
        return
      case 'welcome':
        this.#membership.onWelcome(message)
        return
      case 'rows':
        this.#onRows(message.mask, message.rows)
        return
      case 'tableAsk':
        this.#rows.send(peer)
        return
      case 'levelAsk': {
        const { primaries, backups, transferring } = this.view.own
        this.peers.send(peer, { kind: 'level', primaries, backups, transferring }, this.#now)
        return
      }
      case 'level':
        this.#balancer.onLevel(peer, message)
        return
      case 'promoted':
        this.#rows.onPromoted(peer, message)
        return
      case 'behind':
        this.#rows.onBehind(peer, message.bucket)
    }
  }
}
