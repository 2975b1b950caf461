/**
 * Copies that do not belong to this node (any more) are offered to everyone who should hold them; those who lack one
 * get it, and when all of them have it, it is deleted here. This is all that is left of "which copies may go after a
 * join" and "where do a leaving node's copies go": where they belong is a function of the ring and the record's `from`.
 */
import { latin1String } from '../../core/bytes.js'
import { SLICES, type OfferEntry } from '../../wire/peer/ring.js'
import type { RingCluster } from './cluster.js'
import type { Offers } from './offers.js'

const BATCH_MAX = 500
const VISITS_MAX = 5000
const ANSWERS_MS_MAX = 2000
const AGAIN_MS = 300

interface Surplus {
  readonly key: Uint8Array
  readonly version: number
  readonly waiting: Set<string>
}

export class SurplusCopies {
  readonly #cluster: RingCluster
  readonly #offers: Offers
  readonly #pending = new Map<string, Surplus>()
  /** Offered to others and lacked there, or to nodes that are away: once more. */
  #leftOver = false
  #slice = SLICES
  #position = 0
  #offeredMs = 0
  #nextMs = 0
  /** Deleted so far. */
  removed = 0

  constructor(cluster: RingCluster, offers: Offers) {
    this.#cluster = cluster
    this.#offers = offers
  }

  get deadline(): number {
    if (this.#pending.size > 0) return this.#offeredMs + ANSWERS_MS_MAX
    return this.#slice < SLICES ? this.#cluster.now : this.#nextMs
  }

  /** Looks at everything once more, soon. */
  look(): void {
    this.#nextMs = Math.min(this.#nextMs, this.#cluster.now + AGAIN_MS)
  }

  adopted(): void {
    this.#pending.clear()
    this.#slice = SLICES
    this.#nextMs = this.#cluster.now
  }

  tick(): void {
    const { now, configuration, joined, config } = this.#cluster
    if (config.sabotage === 'drop-unasked') this.#dropUnasked()
    if (!joined || configuration.stage !== 'rest') {
      this.#nextMs = now + AGAIN_MS
      return
    }
    if (this.#pending.size > 0) {
      if (now < this.#offeredMs + ANSWERS_MS_MAX) return
      this.#pending.clear()
      this.#leftOver = true
    }
    if (this.#slice >= SLICES) {
      if (now < this.#nextMs) return
      this.#slice = 0
      this.#position = 0
      this.#leftOver = false
    }
    this.#step()
    if (this.#slice >= SLICES) {
      this.#nextMs = now + (this.#leftOver ? AGAIN_MS : config.surplusMs)
    }
  }

  #step(): void {
    const { records, current, config, now } = this.#cluster
    const byNode = new Map<string, OfferEntry[]>()
    let visits = 0
    for (; this.#slice < SLICES; this.#slice++, this.#position = 0) {
      if (records.sizeOf(this.#slice) === 0) continue
      const stopped = records.walk(this.#slice, this.#position, now, (record) => {
        visits++
        const { key, position, from, version } = record
        if (!current.isReplica(config.name, position, from)) {
          this.#found({ key, version, owners: current.replicas(position, from) }, byNode)
        }
        return visits < VISITS_MAX && this.#pending.size < BATCH_MAX
      })
      if (stopped === undefined) continue
      this.#position = stopped
      break
    }
    this.#offeredMs = now
    for (const [name, entries] of byNode) {
      this.#offers.make(name, entries, (entry, owner, has) => this.#answered(entry, owner, has))
    }
  }

  #dropUnasked(): void {
    const { records, wanted, config, now } = this.#cluster
    const keys: Uint8Array[] = []
    for (let slice = 0; slice < SLICES; slice++) {
      records.walk(slice, 0, now, ({ key, position, from }) => {
        if (!wanted.isReplica(config.name, position, from)) keys.push(key)
        return true
      })
    }
    for (const key of keys) records.remove(key)
  }

  #found(
    surplus: { key: Uint8Array; version: number; owners: readonly string[] },
    byNode: Map<string, OfferEntry[]>
  ): void {
    const { records, now, config } = this.#cluster
    const { key, version, owners } = surplus
    if (config.sabotage === 'keep-surplus') return
    if (owners.length === 0 || !owners.every((name) => this.#cluster.isUp(name))) {
      this.#leftOver = true
      return
    }
    const entry = records.entryOf(key, now)
    if (entry === undefined) return
    const text = latin1String(key, 0, key.length)
    this.#pending.set(text, { key, version, waiting: new Set(owners) })
    for (const name of owners) {
      const entries = byNode.get(name)
      if (entries === undefined) byNode.set(name, [entry])
      else entries.push(entry)
    }
  }

  #answered(entry: OfferEntry, owner: string, has: boolean): void {
    const { records } = this.#cluster
    const text = latin1String(entry.key, 0, entry.key.length)
    const surplus = this.#pending.get(text)
    if (surplus?.version !== entry.version) return
    if (!has) {
      // It gets it now, and is asked again.
      this.#pending.delete(text)
      this.#leftOver = true
      return
    }
    surplus.waiting.delete(owner)
    if (surplus.waiting.size > 0) return
    this.#pending.delete(text)
    // Written meanwhile: looked at again.
    if (records.versionOf(entry.key) !== entry.version) return
    records.remove(entry.key)
    this.removed++
  }
}
