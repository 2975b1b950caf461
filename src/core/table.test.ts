import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AssertionError } from './assert.js'
import { NOBODY, nodeName, type NodeName } from './ids.js'
import { MAX_COPIES, Table, type Row } from './table.js'

const NAMES = ['NODE-A', 'NODE-B', 'NODE-C', 'NODE-D', 'NODE-E', 'NODE-F'].map(nodeName)
const [A, B, C] = NAMES

function row(epoch: number, primary: NodeName | null, ...backups: NodeName[]): Row {
  return { epoch, primary, backups }
}

/** What a table must be like, kept in the plainest way: its rows. */
class Model {
  rows: Row[]

  constructor(buckets: number) {
    this.rows = Array.from({ length: buckets }, () => row(0, null))
  }

  expand(buckets: number): void {
    const old = this.rows
    this.rows = Array.from({ length: buckets }, (_, bucket) => old[bucket % old.length])
  }
}

type Step =
  { readonly kind: 'row'; readonly bucket: number; readonly row: Row } | { readonly kind: 'expand' }

const rows: fc.Arbitrary<Row> = fc
  .record({
    epoch: fc.integer({ min: 0, max: 12 }),
    holders: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: MAX_COPIES })
  })
  .map(({ epoch, holders }) => row(epoch, holders.at(0) ?? null, ...holders.slice(1)))

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 30,
      arbitrary: fc.record({
        kind: fc.constant('row' as const),
        bucket: fc.nat({ max: 255 }),
        row: rows
      })
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('expand' as const) }) }
  ),
  { maxLength: 60 }
)

function play(table: Table, model: Model, all: readonly Step[]): void {
  for (const step of all) {
    if (step.kind === 'expand') {
      table.expand(0x00ff)
      if (model.rows.length < 256) model.expand(256)
      continue
    }
    const bucket = step.bucket & table.mask
    const replaced = table.offer(bucket, step.row)
    expect(replaced).toBe(step.row.epoch > model.rows[bucket].epoch)
    if (replaced) model.rows[bucket] = step.row
  }
}

function expectSame(table: Table, model: Model): void {
  expect(table.size).toBe(model.rows.length)
  for (const [bucket, wanted] of model.rows.entries()) expect(table.row(bucket)).toEqual(wanted)
}

describe('rows', () => {
  test('a row is replaced by a higher epoch and by nothing else', () => {
    const table = new Table(0x000f)
    expect(table.offer(3, row(2, A, B))).toBe(true)
    const version = table.version
    expect(table.offer(3, row(2, C, B))).toBe(false)
    expect(table.offer(3, row(1, C, B))).toBe(false)
    expect(table.row(3)).toEqual(row(2, A, B))
    expect(table.version).toBe(version)
    expect(table.offer(3, row(9, C))).toBe(true)
    expect(table.row(3)).toEqual(row(9, C))
    expect(table.version).toBeGreaterThan(version)
  })

  test('what must never be written is refused, and changes nothing', () => {
    const table = new Table(0x000f)
    const [a, b] = [table.intern(A), table.intern(B)]
    table.replace(0, 5, [a, b])
    const digest = table.digest()
    expect(() => table.replace(0, 5, [b, a])).toThrow(AssertionError)
    expect(() => table.replace(0, 4, [b, a])).toThrow(AssertionError)
    expect(() => table.replace(0, 6, [a, a])).toThrow('two copies of a bucket on one node')
    expect(() => table.offer(0, row(6, B, A, B))).toThrow('two copies of a bucket on one node')
    expect(() => table.replace(16, 1, [a])).toThrow('no bucket 16')
    expect(() => table.replace(-1, 1, [a])).toThrow('no bucket -1')
    expect(() => table.offer(0, row(6, A, ...NAMES.slice(1, 5)))).toThrow('too many backups')
    expect(table.digest()).toBe(digest)
    expect(table.row(0)).toEqual(row(5, A, B))
    expect([table.totalOf(a), table.totalOf(b)]).toEqual([1, 1])
  })

  test('places in a row: the primary, the backups, then nobody', () => {
    const table = new Table(0x000f)
    table.offer(7, row(1, B, C, A))
    const [b, c, a] = [B, C, A].map((name) => table.indexOf(name))
    expect(table.primaryOf(7)).toBe(b)
    expect([0, 1, 2, 3].map((place) => table.holderAt(7, place))).toEqual([b, c, a, NOBODY])
    expect(table.copiesOf(7)).toBe(3)
    expect(table.copiesOf(8)).toBe(0)
    expect(table.isHolder(7, a)).toBe(true)
    expect(table.isHolder(8, a)).toBe(false)
    expect(table.indexOf('NODE-Z')).toBe(NOBODY)
    expect(() => table.nameOf(99)).toThrow('no node with index 99')
  })

  test('each name has one index, and the same rank in every table', () => {
    const [one, other] = [new Table(0x000f), new Table(0x000f)]
    for (const name of NAMES) one.intern(name)
    for (const name of [...NAMES].reverse()) other.intern(name)
    expect(one.intern(B)).toBe(1)
    expect(one.names).toEqual(NAMES)
    for (const name of NAMES) {
      expect(other.nameOf(other.indexOf(name))).toBe(name)
      expect(other.rankOf(other.indexOf(name))).toBe(one.rankOf(one.indexOf(name)))
    }
  })
})

