/**
 * Who is in the cluster and who can be heard: joining, heartbeats, and what follows when a node falls silent
 * or turns out to be another process than before. In both cases nothing that was relied on in it holds: it is
 * struck from the rows of this node's primaries, and the first backup that can be heard takes over its own.
 */
import { NOBODY, type NodeIndex } from '../core/ids.js'
import type { MemberRecord, MemberState } from '../core/membership/members.js'
import { Roster } from '../core/placement/roster.js'
import type { Message } from '../wire/peer/message.js'
import type { Cluster, RowChange } from './cluster.js'
import { holdersOf } from './knowledge.js'
import type { Peer } from './peers.js'

export interface MembershipHandlers {
  /** The cluster was set up like this: know it so. */
  adopt(setup: { copies: number }): void
  /** Moves, requests and watches that relied on the peer have to go on without it. */
  gone(peer: Peer, how: 'died' | 'restarted'): void
  /** Replies that waited for a peer need not any more. */
  waived(): void
  rosterChanged(): void
  sendTable(peer: Peer): void
  tellWatches(peer: Peer): void
  split(mask: number, reason: string): void
}

const EVENTS = { alive: 'joined', leaving: 'leaving', left: 'left' } as const

export class Membership {
  readonly #cluster: Cluster
  readonly #handlers: MembershipHandlers
  #state: MemberState = 'alive'
  #version = 1
  #leaveWanted = false
  #copies: number
  joined = false
  nextBeatMs = 0

  constructor(cluster: Cluster, handlers: MembershipHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
    this.#copies = cluster.config.copies
  }

  get leaving(): boolean {
    return this.#state === 'leaving'
  }

