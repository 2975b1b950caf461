import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NOBODY, nodeName, type NodeIndex } from '../ids.js'
import { Random } from '../random.js'
import { MAX_COPIES, Table } from '../table.js'
import { Arrangement } from './arrangement.js'
import { Roster } from './roster.js'
import { findStep } from './routes.js'
import { View } from './view.js'

const [A, B, C, D] = [0, 1, 2, 3]

interface Given {
  readonly nodes: number
  readonly rows: readonly (readonly NodeIndex[])[]
  readonly copies?: number
  readonly leaving?: readonly NodeIndex[]
}

/** One view a node, over one table. */
function views({ nodes, rows, copies = 2, leaving = [] }: Given): View[] {
  const table = new Table(rows.length - 1)
  const members = Array.from({ length: nodes }, (_, place) => {
    const node = table.intern(nodeName(`n${place}`))
    return { node, weight: 1, zone: '', leaving: leaving.includes(node) }
  })
  for (const [bucket, holders] of rows.entries()) table.replace(bucket, 1, holders)
  const arrangement = new Arrangement(table, new Roster(members), copies)
  return members.map(({ node: self }) => new View({ arrangement, self }))
}

function holdersOf(table: Table, bucket: number): NodeIndex[] {
  const places = Array.from({ length: MAX_COPIES }, (_, place) => table.holderAt(bucket, place))
  return places.filter((node) => node !== NOBODY)
}

function switchRoles(table: Table, bucket: number, to: NodeIndex): void {
  const rest = holdersOf(table, bucket).filter((node) => node !== to)
  table.replace(bucket, table.epochOf(bucket) + 1, [to, ...rest])
}

const times = (count: number, ...holders: NodeIndex[]): NodeIndex[][] =>
  Array.from({ length: count }, () => holders)

/** A shares buckets with B only, B with C, C with D; A has one primary too many, D one too few. */
const CHAIN = [
  ...times(5, A, B),
  ...times(4, B, C),
  ...times(2, C, B),
  ...times(2, C, D),
  ...times(3, D, C)
]

describe('a surplus that no neighbour lacks', () => {
  test('travels over several switches, each by the node that has it', () => {
    const all = views({ nodes: 4, rows: CHAIN })
    const { table } = all[A]
    const steps: [NodeIndex, NodeIndex, number][] = []
    for (let round = 0; round < 3; round++) {
      const ready = all.filter((view) => findStep(view) !== undefined)
      expect(ready).toHaveLength(1)
      const step = findStep(ready[0])!
      expect(table.primaryOf(step.bucket)).toBe(ready[0].self)
      expect(table.isHolder(step.bucket, step.to)).toBe(true)
      steps.push([ready[0].self, step.to, step.further])
      switchRoles(table, step.bucket, step.to)
    }
    expect(steps).toEqual([
      [A, B, 2],
      [B, C, 1],
      [C, D, 0]
    ])
    expect(all.map(({ self }) => table.primariesOf(self))).toEqual([4, 4, 4, 4])
    for (const view of all) expect(findStep(view)).toBeUndefined()
  })

  test('stays where it is when the way is closed', () => {
    // C and D share nothing with A and B.
    const rows = [...times(5, A, B), ...times(4, B, A), ...times(4, C, D), ...times(3, D, C)]
    const all = views({ nodes: 4, rows })
    expect(findStep(all[A])).toBeUndefined()
    expect(findStep(all[B])).toBeUndefined()
    expect(findStep(all[C])).toBeUndefined()
  })

  test('does not go through a node that leaves', () => {
    const all = views({ nodes: 4, rows: CHAIN, leaving: [C] })
    expect(findStep(all[C])).toBeUndefined()
    for (const { self } of all) {
      const step = findStep(all[self])
      expect(step?.to).not.toBe(C)
    }
  })
})

describe('a gap', () => {
  test('is filled by one of those that could, though none has too many', () => {
    // 17 primaries' worth of room: five nodes, 16 buckets, so 3 or 4 each; E has 2.
    const rows = [
      ...times(4, 0, 4),
      ...times(4, 1, 4),
      ...times(3, 2, 3),
      ...times(3, 3, 2),
      ...times(2, 4, 0)
    ]
    const all = views({ nodes: 5, rows })
    const { table } = all[0]
    for (const view of all) {
      const step = findStep(view)
      if (step === undefined) continue
      expect(step).toMatchObject({ to: 4, further: 0 })
      switchRoles(table, step.bucket, step.to)
    }
    expect(all.map(({ self }) => table.primariesOf(self)).toSorted()).toEqual([3, 3, 3, 3, 4])
  })

  test('nobody moves where primaries are even', () => {
    const rows = [...times(6, A, B), ...times(5, B, C), ...times(5, C, A)]
    for (const view of views({ nodes: 3, rows })) expect(findStep(view)).toBeUndefined()
  })
})

test('from any roles over fair totals, steps in any order even the primaries out', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 9 }),
      fc.integer({ min: 2, max: 3 }),
      fc.nat(),
      (nodes, copiesWanted, seed) => {
        const random = new Random(seed)
        const copies = Math.min(copiesWanted, nodes)
        // Dealt like cards, so that the totals are fair; who is primary is drawn.
        const order = random.shuffle([...Array(nodes).keys()])
        const rows = Array.from({ length: 256 }, (_, bucket) => {
          const holders = Array.from(
            { length: copies },
            (__, i) => order[(bucket * copies + i) % nodes]
          )
          return random.chance(0.7) ? holders.sort((a, b) => a - b) : random.shuffle(holders)
        })
        const all = views({ nodes, rows, copies })
        const { table, shares, arrangement } = all[0]
        expect(arrangement.fair).toBe(true)
        let quiet = 0
        for (let turn = 0; quiet < 3 * nodes && turn < 50_000; turn++) {
          const step = findStep(all[random.below(nodes)])
          quiet = step === undefined ? quiet + 1 : 0
          if (step !== undefined) switchRoles(table, step.bucket, step.to)
          if (quiet === 3 * nodes && all.some((view) => findStep(view) !== undefined)) quiet = 0
        }
        for (const { self } of all) {
          expect(table.primariesOf(self)).toBeGreaterThanOrEqual(shares.primaryLow[self])
          expect(table.primariesOf(self)).toBeLessThanOrEqual(shares.primaryHigh[self])
        }
      }
    ),
    { numRuns: 60 }
  )
})
