import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NOBODY, nodeName, type NodeIndex } from '../ids.js'
import { Random } from '../random.js'
import { MAX_COPIES, Table } from '../table.js'
import { Arrangement } from './arrangement.js'
import { assignHomes, type Homes } from './homes.js'
import { Roster } from './roster.js'
import { wouldCrowd } from './zones.js'

interface Drawn {
  /** Nodes that hold something; after them come the empty ones, as many as copies can be missing. */
  readonly nodes: number
  readonly copies: number
  readonly zones: readonly string[]
  readonly seed: number
  /** Copies that a bucket may lack at the most. */
  readonly lacking: number
  /** How much of the load an empty node takes. */
  readonly weight: number
  readonly buckets: number
}

/**
 * In each zone there are some empty nodes. While each of them has room for all missing copies, every
 * bucket finds a home by itself and none has to change places.
 */
function build(drawn: Drawn): { arrangement: Arrangement; roomy: boolean } {
  const { nodes, copies, zones, seed, lacking, weight, buckets } = drawn
  const random = new Random(seed)
  const table = new Table(buckets - 1)
  const members = Array.from({ length: nodes + zones.length * lacking }, (_, place) => ({
    node: table.intern(nodeName(`n${place}`)),
    weight: place < nodes ? 1 : weight,
    zone: zones[(place < nodes ? place : place - nodes) % zones.length],
    leaving: false
  }))
  const holding = members.slice(0, nodes).map(({ node }) => node)
  let missing = 0
  for (let bucket = 0; bucket < buckets; bucket++) {
    const lack = random.chance(0.2) ? random.between(1, lacking) : 0
    missing += lack
    table.replace(bucket, 1, random.shuffle([...holding]).slice(0, copies - lack))
  }
  const arrangement = new Arrangement(table, new Roster(members), copies)
  const empty = members.slice(nodes)
  return { arrangement, roomy: empty.every(({ node }) => arrangement.quotaOf(node) >= missing) }
}

function holdersOf(table: Table, bucket: number): NodeIndex[] {
  const places = Array.from({ length: MAX_COPIES }, (_, place) => table.holderAt(bucket, place))
  return places.filter((node) => node !== NOBODY)
}

const sorted = (homes: Homes): [number, NodeIndex[]][] =>
  [...homes].filter(([, nodes]) => nodes.length > 0).sort(([a], [b]) => a - b)

const drawn: fc.Arbitrary<Drawn> = fc
  .record({
    nodes: fc.integer({ min: 3, max: 9 }),
    copies: fc.integer({ min: 2, max: 3 }),
    zones: fc.constantFrom([''], ['x', 'y'], ['x', 'y', 'z']),
    seed: fc.nat(),
    weight: fc.constantFrom(0.5, 1, 2, 4),
    buckets: fc.constantFrom(16, 256)
  })
  .map((given) => ({ ...given, lacking: 1 }))

describe('homes for missing copies', () => {
  test('as many as are missing, never on a holder, never twice on one node', () => {
    fc.assert(
      fc.property(drawn, fc.boolean(), (given, leaving) => {
        const { arrangement } = build({ ...given, lacking: given.copies - 1 })
        const { table } = arrangement
        if (leaving) {
          // What the first node holds no longer counts.
          const members = arrangement.roster.members.map((member) => ({
            ...member,
            leaving: member.node === 0
          }))
          arrangement.roster = new Roster(members)
        }
        const homes = assignHomes(arrangement)
        for (let bucket = 0; bucket <= table.mask; bucket++) {
          const nodes = homes.get(bucket) ?? []
          const missing = arrangement.shares.copies - arrangement.countStaying(bucket)
          expect(nodes).toHaveLength(Math.max(0, missing))
          expect(new Set(nodes).size).toBe(nodes.length)
          for (const node of nodes) {
            expect(table.isHolder(bucket, node)).toBe(false)
            expect(arrangement.roster.isStaying(node)).toBe(true)
          }
        }
      }),
      { numRuns: 60 }
    )
  })

  test('inside the quotas and in different zones, where there is room', () => {
    fc.assert(
      fc.property(drawn, (given) => {
        const { arrangement, roomy } = build({ ...given, lacking: given.copies - 1 })
        fc.pre(roomy)
        const { table, roster } = arrangement
        const taken = new Map<NodeIndex, number>()
        for (const [bucket, nodes] of assignHomes(arrangement)) {
          for (const [place, node] of nodes.entries()) {
            const also = nodes.slice(0, place)
            expect(wouldCrowd(table, roster, { bucket, node, instead: NOBODY, also })).toBe(false)
            taken.set(node, (taken.get(node) ?? 0) + 1)
          }
        }
        for (const [node, count] of taken) {
          expect(count).toBeLessThanOrEqual(arrangement.quotaOf(node) - table.totalOf(node))
        }
      }),
      { numRuns: 200 }
    )
  })

  test('the most endangered buckets come first', () => {
    const table = new Table(0x000f)
    for (const name of ['a', 'b', 'c', 'd']) table.intern(nodeName(name))
    for (let bucket = 0; bucket < 16; bucket++) {
      table.replace(bucket, 1, bucket % 5 === 0 ? [0] : bucket % 2 === 0 ? [0, 1] : [0, 1, 2])
    }
    const members = [0, 1, 2, 3].map((node) => ({ node, weight: 1, zone: '', leaving: false }))
    const arrangement = new Arrangement(table, new Roster(members), 3)
    const order = [...new Set(arrangement.homeless(0).map(({ bucket }) => bucket))]
    expect(order).toEqual([0, 5, 10, 15, 2, 4, 6, 8, 12, 14])
  })

  test('a bucket that nobody has is not copied from nowhere', () => {
    const given = { nodes: 3, copies: 2, zones: [''], lacking: 1, weight: 1, seed: 1, buckets: 16 }
    const { arrangement } = build(given)
    arrangement.table.replace(4, 2, [])
    expect(assignHomes(arrangement).has(4)).toBe(false)
  })
})