  start(): void {
    const { config, peers, members, now, random } = this.#cluster
    this.nextBeatMs = now
    members.offer(this.#record())
    if (config.join.length > 0) {
      for (const address of config.join) peers.contact(address, now)
      return
    }
    peers.cluster = random.uint32() || 1
    this.joined = true
    this.spreadRoster()
  }

  /** Asked to go; one that is not in yet goes as soon as it is. */
  leave(): void {
    this.#leaveWanted = true
    if (this.joined && this.#state === 'alive') this.become('leaving')
  }

  become(state: MemberState): void {
    this.#state = state
    this.#version++
    this.learn([this.#record()])
  }

  /** A process answered for the first time, or for the first time in a new life. */
  onMet(peer: Peer): void {
    const { peers, members, now } = this.#cluster
    if (!this.joined) {
      peers.send(peer, { kind: 'join', member: this.#record() }, now)
      return
    }
    peers.send(peer, { kind: 'members', members: members.all() }, now)
    this.#handlers.tellWatches(peer)
  }

  onJoin(peer: Peer, member: MemberRecord): void {
    if (!this.joined || this.#state !== 'alive') return
    this.learn([member])
    const { config, peers, members, now } = this.#cluster
    const { cluster } = peers
    const [hash, copies] = [config.hash, this.#copies]
    peers.send(peer, { kind: 'welcome', cluster, copies, hash, members: members.all() }, now)
    this.#handlers.sendTable(peer)
    this.#handlers.tellWatches(peer)
  }

  onWelcome(message: Extract<Message, { kind: 'welcome' }>): void {
    if (this.joined) return
    const { config, outbox, peers } = this.#cluster
    if (message.hash !== config.hash) {
      const reason = `the cluster places keys by ${message.hash}, this node by ${config.hash}`
      outbox.event({ kind: 'peerError', node: config.name, reason })
      return
    }
    peers.cluster = message.cluster
    peers.forgetContacts()
    this.#copies = message.copies
    this.joined = true
    this.#handlers.adopt({ copies: message.copies })
    this.learn(message.members)
    this.spreadRoster()
    outbox.event({ kind: 'joined', node: config.name })
    if (this.#leaveWanted) this.leave()
  }

  learn(records: readonly MemberRecord[]): void {
    const { config, peers, members, outbox, now } = this.#cluster
    const news = records.filter((record) => members.offer(record))
    if (news.length === 0) return
    for (const record of news) {
      if (record.name === config.name) continue
      const peer = peers.ensure(record.name, record.address, now)
      peer.left = record.state === 'left'
      outbox.event({ kind: EVENTS[record.state], node: record.name })
    }
    if (!this.joined) return
    peers.broadcast({ kind: 'members', members: news }, now)
    this.spreadRoster()
  }

  spreadRoster(): void {
    const { members, peers, table, view } = this.#cluster
    const staying = []
    for (const record of members.all()) {
      const node = table.intern(record.name)
      if (record.state === 'left' || peers.get(record.name)?.dead === true) continue
      const { weight, zone } = record
      staying.push({ node, weight, zone, leaving: record.state === 'leaving' })
    }
    view.arrangement.roster = new Roster(staying)
    this.#handlers.rosterChanged()
  }

  /** Tells everyone that this node lives, and notices who has been silent for too long. */
  beat(): void {
    const { config, peers, members, table, outbox, now } = this.#cluster
    this.nextBeatMs = now + config.heartbeatMs
    if (!this.joined || this.#state === 'left') return
    peers.broadcast({ kind: 'beat', mask: table.mask, digest: table.digest() }, now)
    for (const peer of peers.all()) {
      const record = members.get(peer.name)
      if (peer.dead || record === undefined || record.state === 'left') continue
      if (now - peer.lastHeardMs <= config.deadAfterMs) {
        if (peer.stream.stalledMs(now) > config.ackTimeoutMs) this.#strike(peer)
        continue
      }
      peers.bury(peer, now)
      outbox.event({ kind: 'died', node: peer.name })
      this.onGone(peer, 'died')
    }
  }

  onBeat(peer: Peer, mask: number, digest: number): void {
    const { peers, table, now } = this.#cluster
    if (!this.joined) {
      peers.send(peer, { kind: 'join', member: this.#record() }, now)
      return
    }
    if (mask > table.mask) this.#handlers.split(mask, `${peer.name} has split`)
    const differs = mask !== table.mask || digest !== table.digest()
    // Only when it has been so for two beats: rows may be on their way.
    if (differs && peer.differs) peers.send(peer, { kind: 'tableAsk' }, now)
    peer.differs = differs && !peer.differs
  }

  onReturned(peer: Peer): void {
    this.#cluster.outbox.event({ kind: 'returned', node: peer.name })
    this.spreadRoster()
    if (this.joined) this.#handlers.sendTable(peer)
  }

  /** Nothing that this node relied on in the peer holds any more. */
  onGone(peer: Peer, how: 'died' | 'restarted'): void {
    const { table, view, outbox } = this.#cluster
    this.spreadRoster()
    const gone = table.indexOf(peer.name)
    const struck: RowChange[] = []
    const taken: RowChange[] = []
    for (let bucket = 0; gone !== NOBODY && bucket <= table.mask; bucket++) {
      if (!table.isHolder(bucket, gone)) continue
      const holders = holdersOf(table, bucket).filter((node) => node !== gone)
      const primary = table.primaryOf(bucket)
      if (primary === view.self) struck.push({ bucket, holders })
      else if (primary === gone && this.#takesOver(bucket, holders)) {
        const alive = holders.filter((node) => this.isAlive(node))
        const others = alive.filter((node) => node !== view.self)
        taken.push({ bucket, holders: [view.self, ...others] })
      }
    }
    this.#cluster.changeRows(struck, `${peer.name} ${how}`)
    for (const { bucket } of taken) {
      const epoch = table.epochOf(bucket) + 1
      outbox.event({ kind: 'promoted', bucket, epoch, instead: peer.name })
    }
    this.#cluster.changeRows(taken, `${peer.name} ${how}`)
    this.#handlers.gone(peer, how)
  }

  /**
   * It can be heard but takes nothing in: writes must not wait for it for ever. It leaves the rows first, and only
   * then are they acknowledged without it; it comes back by a fresh copy.
   */
  #strike(peer: Peer): void {
    const { table, view, peers, now } = this.#cluster
    const node = table.indexOf(peer.name)
    const struck: RowChange[] = []
    for (let bucket = 0; node !== NOBODY && bucket <= table.mask; bucket++) {
      if (table.primaryOf(bucket) !== view.self || !table.isHolder(bucket, node)) continue
      struck.push({ bucket, holders: holdersOf(table, bucket).filter((holder) => holder !== node) })
    }
    if (struck.length === 0) return
    this.#cluster.changeRows(struck, `${peer.name} acknowledges nothing`)
    peers.waive(peer, now)
    this.#handlers.waived()
  }

  isAlive(node: NodeIndex): boolean {
    const { view } = this.#cluster
    return node === view.self || this.#cluster.peerOf(node)?.dead === false
  }

  /** Of the backups in the order of the row, the first that can be heard takes over, if it has the data. */
  #takesOver(bucket: number, backups: readonly NodeIndex[]): boolean {
    const { view, buckets } = this.#cluster
    const first = backups.find((node) => this.isAlive(node))
    return first === view.self && buckets[bucket]?.role === 'backup'
  }

  /** A leaving node that holds nothing any more is gone. */
  goIfEmpty(busy: boolean): void {
    const { table, view, outbox } = this.#cluster
    if (table.totalOf(view.self) > 0 || busy) return
    this.become('left')
    outbox.event({ kind: 'mayGo' })
  }

  #record(): MemberRecord {
    const { name, address, life, weight, zone } = this.#cluster.config
    return { name, address, life, version: this.#version, state: this.#state, weight, zone }
  }
}
