/**
 * Who watches what, in the whole cluster. Each node tells its own clients' watches to all others, whole, with a
 * version that grows, at the end of a turn in which they changed or a node is new or comes back. What a node
 * knows of others it passes on to a node it wants to send a bucket to, before the offer.
 *
 * A client's watch is confirmed when every node that may be primary of anything knows it. An acknowledgement is only
 * used by who has processed all that was said before it, so a node that acknowledges a watch has by then told
 * its author every member it knows of; the author waits for those too. A node that nobody knew of
 * at that moment gets its first bucket later, from one that knows the watch, and hears of it before.
 */
import { NOBODY, type NodeName } from '../core/ids.js'
import type { Message } from '../wire/peer/message.js'
import type { Watch } from '../wire/peer/watch.js'
import type { Cluster } from './cluster.js'
import type { Peer } from './peers.js'
import { PatternSet } from './watch-patterns.js'

/** Per node; a client that wants more gets an error at its door. */
export const WATCHES_MAX = 10_000
/** Of all clients and patterns of a node, since they travel as one frame. */
export const WATCH_BYTES_MAX = 1024 * 1024
/** Stands for the node itself among the sessions that watch. */
export const OWN_SESSION = 0
const CLIENT_LENGTH_MAX = 256
/** What a watch takes besides its texts. */
const WATCH_BYTES = 8

export interface OwnWatch extends Watch {
  readonly session: number
}

interface NodeWatches {
  readonly life: number
  readonly version: number
  readonly watches: readonly Watch[]
  readonly patterns: PatternSet
}

/** What was sent to a node and not yet acknowledged, oldest first; and the version that is known to be there. */
interface Told {
  readonly pending: { readonly version: number; readonly frame: number }[]
  sent: number
  known: number
}

