/**
 * Who of this node's clients listens to which channel. Every node hears every message: PUBLISH asks all others to
 * deliver it (polls.ts) and adds up how many clients heard it, so a subscription is known nowhere but here, counts from
 * the moment it is confirmed, and has nothing to do with buckets. Telling the others who listens was rejected: a
 * confirmation would have to wait for all of them, and what saves messages is worth little between a few
 * nodes (docs/decisions/0010-connections.md).
 *
 * Channels of shards are a space of names of their own. A client that follows the topology may listen to one only
 * where its slot is, and is told when the slot has left.
 */
import { latin1Bytes, viewOf } from '../../core/bytes.js'
import { matchesGlob } from '../../core/glob.js'
import { type Protocol, ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { Outbox } from '../outbox.js'
import type { Session } from '../session.js'
import { Subscriptions } from './client-state.js'

/** The three kinds of subscription, with the words of their replies. */
export type Kind = 'channels' | 'patterns' | 'shards'

/** Of one client; more is a client that has lost count. */
export const SUBSCRIPTIONS_MAX = 1_000_000

export class PubSub {
  /** Of what was sent that is no reply. */
  pushedBytes = 0
  readonly #outbox: Outbox
  readonly #hangUp: (session: Session) => void
  /** By kind and name. */
  readonly #listeners: Readonly<Record<Kind, Map<string, Set<Session>>>> = {
    channels: new Map(),
    patterns: new Map(),
    shards: new Map()
  }
  readonly #writer = new ReplyWriter({ initialBytes: 1024 })
  /** Unread bytes at which a listener is dropped. */
  #unreadMax: number
  /** Called when channels or patterns came or went. */
  changed: (() => void) | undefined

  constructor(outbox: Outbox, unreadMax: number, hangUp: (session: Session) => void) {
    this.#outbox = outbox
    this.#unreadMax = unreadMax
    this.#hangUp = hangUp
  }

  set unreadMax(bytes: number) {
    this.#unreadMax = bytes
  }

  /** False if it has too many. */
  add(session: Session, kind: Kind, name: string): boolean {
    const own = (session.client.subscriptions ??= new Subscriptions())
    if (own[kind].has(name)) return true
    if (own.total >= SUBSCRIPTIONS_MAX) return false
    own[kind].add(name)
    const map = this.#listeners[kind]
    const known = map.get(name)
    if (known !== undefined) known.add(session)
    else {
      map.set(name, new Set([session]))
      this.changed?.()
    }
    session.updateAside()
    return true
  }

  remove(session: Session, kind: Kind, name: string): void {
    const own = session.client.subscriptions
    if (own?.[kind].delete(name) !== true) return
    const map = this.#listeners[kind]
    const known = map.get(name)
    known?.delete(session)
    if (known?.size === 0) {
      map.delete(name)
      this.changed?.()
    }
    if (own.total === 0) session.client.subscriptions = undefined
    session.updateAside()
  }

  forget(session: Session): void {
    const own = session.subscriptions
    if (own === undefined) return
    for (const kind of ['channels', 'patterns', 'shards'] as const) {
      for (const name of own[kind]) this.remove(session, kind, name)
    }
  }

  names(kind: Kind): IterableIterator<string> {
    return this.#listeners[kind].keys()
  }

  count(kind: Kind, name: string): number {
    return this.#listeners[kind].get(name)?.size ?? 0
  }

  size(kind: Kind): number {
    return this.#listeners[kind].size
  }

  listeners(kind: Kind, name: string): ReadonlySet<Session> | undefined {
    return this.#listeners[kind].get(name)
  }

  /** Gives a message to those who listen here; says how many did. */
  deliver(channel: string, message: Uint8Array, sharded = false): number {
    const { channels, patterns, shards } = this.#listeners
    let count = 0
    const direct = (sharded ? shards : channels).get(channel)
    if (direct !== undefined) {
      const words = [latin1Bytes(sharded ? 'smessage' : 'message'), latin1Bytes(channel), message]
      count += this.#push(direct, words)
    }
    if (sharded || patterns.size === 0) return count
    for (const [pattern, sessions] of patterns) {
      if (!matchesGlob(pattern, channel)) continue
      const words = ['pmessage', pattern, channel].map(latin1Bytes)
      count += this.#push(sessions, [...words, message])
    }
    return count
  }

  /** Sends bytes that are no reply, unless the client does not read what it is sent. */
  push(session: Session, bytes: Uint8Array): void {
    if ((this.#outbox.unread?.(session.id) ?? 0) > this.#unreadMax) {
      this.#hangUp(session)
      return
    }
    this.pushedBytes += bytes.length
    this.#outbox.output(session.id, bytes)
  }

  #push(sessions: ReadonlySet<Session>, words: readonly Uint8Array[]): number {
    const encoded: Partial<Record<Protocol, Uint8Array>> = {}
    // Whoever is dropped is struck from the very set.
    for (const session of [...sessions]) {
      this.push(session, (encoded[session.protocol] ??= this.encode(session.protocol, words)))
    }
    return sessions.size
  }

  encode(protocol: Protocol, words: readonly Uint8Array[]): Uint8Array {
    const writer = this.#writer
    writer.reset()
    writer.protocol = protocol
    writer.push(words.length)
    for (const word of words) writer.bulk(word, viewOf(word), 0, word.length)
    return writer.bytes.slice(0, writer.length)
  }
}
