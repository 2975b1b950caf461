/**
 * Rows and the roles that follow from them. All changes go through `change`, all reactions through `#follow`, so
 * that a bucket's role here is always what its row says. Splits are here too: they change all rows at once.
 */
import { assert } from '../core/assert.js'
import { nextMask } from '../core/mask.js'
import type { BucketRow } from '../wire/peer/message.js'
import { BucketState } from './bucket-state.js'
import type { Cluster, RowChange } from './cluster.js'
import { holdersOf } from './knowledge.js'
import type { Peer } from './peers.js'
import { isSameRow, preferRow } from './row-order.js'

export interface RowHandlers {
  /** Requests of this bucket may go on, here or elsewhere. */
  release(state: BucketState): void
  /** Some rows are others now. */
  changed(): void
  /** The row names this node for a copy that was on its way here. */
  arrived(bucket: number): void
  isIncoming(bucket: number): boolean
  /** A move may have lost its ground. */
  rowChanged(bucket: number): void
  /** The primary role was lost with writes under way: whether they happened is for others to say. */
  deposed(state: BucketState): void
  cancelMoves(reason: string): void
  /** A copy that was on its way here is in pieces now. */
  incomingSplit(children: BucketState[]): void
  isAlive(node: number): boolean
}

export class Rows {
  readonly #cluster: Cluster
  readonly #handlers: RowHandlers
  /** Since when nobody reachable holds a bucket. */
  readonly #orphanedSince = new Map<number, number>()

  constructor(cluster: Cluster, handlers: RowHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
  }

