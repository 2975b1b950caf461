import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CurrentRules } from '../../src/core/placement/current.js'
import { MAX_COPIES } from '../../src/core/table.js'
import { BalanceCluster, type BalanceOptions } from './cluster.js'
import { grow, rest, shrink, type Size } from './growth.js'

const rules = new CurrentRules()

function create(options: Partial<BalanceOptions>): BalanceCluster {
  return new BalanceCluster({ buckets: 256, copies: 2, seed: 1, rules, ...options })
}

/** The node that was asked knew an older assignment of missing copies than the one that asked, for ever. */
const STALE_HOMES = {
  ...{ seed: 844_707, lag: 1, answerLag: 0, transferRounds: 2 },
  ...{ copies: 2, buckets: 16 as const, to: 6 }
}

/** Every row has the copies it can have, on different nodes (the table itself refuses two on one). */
function expectWhole(cluster: BalanceCluster): void {
  const copies = cluster.arrangement.shares.copies
  for (let bucket = 0; bucket <= cluster.table.mask; bucket++) {
    expect(cluster.table.copiesOf(bucket)).toBe(copies)
  }
}

/** With 16 buckets it can be that no way of filling the gaps ships only what is missing. */
function spare({ buckets }: Size): number {
  return buckets < 256 ? 1 : 0
}

function expectContract(sizes: readonly Size[]): void {
  const broken = sizes.filter(
    (size) =>
      !size.settled ||
      size.totalsSpread > 1 ||
      size.primariesSpread > 1 ||
      size.shipped > size.minimum + spare(size)
  )
  expect(broken).toEqual([])
}

function expectRest(cluster: BalanceCluster): void {
  const before = { ...cluster.tally }
  for (let round = 0; round < 20; round++) cluster.step()
  expect({ ...cluster.tally, rounds: 0 }).toEqual({ ...before, rounds: 0 })
}

describe('the contract of balancing', () => {
  for (const copies of [1, 2, 3]) {
    test(`256 buckets, ${copies} copies, up to 256 nodes and back`, () => {
      const options = { from: 1, to: 256, buckets: 256, copies, rules, seed: copies }
      const cluster = create(options)
      expectContract(grow(cluster, options))
      expectWhole(cluster)
      expectRest(cluster)
      expectContract(shrink(cluster, options))
      expectWhole(cluster)
      expectRest(cluster)
    })
  }

  test('holds on stale tables, late answers and long transfers', () => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.integer({ min: 0, max: 1_000_000 }),
          lag: fc.integer({ min: 0, max: 6 }),
          answerLag: fc.integer({ min: 0, max: 6 }),
          transferRounds: fc.integer({ min: 1, max: 6 }),
          copies: fc.integer({ min: 1, max: 3 }),
          buckets: fc.constantFrom(16, 256),
          to: fc.integer({ min: 2, max: 14 })
        }),
        (drawn) => {
          const options = { ...drawn, from: 1, rules }
          const cluster = create(options)
          expectContract(grow(cluster, options))
          expectWhole(cluster)
          expectContract(shrink(cluster, options))
          expectWhole(cluster)
        }
      ),
      { numRuns: 60, examples: [[STALE_HOMES]] }
    )
  })

  test('comes to rest from any disorder: joins, leaves and deaths on top of each other', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.array(
          fc.record({
            what: fc.constantFrom('join', 'join', 'leave', 'die'),
            rounds: fc.integer({ min: 0, max: 30 })
          }),
          { minLength: 3, maxLength: 14 }
        ),
        fc.integer({ min: 0, max: 4 }),
        (seed, steps, lag) => {
          const cluster = create({ seed, lag, answerLag: 2, transferRounds: 3 })
          let joined = 0
          cluster.join(`n${joined++}`)
          for (const { what, rounds } of steps) {
            const nodes = cluster.nodes
            if (what === 'join') cluster.join(`n${joined++}`)
            else if (nodes.length > 3 && cluster.arrangement.missing === 0) {
              const node = nodes[rounds % nodes.length]
              if (what === 'leave') cluster.leave(node)
              else cluster.die(node)
            }
            for (let round = 0; round < rounds; round++) cluster.step()
          }
          const size = rest(cluster, cluster.nodes.length)
          expect(size).toMatchObject({ settled: true })
          expect(size.totalsSpread).toBeLessThanOrEqual(1)
          expect(size.primariesSpread).toBeLessThanOrEqual(1)
          expectWhole(cluster)
          expectRest(cluster)
        }
      ),
      { numRuns: 60 }
    )
  })

  test('a death ships only what the dead node held', () => {
    for (const copies of [2, 3]) {
      const options = { from: 1, to: 40, buckets: 256, copies, rules, seed: 5 }
      const cluster = create(options)
      grow(cluster, options)
      for (let nodes = 39; nodes >= 4; nodes--) {
        const victim = cluster.nodes[nodes % cluster.nodes.length]
        const held = cluster.table.totalOf(victim)
        cluster.die(victim)
        const size = rest(cluster, nodes)
        expectContract([size])
        expect(size.shipped).toBe(held)
      }
    }
  })
})

