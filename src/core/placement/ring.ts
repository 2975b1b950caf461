/**
 * The consistent-hash ring of document 003: a circle of signed 32-bit positions, on which every node has some.
 * A position owns the arc from the one before it (exclusive) to itself (inclusive). The replicas of a key
 * are the first distinct nodes met when walking clockwise from it, one of each zone before a second of any.
 *
 * A ring is a value: the replicas are a function of (ring, position, from) and of nothing else. That is what makes a
 * change of the ring computable on every node alike: whoever is in the new set and was not in the old one must
 * receive, whoever was and is no longer may delete. No record need remember where its copies are, only its `from`.
 *
 * For every arc there is one order of all nodes, and a set of `from` replicas is the beginning of it: so the set
 * for a smaller `from` is always part of the set for a larger one.
 */
import { latin1String, utf8String, FormatError } from '../bytes.js'
import { murmur3OfText, RING_SEED } from '../hash/murmur3.js'

export const POSITION_MIN = -0x8000_0000
export const POSITION_MAX = 0x7fff_ffff
export const CIRCLE = 0x1_0000_0000
export const VNODES_DEFAULT = 4
export const VNODES_MAX = 1024

export interface RingMember {
  readonly name: string
  /** '' is a zone of its own for every node. */
  readonly zone: string
  readonly positions: readonly number[]
}

/** From `after` (exclusive) to `upTo` (inclusive); the whole circle if they are equal. */
export interface Arc {
  readonly after: number
  readonly upTo: number
}

/** What one arc and one `from` lose and gain by a change of the ring. */
export interface ArcChange extends Arc {
  readonly from: number
  readonly gains: readonly string[]
  readonly losses: readonly string[]
}

/** The virtual nodes of document 003: `url|i`, i from 1. */
export function virtualPositions(url: string, count: number): number[] {
  const positions: number[] = []
  for (let i = 1; i <= count; i++) positions.push(murmur3OfText(`${url}|${i}`, RING_SEED))
  return positions
}

/** A key is hashed as the text it is; one that is no text, byte by byte. */
export function positionOfKey(key: Uint8Array): number {
  return murmur3OfText(textOf(key), RING_SEED)
}

function textOf(key: Uint8Array): string {
  if (key.every((byte) => byte < 0x80)) return latin1String(key, 0, key.length)
  try {
    return utf8String(key, 0, key.length)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    return latin1String(key, 0, key.length)
  }
}

export function isPosition(value: number): boolean {
  return Number.isInteger(value) && value >= POSITION_MIN && value <= POSITION_MAX
}

export function isInArc(position: number, { after, upTo }: Arc): boolean {
  if (after === upTo) return true
  return after < upTo ? position > after && position <= upTo : position > after || position <= upTo
}

/** How many positions an arc has. */
export function lengthOf({ after, upTo }: Arc): number {
  return after < upTo ? upTo - after : CIRCLE - (after - upTo)
}

export class Ring {
  /** The nodes that have a position, by name. */
  readonly nodes: readonly string[]
  /** Ascending, each once: of two nodes with the same position the first by name has it. */
  readonly positions: readonly number[]
  readonly #owners: readonly string[]
  readonly #zones: ReadonlyMap<string, string>
  readonly #orders: (readonly string[] | undefined)[] = []

  constructor(members: readonly RingMember[]) {
    const placed = members.filter(({ positions }) => positions.length > 0)
    const sorted = [...placed].sort((a, b) => (a.name < b.name ? -1 : 1))
    const owners = new Map<number, string>()
    for (const { name, positions } of sorted) {
      for (const position of positions) if (!owners.has(position)) owners.set(position, name)
    }
    this.positions = [...owners.keys()].sort((a, b) => a - b)
    this.#owners = this.positions.map((position) => owners.get(position) ?? '')
    // Who has lost all its positions to others holds nothing.
    const holders = new Set(this.#owners)
    this.nodes = sorted.map(({ name }) => name).filter((name) => holders.has(name))
    this.#zones = new Map(sorted.map(({ name, zone }) => [name, zone]))
  }

  get size(): number {
    return this.nodes.length
  }

  /** The arc in which a position lies; the ring must have a node. */
  arcIndexOf(position: number): number {
    const { positions } = this
    let [low, high] = [0, positions.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (positions[middle] < position) low = middle + 1
      else high = middle
    }
    return low === positions.length ? 0 : low
  }

  arc(index: number): Arc & { readonly owner: string } {
    const { positions } = this
    const before = index === 0 ? positions.length - 1 : index - 1
    return { after: positions[before], upTo: positions[index], owner: this.#owners[index] }
  }

  /** The first `from` nodes for a position, or all there are. */
  replicas(position: number, from: number): readonly string[] {
    if (this.size === 0) return []
    const order = this.#order(this.arcIndexOf(position))
    return from >= order.length ? order : order.slice(0, from)
  }

  /** Its place in the order of nodes for a position, from 0; Infinity for one that is not on the ring. */
  rankOf(name: string, position: number): number {
    if (this.size === 0) return Infinity
    const place = this.#order(this.arcIndexOf(position)).indexOf(name)
    return place < 0 ? Infinity : place
  }

  isReplica(name: string, position: number, from: number): boolean {
    return this.rankOf(name, position) < from
  }

  /** How much of the circle a node owns, from 0 to 1. */
  shareOf(name: string): number {
    let length = 0
    this.positions.forEach((_, index) => {
      const arc = this.arc(index)
      if (arc.owner === name) length += lengthOf(arc)
    })
    return length / CIRCLE
  }

  #order(index: number): readonly string[] {
    return (this.#orders[index] ??= this.#walk(index))
  }

  #walk(index: number): string[] {
    const met = new Set<string>()
    const { length } = this.positions
    for (let step = 0; step < length && met.size < this.size; step++) {
      met.add(this.#owners[(index + step) % length])
    }
    const zones = new Set<string>()
    const others: string[] = []
    const order: string[] = []
    for (const name of met) {
      const zone = this.#zones.get(name) ?? ''
      if (zone !== '' && zones.has(zone)) others.push(name)
      else order.push(name)
      zones.add(zone)
    }
    return [...order, ...others]
  }
}

/** For each piece of the circle and each `from` up to `fromMax`: who comes to hold it, and who no longer does. */
export function diffRings(before: Ring, after: Ring, fromMax: number): ArcChange[] {
  const borders = [...new Set([...before.positions, ...after.positions])].sort((a, b) => a - b)
  const changes: ArcChange[] = []
  borders.forEach((upTo, index) => {
    const previous = borders[index === 0 ? borders.length - 1 : index - 1]
    for (let from = 1; from <= fromMax; from++) {
      const old = before.replicas(upTo, from)
      const now = after.replicas(upTo, from)
      const gains = now.filter((name) => !old.includes(name))
      const losses = old.filter((name) => !now.includes(name))
      if (gains.length + losses.length > 0) {
        changes.push({ after: previous, upTo, from, gains, losses })
      }
    }
  })
  return changes
}
