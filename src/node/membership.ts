/**
 * Who is in the cluster and who can be heard: joining, leaving, heartbeats, and noticing when a node falls silent or
 * turns out to be another process than before. What follows from that for the rows is in `repair`.
 */
import type { MemberRecord, MemberState } from '../core/membership/members.js'
import { Roster } from '../core/placement/roster.js'
import type { Message } from '../wire/peer/message.js'
import type { NodeName } from '../core/ids.js'
import type { Cluster } from './cluster.js'
import { Farewell } from './farewell.js'
import type { Peer } from './peers.js'

export interface MembershipHandlers {
  /** The cluster was set up like this: know it so. */
  adopt(setup: { copies: number }): void
  /** Rows, moves, requests and watches that relied on the peer have to go on without it. */
  gone(peer: Peer, how: 'died' | 'restarted'): void
  rosterChanged(): void
  /** This is what a newcomer needs besides the members. */
  sendTable(peer: Peer): void
  tellWatches(peer: Peer): void
  split(mask: number, reason: string): void
  /** The voters: told to a newcomer, and compared at every beat. */
  sendVoters(peer: Peer): void
  votersVersion(): number
  heard(peer: Peer, beat: { readonly voters: number; readonly ms: number }): void
  beatSent(): void
  isVoter(): boolean
  /** Whether these are enough voters to decide. */
  isQuorum(has: (name: NodeName) => boolean): boolean
  /** Too few voters can be heard to decide anything; and those who were struck by hand are not waited for any more. */
  isStuck(): boolean
  goOn(): void
}

const EVENTS = { alive: 'joined', leaving: 'leaving', left: 'left' } as const

/** Up to so many other nodes each is asked for its table; of more, about as many a beat as the second says. */
const TABLES_ASKED_ALL = 12
const TABLES_ASKED = 3
/** How many of the beats go with the whole list of members, to one other node. */
const REMIND_CHANCE = 0.1

type Application = Extract<Message, { kind: 'join' }>

export class Membership {
  readonly #cluster: Cluster
  readonly #handlers: MembershipHandlers
  #state: MemberState = 'alive'
  #version = 1
  #leaveWanted = false
  #copies: number
  readonly #farewell: Farewell
  /** They asked this node before it was in itself. */
  readonly #askers = new Map<Peer, Application>()
  /** Which process of them was told why it cannot be let in. */
  readonly #refused = new Map<Peer, number>()
  /** Why it was not let in, if that was told already. */
  #refusal = ''
  joined = false
  nextBeatMs = 0

  constructor(cluster: Cluster, handlers: MembershipHandlers) {
    this.#cluster = cluster
    this.#handlers = handlers
    this.#copies = cluster.config.copies
    this.#farewell = new Farewell(cluster)
  }

  get leaving(): boolean {
    return this.#state === 'leaving'
  }

  get left(): boolean {
    return this.#state === 'left'
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
      peers.send(peer, this.#application(), now)
      return
    }
    peers.send(peer, { kind: 'members', members: members.all() }, now)
    this.#handlers.tellWatches(peer)
  }

