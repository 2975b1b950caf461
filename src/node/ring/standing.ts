/**
 * What this node wants to be on the ring, and what it is: where it wants to stand, whether it wants to go, and whether
 * the configuration says so already. What it does not say is wished for with every beat, until it does.
 */
import {
  findMember,
  samePositions,
  type RingMemberRecord
} from '../../core/placement/ring-configuration.js'
import type { RingCluster } from './cluster.js'

export class Standing {
  readonly #cluster: RingCluster
  readonly #wished: (member: RingMemberRecord) => void
  #positions: readonly number[]
  #leaving = false
  #gone = false
  #wasJoined = false

  constructor(cluster: RingCluster, wished: (member: RingMemberRecord) => void) {
    this.#cluster = cluster
    this.#wished = wished
    this.#positions = cluster.config.positions
  }

  /** It has left. */
  get gone(): boolean {
    return this.#gone
  }

  get record(): RingMemberRecord {
    const { name, address, url, zone } = this.#cluster.config
    const wanted = this.#leaving ? [] : this.#positions
    const [life, leaving] = [this.#cluster.memory, this.#leaving]
    return { name, life, address, url, zone, positions: [], wanted, hollow: false, leaving }
  }

  /** Whether the configuration does not say of this node what it wants. */
  get isWishing(): boolean {
    const { configuration, config, memory } = this.#cluster
    const own = findMember(configuration, config.name)
    if (own?.life !== memory) return !this.#gone
    const { leaving, wanted, address } = this.record
    return own.address !== address || own.leaving !== leaving || !samePositions(own.wanted, wanted)
  }

  wish(): void {
    if (this.isWishing) this.#wished(this.record)
  }

  place(positions: readonly number[]): void {
    this.#positions = positions
    this.wish()
  }

  /** It stands where an earlier process of its memory did. */
  resume(): void {
    const { configuration, config } = this.#cluster
    const own = findMember(configuration, config.name)
    if (own === undefined) return
    this.#leaving = own.leaving
    if (own.wanted.length > 0) this.#positions = own.wanted
  }

  leave(): void {
    const { joined, configuration } = this.#cluster
    this.#leaving = true
    if (joined && configuration.members.length === 1) this.#go()
    else this.wish()
    this.#goIfStruck()
  }

  /** The configuration is another one. */
  adopted(): void {
    const { joined, outbox, config } = this.#cluster
    if (joined && !this.#wasJoined) {
      this.#wasJoined = true
      outbox.event({ kind: 'joined', node: config.name })
    }
    this.#goIfStruck()
  }

  /** Nobody counts on it any more: it has left, or was given up before it had come. */
  #goIfStruck(): void {
    const { configuration, config } = this.#cluster
    const isKnown =
      configuration.version === 0 || findMember(configuration, config.name) !== undefined
    if (this.#leaving && !isKnown) this.#go()
  }

  #go(): void {
    if (this.#gone) return
    this.#gone = true
    const { outbox, config } = this.#cluster
    outbox.event({ kind: 'left', node: config.name })
    outbox.event({ kind: 'mayGo' })
  }
}