describe('after any rows and expansions', () => {
  test('the rows are those of the highest epochs', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const [table, model] = [new Table(0x000f), new Model(16)]
        play(table, model, all)
        expectSame(table, model)
      })
    )
  })

  test('the counts are those of a recount', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const [table, model] = [new Table(0x000f), new Model(16)]
        play(table, model, all)
        for (const name of NAMES) {
          const node = table.indexOf(name)
          const primaries = model.rows.filter(({ primary }) => primary === name).length
          const backups = model.rows.filter((each) => each.backups.includes(name)).length
          expect(table.primariesOf(node)).toBe(primaries)
          expect(table.backupsOf(node)).toBe(backups)
          expect(table.totalOf(node)).toBe(primaries + backups)
        }
        for (let copies = 0; copies <= MAX_COPIES + 1; copies++) {
          const below = model.rows.filter((_, bucket) => table.copiesOf(bucket) < copies).length
          expect(table.rowsBelow(copies)).toBe(below)
        }
      })
    )
  })

  test('a copy is equal, and goes its own way', () => {
    fc.assert(
      fc.property(steps, steps, (all, more) => {
        const [table, model] = [new Table(0x00ff), new Model(256)]
        play(table, model, all)
        const copy = table.clone()
        expectSame(copy, model)
        expect(copy.digest()).toBe(table.digest())
        expect(copy.names).toEqual(table.names)
        for (const node of table.names.keys()) {
          expect(copy.totalOf(node)).toBe(table.totalOf(node))
          expect(copy.primariesOf(node)).toBe(table.primariesOf(node))
        }
        const rowsBefore = new Model(256)
        rowsBefore.rows = [...model.rows]
        play(copy, model, more)
        expectSame(table, rowsBefore)
      })
    )
  })
})

describe('expansion', () => {
  test.each([
    [0x000f, 0x00ff],
    [0x000f, 0x0fff],
    [0x00ff, 0x0fff],
    [0x0fff, 0x3fff]
  ])('from mask %i to %i every row is that of the old bucket', (from, to) => {
    const table = new Table(from)
    for (let bucket = 0; bucket <= from; bucket += 3) {
      table.offer(bucket, row(bucket + 1, NAMES[bucket % 6], NAMES[(bucket + 1) % 6]))
    }
    const old = Array.from({ length: from + 1 }, (_, bucket) => table.row(bucket))
    const total = table.totalOf(0)
    table.expand(to)
    expect(table.mask).toBe(to)
    for (let bucket = 0; bucket <= to; bucket++) {
      expect(table.row(bucket)).toEqual(old[bucket & from])
    }
    expect(table.totalOf(0)).toBe((total * (to + 1)) / (from + 1))
  })

  test('the same mask changes nothing, a smaller one and none at all are refused', () => {
    const table = new Table(0x00ff)
    table.offer(0, row(1, A))
    const { version } = table
    table.expand(0x00ff)
    expect(table.version).toBe(version)
    expect(() => table.expand(0x000f)).toThrow(AssertionError)
    expect(() => table.expand(0x01ff)).toThrow(AssertionError)
    expect(() => new Table(0x01ff)).toThrow(AssertionError)
  })
})

