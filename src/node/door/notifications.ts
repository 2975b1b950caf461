/**
 * Keyspace notifications, for clients who listen to `__keyspace@0__:key` and `__keyevent@0__:event` at any node. They
 * ride on the events that watchers get (watches.ts): a node with such listeners watches the keys they
 * may hear of, the primary tells it what happened once the write is on every copy, and what was not told before a
 * fail-over is told after it. Which classes are wanted is one setting of the whole cluster (shared-settings.ts).
 *
 * Two things are no writes of their own and are told at once and never again: a key that was missed, and a result that
 * turned out to be empty. What a promoted backup has to tell has the names of the commands it was sent, so that
 * a random choice may be told as what was chosen (`srem` for `spop`).
 */
import { latin1Bytes, latin1String } from '../../core/bytes.js'
import type { Call } from '../../commands/call.js'
import type { Bucket } from '../../store/bucket.js'
import type { WatchEvent } from '../../wire/peer/watch.js'
import type { Cluster } from '../cluster.js'
import type { Cause, Watches } from '../watches.js'
import type { Observer } from './execution.js'
import { isMakingRoom, nameEvents, wants } from './key-events.js'
import type { PubSub } from './pubsub.js'

const KEYSPACE = '__keyspace@0__:'
const KEYEVENT = '__keyevent@0__:'
const SPECIAL = /[*?[\]\\]/
/** More keys than this are watched as all keys. */
const PATTERNS_MAX = 1000

export class Notifications implements Observer {
  readonly #cluster: Cluster
  readonly #watches: Watches
  readonly #pubsub: PubSub
  readonly #changed: () => void
  #classes = ''
  /** The keys that this node's listeners may hear of. */
  patterns: ReadonlySet<string> = new Set()
  /** The items of the bucket before the command that is being executed. */
  #itemsBefore = 0
  /** A key that was deleted to make room for a result that has not come yet. */
  #emptied: string | undefined

  /** `changed` is called when `patterns` is another. */
  constructor(cluster: Cluster, parts: { watches: Watches; pubsub: PubSub; changed: () => void }) {
    const { watches, pubsub } = parts
    this.#changed = parts.changed
    this.#cluster = cluster
    this.#watches = watches
    this.#pubsub = pubsub
    pubsub.changed = () => {
      if (this.#classes !== '') this.#update()
    }
  }

  get classes(): string {
    return this.#classes
  }

  set classes(classes: string) {
    this.#classes = classes
    this.#update()
  }

  /** Whether commands have to be looked at before they are executed. */
  get observes(): boolean {
    return this.#classes.includes('n') || this.#classes.includes('m')
  }

  /** Whether who listens to this channel or pattern hears of keys. */
  isAboutKeys(kind: 'channels' | 'patterns' | 'shards', name: string): boolean {
    return this.#classes !== '' && this.#keysHeard(kind, name) !== undefined
  }

  before(call: Call, bucket: Bucket, write: boolean): void {
    this.#itemsBefore = bucket.items
    if (write || !this.#classes.includes('m')) return
    if (bucket.find(call.key, call.now) === 0) this.#emit(keyOf(call), 'mkeymiss')
  }

  isNew(bucket: Bucket): boolean {
    return bucket.items > this.#itemsBefore
  }

  /** A command over several keys has ended. */
  ended(): void {
    const key = this.#emptied
    this.#emptied = undefined
    if (key !== undefined) this.#emit(key, 'gdel')
  }

  /** From another node, about something that is no write. */
  onKeyEvent(key: string, names: string): void {
    this.#publish(key, names)
  }

  /** The names of what was just executed. */
  name(call: Call, cause: Cause | undefined): string {
    const { change } = call
    if (!/[KE]/.test(this.#classes)) return ''
    const command = cause?.command ?? ''
    if (change === undefined) return ''
    if (this.#emptied !== undefined && this.#emptied !== keyOf(call)) this.ended()
    this.#emptied = undefined
    if (isMakingRoom(call.text(0).toLowerCase(), command)) {
      this.#emptied = keyOf(call)
      return ''
    }
    const names = nameEvents(call, change, command.startsWith('oc.') ? '' : command)
    return cause?.isNew === true && change === 'set' ? `nnew ${names}` : names
  }

  heard({ key, names }: WatchEvent): void {
    this.#publish(key, names)
  }

  #publish(key: string, names: string): void {
    if (names === '') return
    for (const one of names.split(' ')) {
      if (one === '' || !wants(this.#classes, one[0])) continue
      const name = one.slice(1)
      if (this.#classes.includes('K')) this.#pubsub.deliver(KEYSPACE + key, latin1Bytes(name))
      if (this.#classes.includes('E')) this.#pubsub.deliver(KEYEVENT + name, latin1Bytes(key))
    }
  }

  #emit(key: string, names: string): void {
    this.#publish(key, names)
    const { peers, now } = this.#cluster
    for (const peer of this.#watches.nodesOf(key)) {
      if (peer.isOpen) peers.send(peer, { kind: 'keyEvent', key, names }, now)
    }
  }

  /** Which keys this node's listeners may hear of. */
  #update(): void {
    const patterns = new Set<string>()
    if (this.#classes !== '') {
      for (const kind of ['channels', 'patterns'] as const) {
        for (const name of this.#pubsub.names(kind)) {
          const keys = this.#keysHeard(kind, name)
          if (keys !== undefined) patterns.add(keys)
        }
      }
    }
    const all = patterns.has('*') || patterns.size > PATTERNS_MAX
    this.patterns = all ? new Set(['*']) : patterns
    this.#changed()
  }

  /** The pattern of the keys that a listener hears of by this channel or pattern; undefined if there are none. */
  #keysHeard(kind: 'channels' | 'patterns' | 'shards', name: string): string | undefined {
    if (kind === 'shards') return undefined
    if (kind === 'channels') {
      if (name.startsWith(KEYSPACE)) return escape(name.slice(KEYSPACE.length))
      return name.startsWith(KEYEVENT) ? '*' : undefined
    }
    if (name.startsWith(KEYSPACE)) return name.slice(KEYSPACE.length)
    const literal = name.slice(0, SPECIAL.exec(name)?.index ?? name.length)
    const may = [KEYSPACE, KEYEVENT].some(
      (prefix) => prefix.startsWith(literal) || literal.startsWith(prefix)
    )
    return may ? '*' : undefined
  }
}

function keyOf({ key }: Call): string {
  return latin1String(key.bytes, key.offset, key.length)
}

function escape(key: string): string {
  return key.replace(/[*?[\]\\^-]/g, '\\$&')
}
