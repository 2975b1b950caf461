/**
 * Rows and the roles that follow from them. All changes go through `change`, which has them agreed on, and all
 * reactions through `#follow`, so that a bucket's role here is always what its row says. Splits are here too: they
 * change all rows at once.
 */
import { assert } from '../core/assert.js'
import { nextMask } from '../core/mask.js'
import type { RowValue, TakenRow } from '../wire/peer/agreement.js'
import type { BucketRow } from '../wire/peer/knowledge.js'
import { BucketState, type Role } from './bucket-state.js'
import type { ChangeOptions, Cluster, RowChange } from './cluster.js'
import type { NodeName } from '../core/ids.js'
import type { Row, TableOutline } from '../core/table.js'
import { holdersOf } from './knowledge.js'
import { Orphans } from './orphans.js'
import type { Peer } from './peers.js'
import type { Decision, Registers, Wish } from './registers.js'
import { isSameRow, preferRow } from './row-order.js'

/** More writes than a bucket can have had: one that was lost goes on from the time in these. */
const LOST_WRITES_PER_MS = 1000

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
  /** The copy here is the primary now, and its backups have been told. */
  promoted(state: BucketState): void
  wasSplit(state: BucketState, children: readonly BucketState[]): void
  /** A copy that was on its way here is in pieces now. */
  incomingSplit(children: BucketState[]): void
  /** All buckets are in pieces now. */
  splitDone(old: number, mask: number): void
  /** The primary role was lost to a side of the cluster that decided without this one. */
  merge(state: BucketState): void
  /** Backups have to know from where on copies elsewhere may differ. */
  parted(): void
  /** The primary role went where this node gave it. */
  isHandedOver(bucket: number): boolean
  /** The bucket that is merged has another row. */
  mergeOn(bucket: number): void
  /** Only one of two rows of the same epoch can be right. */
  byMajority(): boolean
}

/** An epoch so far above the known one was never reached by changes: whoever says so is wrong. */
const EPOCH_STEP_MAX = 1_000_000

const NOTHING_KNOWN: TableOutline = { mask: 0, digest: 0, epochs: [] }

export class Rows {
  readonly #cluster: Cluster
  readonly #registers: Registers
  readonly #handlers: RowHandlers
  readonly #orphans: Orphans
  /** Backups whose copies are of another side, or nobody knows of what, until the end of what is being followed. */
  readonly #strangers: { readonly peer: Peer; readonly bucket: number }[] = []

  constructor(cluster: Cluster, registers: Registers, handlers: RowHandlers) {
    this.#cluster = cluster
    this.#registers = registers
    this.#handlers = handlers
    this.#orphans = new Orphans(cluster)
  }

