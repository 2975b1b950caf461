/**
 * Copies are compared all the time, a few slices of the circle after the other: of what two nodes should both hold,
 * one sends the other a digest of each slice; where they differ, both tell each other keys and versions, and each gets
 * what it lacks. So whatever a write, a hint or a repair has missed is healed without anybody asking for it. On the
 * way, deletions that are old enough are forgotten, and records that do not belong here are noticed.
 *
 * Only at rest: while the ring changes, writes go to both rings and whoever gains something fills up.
 */
import type { RingMessage, SliceDigest } from '../../wire/peer/ring.js'
import { SLICES } from '../../wire/peer/ring.js'
import { HybridClock } from '../../store/clock.js'
import type { Peer } from '../peers.js'
import type { RingCluster } from './cluster.js'
import type { Offers } from './offers.js'

const SLICES_TOLD_MAX = 64

export class Comparison {
  readonly #cluster: RingCluster
  readonly #offers: Offers
  readonly #misplaced: () => void
  #slice = 0
  #nextMs = 0

  constructor(cluster: RingCluster, offers: Offers, misplaced: () => void) {
    this.#cluster = cluster
    this.#offers = offers
    this.#misplaced = misplaced
  }

  get deadline(): number {
    return this.#nextMs
  }

  tick(): void {
    const { now, config } = this.#cluster
    if (now < this.#nextMs) return
    this.#nextMs = now + config.sweepMs
    if (this.#mayCompare() && config.sabotage !== 'never-heal') this.#step()
  }

  onDigests(peer: Peer, message: Extract<RingMessage, { kind: 'ringDigests' }>): void {
    const { configuration } = this.#cluster
    if (message.version !== configuration.version || !this.#mayCompare()) return
    const { first, last, digests } = message
    if (last < first) return
    const theirs = new Map(digests.map((digest) => [digest.slice, digest]))
    const differing: number[] = []
    for (let slice = first; slice <= last; slice++) {
      const other = theirs.get(slice)
      if (other === undefined && this.#cluster.records.sizeOf(slice) === 0) continue
      const own = this.#digestsOf(slice).get(peer.name)
      if (own?.first === other?.first && own?.second === other?.second) continue
      differing.push(slice)
      if (differing.length === SLICES_TOLD_MAX) break
    }
    if (differing.length === 0) return
    const { version } = message
    this.#cluster.reply(peer, { kind: 'ringDiffer', version, slices: differing })
    this.#tell(peer.name, differing)
  }

  onDiffer(peer: Peer, message: Extract<RingMessage, { kind: 'ringDiffer' }>): void {
    if (message.version !== this.#cluster.configuration.version || !this.#mayCompare()) return
    this.#tell(peer.name, message.slices.slice(0, SLICES_TOLD_MAX))
  }

  #mayCompare(): boolean {
    const { configuration, joined, isHollow } = this.#cluster
    return joined && !isHollow && configuration.stage === 'rest'
  }

  #step(): void {
    const { config, configuration, records } = this.#cluster
    const first = this.#slice
    const byNode = new Map<string, SliceDigest[]>()
    let [visited, last] = [0, first]
    for (let slice = first; slice < SLICES && slice < first + config.sweepSlices; slice++) {
      if (visited >= config.sweepRecords) break
      last = slice
      const size = records.sizeOf(slice)
      if (size === 0) continue
      visited += size
      this.#forget(slice)
      for (const [name, digest] of this.#digestsOf(slice, true)) {
        const list = byNode.get(name)
        if (list === undefined) byNode.set(name, [digest])
        else list.push(digest)
      }
    }
    this.#slice = last + 1 >= SLICES ? 0 : last + 1
    const { version } = configuration
    for (const { name, positions } of configuration.members) {
      // One of two tells the other.
      if (name <= config.name || positions.length === 0 || !this.#cluster.isUp(name)) continue
      if (this.#cluster.isHollowMember(name)) continue
      const digests = byNode.get(name) ?? []
      this.#cluster.send(name, { kind: 'ringDigests', version, first, last, digests })
    }
  }

  /** Deletions that every node has long seen. */
  #forget(slice: number): void {
    const { records, config, now } = this.#cluster
    const old = HybridClock.fromMs(Math.max(0, now - config.tombstoneMs))
    const gone: Uint8Array[] = []
    records.walk(slice, 0, now, ({ key, version, deleted }) => {
      if (deleted && version < old) gone.push(key)
      return true
    })
    for (const key of gone) records.remove(key)
  }

  /** For each other node, of what both should hold. */
  #digestsOf(slice: number, looksForMisplaced = false): Map<string, SliceDigest> {
    const { records, current, config, now } = this.#cluster
    const sums = new Map<string, { slice: number; first: number; second: number }>()
    records.walk(slice, 0, now, ({ key, position, from }) => {
      const replicas = current.replicas(position, from)
      if (!replicas.includes(config.name)) {
        if (looksForMisplaced) this.#misplaced()
        return true
      }
      const { first, second } = records.digestOf(key, now)
      for (const name of replicas) {
        if (name === config.name) continue
        const sum = sums.get(name)
        if (sum === undefined) sums.set(name, { slice, first, second })
        else {
          sum.first = (sum.first + first) >>> 0
          sum.second = (sum.second + second) >>> 0
        }
      }
      return true
    })
    return sums
  }

  #tell(name: string, slices: readonly number[]): void {
    const { records, current, config, now } = this.#cluster
    const keys: Uint8Array[] = []
    for (const slice of slices) {
      records.walk(slice, 0, now, ({ key, position, from }) => {
        const replicas = current.replicas(position, from)
        if (replicas.includes(config.name) && replicas.includes(name)) keys.push(key)
        return true
      })
    }
    this.#offers.repair(name, keys)
  }
}
