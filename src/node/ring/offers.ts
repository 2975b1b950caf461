/**
 * "I have these: which of them do you lack?" Whoever is asked answers which it lacks, sends back what it has newer, and
 * gets what it lacks. Two use this: the comparison of copies, and the deletion of copies that do not belong to a node,
 * which waits for the answer of everyone that should hold them.
 */
import { positionOfKey } from '../../core/placement/ring.js'
import type { OfferEntry, RingMessage } from '../../wire/peer/ring.js'
import type { Peer } from '../peers.js'
import type { RingCluster } from './cluster.js'
import { sendRecords } from './fill.js'

const ENTRIES_MAX = 500
const OPEN_MAX = 256
const OPEN_MS_MAX = 3000

export type Answered = (entry: OfferEntry, name: string, has: boolean) => void

interface Offer {
  readonly name: string
  readonly entries: readonly OfferEntry[]
  readonly madeMs: number
  /** Called for each: whether the other node has it, in this version or a newer one. */
  readonly answered: Answered | undefined
}

export class Offers {
  readonly #cluster: RingCluster
  readonly #open = new Map<number, Offer>()
  #lastId = 0

  constructor(cluster: RingCluster) {
    this.#cluster = cluster
  }

  repair(name: string, keys: readonly Uint8Array[]): void {
    const { records, now } = this.#cluster
    const entries = keys.flatMap((key) => records.entryOf(key, now) ?? [])
    for (let at = 0; at < entries.length; at += ENTRIES_MAX) {
      this.make(name, entries.slice(at, at + ENTRIES_MAX))
    }
  }

  make(name: string, entries: readonly OfferEntry[], answered?: Answered): void {
    const { now, configuration } = this.#cluster
    for (const [id, { madeMs }] of this.#open) {
      if (now - madeMs > OPEN_MS_MAX || this.#open.size >= OPEN_MAX) this.#open.delete(id)
      else break
    }
    const id = ++this.#lastId
    this.#open.set(id, { name, entries, madeMs: now, answered })
    const { version } = configuration
    this.#cluster.send(name, { kind: 'ringOffer', id, version, entries })
  }

  onOffer(peer: Peer, message: Extract<RingMessage, { kind: 'ringOffer' }>): void {
    const { records, now, configuration } = this.#cluster
    // A copy may be deleted because this one is here: only by those who know where copies belong.
    if (message.version !== configuration.version) return
    const { id, entries } = message
    const lacks: number[] = []
    const newer: Uint8Array[] = []
    entries.forEach((entry, index) => {
      if (records.lacks(entry, now)) lacks.push(index)
      else if (
        records.versionOf(entry.key) > entry.version &&
        this.#isHolder(peer.name, entry.key)
      ) {
        newer.push(entry.key)
      }
    })
    if (newer.length > 0) sendRecords(this.#cluster, peer.name, newer)
    this.#cluster.reply(peer, { kind: 'ringLacks', id, lacks })
  }

  /** One that offers what it should not hold any more is to lose its old form, not to get the new one. */
  #isHolder(name: string, key: Uint8Array): boolean {
    const { records, current } = this.#cluster
    return current.isReplica(name, positionOfKey(key), records.fromOf(key))
  }

  onLacks(peer: Peer, message: Extract<RingMessage, { kind: 'ringLacks' }>): void {
    const offer = this.#open.get(message.id)
    if (offer?.name !== peer.name) return
    this.#open.delete(message.id)
    const lacks = new Set(message.lacks)
    const keys = offer.entries.filter((_, index) => lacks.has(index)).map(({ key }) => key)
    if (keys.length > 0) sendRecords(this.#cluster, peer.name, keys)
    offer.entries.forEach((entry, index) => {
      offer.answered?.(entry, peer.name, !lacks.has(index))
    })
  }
}