  /** The first node of a cluster holds everything. */
  create(): void {
    const { table, view } = this.#cluster
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      table.replace(bucket, 1, [view.self])
      this.#registers.seed(bucket, { kind: 'row', row: table.row(bucket), deposes: '' })
      this.#hold(bucket)
    }
  }

  change(changes: readonly RowChange[], reason: string, options: ChangeOptions = {}): void {
    const { table } = this.#cluster
    const { isWanted, done } = options
    const wishes = changes.map(({ bucket, holders }): Wish => {
      const [primary, ...backups] = holders.map((node) => table.nameOf(node))
      const row = { epoch: 0, primary, backups }
      return {
        register: bucket,
        expected: table.epochOf(bucket),
        next: { kind: 'row', row, deposes: '' },
        reason,
        ...(isWanted === undefined ? {} : { isWanted: () => isWanted(bucket) }),
        ...(done === undefined ? {} : { done: (decided) => done(bucket, decided) })
      }
    })
    this.#registers.propose(wishes)
  }

  /** The row as it is, with a new epoch: whatever was begun from the old one comes to nothing. */
  touch(bucket: number, reason: string, done: (settled: boolean) => void): void {
    const { table } = this.#cluster
    const { mask } = table
    const next: RowValue = { kind: 'row', row: table.row(bucket), deposes: '' }
    const expected = table.epochOf(bucket)
    const settle = (): void => done(table.mask === mask && table.epochOf(bucket) > expected)
    this.#registers.propose([{ register: bucket, expected, next, reason, done: settle }])
  }

  /** Finds out what became of a change that somebody began. */
  resolve(bucket: number, reason: string, done?: () => void): void {
    const expected = this.#cluster.table.epochOf(bucket)
    const wish = { register: bucket, expected, reason }
    this.#registers.propose([done === undefined ? wish : { ...wish, done }])
  }

  /** Agreed on, here or by finishing what another node began. */
  decided(decisions: readonly Decision[]): void {
    const { table, peers, now } = this.#cluster
    const rows: BucketRow[] = []
    const reasons: string[] = []
    for (const { register, value, reason } of decisions) {
      if (value.kind !== 'row' || register > table.mask) continue
      if (!table.offer(register, value.row)) {
        if (value.row.epoch === table.epochOf(register)) this.#regain(register)
        continue
      }
      rows.push({ bucket: register, row: value.row })
      reasons.push(reason)
    }
    if (rows.length === 0) return
    peers.broadcast({ kind: 'rows', mask: table.mask, rows }, now)
    rows.forEach(({ bucket }, i) => this.#follow(bucket, reasons[i]))
    this.#handlers.changed()
    this.#strikeStrangers()
  }

  /** The bucket is not served until it is known whose it is. */
  concede(bucket: number): void {
    const state = this.#cluster.buckets[bucket]
    if (state?.role === 'primary') state.conceded = true
  }

  /** A voter has accepted that these are taken from this node, perhaps with too few others. */
  onTaken(peer: Peer, mask: number, rows: readonly TakenRow[]): void {
    if (mask > this.#cluster.table.mask) this.split(mask, 'another node has split')
    const { table } = this.#cluster
    for (const { bucket, epoch } of rows) {
      for (let child = bucket; child <= table.mask; child += mask + 1) {
        if (this.isPossible(peer, child, epoch)) this.doubt(child, epoch)
      }
    }
  }

  /** Perhaps the bucket is another's by now: it is not served until that is known. */
  doubt(bucket: number, epoch: number): void {
    const { table, buckets } = this.#cluster
    if (buckets[bucket]?.role !== 'primary' || table.epochOf(bucket) >= epoch) return
    this.concede(bucket)
    if (!this.#registers.doubt(bucket, epoch)) this.resolve(bucket, 'it may have been taken')
  }

  /** The row was decided, perhaps as it was: what somebody attempted before will never be. */
  #regain(bucket: number): void {
    const state = this.#cluster.buckets[bucket]
    if (state?.conceded !== true || this.#registers.isPending(bucket)) return
    state.conceded = false
    if (!state.holding) this.#handlers.release(state)
  }

  /** Tells all that is known, or what is known better here than in that table. */
  send(peer: Peer, outline?: TableOutline): void {
    const { table, peers, now } = this.#cluster
    const { mask } = table
    const rows: BucketRow[] = []
    for (const bucket of table.newerThan(outline ?? NOTHING_KNOWN)) {
      if (table.epochOf(bucket) > 0) rows.push({ bucket, row: table.row(bucket) })
    }
    // The mask is news by itself to whoever asks for everything.
    if (rows.length > 0 || outline === undefined)
      peers.send(peer, { kind: 'rows', mask, rows }, now)
  }

  onRows(peer: Peer, mask: number, rows: readonly BucketRow[]): void {
    if (mask > this.#cluster.table.mask) this.split(mask, 'another node has split')
    const { table } = this.#cluster
    const changed: number[] = []
    for (const { bucket, row } of rows) {
      // A row of a smaller mask speaks for all the buckets it was cut into.
      for (let child = bucket; child <= table.mask; child += mask + 1) {
        if (this.#take(peer, child, row)) changed.push(child)
      }
    }
    for (const bucket of changed) this.#follow(bucket, 'told')
    for (const bucket of changed) {
      this.#registers.learned(bucket, { kind: 'row', row: table.row(bucket), deposes: '' })
      this.#regain(bucket)
    }
    if (changed.length > 0) this.#handlers.changed()
    this.#strikeStrangers()
  }

  /** Takes a row that another node told of, if it is newer and can be true. */
  #take(peer: Peer, bucket: number, row: Row): boolean {
    const { table } = this.#cluster
    const known = table.row(bucket)
    if (!this.isPossible(peer, bucket, row.epoch)) return false
    if (row.epoch !== known.epoch || isSameRow(row, known)) return table.offer(bucket, row)
    if (this.#handlers.byMajority()) {
      this.#refuse(peer, `bucket ${bucket} has another row at epoch ${row.epoch}`)
      return false
    }
    // Both sides of a cut decided alone: every node picks the same of the two.
    return table.offer(bucket, { ...preferRow(row, known), epoch: row.epoch + 1 })
  }

  /** Says so to both sides if not. Of a bucket that nothing is known of yet, anything is believed. */
  isPossible(peer: Peer, bucket: number, epoch: number): boolean {
    const { table } = this.#cluster
    const known = bucket > table.mask ? 0 : table.epochOf(bucket)
    if (known === 0 || epoch <= known + EPOCH_STEP_MAX) return true
    this.#refuse(peer, `bucket ${bucket} cannot be at epoch ${epoch}, it is at ${known}`)
    return false
  }

  #refuse(peer: Peer, reason: string): void {
    const { outbox, peers, now } = this.#cluster
    outbox.event({ kind: 'peerError', node: peer.name, reason })
    peers.send(peer, { kind: 'refused', reason }, now)
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
    const state = this.#cluster.buckets[bucket]
    const place = state?.backups.indexOf(peer) ?? -1
    if (state !== undefined && place >= 0) peer.refuse(bucket, state.lastFrames[place])
    const holders = holdersOf(table, bucket).filter((holder) => holder !== node)
    this.change([{ bucket, holders }], `${peer.name} is behind`)
  }

  /** Of buckets whose copies are all gone. */
  adoptOrphans(): void {
    this.#orphans.adopt()
  }

  split(mask: number, reason: string): void {
    const { table, buckets, outbox, peers, now } = this.#cluster
    const old = table.mask
    if (mask <= old) return
    assert(nextMask(old) <= mask, 'a mask between two masks')
    this.#handlers.cancelMoves('the buckets are split')
    table.expand(mask)
    const states = buckets.filter((state) => state !== undefined)
    for (const state of states) this.#splitState(state, old)
    this.#registers.split(old, mask)
    for (const peer of peers.all()) peer.split(old, mask)
    this.#orphans.clear()
    this.#handlers.splitDone(old, mask)
    outbox.event({ kind: 'split', mask, reason })
    peers.broadcast({ kind: 'rows', mask, rows: [] }, now)
    for (const state of states) this.#handlers.release(state)
    for (const { conceded, id } of states) if (conceded) this.#concedePieces(id, old)
    this.#handlers.changed()
  }

  /** Each piece of a bucket that was conceded may still be taken over by what was begun before. */
  #concedePieces(bucket: number, old: number): void {
    const { mask } = this.#cluster.table
    for (let piece = bucket; piece <= mask; piece += old + 1) {
      this.concede(piece)
      this.resolve(piece, 'it was split while somebody attempted to take it over')
    }
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
      child.abandoned = [...state.abandoned]
      child.lastVersion = state.lastVersion
      child.settledVersion = state.settledVersion
      child.partedVersion = state.partedVersion
      child.partedSyncs = state.partedSyncs
      child.filling = state.filling
      buckets[items.id] = child
      children.push(child)
    }
    this.#handlers.wasSplit(state, children)
    if (state.role === 'incoming') this.#handlers.incomingSplit(children)
  }

  /** Makes the bucket's role here what its row says. */
  #follow(bucket: number, reason: string): void {
    const { table, outbox, buckets, config } = this.#cluster
    const { epoch, primary, backups } = table.row(bucket)
    outbox.event({ kind: 'row', bucket, epoch, primary, backups, reason })
    const state = buckets[bucket]
    if (state?.role === 'primary' && primary !== config.name && state.isAwaited) {
      this.#handlers.deposed(state)
    }
    if (state !== undefined && this.#isParted(state, primary)) {
      this.#handlers.rowChanged(bucket)
      return
    }
    if (primary === config.name) this.#followAsPrimary(bucket, state)
    else if (backups.includes(config.name)) this.#followAsBackup(bucket, state)
    else if (state !== undefined && !this.#handlers.isIncoming(bucket)) {
      if (config.sabotage === 'serve-after-hand-over' && state.role === 'primary') return
      this.#drop(state)
    }
    for (const peer of this.#cluster.peers.all()) {
      if (!peer.refuses || buckets[bucket]?.backups.includes(peer) === true) continue
      peer.excuse(bucket)
    }
    this.#handlers.rowChanged(bucket)
  }

  /**
   * Where those who can be heard decide, another side may have gone on without this node: what was written here since
   * is given to the new primary before the copy goes.
   */
  #isParted(state: BucketState, primary: string | null): boolean {
    const { config } = this.#cluster
    if (primary === config.name || this.#handlers.byMajority()) return false
    if (state.role === 'merging') {
      this.#handlers.mergeOn(state.id)
      return true
    }
    if (state.role !== 'primary' || this.#handlers.isHandedOver(state.id)) return false
    state.role = 'merging'
    state.handing = false
    state.conceded = false
    state.filling = undefined
    state.setBackups([])
    this.#handlers.release(state)
    this.#handlers.merge(state)
    return true
  }

  #followAsPrimary(bucket: number, state: BucketState | undefined): void {
    const { table, peers, clock, now } = this.#cluster
    if (state === undefined) {
      if (this.#orphans.isAdopted(bucket)) this.#startEmpty(bucket)
      return
    }
    const { role: was, source } = state
    const epoch = table.epochOf(bucket)
    state.role = 'primary'
    state.epoch = epoch
    state.source = undefined
    if (state.shared !== undefined) state.seq = state.shared.seq
    state.shared = undefined
    const before = state.backups
    state.setBackups(this.#backupsOf(bucket))
    this.#noteParting(state, { was, source, before })
    this.#noteStrangers(state, was, before)
    this.#regain(bucket)
    if (was === 'primary') return
    state.lastVersion = clock.last
    state.settledVersion = clock.last
    // Who takes over has writes that the other backups may lack. Nobody is shown them, or told that they were done, before
    // these have said that they stand where this copy does, or are struck. A primary that hands over has seen to that.
    const isKnownEqual = was === 'incoming'
    if (!isKnownEqual) state.settledVersion = 0
    const rows = [{ bucket, row: table.row(bucket) }]
    state.backups.forEach((peer, place) => {
      peers.send(peer, { kind: 'rows', mask: table.mask, rows }, now)
      const frame = peers.send(peer, { kind: 'promoted', bucket, epoch, seq: state.seq }, now)
      if (isKnownEqual) return
      state.lastFrames[place] = frame > 0 ? frame : peer.batchFrame
      // One that cannot be asked is struck like one that says no.
      if (frame === 0) this.#strangers.push({ peer, bucket })
    })
    this.#handlers.promoted(state)
    if (was === 'incoming') this.#handlers.arrived(bucket)
  }

  /**
   * A node that is left out because it cannot be heard may go on by itself: from here on copies may differ. A primary that
   * changed places with its backup is not left out.
   */
  #noteParting(
    state: BucketState,
    { was, source, before }: { was: Role; source: NodeName | undefined; before: readonly Peer[] }
  ): void {
    if (this.#handlers.byMajority()) return
    const isLeftOut = (peer: Peer): boolean => peer.dead && !state.backups.includes(peer)
    const isApart =
      was === 'primary'
        ? before.some(isLeftOut)
        : was === 'backup' && !state.backups.some(({ name }) => name === source)
    if (!isApart) return
    const version = was === 'primary' ? state.settledVersion : state.lastVersion
    const parted = Math.min(state.partedVersion || Infinity, Math.max(1, version))
    state.part(parted)
    this.#handlers.parted()
  }

  /** The row names this node although it gave its copy away, and another node has all of it: it is taken in from there. */
  startFor(giver: Peer, bucket: number): BucketState {
    const { clock } = this.#cluster
    const state = this.#holdAgain(bucket)
    state.lastVersion = clock.last
    state.settledVersion = clock.last
    state.filling = giver
    return state
  }

  /** Nobody had it any more: the loss is said loudly, and the bucket goes on with nothing in it. */
  #startEmpty(bucket: number): void {
    this.#holdAgain(bucket)
    const epoch = this.#cluster.table.epochOf(bucket)
    this.#cluster.outbox.event({ kind: 'lost', bucket, epoch })
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
    state.handing = false
    state.conceded = false
    state.filling = undefined
    if (was === 'incoming') this.#handlers.arrived(bucket)
    if (was === 'primary') this.#handlers.release(state)
  }

  /**
   * Of two rows that two sides decided everybody picks one, and it may name a backup that this primary never gave anything:
   * its copy is the other side's, even if both have had as many writes.
   */
  #noteStrangers(state: BucketState, was: Role, before: readonly Peer[]): void {
    if (this.#handlers.byMajority() || (was !== 'primary' && was !== 'merging')) return
    for (const peer of state.backups) {
      if (before.includes(peer) || state.forwarding?.peer === peer) continue
      this.#strangers.push({ peer, bucket: state.id })
    }
  }

  #strikeStrangers(): void {
    for (const { peer, bucket } of this.#strangers.splice(0)) this.onBehind(peer, bucket)
  }

  /** With numbers of writes that never go back, although nobody here knows where they were. */
  #holdAgain(bucket: number): BucketState {
    const state = this.#hold(bucket)
    state.seq = Math.floor(this.#cluster.now) * LOST_WRITES_PER_MS
    // Whoever is named has another copy or none, finds that out by what it is sent, and is given a fresh one.
    state.setBackups(this.#backupsOf(bucket))
    return state
  }

  /** The others whom the row names. */
  #backupsOf(bucket: number): Peer[] {
    const { table } = this.#cluster
    const others = holdersOf(table, bucket).map((node) => this.#cluster.peerOf(node))
    return others.filter((peer) => peer !== undefined)
  }

  #hold(bucket: number): BucketState {
    const { table, store, buckets } = this.#cluster
    const epoch = table.epochOf(bucket)
    const options = { mask: table.mask, role: 'primary', epoch } as const
    const state = new BucketState(store.open(bucket), options)
    buckets[bucket] = state
    return state
  }

  #drop(state: BucketState): void {
    const { buckets, store } = this.#cluster
    buckets[state.id] = undefined
    store.drop(state.id)
    state.role = 'incoming'
    this.#handlers.release(state)
  }
}