describe('taking any part of the assignment as done', () => {
  /** Makes the chosen copies and computes again. */
  function expectRest(arrangement: Arrangement, seed: number): void {
    const { table } = arrangement
    const random = new Random(seed)
    const before = sorted(assignHomes(arrangement))
    const done = new Set<string>()
    const part = random.fraction()
    for (const [bucket, nodes] of random.shuffle([...before])) {
      for (const to of nodes) {
        if (!random.chance(part)) continue
        table.replace(bucket, table.epochOf(bucket) + 1, [...holdersOf(table, bucket), to])
        done.add(`${bucket} ${to}`)
      }
    }
    const rest = before
      .map(
        ([bucket, nodes]) => [bucket, nodes.filter((to) => !done.has(`${bucket} ${to}`))] as const
      )
      .filter(([, nodes]) => nodes.length > 0)
    const after = sorted(
      assignHomes(new Arrangement(table, arrangement.roster, arrangement.copies))
    )
    expect(after).toEqual(rest)
  }

  test('gives the rest, where each bucket lacks one copy', () => {
    fc.assert(
      fc.property(drawn, fc.nat(), (given, seed) => {
        const { arrangement, roomy } = build(given)
        fc.pre(roomy)
        expectRest(arrangement, seed)
      }),
      { numRuns: 300 }
    )
  })

  test('gives the rest, where some buckets lack two', () => {
    fc.assert(
      fc.property(drawn, fc.nat(), (given, seed) => {
        const { arrangement, roomy } = build({ ...given, copies: 3, lacking: 2 })
        fc.pre(roomy)
        expectRest(arrangement, seed)
      }),
      { numRuns: 300, seed: 645229285 }
    )
  })
})

test('where the last buckets find room only on their own holders, places change hands', () => {
  // With just the room that is needed and few nodes, that happens in many of these.
  for (let seed = 0; seed < 300; seed++) {
    const table = new Table(0x000f)
    const random = new Random(seed)
    const nodes = ['a', 'b', 'c'].map((name) => table.intern(nodeName(`${name}${seed}`)))
    for (let bucket = 0; bucket < 16; bucket++) table.replace(bucket, 1, [random.pick(nodes)])
    const members = nodes.map((node) => ({ node, weight: 1, zone: '', leaving: false }))
    const arrangement = new Arrangement(table, new Roster(members), 2)
    // A node with more than its share cannot be helped here; the others get exactly theirs.
    if (nodes.some((node) => table.totalOf(node) > arrangement.quotaOf(node))) continue
    const totals = nodes.map((node) => table.totalOf(node))
    for (const [bucket, homes] of assignHomes(arrangement)) {
      expect(homes).toHaveLength(1)
      expect(table.isHolder(bucket, homes[0])).toBe(false)
      totals[homes[0]]++
    }
    expect(totals).toEqual(nodes.map((node) => arrangement.quotaOf(node)))
  }
})
