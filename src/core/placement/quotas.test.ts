import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nodeName, type NodeIndex } from '../ids.js'
import { Random } from '../random.js'
import { Table } from '../table.js'
import { computeQuotas } from './quotas.js'
import { Roster } from './roster.js'
import { computeShares } from './shares.js'

interface Drawn {
  readonly weights: number[]
  readonly copies: number
  readonly leaving: number
  readonly seed: number
  /** How unevenly the copies lie at first: this many nodes hold nearly all of them. */
  readonly crowd: number
  readonly mask: number
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  weights: fc.array(fc.constantFrom(1, 1, 1, 0.5, 2, 3.7), { minLength: 1, maxLength: 12 }),
  copies: fc.integer({ min: 1, max: 3 }),
  leaving: fc.integer({ min: -4, max: 11 }),
  seed: fc.nat(),
  crowd: fc.integer({ min: 1, max: 12 }),
  mask: fc.constantFrom(0x000f, 0x00ff)
})

class Case {
  readonly table: Table
  readonly roster: Roster
  readonly random: Random
  readonly #copies: number

  constructor({ weights, copies, leaving, seed, crowd, mask }: Drawn) {
    this.random = new Random(seed)
    this.table = new Table(mask)
    this.#copies = copies
    const nodes = weights.map((_, place) => this.table.intern(nodeName(`n${place}`)))
    this.roster = new Roster(
      weights.map((weight, node) => ({ node, weight, zone: '', leaving: node === leaving }))
    )
    for (let bucket = 0; bucket <= mask; bucket++) {
      const few = this.random.shuffle(nodes.slice(0, Math.max(crowd, copies)))
      // One in eight lacks a copy.
      const held = Math.min(copies, few.length) - (this.random.chance(0.125) ? 1 : 0)
      this.table.replace(bucket, 1, few.slice(0, held))
    }
  }

  quotas(): number[] {
    const shares = computeShares(this.roster, this.table.size, this.#copies)
    return [...computeQuotas(this.table, this.roster, shares)]
  }

  /** One copy goes from a node that has too many, or from nowhere, to one that has too few. */
  move(quotas: readonly number[]): boolean {
    const { table, roster, random } = this
    const lacking = roster.staying.filter(({ node }) => table.totalOf(node) < quotas[node])
    if (lacking.length === 0) return false
    const to = random.pick(lacking).node
    const isSurplus = (node: NodeIndex): boolean => table.totalOf(node) > (quotas[node] ?? 0)
    const start = random.below(table.size)
    for (let step = 0; step < table.size; step++) {
      const bucket = (start + step) & table.mask
      if (table.isHolder(bucket, to)) continue
      const holders = [0, 1, 2].map((p) => table.holderAt(bucket, p)).filter((node) => node >= 0)
      const place = holders.findIndex(isSurplus)
      if (place === -1 && holders.length >= this.#copies) continue
      const next = place === -1 ? [...holders, to] : holders.with(place, to)
      table.replace(bucket, table.epochOf(bucket) + 1, next)
      return true
    }
    return false
  }
}

test('quotas are inside the shares and add up to all copies', () => {
  fc.assert(
    fc.property(drawn, (given) => {
      const each = new Case(given)
      fc.pre(each.roster.staying.length > 0)
      const shares = computeShares(each.roster, each.table.size, given.copies)
      const quotas = each.quotas()
      expect(quotas.reduce((a, b) => a + b, 0)).toBe(each.table.size * shares.copies)
      for (const [node, quota] of quotas.entries()) {
        expect(quota).toBeGreaterThanOrEqual(shares.low[node])
        expect(quota).toBeLessThanOrEqual(shares.high[node])
      }
    }),
    { numRuns: 300 }
  )
})

test('any part of the moves towards the quotas leaves the quotas as they are', () => {
  fc.assert(
    fc.property(drawn, (given) => {
      const each = new Case(given)
      const quotas = each.quotas()
      for (let moves = 0; moves < 600 && each.move(quotas); moves++) {
        expect(each.quotas()).toEqual(quotas)
      }
    }),
    { numRuns: 150 }
  )
})

test('who holds one more keeps it, and the order of names in the table does not matter', () => {
  const names = ['a', 'b', 'c'].map(nodeName)
  for (const fuller of names) {
    const results = [names, names.toReversed()].map((order) => {
      const table = new Table(0x000f)
      for (const name of order) table.intern(name)
      // 16 buckets on three nodes: 6, 5, 5; all but the fuller one have 5.
      const holders = names.flatMap((name) => Array<NodeIndex>(5).fill(table.indexOf(name)))
      holders.push(table.indexOf(fuller))
      for (const [bucket, holder] of holders.entries()) table.replace(bucket, 1, [holder])
      const members = order.map((_, node) => ({ node, weight: 1, zone: '', leaving: false }))
      const roster = new Roster(members)
      const quotas = computeQuotas(table, roster, computeShares(roster, 16, 1))
      return names.map((name) => quotas[table.indexOf(name)])
    })
    const wanted = names.map((name) => (name === fuller ? 6 : 5))
    expect(results).toEqual([wanted, wanted])
  }
})

test('from nothing, every table gives the seats to the same names', () => {
  const names = Array.from({ length: 7 }, (_, place) => nodeName(`n${place}`))
  const seatsOf = (order: typeof names): string[] => {
    const table = new Table(0x00ff)
    for (const name of order) table.intern(name)
    const members = order.map((_, node) => ({ node, weight: 1, zone: '', leaving: false }))
    const roster = new Roster(members)
    const quotas = computeQuotas(table, roster, computeShares(roster, 256, 2))
    return names.filter((name) => quotas[table.indexOf(name)] === 74)
  }
  expect(seatsOf(names)).toHaveLength(512 - 7 * 73)
  expect(seatsOf(names.toReversed())).toEqual(seatsOf(names))
})

test('no zone is given more than it may hold', () => {
  // Two zones, two copies: each zone holds every bucket once, whoever has the seats inside it.
  const table = new Table(0x00ff)
  const members = Array.from({ length: 8 }, (_, place) => {
    const node = table.intern(nodeName(`n${place}`))
    return { node, weight: 1, zone: place < 3 ? 'x' : 'y', leaving: false }
  })
  const roster = new Roster(members)
  const quotas = computeQuotas(table, roster, computeShares(roster, 256, 2))
  const inZone = (zone: string): number =>
    members.reduce((sum, member) => sum + (member.zone === zone ? quotas[member.node] : 0), 0)
  expect({ x: inZone('x'), y: inZone('y') }).toEqual({ x: 256, y: 256 })
})
