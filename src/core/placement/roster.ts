/**
 * Who may hold buckets, as balancing sees it: the members by their index in the table, with their
 * weight and zone, and whether they are on their way out. A node that is not in the roster (dead,
 * or never heard of) has no share, and a copy it still has in the table does not count.
 */
import type { NodeIndex } from '../ids.js'

export interface Member {
  readonly node: NodeIndex
  /** How much of the load it takes, compared with the others; 1 unless told otherwise. */
  readonly weight: number
  /** Where it stands; '' where zones are not used. */
  readonly zone: string
  /** Leaving members keep what they hold until it is elsewhere, and get nothing new. */
  readonly leaving: boolean
}

export class Roster {
  readonly members: readonly Member[]
  readonly staying: readonly Member[]
  readonly zones: number
  /** One zone and equal weights: any node above its quota has something for any node below. */
  readonly uniform: boolean
  readonly #byNode: (Member | undefined)[] = []
  readonly #zoneOf: number[] = []
  /** 1 for staying members, by node: asked for every copy of every row. */
  readonly #stays: Uint8Array

  constructor(members: readonly Member[]) {
    this.members = [...members].sort((a, b) => a.node - b.node)
    this.staying = this.members.filter((member) => !member.leaving)
    this.#stays = new Uint8Array((this.members[this.members.length - 1]?.node ?? -1) + 1)
    for (const { node } of this.staying) this.#stays[node] = 1
    const zones = new Map<string, number>()
    for (const member of this.members) {
      this.#byNode[member.node] = member
      if (!member.leaving && !zones.has(member.zone)) zones.set(member.zone, zones.size)
    }
    for (const member of this.members) {
      this.#zoneOf[member.node] = zones.get(member.zone) ?? -1
    }
    this.zones = zones.size
    this.uniform = zones.size < 2 && new Set(this.staying.map(({ weight }) => weight)).size < 2
  }

  get(node: NodeIndex): Member | undefined {
    return this.#byNode[node]
  }

  isStaying(node: NodeIndex): boolean {
    return node >= 0 && node < this.#stays.length && this.#stays[node] === 1
  }

  isLeaving(node: NodeIndex): boolean {
    return this.#byNode[node]?.leaving === true
  }

  /** The zone as a small number, -1 for a node that no longer counts. */
  zoneOf(node: NodeIndex): number {
    return this.#zoneOf[node] ?? -1
  }

  /** The copies a bucket can have: never more than there are nodes to hold them. */
  copiesPossible(copies: number): number {
    return Math.min(copies, this.staying.length)
  }
}