describe('the digest', () => {
  /** A table with a row for every bucket, entered in any order and by way of older rows. */
  function build(wanted: readonly Row[], order: readonly number[], names: readonly NodeName[]) {
    const table = new Table(0x000f)
    for (const name of names) table.intern(name)
    for (const bucket of order) {
      if (wanted[bucket].epoch > 1) table.offer(bucket, row(1, names[0], names[1]))
      table.offer(bucket, wanted[bucket])
    }
    return table
  }

  const wholeRows = fc.array(
    rows.filter(({ epoch }) => epoch > 0),
    { minLength: 16, maxLength: 16 }
  )
  const orders = fc.shuffledSubarray([...Array(16).keys()], { minLength: 16 })
  const names = fc.shuffledSubarray([...NAMES], { minLength: NAMES.length })

  test('is the same for equal rows, whatever the order of names and changes', () => {
    fc.assert(
      fc.property(
        wholeRows,
        fc.tuple(orders, orders),
        fc.tuple(names, names),
        (wanted, [order, otherOrder], [some, other]) => {
          const one = build(wanted, order, some)
          const two = build(wanted, otherOrder, other)
          expect(two.digest()).toBe(one.digest())
          one.expand(0x00ff)
          two.expand(0x00ff)
          expect(two.digest()).toBe(one.digest())
        }
      )
    )
  })

  test('is another one when any row differs in anything', () => {
    fc.assert(
      fc.property(wholeRows, fc.nat({ max: 15 }), rows, (wanted, bucket, changed) => {
        fc.pre(JSON.stringify(wanted[bucket]) !== JSON.stringify(changed) && changed.epoch > 0)
        const order = [...wanted.keys()]
        const one = build(wanted, order, NAMES)
        const two = build(wanted.with(bucket, changed), order, NAMES)
        expect(two.digest()).not.toBe(one.digest())
      })
    )
  })

  test('tells masks, roles, epochs beyond 32 bits and places of rows apart', () => {
    const digestOf = (mask: number, entries: [number, Row][]): number => {
      const table = new Table(mask)
      for (const [bucket, each] of entries) table.offer(bucket, each)
      return table.digest()
    }
    const digests = [
      digestOf(0x000f, []),
      digestOf(0x00ff, []),
      digestOf(0x000f, [[0, row(1, A, B)]]),
      digestOf(0x000f, [[0, row(1, B, A)]]),
      digestOf(0x000f, [[1, row(1, A, B)]]),
      digestOf(0x000f, [[0, row(2, A, B)]]),
      digestOf(0x000f, [[0, row(1 + 2 ** 32, A, B)]]),
      digestOf(0x000f, [[0, row(1, null)]]),
      digestOf(0x000f, [
        [0, row(1, A, B)],
        [1, row(1, A, B)]
      ])
    ]
    expect(new Set(digests).size).toBe(digests.length)
  })

  test('is the same for a table that was expanded and one that was large at once', () => {
    const [grown, large] = [new Table(0x000f), new Table(0x00ff)]
    grown.offer(3, row(1, A, B))
    grown.expand(0x00ff)
    for (let bucket = 3; bucket < 256; bucket += 16) large.offer(bucket, row(1, A, B))
    for (let bucket = 0; bucket < 256; bucket++) {
      expect(large.row(bucket)).toEqual(grown.row(bucket))
    }
    expect(large.digest()).toBe(grown.digest())
  })
})

describe('what another table lacks', () => {
  const tableOf = (...entries: [bucket: number, row: Row][]): Table => {
    const table = new Table(0x000f)
    for (const [bucket, known] of entries) table.offer(bucket, known)
    return table
  }

  test('is what is newer here', () => {
    const here = tableOf([1, row(3, A)], [2, row(5, A)], [3, row(2, B)])
    const there = tableOf([1, row(3, A)], [2, row(4, B)], [3, row(7, C)])
    expect(here.newerThan(there.outline())).toEqual([2])
    expect(there.newerThan(here.outline())).toEqual([3])
    expect(here.newerThan(here.outline())).toEqual([])
  })

  test('is everything if nobody is ahead and they differ', () => {
    const [here, there] = [tableOf([1, row(3, A)]), tableOf([1, row(3, B)])]
    expect(here.newerThan(there.outline())).toHaveLength(16)
  })

  test('is everything if there are other buckets there', () => {
    const here = tableOf([1, row(3, A)])
    expect(here.newerThan(new Table(0x00ff).outline())).toHaveLength(16)
  })
})