  /** The first node of a cluster holds everything. */
  create(): void {
    const { table, view } = this.#cluster
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      table.replace(bucket, 1, [view.self])
      this.#hold(bucket)
    }
  }

  change(changes: readonly RowChange[], reason: string): void {
    const { table, peers, now } = this.#cluster
    const rows: BucketRow[] = []
    for (const { bucket, holders } of changes) {
      table.replace(bucket, table.epochOf(bucket) + 1, holders)
      rows.push({ bucket, row: table.row(bucket) })
    }
    if (rows.length === 0) return
    peers.broadcast({ kind: 'rows', mask: table.mask, rows }, now)
    for (const { bucket } of rows) this.#follow(bucket, reason)
    this.#handlers.changed()
  }

  send(peer: Peer): void {
    const { table, peers, now } = this.#cluster
    const rows: BucketRow[] = []
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      if (table.epochOf(bucket) > 0) rows.push({ bucket, row: table.row(bucket) })
    }
    peers.send(peer, { kind: 'rows', mask: table.mask, rows }, now)
  }

  onRows(mask: number, rows: readonly BucketRow[]): void {
    if (mask > this.#cluster.table.mask) this.split(mask, 'another node has split')
    const { table } = this.#cluster
    const changed: number[] = []
    for (const { bucket, row } of rows) {
      // A row of a smaller mask speaks for all the buckets it was cut into.
      for (let child = bucket; child <= table.mask; child += mask + 1) {
        const known = table.row(child)
        if (row.epoch === known.epoch && !isSameRow(row, known)) {
          table.offer(child, { ...preferRow(row, known), epoch: row.epoch + 1 })
        } else if (!table.offer(child, row)) continue
        changed.push(child)
      }
    }
    for (const bucket of changed) this.#follow(bucket, 'told')
    if (changed.length > 0) this.#handlers.changed()
  }

  /** The new primary says where it stands; a copy that stands elsewhere is of no use. */
  onPromoted(peer: Peer, message: { bucket: number; epoch: number; seq: number }): void {
    const { buckets, peers, now } = this.#cluster
    const { bucket, epoch } = message
    const state = buckets[bucket]
    if (state?.role !== 'backup' || state.source !== peer.name || state.epoch !== epoch) return
    const seq = state.shared?.seq ?? state.seq
    if (seq !== message.seq) peers.send(peer, { kind: 'behind', bucket, epoch }, now)
  }

  /** A backup has not what it should have: it is struck, and copied anew when its turn comes. */
  onBehind(peer: Peer, bucket: number): void {
    const { table, view } = this.#cluster
    const node = table.indexOf(peer.name)
    if (bucket > table.mask || table.primaryOf(bucket) !== view.self) return
    if (!table.isHolder(bucket, node)) return
    const holders = holdersOf(table, bucket).filter((holder) => holder !== node)
    this.change([{ bucket, holders }], `${peer.name} is behind`)
  }

  /**
   * Buckets whose holders are all gone: after a while the first node of the roster starts them empty, and
   * says so loudly.
   */
  adoptOrphans(): void {
    const { table, view, config, outbox, buckets, now } = this.#cluster
    const first = view.roster.staying[0]?.node
    const lost: RowChange[] = []
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      if (table.epochOf(bucket) === 0 || this.#isHeld(bucket)) {
        this.#orphanedSince.delete(bucket)
        continue
      }
      const since = this.#orphanedSince.get(bucket) ?? now
      this.#orphanedSince.set(bucket, since)
      const [holder, ...others] = holdersOf(table, bucket)
      const mine = holder === view.self && others.length === 0
      if (now - since < config.lostAfterMs || !(mine || first === view.self)) continue
      if (buckets[bucket] === undefined) lost.push({ bucket, holders: [view.self] })
    }
    for (const { bucket } of lost) {
      this.#hold(bucket)
      outbox.event({ kind: 'lost', bucket, epoch: table.epochOf(bucket) + 1 })
    }
    this.change(lost, 'nobody held it any more')
  }

  split(mask: number, reason: string): void {
    const { table, buckets, outbox, peers, now } = this.#cluster
    const old = table.mask
    if (mask <= old) return
    assert(nextMask(old) <= mask, 'a mask between two masks')
    this.#handlers.cancelMoves('the buckets are split')
    table.expand(mask)
    this.#orphanedSince.clear()
    const states = buckets.filter((state) => state !== undefined)
    for (const state of states) this.#splitState(state, old)
    outbox.event({ kind: 'split', mask, reason })
    peers.broadcast({ kind: 'rows', mask, rows: [] }, now)
    for (const state of states) this.#handlers.release(state)
    this.#handlers.changed()
  }

  #splitState(state: BucketState, old: number): void {
    const children: BucketState[] = []
    const { store, buckets, table } = this.#cluster
    const { mask } = table
    const shared = state.role === 'primary' ? undefined : { seq: state.shared?.seq ?? state.seq }
    for (const items of store.split(state.id, old, mask)) {
      const child = new BucketState(items, { mask, role: state.role, epoch: state.epoch })
      child.seq = state.seq
      child.shared = shared
      child.source = state.source
      child.caughtUp = state.caughtUp
      child.backups = [...state.backups]
      child.lastFrames = [...state.lastFrames]
      child.lastVersion = state.lastVersion
      child.settledVersion = state.settledVersion
      buckets[items.id] = child
      children.push(child)
    }
    if (state.role === 'incoming') this.#handlers.incomingSplit(children)
  }

  /** Makes the bucket's role here what its row says. */
  #follow(bucket: number, reason: string): void {
    const { table, outbox, buckets, config } = this.#cluster
    const { epoch, primary, backups } = table.row(bucket)
    outbox.event({ kind: 'row', bucket, epoch, primary, backups, reason })
    const state = buckets[bucket]
    if (state?.role === 'primary' && primary !== config.name && !state.isSettled()) {
      this.#handlers.deposed(state)
    }
    if (primary === config.name) this.#followAsPrimary(bucket, state)
    else if (backups.includes(config.name)) this.#followAsBackup(bucket, state)
    else if (state !== undefined && !this.#handlers.isIncoming(bucket)) {
      if (config.sabotage === 'serve-after-hand-over' && state.role === 'primary') return
      this.#drop(state)
    }
    this.#handlers.rowChanged(bucket)
  }

  #followAsPrimary(bucket: number, state: BucketState | undefined): void {
    const { table, peers, clock, now } = this.#cluster
    if (state === undefined) {
      this.#stepAside(bucket)
      return
    }
    const was = state.role
    const epoch = table.epochOf(bucket)
    state.role = 'primary'
    state.epoch = epoch
    state.source = undefined
    if (state.shared !== undefined) state.seq = state.shared.seq
    state.shared = undefined
    const backups = holdersOf(table, bucket).map((node) => this.#cluster.peerOf(node))
    state.setBackups(backups.filter((peer) => peer !== undefined))
    if (was === 'primary') return
    state.lastVersion = clock.last
    state.settledVersion = clock.last
    const rows = [{ bucket, row: table.row(bucket) }]
    for (const peer of state.backups) {
      peers.send(peer, { kind: 'rows', mask: table.mask, rows }, now)
      peers.send(peer, { kind: 'promoted', bucket, epoch, seq: state.seq }, now)
    }
    if (was === 'incoming') this.#handlers.arrived(bucket)
  }

  /** Listed as primary, but nothing is here (a former life held it): a backup has it all. */
  #stepAside(bucket: number): void {
    const { table, view } = this.#cluster
    const backups = holdersOf(table, bucket).filter((node) => node !== view.self)
    const alive = backups.filter((node) => this.#handlers.isAlive(node))
    if (alive.length > 0) this.change([{ bucket, holders: alive }], 'nothing is held here')
  }

  #followAsBackup(bucket: number, state: BucketState | undefined): void {
    const { table, peers, now } = this.#cluster
    const primary = table.primaryOf(bucket)
    const epoch = table.epochOf(bucket)
    if (state === undefined) {
      const peer = this.#cluster.peerOf(primary)
      if (peer !== undefined) peers.send(peer, { kind: 'behind', bucket, epoch }, now)
      return
    }
    const was = state.role
    state.role = 'backup'
    state.epoch = epoch
    state.source = table.nameOf(primary)
    state.setBackups([])
    state.holding = false
    if (was === 'incoming') this.#handlers.arrived(bucket)
    if (was === 'primary') this.#handlers.release(state)
  }

  #isHeld(bucket: number): boolean {
    const { table, view, buckets } = this.#cluster
    return holdersOf(table, bucket).some((node) =>
      node === view.self ? buckets[bucket] !== undefined : this.#handlers.isAlive(node)
    )
  }

  #hold(bucket: number): void {
    const { table, store, buckets } = this.#cluster
    const epoch = table.epochOf(bucket)
    const options = { mask: table.mask, role: 'primary', epoch } as const
    buckets[bucket] = new BucketState(store.open(bucket), options)
  }

  #drop(state: BucketState): void {
    const { buckets, store } = this.#cluster
    buckets[state.id] = undefined
    store.drop(state.id)
    state.role = 'incoming'
    this.#handlers.release(state)
  }
}
