/**
 * Who belongs to the cluster, as told by the members themselves: each raises the version of its own record,
 * the newest is passed on, and a new life of the same name replaces the old one. Whether a member can
 * be heard is not in here but observed by each node for itself, since two nodes may well differ in it.
 */
import type { NodeName } from '../ids.js'

export type MemberState = 'alive' | 'leaving' | 'left'

export interface MemberRecord {
  readonly name: NodeName
  readonly address: string
  /** When its process began; a later life replaces an earlier one. */
  readonly life: number
  /** Raised with every change of the record within a life. */
  readonly version: number
  readonly state: MemberState
  readonly weight: number
  readonly zone: string
}

export class Members {
  readonly #records = new Map<NodeName, MemberRecord>()
  /** In order; undefined after a change. */
  #sorted: readonly MemberRecord[] | undefined

  get(name: NodeName): MemberRecord | undefined {
    return this.#records.get(name)
  }

  /** In the order of names, so that every node goes through them alike. */
  all(): readonly MemberRecord[] {
    this.#sorted ??= [...this.#records.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    return this.#sorted
  }

  /** Takes the record if it is newer than what is known; says whether it was. */
  offer(record: MemberRecord): boolean {
    const known = this.#records.get(record.name)
    if (known !== undefined) {
      if (record.life < known.life) return false
      if (record.life === known.life && record.version <= known.version) return false
    }
    this.#records.set(record.name, record)
    this.#sorted = undefined
    return true
  }
}
