import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Roster, type Member } from './roster.js'
import { computeShares, type Shares } from './shares.js'

type Given = Partial<Omit<Member, 'node'>>

function roster(members: readonly Given[]): Roster {
  const whole = { weight: 1, zone: '', leaving: false }
  return new Roster(members.map((given, node) => ({ ...whole, ...given, node })))
}

const equal = (nodes: number): Given[] => Array.from({ length: nodes }, () => ({}))
const weights = (...given: number[]): Given[] => given.map((weight) => ({ weight }))
const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0)

function ranges({ low, high }: Shares): string[] {
  return [...low].map((least, node) =>
    least === high[node] ? `${least}` : `${least}-${high[node]}`
  )
}

function primaryRanges(shares: Shares): string[] {
  return ranges({ ...shares, low: shares.primaryLow, high: shares.primaryHigh })
}

describe('equal weights', () => {
  test('give floor and ceiling of the even share', () => {
    for (const nodes of [1, 2, 3, 5, 7, 16, 64, 256]) {
      for (const copies of [1, 2, 3]) {
        const shares = computeShares(roster(equal(nodes)), 256, copies)
        const possible = Math.min(copies, nodes)
        expect(shares.copies).toBe(possible)
        for (let node = 0; node < nodes; node++) {
          expect(shares.low[node]).toBe(Math.floor((256 * possible) / nodes))
          expect(shares.high[node]).toBe(Math.ceil((256 * possible) / nodes))
          expect(shares.primaryLow[node]).toBe(Math.floor(256 / nodes))
          expect(shares.primaryHigh[node]).toBe(Math.ceil(256 / nodes))
        }
      }
    }
  })

  test('whatever the weight is, if all have it', () => {
    for (const weight of [0.1, 3, 1e-6, 1e6]) {
      const shares = computeShares(roster(weights(weight, weight, weight)), 256, 2)
      expect(ranges(shares)).toEqual(['170-171', '170-171', '170-171'])
    }
  })
})

describe('different weights', () => {
  test('give shares in proportion', () => {
    const shares = computeShares(roster(weights(2, 1, 1)), 256, 2)
    expect(ranges(shares)).toEqual(['256', '128', '128'])
    expect(primaryRanges(shares)).toEqual(['128', '64', '64'])
    expect(ranges(computeShares(roster(weights(1, 2, 4)), 256, 1))).toEqual([
      '36-37',
      '73-74',
      '146-147'
    ])
  })

  test('never give a node more than one copy of each bucket; the others take the rest', () => {
    const shares = computeShares(roster(weights(10, 1, 1)), 256, 2)
    expect(ranges(shares)).toEqual(['256', '128', '128'])
    const cascade = computeShares(roster(weights(100, 10, 1, 1)), 256, 3)
    expect(ranges(cascade)).toEqual(['256', '256', '128', '128'])
  })
})

describe('members that do not count', () => {
  test('leaving ones have no share, and unknown indexes between them neither', () => {
    const members = [3, 5, 9].map((node) => ({ node, weight: 1, zone: '', leaving: node === 5 }))
    const shares = computeShares(new Roster(members), 256, 2)
    expect(ranges(shares)).toEqual(['0', '0', '0', '256', '0', '0', '0', '0', '0', '256'])
  })

  test('nobody at all has nothing', () => {
    expect(computeShares(roster([]), 256, 2)).toMatchObject({ copies: 0, low: new Int32Array(0) })
  })
})

describe('zones', () => {
  const zones = (...given: string[]): Given[] => given.map((zone) => ({ zone }))

  test('a large zone leaves one copy of every bucket to the others', () => {
    const shares = computeShares(roster(zones('x', 'x', 'x', 'y')), 256, 2)
    expect(ranges(shares)).toEqual(['85-86', '85-86', '85-86', '256'])
    const three = computeShares(roster(zones('x', 'x', 'x', 'x', 'y')), 256, 3)
    expect(ranges(three)).toEqual(['128', '128', '128', '128', '256'])
  })

  test('zones of equal size and single copies change nothing', () => {
    expect(ranges(computeShares(roster(zones('x', 'y', 'x', 'y')), 256, 2))).toEqual(
      ranges(computeShares(roster(equal(4)), 256, 2))
    )
    expect(ranges(computeShares(roster(zones('x', 'x', 'x', 'y')), 256, 1))).toEqual(
      ranges(computeShares(roster(equal(4)), 256, 1))
    )
  })

  test('a heavy node in a zone that is too large takes its part of what the zone may hold', () => {
    const members = [
      { zone: 'x', weight: 3 },
      { zone: 'x', weight: 1 },
      { zone: 'y', weight: 1 }
    ]
    expect(ranges(computeShares(roster(members), 256, 2))).toEqual(['192', '64', '256'])
  })
})

const members: fc.Arbitrary<Given[]> = fc.array(
  fc.record({
    weight: fc.oneof(fc.constantFrom(1, 1, 2, 8), fc.double({ min: 0.01, max: 100, noNaN: true })),
    zone: fc.constantFrom('x', 'x', 'x', 'y', 'z'),
    leaving: fc.constantFrom(false, false, false, true)
  }),
  { minLength: 1, maxLength: 12 }
)

test('whatever the weights and zones, the shares can hold all copies and stay inside the limits', () => {
  fc.assert(
    fc.property(
      members,
      fc.constantFrom(16, 256, 4096),
      fc.integer({ min: 1, max: 4 }),
      (given, buckets, wanted) => {
        const all = roster(given)
        fc.pre(all.staying.length > 0)
        const { copies, low, high, primaryLow, primaryHigh } = computeShares(all, buckets, wanted)
        expect(sum(low)).toBeLessThanOrEqual(buckets * copies)
        expect(sum(high)).toBeGreaterThanOrEqual(buckets * copies)
        expect(sum(primaryLow)).toBeLessThanOrEqual(buckets)
        expect(sum(primaryHigh)).toBeGreaterThanOrEqual(buckets)
        for (const { node, leaving } of all.members) {
          expect(high[node] - low[node]).toBeLessThanOrEqual(1)
          expect(primaryHigh[node] - primaryLow[node]).toBeLessThanOrEqual(1)
          expect(high[node]).toBeLessThanOrEqual(leaving ? 0 : buckets)
          expect(primaryHigh[node]).toBeLessThanOrEqual(high[node])
        }
        if (all.zones < 2 || copies < 2) return
        for (const zone of new Set(all.staying.map(({ node }) => all.zoneOf(node)))) {
          const inZone = all.staying.filter(({ node }) => all.zoneOf(node) === zone)
          const held = sum(inZone.map(({ node }) => low[node]))
          expect(held).toBeLessThanOrEqual(buckets * (copies - 1))
        }
      }
    ),
    { numRuns: 1000 }
  )
})

test('more weight never means less, in one zone', () => {
  fc.assert(
    fc.property(members, fc.integer({ min: 1, max: 4 }), (given, wanted) => {
      const all = roster(given.map(({ weight = 1 }) => ({ weight })))
      const { low, high } = computeShares(all, 256, wanted)
      for (const { node, weight } of all.staying) {
        for (const other of all.staying) {
          if (other.weight > weight) expect(high[other.node]).toBeGreaterThanOrEqual(low[node])
        }
      }
    })
  )
})
