import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeName } from '../core/ids.js'
import type { Row } from '../core/table.js'
import { isSameRow, preferRow } from './row-order.js'

const names = ['a', 'b', 'c', 'ab'].map(nodeName)
const row: fc.Arbitrary<Row> = fc
  .record({
    epoch: fc.integer({ min: 1, max: 2 }),
    holders: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 })
  })
  .map(({ epoch, holders }) => {
    return { epoch, primary: holders[0] ?? null, backups: holders.slice(1) }
  })
/** Rivals: of the same epoch. */
const rival = row.map((known) => ({ ...known, epoch: 1 }))

describe('isSameRow', () => {
  it('is true for equal rows only', () => {
    fc.assert(
      fc.property(row, row, (a, b) => {
        expect(isSameRow(a, b)).toBe(JSON.stringify(a) === JSON.stringify(b))
        expect(isSameRow(a, structuredClone(a))).toBe(true)
      })
    )
  })
})

describe('preferRow', () => {
  it('picks one of the two, the same one in either order', () => {
    fc.assert(
      fc.property(rival, rival, (a, b) => {
        const chosen = preferRow(a, b)
        expect([a, b]).toContain(chosen)
        expect(isSameRow(chosen, preferRow(b, a))).toBe(true)
      })
    )
  })

  it('picks the same of many, whatever comes first', () => {
    fc.assert(
      fc.property(fc.array(rival, { minLength: 1, maxLength: 5 }), (rivals) => {
        const forward = rivals.reduce(preferRow)
        const backward = rivals.reduceRight(preferRow)
        expect(isSameRow(forward, backward)).toBe(true)
      })
    )
  })

  it('prefers a row with a primary to one without', () => {
    const empty: Row = { epoch: 1, primary: null, backups: [] }
    const held: Row = { epoch: 1, primary: nodeName('a'), backups: [] }
    expect(preferRow(empty, held)).toBe(held)
    expect(preferRow(held, empty)).toBe(held)
  })
})