describe('weights', () => {
  test('each node is within one of its weighted share, in totals and primaries', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0.5, 1, 1, 2, 3, 8), { minLength: 2, maxLength: 10 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 0, max: 1_000_000 }),
        (weights, copies, seed) => {
          const cluster = create({ seed, copies })
          weights.forEach((weight, place) => cluster.join(`n${place}`, { weight }))
          expect(cluster.settle(50_000)).toBe(true)
          expectWhole(cluster)
          const { low, high, primaryLow, primaryHigh } = cluster.arrangement.shares
          for (const node of cluster.nodes) {
            const total = cluster.table.totalOf(node)
            const primaries = cluster.table.primariesOf(node)
            expect(total).toBeGreaterThanOrEqual(low[node])
            expect(total).toBeLessThanOrEqual(high[node])
            expect(primaries).toBeGreaterThanOrEqual(primaryLow[node])
            expect(primaries).toBeLessThanOrEqual(primaryHigh[node])
          }
          expectRest(cluster)
        }
      ),
      { numRuns: 60 }
    )
  })

  test('twice the weight is twice the load', () => {
    const cluster = create({})
    cluster.join('heavy', { weight: 2 })
    cluster.join('a')
    cluster.join('b')
    cluster.settle()
    expect(cluster.nodes.map((node) => cluster.table.totalOf(node))).toEqual([256, 128, 128])
    expect(cluster.nodes.map((node) => cluster.table.primariesOf(node))).toEqual([128, 64, 64])
  })
})

describe('zones', () => {
  test('no bucket has all its copies in one zone while there is another', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: 2, maxLength: 9 }),
        fc.integer({ min: 2, max: 3 }),
        fc.integer({ min: 0, max: 1_000_000 }),
        (zones, copies, seed) => {
          const cluster = create({ seed, copies, lag: seed % 3 })
          zones.forEach((zone, place) => cluster.join(`n${place}`, { zone }))
          expect(cluster.settle(50_000)).toBe(true)
          expectWhole(cluster)
          expectRest(cluster)
          const { table, roster } = cluster
          if (roster.zones < 2) return
          for (let bucket = 0; bucket <= table.mask; bucket++) {
            const seen = new Set<number>()
            for (let place = 0; place < MAX_COPIES; place++) {
              if (table.holderAt(bucket, place) >= 0)
                seen.add(roster.zoneOf(table.holderAt(bucket, place)))
            }
            expect(seen.size).toBeGreaterThan(1)
          }
        }
      ),
      { numRuns: 60 }
    )
  })

  test('zones of equal size are balanced inside and between', () => {
    const cluster = create({})
    for (let place = 0; place < 6; place++)
      cluster.join(`n${place}`, { zone: place < 3 ? 'x' : 'y' })
    cluster.settle()
    for (const node of cluster.nodes) {
      expect(Math.abs(cluster.table.totalOf(node) - 512 / 6)).toBeLessThanOrEqual(1)
    }
  })
})

describe('splits', () => {
  test('the ideal falling to the threshold cuts all buckets in 16, once, through stale tables', () => {
    for (const splitAt of [4, 6]) {
      for (const lag of [0, 5]) {
        const cluster = create({ buckets: 16, splitAt, lag, transferRounds: 4, seed: 3 })
        const sizes: number[] = []
        for (let nodes = 1; nodes <= 9; nodes++) {
          cluster.join(`n${nodes}`)
          expectContract([{ ...rest(cluster, nodes), shipped: 0 }])
          sizes.push(cluster.table.size)
        }
        // 32 copies: the ideal is 6 from five nodes on, 4 from seven on.
        const first = splitAt === 6 ? 5 : 7
        expect(sizes).toEqual(sizes.map((_, at) => (at + 1 >= first ? 256 : 16)))
        expectWhole(cluster)
      }
    }
  })
})
