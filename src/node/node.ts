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
import { NO_VOTERS } from '../core/membership/voters.js'
import { HybridClock } from '../store/clock.js'
import { Store } from '../store/store.js'
import { VOTERS_REGISTER } from '../wire/peer/agreement.js'
import type { BucketRow } from '../wire/peer/knowledge.js'
import { Agreement } from './agreement.js'
import { Balancer } from './balancer.js'
import type { BucketState } from './bucket-state.js'
import type { ChangeOptions, Cluster, Evidence, RowChange } from './cluster.js'
import type { NodeConfig } from './config.js'
import { Copies } from './copies.js'
import { Dispatch } from './dispatch.js'
import type { Origin } from './door/client-state.js'
import { inspect, type Counters, type Inspection } from './inspection.js'
import { Knowledge } from './knowledge.js'
import { Membership } from './membership.js'
import { Merges } from './merges.js'
import { Moves } from './moves.js'
import type { Outbox } from './outbox.js'
import { Peers, type Peer } from './peers.js'
import type { Decision, Registers } from './registers.js'
import { Repair } from './repair.js'
import { Requests } from './requests.js'
import { Rows } from './rows.js'
import { Upkeep } from './upkeep.js'
import { Voting } from './voting.js'
import { Watches } from './watches.js'

/** Records of put-off store work per turn. */
const MAINTENANCE_BUDGET = 500
/** So long after the last request nobody is in the way of a copy. */
const CALM_MS = 20
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
  readonly #registers: Registers
  readonly #voting: Voting
  readonly #rows: Rows
  readonly #repair: Repair
  readonly #copies: Copies
  readonly #upkeep: Upkeep
  readonly #watches: Watches
  readonly #requests: Requests
  readonly #moves: Moves
  readonly #merges: Merges
  readonly #balancer: Balancer
  readonly #dispatch: Dispatch
  #knowledge: Knowledge
  #copiesWanted: number
  #now = 0
  /** When a client last asked for something. */
  #requestMs = -Infinity
  #nextSyncMs = 0
  #startedMs = 0

  constructor(config: NodeConfig, outbox: Outbox) {
    this.config = config
    this.outbox = outbox
    this.random = new Random(config.seed)
    this.store = new Store({ seed: this.random.uint32() })
    this.#copiesWanted = config.copies
    this.#knowledge = this.#know(maskOf(config.buckets))
    this.peers = new Peers(config, outbox, {
      message: (peer, message) => this.#dispatch.take(peer, message),
      met: (peer) => {
        this.#membership.onMet(peer)
        this.#requests.met(peer)
        this.#membership.beatSoon()
      },
      hasLeft: (name, life) => {
        const known = this.members.get(name)
        return known?.state === 'left' && known.life >= life
      },
      restarted: (peer) => {
        this.#watches.peerGone(peer)
        this.#voting.restarted(peer)
        this.#membership.onGone(peer, 'restarted')
      },
      returned: (peer) => {
        this.#membership.onReturned(peer)
        this.#watches.returned(peer)
        this.#requests.met(peer)
        this.#registers.livesChanged()
      },
      acked: (peer) => {
        this.#voting.acked(peer)
        this.#onAcked()
      }
    })
    this.#registers = this.#createRegisters()
    this.#voting = new Voting(this, this.#registers, {
      leaseChanged: () => this.#requests.rowsChanged(this.#now)
    })
    this.#watches = new Watches(this)
    this.#copies = new Copies(this, (state, call) => {
      this.#requests.changed(state, call)
      this.#watches.notify(state, call)
    })
    this.#upkeep = new Upkeep(this, this.#copies)
    this.#merges = new Merges(this, this.#copies, {
      startFor: (giver, bucket) =>
        this.#membership.left ? undefined : this.#rows.startFor(giver, bucket),
      release: (state) => this.#requests.releaseHeld(state, this.#now)
    })
    this.#requests = new Requests(this, this.#copies, this.#watches)
    const rules = new CurrentRules()
    this.#moves = new Moves(this, rules, {
      offering: (peer) => this.#watches.relay(peer),
      catchingUp: (state, peer, role) => {
        this.#watches.handOn(state, peer)
        this.#requests.handOn(state, peer, role)
      },
      release: (state) => this.#requests.releaseHeld(state, this.#now),
      ended: (done, target) => (done ? this.#balancer.follow(target) : this.#balancer.backOff()),
      touch: (bucket, reason, done) => this.#rows.touch(bucket, reason, done),
      resolve: (bucket, reason, done) => this.#rows.resolve(bucket, reason, done)
    })
    this.#repair = new Repair(this, {
      waived: () => this.#onAcked(),
      isForwardingTo: (peer) => this.#moves.isForwardingTo(peer),
      isLeased: () => this.#voting.byMajority,
      died: (peer) => this.#membership.onDied(peer),
      mayStepAside: () => this.#now >= this.#startedMs + this.#voting.leaseWaitMs
    })
    this.#rows = this.#createRows()
    this.#membership = this.#createMembership()
    const split = (mask: number, reason: string): void => this.#rows.split(mask, reason)
    this.#balancer = new Balancer(this, { rules, moves: this.#moves, split })
    this.#dispatch = new Dispatch(this, {
      balancer: this.#balancer,
      copies: this.#copies,
      membership: this.#membership,
      merges: this.#merges,
      moves: this.#moves,
      registers: this.#registers,
      repair: this.#repair,
      requests: this.#requests,
      rows: this.#rows,
      upkeep: this.#upkeep,
      voting: this.#voting,
      watches: this.#watches,
      onRows: (peer, mask, rows) => this.#onRows(peer, mask, rows)
    })
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
    this.#startedMs = now
    this.#nextSyncMs = now + SYNC_MS
    this.#membership.start()
    if (!this.joined) return
    this.#voting.found()
    this.#rows.create()
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

  /** The link to another node broke: if nothing is heard of it soon, it is dead. */
  linkDown(address: string, now: number): void {
    this.#now = now
    if (this.peers.linkDown(address).length > 0) this.#repair.run()
  }

  open(session: number, now: number, origin?: Origin): void {
    this.#now = now
    this.#requests.open(session, origin)
  }

  request(session: number, bytes: Uint8Array, now: number): void {
    this.#now = now
    this.#requestMs = now
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

  /** Strikes a node that will not come back; says why it cannot be. */
  forget(name: string, now: number, force = false): string | undefined {
    this.#now = now
    return this.#membership.forget(name, force)
  }

  tick(now: number): void {
    this.#now = now
    this.peers.tick(now)
    if (now >= this.#membership.nextBeatMs) {
      this.#membership.beat()
      if (this.joined) {
        this.#voting.beat()
        this.#voting.watchLease()
        if (this.#membership.leaving) this.#voting.leaving()
        this.#repair.run()
        this.#rows.adoptOrphans()
      }
    }
    if (this.joined) {
      this.#registers.tick(now)
      this.#moves.tick()
      this.#merges.tick()
      this.#balancer.tick()
      this.#requests.tick(now)
      this.#upkeep.tick(now)
      if (now >= this.#nextSyncMs) {
        this.#nextSyncMs = now + SYNC_MS
        this.#upkeep.sync(now, this.#watches.owesGap)
      }
      // What the other side of a cut has not taken in yet is here only.
      const busy = this.#moves.busy || this.#merges.busy
      if (this.#membership.leaving) this.#membership.goIfEmpty(busy)
    }
    this.store.maintain(MAINTENANCE_BUDGET)
  }

  /** The end of a turn: everything that was said goes out, one batch a node. */
  flush(now: number): void {
    this.#now = now
    this.#requests.runShort()
    this.#balancer.flush()
    this.#moves.pump()
    this.#registers.flush()
    this.#watches.flush()
    this.#requests.flush()
    this.peers.flush(now)
  }

  /** It has more to say, and lets others go first. */
  get unfinished(): boolean {
    return this.isCalm && this.#moves.unfinished
  }

  get isCalm(): boolean {
    return this.#now - this.#requestMs > CALM_MS
  }

  /** When `tick` has something to do. */
  get deadline(): number {
    const restless = this.#moves.busy || this.#merges.busy || this.#requests.waiting
    const busy = restless ? this.#now + this.config.askFastMs : Infinity
    const joined = this.joined
      ? Math.min(
          this.#balancer.due,
          this.#nextSyncMs,
          this.#registers.deadline,
          this.#upkeep.deadline
        )
      : Infinity
    const { deadline } = this.#requests
    const moves = Math.min(busy, this.#moves.deadline)
    return Math.min(this.#membership.nextBeatMs, joined, moves, this.peers.deadline, deadline)
  }

  get counters(): Counters {
    return {
      door: this.#requests.statistics,
      held: this.#requests.held,
      shipped: this.#moves.shipped,
      conflicts: this.#merges.conflicts,
      verdicts: this.#balancer.verdicts,
      lastPlan: this.#balancer.lastPlan
    }
  }

  inspect(): Inspection {
    const shipped = this.#moves.shipped
    const queuedBytes = this.peers.queuedBytes + this.#requests.queuedBytes
    const { set, byMajority } = this.#voting
    const voters = { ...set, byMajority, mayServe: this.mayServe() }
    const { conflicts } = this.#merges
    const deciding = this.#registers.pending
    return inspect(this, {
      moves: this.#moves.describe(),
      shipped,
      queuedBytes,
      voters,
      conflicts,
      deciding
    })
  }

  peerOf(node: NodeIndex): Peer | undefined {
    if (node === NOBODY || node === this.self) return undefined
    // Asked of every bucket at every beat.
    const { peers, table } = this.#knowledge
    return (peers[node] ??= this.peers.get(table.nameOf(node)))
  }

  witness(bucket: number, epoch: number): Evidence {
    return this.#repair.witness(bucket, epoch)
  }

  isPending(peer: Peer): boolean {
    return this.#repair.isPending(peer)
  }

  get byMajority(): boolean {
    return this.#voting.byMajority
  }

  mayServe(): boolean {
    return this.#voting.mayServe()
  }

  isDeciding(bucket: number): boolean {
    return this.#registers.isPending(bucket)
  }

  prepareRow(bucket: number, reason: string): void {
    this.#registers.prepare(bucket, reason)
  }

  changeRows(changes: readonly RowChange[], reason: string, options?: ChangeOptions): void {
    this.#rows.change(changes, reason, options)
  }

  #know(mask: number): Knowledge {
    const { name, splitAt } = this.config
    return new Knowledge({ name, mask, copies: this.#copiesWanted, splitAt })
  }

  #createRegisters(): Registers {
    return new Agreement(this, NO_VOTERS, {
      decided: (decisions) => this.#onDecided(decisions),
      split: (mask) => this.#rows.split(mask, 'another node has split'),
      leased: (bucket, deposes) => this.#voting.leased(bucket, deposes),
      concede: (bucket) => this.#rows.concede(bucket),
      doubt: (bucket, epoch) => this.#rows.doubt(bucket, epoch),
      isGone: (bucket, name) => this.#repair.isGone(bucket, this.table.indexOf(name)),
      isPossible: (peer, bucket, epoch) => this.#rows.isPossible(peer, bucket, epoch),
      isLeaving: () => this.#membership.leaving || this.#membership.left,
      votersSeen: (version) => this.#voting.accepted(version),
      votersBehind: (peer) => this.#voting.ask(peer)
    })
  }

  #createRows(): Rows {
    return new Rows(this, this.#registers, {
      release: (state) => this.#requests.releaseHeld(state, this.#now),
      changed: () => {
        this.#onAcked()
        this.#requests.rowsChanged(this.#now)
        this.#balancer.wake()
      },
      arrived: (bucket) => this.#moves.arrived(bucket),
      isIncoming: (bucket) => this.#moves.isIncoming(bucket),
      rowChanged: (bucket) => {
        this.#repair.rowChanged(bucket)
        this.#moves.rowChanged(bucket)
      },
      deposed: (state) => this.#requests.deposed(state),
      promoted: (state) => this.#watches.promoted(state),
      wasSplit: (state, children) => {
        this.#watches.split(state, children)
        this.#requests.split(state, children)
      },
      cancelMoves: (reason) => {
        this.#moves.cancelAll(reason)
        this.#merges.suspend()
      },
      incomingSplit: (children) => this.#moves.incomingSplit(children),
      splitDone: (old, mask) => {
        this.#repair.split(old, mask)
        this.#moves.splitDone()
        this.#merges.resume()
      },
      byMajority: () => this.#voting.byMajority,
      merge: (state) => this.#merges.begin(state),
      parted: () => {
        this.#nextSyncMs = Math.min(this.#nextSyncMs, this.#now)
      },
      isHandedOver: (bucket) => this.#moves.isHandedOver(bucket),
      mergeOn: (bucket) => this.#merges.restart(bucket)
    })
  }

  #createMembership(): Membership {
    return new Membership(this, {
      adopt: ({ copies }) => {
        this.#copiesWanted = copies
        this.#knowledge = this.#know(this.table.mask)
      },
      gone: (peer, how) => {
        if (how === 'restarted') this.#repair.restarted(peer)
        this.#registers.livesChanged()
        this.#repair.run()
        this.#moves.peerGone(peer)
        this.#merges.peerGone(peer)
        this.#requests.peerGone(peer, this.#now)
        this.#onAcked()
      },
      rosterChanged: () => this.#balancer.wake(),
      sendTable: (peer) => this.#rows.send(peer),
      tellWatches: (peer) => this.#watches.tell(peer),
      split: (mask, reason) => this.#rows.split(mask, reason),
      sendVoters: (peer) =>
        this.peers.send(peer, { kind: 'voters', set: this.#voting.set }, this.#now),
      votersVersion: () => this.#voting.set.version,
      heard: (peer, { voters, ms }) => {
        this.#voting.heard(peer)
        this.#voting.compare(peer, voters)
        this.#requests.onClock(peer, ms)
      },
      beatSent: () => this.#voting.beatSent(),
      isVoter: () => this.#voting.mayBeVoter,
      isQuorum: (has) => this.#voting.isQuorum(has),
      isStuck: () => this.#voting.isStuck,
      goOn: () => this.#voting.goOn()
    })
  }

  #onDecided(decisions: readonly Decision[]): void {
    for (const { register, value, reason } of decisions) {
      if (register === VOTERS_REGISTER && value.kind === 'voters') {
        this.#voting.learn(value.set, reason)
      }
    }
    this.#rows.decided(decisions)
  }

  #onAcked(): void {
    this.#watches.acked()
    this.#moves.acked()
    this.#requests.acked(this.#now)
  }

  #onRows(peer: Peer, mask: number, rows: readonly BucketRow[]): void {
    if (!this.joined) return
    // Nothing is known yet: the mask of the cluster is taken over, smaller or larger.
    if (mask !== this.table.mask && this.table.version === 0) {
      this.#knowledge = this.#know(mask)
      this.#membership.spreadRoster()
    }
    this.#rows.onRows(peer, mask, rows)
  }
}
