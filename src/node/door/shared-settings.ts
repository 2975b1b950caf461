/**
 * Settings that the whole cluster has together, whichever node they are set at. The newest counts, by the time at which
 * it was set; a node that is new is told them when it is met.
 */
import type { Cluster } from '../cluster.js'
import type { Peer } from '../peers.js'
import type { DoorSettings } from './settings.js'

export class SharedSettings {
  readonly #cluster: Cluster
  readonly #settings: DoorSettings
  readonly #versions = new Map<string, number>()
  readonly #effects: Readonly<Record<string, (value: string) => void>>

  constructor(
    cluster: Cluster,
    settings: DoorSettings,
    effects: Readonly<Record<string, (value: string) => void>>
  ) {
    this.#cluster = cluster
    this.#settings = settings
    this.#effects = effects
  }

  isShared(name: string): boolean {
    return Object.hasOwn(this.#effects, name)
  }

  /** Set by a client here; gives the version the others have to know it by. */
  set(name: string, value: string): number {
    const version = this.#cluster.clock.next(this.#cluster.now)
    this.learn(name, value, version)
    return version
  }

  learn(name: string, value: string, version: number): void {
    if (!this.isShared(name) || version <= (this.#versions.get(name) ?? 0)) return
    this.#cluster.clock.observe(version)
    this.#versions.set(name, version)
    this.#settings.set(name, value)
    this.#effects[name](value)
  }

  /** It may never have heard of them. */
  tell(peer: Peer): void {
    const { peers, now } = this.#cluster
    for (const [name, version] of this.#versions) {
      const value = this.#settings.get(name) ?? ''
      peers.send(peer, { kind: 'setting', version, name, value }, now)
    }
  }
}
