/**
 * Telling clients that what they have cached is old. A read of a client that tracks leaves its key, with whom to tell, at
 * every node it goes through: at the client's own node the client, at the primary (and at a node between) the
 * node it came from. Whoever executes a write tells those it knows of, once, and so on back to the clients. The word
 * goes out when the write is on every copy, behind all answers that waited before, so that nobody caches an older
 * value after it. When a bucket gets another primary, each node tells its own clients that all its keys are old:
 * nothing has to travel with the bucket, and nobody is left with what only the old primary would have told.
 *
 * Clients who want to hear of everything that begins with a prefix ride on the events of watches.ts instead.
 */
import { latin1Bytes, latin1String } from '../../core/bytes.js'
import type { PlacementHash } from '../../core/hash/placement-hash.js'
import type { Call } from '../../commands/call.js'
import { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { WatchEvent } from '../../wire/peer/watch.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import { Peer } from '../peers.js'
import type { Session } from '../session.js'
import { type Gate } from '../segment.js'
import type { ClientTracking } from './client-state.js'
import type { PubSub } from './pubsub.js'
import type { DoorSettings } from './settings.js'

const CHANNEL = '__redis__:invalidate'
/** Before the name of whoever wrote, among the names of an event. */
export const WRITER = '@'

interface Pending {
  readonly key: string
  readonly by: string
  readonly whom: readonly (Session | Peer)[]
  readonly gates: readonly Gate[]
  /** Which of a client's prefixes it is told for; those of one turn are told together. */
  readonly prefix?: string
}

/** Keys by whom they are told to. */
type Together = Map<Session, string[]>

/** What it needs of the door. */
export interface TrackingDoor {
  readonly cluster: Cluster
  readonly settings: DoorSettings
  readonly pubsub: PubSub
  readonly execution: { readonly hash: PlacementHash }
  session(id: number): Session | undefined
  clientOf(session: Session): string
  push(session: Session, write: (reply: ReplyWriter) => void): void
}

export class Tracking {
  readonly #door: TrackingDoor
  readonly #cluster: Cluster
  readonly #byKey = new Map<string, Set<Session | Peer>>()
  readonly #byPrefix = new Map<string, Set<Session>>()
  #pending: Pending[] = []
  /** The primary of each bucket when it was last looked. */
  #primaries: number[] = []
  /** Whoever's command is being executed, while somebody may want to know. */
  writer = ''
  /** Called when prefixes came or went. */
  changed: (() => void) | undefined
  clients = 0

  constructor(door: TrackingDoor) {
    this.#door = door
    this.#cluster = door.cluster
    door.settings.onChange(() => this.#trim())
  }

  /** Keys that somebody is to be told about; looked at by every write. */
  get size(): number {
    return this.#byKey.size
  }

  /** Keys times whoever is to be told. */
  get items(): number {
    let items = 0
    for (const whom of this.#byKey.values()) items += whom.size
    return items
  }

  get prefixes(): IterableIterator<string> {
    return this.#byPrefix.keys()
  }

  get hasPending(): boolean {
    return this.#pending.length > 0
  }

  /** A client, or another node for one of its clients, has read these keys. */
  remember(keys: readonly string[], whom: Session | Peer): void {
    if (this.#primaries.length === 0) this.#look()
    for (const key of keys) {
      const known = this.#byKey.get(key)
      if (known !== undefined) known.add(whom)
      else this.#byKey.set(key, new Set([whom]))
    }
    this.#trim()
  }

  /** Keys beyond those that may be remembered at a node are told as old, the oldest first. */
  #trim(): void {
    const most = Math.max(1, this.#door.settings.number('tracking-table-max-keys'))
    while (this.#byKey.size > most) {
      const [oldest] = this.#byKey.keys()
      this.invalidate(oldest, '')
    }
  }

  /** A write was executed here. */
  executed(state: BucketState, call: Call): void {
    const key = latin1String(call.key.bytes, call.key.offset, call.key.length)
    const whom = this.#byKey.get(key)
    if (whom === undefined) return
    this.#byKey.delete(key)
    const gates = state.backups.map((peer, i) => ({ peer, frame: state.lastFrames[i] }))
    this.#pending.push({ key, by: this.writer, whom: [...whom], gates })
  }

  /** Tells what is on every copy by now, in order. */
  flush(): void {
    let told = 0
    const byPrefix = new Map<string, Together>()
    for (const { key, by, whom, gates, prefix } of this.#pending) {
      if (!gates.every(({ peer, frame }) => peer.hasProcessed(frame))) break
      told++
      for (const one of whom) {
        if (prefix === undefined || one instanceof Peer) this.#tellRead(one, key, by)
        else if (!this.#isOwn(one, by)) {
          const together = byPrefix.get(prefix) ?? (new Map() as Together)
          byPrefix.set(prefix, together.set(one, [...(together.get(one) ?? []), key]))
        }
      }
    }
    for (const together of byPrefix.values()) {
      for (const [session, keys] of together) this.#tell(session, [...new Set(keys)], '')
    }
    if (told > 0) this.#pending = this.#pending.slice(told)
  }

  /** Another node says that a key was written to, or it is to be taken as such. */
  invalidate(key: string, by: string): void {
    const whom = this.#byKey.get(key)
    if (whom === undefined) return
    for (const one of whom) {
      // The word of its own write may come behind a later read of it, which stays to be told of.
      if (!(one instanceof Peer) && this.#isOwn(one, by)) continue
      whom.delete(one)
      this.#tellRead(one, key, by)
    }
    if (whom.size === 0) this.#byKey.delete(key)
  }

  /** An event of a key that somebody here may want to hear of by its prefix. */
  heard({ key, names }: WatchEvent): void {
    if (this.#byPrefix.size === 0) return
    const by =
      names
        .split(' ')
        .find((name) => name.startsWith(WRITER))
        ?.slice(1) ?? ''
    // Behind the answers of this turn, for whoever wrote it may be among them.
    for (const [prefix, sessions] of this.#byPrefix) {
      if (!key.startsWith(prefix)) continue
      this.#pending.push({ key, by, whom: [...sessions], gates: [], prefix })
    }
  }

  /** Buckets that have another primary: what is cached of them is taken as old. */
  rowsChanged(): void {
    if (this.#byKey.size === 0) {
      this.#primaries = []
      return
    }
    const before = this.#primaries
    this.#look()
    const now = this.#primaries
    const { mask } = this.#cluster.table
    const old = before.length - 1
    const isMoved = (bucket: number): boolean => before[bucket & old] !== now[bucket]
    if (!now.some((_, bucket) => isMoved(bucket))) return
    const { hash } = this.#door.execution
    for (const key of [...this.#byKey.keys()]) {
      const bytes = latin1Bytes(key)
      if (isMoved(hash.hash(bytes, 0, bytes.length) & mask)) this.invalidate(key, '')
    }
  }

  on(session: Session, tracking: ClientTracking): void {
    if (session.tracking === undefined) this.clients++
    session.client.tracking = tracking
    for (const prefix of tracking.prefixes) {
      const sessions = this.#byPrefix.get(prefix)
      if (sessions === undefined) this.#byPrefix.set(prefix, new Set([session]))
      else sessions.add(session)
    }
    session.updateAside()
    this.changed?.()
  }

  off(session: Session): void {
    const { tracking } = session
    if (tracking === undefined) return
    this.clients--
    session.client.tracking = undefined
    for (const prefix of tracking.prefixes) {
      const sessions = this.#byPrefix.get(prefix)
      sessions?.delete(session)
      if (sessions?.size === 0) this.#byPrefix.delete(prefix)
    }
    session.updateAside()
    this.changed?.()
  }

  #look(): void {
    const { table } = this.#cluster
    this.#primaries = Array.from({ length: table.size }, (_, bucket) => table.primaryOf(bucket))
  }

  /** Of a key that it read, unless it has come to want prefixes since. */
  #tellRead(whom: Session | Peer, key: string, by: string): void {
    if (whom instanceof Peer || whom.tracking?.bcast !== true) this.#tell(whom, [key], by)
  }

  /** It wrote that itself, and does not want to hear of such. */
  #isOwn(session: Session, by: string): boolean {
    return session.tracking?.noLoop === true && by !== '' && by === this.#door.clientOf(session)
  }

  #tell(whom: Session | Peer, keys: readonly string[], by: string): void {
    if (whom instanceof Peer) {
      const { peers, now } = this.#cluster
      if (!whom.isOpen) return
      for (const key of keys) peers.send(whom, { kind: 'invalidate', key, by }, now)
      return
    }
    const { tracking } = whom
    if (whom.closed || tracking === undefined) return
    if (this.#isOwn(whom, by)) return
    if (tracking.redirect === 0) {
      if (whom.protocol === 3) this.#push(whom, keys, false)
      return
    }
    const target = this.#door.session(tracking.redirect)
    if (target === undefined) this.#tellBroken(whom, tracking)
    else if (target.protocol === 3) this.#push(target, keys, false)
    else if (target.subscriptions !== undefined) this.#push(target, keys, true)
  }

  /** `invalidate [key…]`, or the same as a message of a channel. */
  #push(session: Session, keys: readonly string[], asMessage: boolean): void {
    const reply = new ReplyWriter({ protocol: session.protocol, initialBytes: 256 })
    reply.push(asMessage ? 3 : 2)
    reply.bulkString(asMessage ? 'message' : 'invalidate')
    if (asMessage) reply.bulkString(CHANNEL)
    reply.array(keys.length)
    for (const key of keys) reply.bulkString(key)
    this.#door.pubsub.push(session, reply.bytes.slice(0, reply.length))
  }

  #tellBroken(session: Session, tracking: ClientTracking): void {
    if (tracking.broken) return
    tracking.broken = true
    if (session.protocol !== 3) return
    this.#door.push(session, (reply) => {
      reply.push(2)
      reply.bulkString('tracking-redir-broken')
      reply.integer(tracking.redirect)
    })
  }
}
