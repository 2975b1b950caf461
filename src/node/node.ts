/**
 * One node: a deterministic state machine. Whatever happens to it comes in by one of the methods below with the
 * time, and what it wants done goes to its outbox. The simulator and the real runtime drive this very class.
 *
 * It composes its parts and keeps what they share: the members, the table, and the buckets it holds. All
 * changes of rows go through `changeRows` and all reactions to them through `#follow`, so a bucket's role is
 * always what its row says.
 */
import { assert } from '../core/assert.js'
import { NOBODY, type NodeIndex } from '../core/ids.js'
import { maskOf, nextMask } from '../core/mask.js'
import { Members, type MemberRecord, type MemberState } from '../core/membership/members.js'
import { Arrangement } from '../core/placement/arrangement.js'
import { CurrentRules } from '../core/placement/current.js'
import { Roster } from '../core/placement/roster.js'
import { View } from '../core/placement/view.js'
import { Random } from '../core/random.js'
import { hashText, MAX_COPIES, Table } from '../core/table.js'
import { HybridClock } from '../store/clock.js'
import { Store } from '../store/store.js'
import type { BucketRow, Message } from '../wire/peer/message.js'
import { Balancer } from './balancer.js'
import { BucketState } from './bucket-state.js'
import type { Cluster, RowChange } from './cluster.js'
import type { NodeConfig } from './config.js'
import { Copies } from './copies.js'
import { inspect, type Inspection } from './inspection.js'
import { Moves } from './moves.js'
import type { Outbox } from './outbox.js'
import { Peers, type Peer } from './peers.js'
import { Requests } from './requests.js'
import { isSameRow, preferRow } from './row-order.js'
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
  readonly #copies: Copies
  readonly #watches: Watches
  readonly #requests: Requests
  readonly #moves: Moves
  readonly #balancer: Balancer
  #table: Table
  #arrangement: Arrangement
  #view: View
  #copiesWanted: number
  #joined = false
  #state: MemberState = 'alive'
  #version = 1
  #now = 0
  #nextBeatMs = 0
  #nextSyncMs = 0
  /** Since when nobody reachable holds a bucket. */
  readonly #orphanedSince = new Map<number, number>()

  constructor(config: NodeConfig, outbox: Outbox) {
    this.config = config
    this.outbox = outbox
    this.random = new Random(config.seed)
    this.store = new Store({ seed: this.random.uint32() })
    this.#copiesWanted = config.copies
    this.#table = new Table(maskOf(config.buckets))
    this.#arrangement = new Arrangement(this.#table, new Roster([]), config.copies)
    this.#view = this.#createView()
    this.peers = new Peers(config, outbox, {
      message: (peer, message) => this.#onMessage(peer, message),
      met: (peer) => this.#onMet(peer),
      restarted: (peer) => this.#onGone(peer, 'restarted'),
      returned: (peer) => this.#onReturned(peer),
      acked: () => this.#onAcked()
    })
    const rules = new CurrentRules()
    this.#watches = new Watches(this)
    this.#copies = new Copies(this, (state, key, change) =>
      this.#watches.notify(state, key, change)
    )
    this.#requests = new Requests(this, this.#copies, this.#watches)
    this.#moves = new Moves(this, rules, {
      release: (state) => this.#requests.releaseHeld(state, this.#now),
      ended: () => this.#balancer.wake()
    })
    this.#balancer = new Balancer(this, {
      rules,
      moves: this.#moves,
      split: (mask, reason) => this.#split(mask, reason)
    })
  }

  get table(): Table {
    return this.#table
  }

  get view(): View {
    return this.#view
  }

  get self(): NodeIndex {
    return this.#view.self
  }

  get now(): number {
    return this.#now
  }

  /** Part of a cluster, its own or one it was let into. */
  get joined(): boolean {
    return this.#joined
  }

  start(now: number): void {
    this.#now = now
    this.#nextBeatMs = now
    this.#nextSyncMs = now + SYNC_MS
    this.members.offer(this.#record())
    if (this.config.join.length > 0) {
      for (const address of this.config.join) this.peers.contact(address, now)
      return
    }
    this.peers.cluster = this.random.uint32() || 1
    this.#joined = true
    this.#spreadRoster()
    for (let bucket = 0; bucket <= this.#table.mask; bucket++) {
      this.#table.replace(bucket, 1, [this.self])
      this.#hold(bucket, 'primary')
    }
  }

  receive(envelope: Uint8Array, now: number): void {
    this.#now = now
    this.peers.receive(envelope, now)
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
    if (this.#state !== 'alive') return
    this.#become('leaving')
  }

  tick(now: number): void {
    this.#now = now
    this.peers.tick(now)
    if (now >= this.#nextBeatMs) this.#beat()
    if (this.#joined) {
      this.#moves.tick()
      this.#balancer.tick()
      this.#requests.tick(now)
      this.#copies.expire(now)
      if (now >= this.#nextSyncMs) {
        this.#nextSyncMs = now + SYNC_MS
        this.#copies.sync(now)
      }
      if (this.#state === 'leaving') this.#goIfEmpty()
    }
    this.store.maintain(MAINTENANCE_BUDGET)
  }

  /** The end of a turn: everything that was said goes out, one batch a node. */
  flush(now: number): void {
    this.#now = now
    this.#moves.pump()
    this.peers.flush(now)
  }

  get deadline(): number {
    const busy =
      this.#moves.busy || this.#requests.waiting ? this.#now + this.config.askFastMs : Infinity
    const ask = this.#joined ? this.#balancer.due : Infinity
    return Math.min(this.#nextBeatMs, this.#nextSyncMs, ask, busy, this.peers.deadline)
  }

  inspect(): Inspection {
    const shipped = this.#moves.shipped
    const queuedBytes = this.peers.queuedBytes + this.#requests.queuedBytes
    return inspect(this, { moves: this.#moves.describe(), shipped, queuedBytes })
  }

  peerOf(node: NodeIndex): Peer | undefined {
    if (node === NOBODY || node === this.self) return undefined
    return this.peers.get(this.#table.nameOf(node))
  }

  changeRows(changes: readonly RowChange[], reason: string): void {
    const rows: BucketRow[] = []
    for (const { bucket, holders } of changes) {
      this.#table.replace(bucket, this.#table.epochOf(bucket) + 1, holders)
      rows.push({ bucket, row: this.#table.row(bucket) })
    }
    if (rows.length === 0) return
    this.peers.broadcast({ kind: 'rows', mask: this.#table.mask, rows }, this.#now)
    for (const { bucket } of rows) this.#follow(bucket, reason)
    this.#requests.rowsChanged(this.#now)
  }

  #onMessage(peer: Peer, message: Message): void {
    const now = this.#now
    switch (message.kind) {
      case 'batch':
        return this.#copies.applyBatch(peer, message)
      case 'forward':
        return this.#requests.forwarded(peer, message, now)
      case 'answer':
        return this.#requests.answered(message.id, message.payload, now)
      case 'beat':
        return this.#onBeat(peer, message.mask, message.digest)
      case 'members':
        return this.#learn(message.members)
      case 'join':
        return this.#onJoin(peer, message.member)
      case 'welcome':
        return this.#onWelcome(message)
      case 'rows':
        return this.#onRows(message.mask, message.rows)
      case 'tableAsk':
        return this.#sendTable(peer)
      case 'levelAsk': {
        const { primaries, backups, transferring } = this.#view.own
        this.peers.send(peer, { kind: 'level', primaries, backups, transferring }, now)
        return
      }
      case 'level':
        return this.#balancer.onLevel(peer, message)
      case 'offer':
        return this.#moves.onOffer(peer, message)
      case 'accept':
        return this.#moves.onAccept(peer, message.move)
      case 'busy':
        return this.#moves.onBusy(peer, message.move, message.reason)
      case 'items':
        return this.#moves.onItems(peer, message.move, message.payload)
      case 'caughtUp':
        return this.#moves.onCaughtUp(peer, message.move, message.seq)
      case 'cancel':
        return this.#moves.onCancel(peer, message.move, message.reason)
      case 'ship':
        return this.#moves.onShip(peer, message)
      case 'shipEnd':
        return this.#moves.onShipEnd(message.bucket)
      case 'promoted':
        return this.#onPromoted(peer, message)
      case 'behind':
        return this.#onBehind(peer, message.bucket)
      case 'sync':
        return this.#copies.synced(peer, message.buckets, now)
      case 'watches':
        return this.#watches.learn(peer, message.watches)
      case 'event':
        return this.#watches.deliver(message.client, message.payload)
    }
  }

  // --- Members ---------------------------------------------------------------------------------

  #record(): MemberRecord {
    const { name, address, life, weight, zone } = this.config
    return { name, address, life, version: this.#version, state: this.#state, weight, zone }
  }

  #become(state: MemberState): void {
    this.#state = state
    this.#version++
    this.#learn([this.#record()])
  }

  /** A process answered for the first time, or for the first time in a new life. */
  #onMet(peer: Peer): void {
    if (!this.#joined) {
      this.peers.send(peer, { kind: 'join', member: this.#record() }, this.#now)
      return
    }
    this.peers.send(peer, { kind: 'members', members: this.members.all() }, this.#now)
    this.#watches.tell(peer, this.#now)
  }

  #onJoin(peer: Peer, member: MemberRecord): void {
    if (!this.#joined || this.#state !== 'alive') return
    this.#learn([member])
    const { hash } = this.config
    const members = this.members.all()
    const { cluster } = this.peers
    this.peers.send(
      peer,
      { kind: 'welcome', cluster, copies: this.#copiesWanted, hash, members },
      this.#now
    )
    this.#sendTable(peer)
    this.#watches.tell(peer, this.#now)
  }

  #onWelcome(message: Extract<Message, { kind: 'welcome' }>): void {
    if (this.#joined) return
    if (message.hash !== this.config.hash) {
      const reason = `the cluster places keys by ${message.hash}, this node by ${this.config.hash}`
      this.outbox.event({ kind: 'peerError', node: this.config.name, reason })
      return
    }
    this.peers.cluster = message.cluster
    this.peers.forgetContacts()
    this.#copiesWanted = message.copies
    this.#joined = true
    this.#arrangement = new Arrangement(this.#table, new Roster([]), message.copies)
    this.#view = this.#createView()
    this.#learn(message.members)
    this.#spreadRoster()
    this.outbox.event({ kind: 'joined', node: this.config.name })
  }

  #learn(records: readonly MemberRecord[]): void {
    const news = records.filter((record) => this.members.offer(record))
    if (news.length === 0) return
    for (const record of news) {
      if (record.name === this.config.name) continue
      this.peers.ensure(record.name, record.address, this.#now)
      this.outbox.event({ kind: record.state === 'left' ? 'left' : 'joined', node: record.name })
    }
    if (!this.#joined) return
    this.peers.broadcast({ kind: 'members', members: news }, this.#now)
    this.#spreadRoster()
  }

  #spreadRoster(): void {
    const members = []
    for (const record of this.members.all()) {
      const node = this.#table.intern(record.name)
      const gone = record.state === 'left' || this.peers.get(record.name)?.dead === true
      if (gone) continue
      const { weight, zone } = record
      members.push({ node, weight, zone, leaving: record.state === 'leaving' })
    }
    this.#arrangement.roster = new Roster(members)
    this.#balancer.wake()
  }

  #createView(): View {
    const self = this.#table.intern(this.config.name)
    const { splitAt } = this.config
    return new View({ arrangement: this.#arrangement, self, splitAt })
  }

  #beat(): void {
    this.#nextBeatMs = this.#now + this.config.heartbeatMs
    if (!this.#joined) return
    const { mask } = this.#table
    this.peers.broadcast({ kind: 'beat', mask, digest: this.#table.digest() }, this.#now)
    for (const peer of this.peers.all()) {
      const record = this.members.get(peer.name)
      if (peer.dead || record === undefined || record.state === 'left') continue
      if (this.#now - peer.lastHeardMs <= this.config.deadAfterMs) continue
      this.peers.bury(peer, this.#now)
      this.outbox.event({ kind: 'died', node: peer.name })
      this.#onGone(peer, 'died')
    }
    this.#adoptOrphans()
  }

  #onBeat(peer: Peer, mask: number, digest: number): void {
    if (!this.#joined) {
      this.peers.send(peer, { kind: 'join', member: this.#record() }, this.#now)
      return
    }
    if (mask > this.#table.mask) this.#split(mask, `${peer.name} has split`)
    const differs = mask !== this.#table.mask || digest !== this.#table.digest()
    // One of the two asks, and only when it has been so for two beats: rows may be on their way.
    if (differs && peer.differs) this.peers.send(peer, { kind: 'tableAsk' }, this.#now)
    peer.differs = differs && !peer.differs
  }

  #onReturned(peer: Peer): void {
    this.outbox.event({ kind: 'returned', node: peer.name })
    this.#spreadRoster()
    if (this.#joined) this.#sendTable(peer)
  }

  /** Nothing that this node relied on in the peer holds any more. */
  #onGone(peer: Peer, how: 'died' | 'restarted'): void {
    this.#moves.peerGone(peer)
    this.#watches.peerGone(peer)
    this.#spreadRoster()
    const gone = this.#table.indexOf(peer.name)
    const struck: RowChange[] = []
    const taken: RowChange[] = []
    for (let bucket = 0; gone !== NOBODY && bucket <= this.#table.mask; bucket++) {
      if (!this.#table.isHolder(bucket, gone)) continue
      const holders = this.#holders(bucket).filter((node) => node !== gone)
      const primary = this.#table.primaryOf(bucket)
      if (primary === this.self) struck.push({ bucket, holders })
      else if (primary === gone && this.#isFirstAlive(holders)) {
        taken.push({
          bucket,
          holders: holders.filter((node) => node === this.self || this.#isAlive(node))
        })
      }
    }
    this.changeRows(struck, `${peer.name} ${how}`)
    for (const { bucket } of taken) {
      const epoch = this.#table.epochOf(bucket) + 1
      this.outbox.event({ kind: 'promoted', bucket, epoch, instead: peer.name })
    }
    this.changeRows(taken, `${peer.name} ${how}`)
    this.#requests.peerGone(peer, this.#now)
    this.#onAcked()
  }

  #isAlive(node: NodeIndex): boolean {
    return node === this.self || this.peerOf(node)?.dead === false
  }

  /** Of the backups in the order of the row, the first that can be heard takes over. */
  #isFirstAlive(backups: readonly NodeIndex[]): boolean {
    const state = backups.includes(this.self)
    return state && backups.find((node) => this.#isAlive(node)) === this.self
  }

  /**
   * Buckets whose holders are all gone: after a while, the first node of the roster starts them empty, and
   * says so loudly.
   */
  #adoptOrphans(): void {
    const first = this.#arrangement.roster.staying[0]?.node
    const lost: RowChange[] = []
    for (let bucket = 0; bucket <= this.#table.mask; bucket++) {
      const holders = this.#holders(bucket)
      const held = holders.some(
        (node) => this.#isAlive(node) && (node !== this.self || this.buckets[bucket])
      )
      if (held || this.#table.epochOf(bucket) === 0) {
        this.#orphanedSince.delete(bucket)
        continue
      }
      const since = this.#orphanedSince.get(bucket) ?? this.#now
      this.#orphanedSince.set(bucket, since)
      const mine = holders.length === 1 && holders[0] === this.self
      if (this.#now - since < this.config.lostAfterMs || !(mine || first === this.self)) continue
      if (this.#moves.isIncoming(bucket)) continue
      lost.push({ bucket, holders: [this.self] })
    }
    for (const { bucket } of lost) {
      this.#hold(bucket, 'primary')
      this.outbox.event({ kind: 'lost', bucket, epoch: this.#table.epochOf(bucket) + 1 })
    }
    this.changeRows(lost, 'nobody held it any more')
  }

  #goIfEmpty(): void {
    if (this.#table.totalOf(this.self) > 0 || this.#moves.busy) return
    this.#become('left')
    this.outbox.event({ kind: 'mayGo' })
  }

  // --- Rows ------------------------------------------------------------------------------------

  #sendTable(peer: Peer): void {
    const rows: BucketRow[] = []
    for (let bucket = 0; bucket <= this.#table.mask; bucket++) {
      if (this.#table.epochOf(bucket) > 0) rows.push({ bucket, row: this.#table.row(bucket) })
    }
    this.peers.send(peer, { kind: 'rows', mask: this.#table.mask, rows }, this.#now)
  }

  #onRows(mask: number, rows: readonly BucketRow[]): void {
    if (!this.#joined) return
    if (mask !== this.#table.mask && this.#isBlank()) this.#adoptMask(mask)
    if (mask > this.#table.mask) this.#split(mask, 'another node has split')
    const changed: number[] = []
    for (const { bucket, row } of rows) {
      // A row of a smaller mask speaks for all the buckets it was cut into.
      for (let child = bucket; child <= this.#table.mask; child += mask + 1) {
        const known = this.#table.row(child)
        if (row.epoch === known.epoch && !isSameRow(row, known)) {
          const chosen = preferRow(row, known)
          this.#table.offer(child, { ...chosen, epoch: row.epoch + 1 })
        } else if (!this.#table.offer(child, row)) continue
        changed.push(child)
      }
    }
    for (const bucket of changed) this.#follow(bucket, 'told')
    if (changed.length === 0) return
    this.#requests.rowsChanged(this.#now)
    this.#balancer.wake()
  }

  /** Nothing is known yet: the mask of the cluster is taken over. */
  #isBlank(): boolean {
    return this.#table.version === 0
  }

  #adoptMask(mask: number): void {
    this.#table = new Table(mask)
    this.#arrangement = new Arrangement(this.#table, new Roster([]), this.#copiesWanted)
    this.#view = this.#createView()
    this.#spreadRoster()
  }

  /** Makes the bucket's role here what its row says. */
  #follow(bucket: number, reason: string): void {
    const row = this.#table.row(bucket)
    const { epoch, primary, backups } = row
    this.outbox.event({ kind: 'row', bucket, epoch, primary, backups, reason })
    const state = this.buckets[bucket]
    if (primary === this.config.name) this.#followAsPrimary(bucket, state)
    else if (backups.includes(this.config.name)) this.#followAsBackup(bucket, state)
    else if (state !== undefined && !this.#moves.isIncoming(bucket)) {
      if (this.config.sabotage === 'serve-after-hand-over' && state.role === 'primary') return
      this.#drop(state)
    }
    this.#moves.rowChanged(bucket)
  }

  #followAsPrimary(bucket: number, state: BucketState | undefined): void {
    if (state === undefined) return // Listed, but nothing here: a former life held it.
    const was = state.role
    const epoch = this.#table.epochOf(bucket)
    state.role = 'primary'
    state.epoch = epoch
    state.source = undefined
    state.shared = undefined
    const peers = this.#holders(bucket).map((node) => this.peerOf(node))
    state.setBackups(peers.filter((peer) => peer !== undefined))
    if (was === 'primary') return
    state.lastVersion = this.clock.last
    state.settledVersion = this.clock.last
    const rows = [{ bucket, row: this.#table.row(bucket) }]
    for (const peer of state.backups) {
      this.peers.send(peer, { kind: 'rows', mask: this.#table.mask, rows }, this.#now)
      this.peers.send(peer, { kind: 'promoted', bucket, epoch, seq: state.seq }, this.#now)
    }
    if (was === 'incoming') this.#moves.arrived(bucket)
  }

  #followAsBackup(bucket: number, state: BucketState | undefined): void {
    const primary = this.#table.primaryOf(bucket)
    const epoch = this.#table.epochOf(bucket)
    if (state === undefined) {
      const peer = this.peerOf(primary)
      if (peer !== undefined) this.peers.send(peer, { kind: 'behind', bucket, epoch }, this.#now)
      return
    }
    const was = state.role
    state.role = 'backup'
    state.epoch = epoch
    state.source = this.#table.nameOf(primary)
    state.setBackups([])
    state.holding = false
    if (was === 'incoming') this.#moves.arrived(bucket)
    if (was === 'primary') this.#requests.releaseHeld(state, this.#now)
  }

  /** The new primary says where it stands; a copy that stands elsewhere is of no use. */
  #onPromoted(peer: Peer, message: { bucket: number; epoch: number; seq: number }): void {
    const state = this.buckets[message.bucket]
    if (state?.role !== 'backup' || state.source !== peer.name || state.epoch !== message.epoch)
      return
    const seq = state.shared?.seq ?? state.seq
    if (seq === message.seq) return
    this.peers.send(
      peer,
      { kind: 'behind', bucket: message.bucket, epoch: message.epoch },
      this.#now
    )
  }

  /** A backup has not what it should have: it is struck, and copied anew when its turn comes. */
  #onBehind(peer: Peer, bucket: number): void {
    const node = this.#table.indexOf(peer.name)
    if (bucket > this.#table.mask || this.#table.primaryOf(bucket) !== this.self) return
    if (!this.#table.isHolder(bucket, node)) return
    const holders = this.#holders(bucket).filter((holder) => holder !== node)
    this.changeRows([{ bucket, holders }], `${peer.name} is behind`)
  }

  #onAcked(): void {
    this.#moves.acked()
    this.#requests.acked(this.#now)
  }

  #hold(bucket: number, role: 'primary'): void {
    const epoch = this.#table.epochOf(bucket)
    const state = new BucketState(this.store.open(bucket), { mask: this.#table.mask, role, epoch })
    this.buckets[bucket] = state
  }

  #drop(state: BucketState): void {
    this.buckets[state.id] = undefined
    this.store.drop(state.id)
    state.role = 'incoming'
    this.#requests.releaseHeld(state, this.#now)
  }

  #holders(bucket: number): NodeIndex[] {
    const holders: NodeIndex[] = []
    for (let place = 0; place < MAX_COPIES; place++) {
      const holder = this.#table.holderAt(bucket, place)
      if (holder !== NOBODY) holders.push(holder)
    }
    return holders
  }

  // --- Splits ----------------------------------------------------------------------------------

  #split(mask: number, reason: string): void {
    const old = this.#table.mask
    if (mask <= old) return
    assert(nextMask(old) <= mask, 'a mask between two masks')
    this.#moves.cancelAll('the buckets are split')
    this.#table.expand(mask)
    const states = this.buckets.filter((state) => state !== undefined)
    for (const state of states) this.#splitState(state, old, mask)
    this.outbox.event({ kind: 'split', mask, reason })
    this.peers.broadcast({ kind: 'rows', mask, rows: [] }, this.#now)
    for (const state of states) this.#requests.releaseHeld(state, this.#now)
    this.#balancer.wake()
  }

  #splitState(state: BucketState, old: number, mask: number): void {
    const shared = state.role === 'backup' ? { seq: state.shared?.seq ?? state.seq } : undefined
    for (const items of this.store.split(state.id, old, mask)) {
      const child = new BucketState(items, { mask, role: state.role, epoch: state.epoch })
      child.seq = state.seq
      child.shared = shared
      child.source = state.source
      child.backups = [...state.backups]
      child.lastFrames = [...state.lastFrames]
      child.lastVersion = state.lastVersion
      child.settledVersion = state.settledVersion
      this.buckets[items.id] = child
    }
  }

  /** A number that names this cluster to people. */
  get clusterName(): string {
    return (hashText('cluster') ^ this.peers.cluster).toString(16)
  }
}