  /**
   * One that is on its way out lets others in, too: perhaps they know nobody else, and they make themselves known to
   * all the others. One that is not in yet keeps them in mind until it is.
   */
  onJoin(peer: Peer, application: Application): void {
    if (!this.joined) {
      this.#askers.set(peer, application)
      return
    }
    const { config, peers, members, now } = this.#cluster
    if (application.hash === config.hash) this.learn([application.member])
    else if (!this.#refuses(peer, application)) return
    const { cluster } = peers
    const [hash, copies] = [config.hash, this.#copies]
    peers.send(peer, { kind: 'welcome', cluster, copies, hash, members: members.all() }, now)
    this.#handlers.sendVoters(peer)
    this.#handlers.sendTable(peer)
    this.#handlers.tellWatches(peer)
  }

  /** One that places keys otherwise cannot be let in; true when its process has not been told yet. */
  #refuses(peer: Peer, { hash, member }: Application): boolean {
    if (this.#refused.get(peer) === member.life) return false
    this.#refused.set(peer, member.life)
    const { config, outbox } = this.#cluster
    const reason = `it places keys by ${hash}, the cluster by ${config.hash}`
    outbox.event({ kind: 'peerError', node: member.name, reason })
    return true
  }

  onWelcome(message: Extract<Message, { kind: 'welcome' }>): void {
    if (this.joined) return
    const { config, outbox, peers } = this.#cluster
    if (message.hash !== config.hash) {
      const reason = `the cluster places keys by ${message.hash}, this node by ${config.hash}`
      if (reason !== this.#refusal) outbox.event({ kind: 'peerError', node: config.name, reason })
      this.#refusal = reason
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
    // A write is sent on only to a node whose clock is known: the first buckets would be waited for until the next beat.
    this.beatSoon()
    for (const [peer, application] of this.#askers) this.onJoin(peer, application)
    this.#askers.clear()
    if (this.#leaveWanted) this.leave()
  }

  learn(records: readonly MemberRecord[]): void {
    const { config, peers, members, outbox, now } = this.#cluster
    const news = records.filter((record) => members.offer(record))
    if (news.length === 0) return
    for (const record of news) {
      if (record.name === config.name) {
        this.#insist(record)
        continue
      }
      const peer = peers.ensure(record.name, record.address, now)
      peer.left = record.state === 'left'
      outbox.event({ kind: EVENTS[record.state], node: record.name })
    }
    if (!this.joined) return
    peers.broadcast({ kind: 'members', members: news }, now)
    this.spreadRoster()
  }

  /** Others have struck this node, and it lives: it says so. */
  #insist(record: MemberRecord): void {
    if (record.life !== this.#cluster.config.life || record.state === this.#state) return
    this.#version = Math.max(this.#version, record.version)
    if (this.#state !== 'left') this.become(this.#state)
  }

  spreadRoster(): void {
    const { members, peers, table, view } = this.#cluster
    const staying = []
    for (const record of members.all()) {
      const node = table.intern(record.name)
      if (record.state === 'left' || peers.get(record.name)?.dead === true) continue
      const { weight, zone } = record
      // A witness votes and holds nothing.
      if (weight === 0) continue
      staying.push({ node, weight, zone, leaving: record.state === 'leaving' })
    }
    view.arrangement.roster = new Roster(staying)
    this.#handlers.rosterChanged()
  }

  /** Somebody has not heard of this node yet, nor what its clock shows. */
  beatSoon(): void {
    this.nextBeatMs = Math.min(this.nextBeatMs, this.#cluster.now)
  }

  /** Tells everyone that this node lives, and notices who has been silent for too long. */
  beat(): void {
    const { config, peers, members, table, now } = this.#cluster
    this.nextBeatMs = now + config.heartbeatMs
    if (!this.joined || this.#state === 'left') return
    const voters = this.#handlers.votersVersion()
    const digest = table.digest()
    peers.broadcast({ kind: 'beat', mask: table.mask, digest, voters, ms: now }, now)
    this.#handlers.beatSent()
    this.#remind()
    for (const peer of peers.all()) {
      const record = members.get(peer.name)
      if (peer.dead || record === undefined || record.state === 'left') continue
      if (now - peer.lastHeardMs > config.deadAfterMs) this.onDied(peer)
    }
  }

  /** It was silent for too long, or somebody else could not hear it either. */
  onDied(peer: Peer): void {
    if (peer.dead) return
    peer.dead = true
    this.#cluster.outbox.event({ kind: 'died', node: peer.name })
    this.onGone(peer, 'died')
  }

  /** Whoever missed some news while it could not be heard gets them by chance from somebody, sooner or later. */
  #remind(): void {
    const { peers, members, random, now } = this.#cluster
    const open = [...peers.all()].filter((peer) => {
      return peer.isOpen && !peer.left && !peers.isStalled(peer, now)
    })
    if (open.length === 0 || !random.chance(REMIND_CHANCE)) return
    peers.send(random.pick(open), { kind: 'members', members: members.all() }, now)
  }

  onBeat(peer: Peer, beat: Extract<Message, { kind: 'beat' }>): void {
    const { peers, table, now } = this.#cluster
    const { mask, digest } = beat
    if (!this.joined) {
      peers.send(peer, this.#application(), now)
      return
    }
    this.#handlers.heard(peer, beat)
    if (mask > table.mask) this.#handlers.split(mask, `${peer.name} has split`)
    const differs = mask !== table.mask || digest !== table.digest()
    // Only when it has been so for two beats: rows may be on their way.
    if (differs && peer.differs && !peers.isStalled(peer, now) && this.#mayAskTable()) {
      peers.send(peer, { kind: 'tableAsk', ...table.outline() }, now)
    }
    peer.differs = differs && !peer.differs
  }

  /**
   * While many nodes take part in a rebalance no two tables are the same, and whole tables of everyone to everyone would be
   * most of the traffic. So a few are asked, by chance, and what one has learned is news to those who ask it next.
   */
  #mayAskTable(): boolean {
    const { members, random } = this.#cluster
    const count = members.all().length - 1
    return count <= TABLES_ASKED_ALL || random.chance(TABLES_ASKED / count)
  }

  onReturned(peer: Peer): void {
    this.#cluster.outbox.event({ kind: 'returned', node: peer.name })
    this.spreadRoster()
    if (!this.joined) return
    // It was told nothing while it could not be heard.
    const { peers, members, now } = this.#cluster
    peers.send(peer, { kind: 'members', members: members.all() }, now)
    this.#handlers.sendVoters(peer)
    this.#handlers.sendTable(peer)
    this.#handlers.tellWatches(peer)
  }

  /** Nothing that this node relied on in the peer holds any more. */
  onGone(peer: Peer, how: 'died' | 'restarted'): void {
    this.#farewell.gone(peer)
    this.spreadRoster()
    this.#handlers.gone(peer, how)
  }

  /**
   * A node that will not come back is struck from the members, and so from the voters. Where too few voters are left to
   * decide, that takes force: then whoever says it answers for it that the process has ended.
   */
  forget(name: string, force: boolean): string | undefined {
    const { config, peers, members } = this.#cluster
    const record = members.all().find((member) => member.name === name)
    if (record === undefined || record.state === 'left') return `there is no node named ${name}`
    if (name === config.name) return 'this is the node itself; let it leave'
    if (peers.get(record.name)?.dead === false) return `${name} is alive; let it leave`
    if (this.#handlers.isStuck() && !force) {
      return `too few voters can be heard to decide without ${name}; if its process has ended for good, forget it with force`
    }
    this.learn([{ ...record, version: record.version + 1, state: 'left' }])
    if (force) this.#handlers.goOn()
    return undefined
  }

  /** A leaving node that holds nothing any more is gone, once the others know that it leaves. */
  goIfEmpty(busy: boolean): void {
    const { table, view, outbox } = this.#cluster
    if (table.totalOf(view.self) > 0 || busy || this.#handlers.isVoter()) return
    if (!this.#farewell.isKnown(this.#record(), (has) => this.#handlers.isQuorum(has))) return
    this.become('left')
    outbox.event({ kind: 'mayGo' })
  }

  #application(): Application {
    return { kind: 'join', hash: this.#cluster.config.hash, member: this.#record() }
  }

  #record(): MemberRecord {
    const { name, address, life, weight, zone } = this.#cluster.config
    return { name, address, life, version: this.#version, state: this.#state, weight, zone }
  }
}