export class WatchList {
  readonly #cluster: Cluster
  /** By client and pattern. */
  readonly #own = new Map<string, OwnWatch>()
  #ownBytes = 0
  #version = 0
  #bySession: Map<number, PatternSet> | undefined
  readonly #others = new Map<NodeName, NodeWatches>()
  /** Whether any of the others watches anything. */
  #othersWatch = false
  readonly #told = new Map<Peer, Told>()
  /** Grows with everything that is learned; and what it was when a node was last told what others watch. */
  #news = 0
  readonly #relayed = new Map<Peer, number>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  get any(): boolean {
    return this.#own.size > 0 || this.#othersWatch
  }

  get hasOwn(): boolean {
    return this.#own.size > 0
  }

  /** The version that has to be known everywhere before the watch is confirmed; undefined if there is no room. */
  add(watch: OwnWatch): number | undefined {
    const key = `${watch.client}\n${watch.pattern}`
    const known = this.#own.get(key)
    if (known?.session === watch.session) return this.#version
    const bytes = known === undefined ? bytesOf(watch) : 0
    const full = known === undefined && this.#own.size >= WATCHES_MAX
    if (full || this.#ownBytes + bytes > WATCH_BYTES_MAX) return undefined
    if (watch.client.length > CLIENT_LENGTH_MAX) return undefined
    this.#own.set(key, watch)
    this.#ownBytes += bytes
    this.#bySession = undefined
    // The others need not know that the same client is here by another session now.
    if (known === undefined) this.#change()
    return this.#version
  }

  /** Ends one watch of that session, if it has it. */
  remove({ session, client, pattern }: OwnWatch): void {
    const key = `${client}\n${pattern}`
    if (this.#own.get(key)?.session === session) this.#remove(key)
  }

  /** Watches of the node itself: all of them, in place of those it had. */
  setOwn(patterns: ReadonlySet<string>): number {
    for (const [key, { session, pattern }] of this.#own) {
      if (session === OWN_SESSION && !patterns.has(pattern)) this.#remove(key)
    }
    for (const pattern of patterns) this.add({ session: OWN_SESSION, client: '', pattern })
    return this.#version
  }

  closeSession(session: number): void {
    for (const [key, watch] of this.#own) {
      if (watch.session === session) this.#remove(key)
    }
  }

  /** The end of a turn: whoever does not have the newest version is sent it, once. */
  flush(): void {
    if (this.#version === 0) return
    for (const peer of this.#cluster.peers.all()) {
      if (!peer.isOpen || peer.left || peer.stream.peerLife === 0) continue
      if ((this.#told.get(peer)?.sent ?? 0) < this.#version) this.#send(peer)
    }
  }

  /** A new node, or one that came back: what it was told before may not have reached it. */
  tell(peer: Peer): void {
    this.#told.delete(peer)
  }

  /** Whoever is offered a bucket has to know what everybody watches before it serves it. */
  relay(peer: Peer): void {
    if (this.#news === (this.#relayed.get(peer) ?? 0)) return
    const { peers, members, now, config } = this.#cluster
    if (config.sabotage === 'early-watch') return
    this.#relayed.set(peer, this.#news)
    if (this.#version > 0) this.#send(peer)
    if (this.#others.size === 0) return
    // It may not even know that these nodes exist.
    peers.send(peer, { kind: 'members', members: members.all() }, now)
    for (const [node, { life, version, watches }] of this.#others) {
      if (node === peer.name) continue
      peers.send(peer, { kind: 'watches', node, life, version, watches }, now)
    }
  }

  learn(message: Extract<Message, { kind: 'watches' }>): void {
    const { node, life, version, watches } = message
    const { config, peers } = this.#cluster
    if (node === config.name || life < (peers.get(node)?.stream.peerLife ?? 0)) return
    const known = this.#others.get(node)
    if (known !== undefined && life <= known.life) {
      if (life < known.life || version <= known.version) return
    }
    const patterns = new PatternSet()
    for (const { pattern } of watches) patterns.add(pattern)
    this.#others.set(node, { life, version, watches, patterns })
    this.#news++
    this.#count()
  }

  /** Its process has ended, and with it the connections of its clients. */
  forget(peer: Peer): void {
    this.#told.delete(peer)
    this.#relayed.delete(peer)
    if (this.#others.delete(peer.name)) this.#count()
  }

  /** Whether every node that may be primary of anything knows this version. */
  isKnown(version: number): boolean {
    const { peers, members, config } = this.#cluster
    if (config.sabotage === 'early-watch') return true
    if (peers.cluster === 0) return false
    for (const { name, state } of members.all()) {
      if (name === config.name || state === 'left') continue
      const peer = peers.get(name)
      const isOpen = peer?.isOpen === true
      if (isOpen ? this.#knownTo(peer) < version : this.#isPrimary(name)) return false
    }
    return true
  }

  /** One that cannot be heard may live and write what nobody here is told of, until others have its buckets. */
  #isPrimary(name: NodeName): boolean {
    const { table } = this.#cluster
    const index = table.indexOf(name)
    return index !== NOBODY && table.primariesOf(index) > 0
  }

  /** Whether anybody at all watches the key, as far as this node has heard. */
  isWatched(key: string): boolean {
    for (const patterns of this.#ownPatterns().values()) if (patterns.matches(key)) return true
    for (const { patterns } of this.#others.values()) if (patterns.matches(key)) return true
    return false
  }

  /** The sessions here that watch the key. */
  *sessionsOf(key: string): IterableIterator<number> {
    for (const [session, patterns] of this.#ownPatterns()) {
      if (patterns.matches(key)) yield session
    }
  }

  /** All sessions here that watch something. */
  get sessions(): IterableIterator<number> {
    return this.#ownPatterns().keys()
  }

  /** Other nodes with clients that watch the key, or with any clients that watch. */
  *nodesOf(key?: string): IterableIterator<Peer> {
    for (const [node, { watches, patterns }] of this.#others) {
      if (watches.length === 0 || (key !== undefined && !patterns.matches(key))) continue
      const peer = this.#cluster.peers.get(node)
      if (peer === undefined) continue
      if (peer.left) {
        this.#others.delete(node)
        this.#count()
      } else yield peer
    }
  }

  #knownTo(peer: Peer): number {
    const told = this.#told.get(peer)
    if (told === undefined) return 0
    // Not `hasProcessed`: a node that need not acknowledge any more does not know for that.
    while (told.pending.length > 0 && told.pending[0].frame <= peer.stream.acked) {
      told.known = told.pending[0].version
      told.pending.shift()
    }
    return told.known
  }

  #send(peer: Peer): void {
    const { peers, config, now } = this.#cluster
    const { name: node, life } = config
    const version = this.#version
    const watches = [...this.#own.values()]
    const frame = peers.send(peer, { kind: 'watches', node, life, version, watches }, now)
    if (frame === 0) return
    const told = this.#told.get(peer) ?? { pending: [], sent: 0, known: 0 }
    told.sent = version
    told.pending.push({ version, frame })
    this.#told.set(peer, told)
  }

  #remove(key: string): void {
    const watch = this.#own.get(key)
    if (watch === undefined) return
    this.#own.delete(key)
    this.#ownBytes -= bytesOf(watch)
    this.#bySession = undefined
    this.#change()
  }

  #change(): void {
    this.#version++
    this.#news++
  }

  #count(): void {
    this.#othersWatch = [...this.#others.values()].some(({ watches }) => watches.length > 0)
  }

  #ownPatterns(): Map<number, PatternSet> {
    if (this.#bySession !== undefined) return this.#bySession
    const bySession = new Map<number, PatternSet>()
    for (const { session, pattern } of this.#own.values()) {
      const patterns = bySession.get(session) ?? new PatternSet()
      patterns.add(pattern)
      bySession.set(session, patterns)
    }
    this.#bySession = bySession
    return bySession
  }
}

function bytesOf({ client, pattern }: Watch): number {
  return WATCH_BYTES + 2 * client.length + pattern.length
}
