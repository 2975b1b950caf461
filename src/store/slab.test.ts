import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Slab, StoreLimitError, UNIT_BYTES, UNIT_MASK, CHUNK_BITS } from './slab.js'

/** Fills all of a block but its first word with a mark, and finds it there again. */
function mark(slab: Slab, ref: number, value: number): void {
  const at = (ref & UNIT_MASK) << 2
  slab.words[ref >>> CHUNK_BITS].fill(value, at + 1, at + (slab.unitsOf(ref) << 2))
}

function isMarked(slab: Slab, ref: number, units: number, value: number): boolean {
  const at = (ref & UNIT_MASK) << 2
  return slab.words[ref >>> CHUNK_BITS]
    .subarray(at + 1, at + (units << 2))
    .every((word) => word === value)
}

describe('Slab', () => {
  const step = fc.record({
    what: fc.constantFrom('allocate', 'allocate', 'free', 'trim', 'extend'),
    units: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 1, max: 90 }) },
      { weight: 2, arbitrary: fc.integer({ min: 64, max: 40_000 }) },
      { weight: 1, arbitrary: fc.constant(1_100_000) }
    ),
    pick: fc.nat()
  })

  it('keeps blocks apart, joins free neighbours and counts every unit', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const slab = new Slab(2 ** 31)
        const blocks: { ref: number; value: number }[] = []
        steps.forEach(({ what, units, pick }, value) => {
          if (what === 'allocate') {
            const ref = slab.allocate(units)
            expect(ref).toBeGreaterThan(0)
            expect(slab.unitsOf(ref)).toBe(units)
            mark(slab, ref, value)
            blocks.push({ ref, value })
            return
          }
          if (blocks.length === 0) return
          const index = pick % blocks.length
          const block = blocks[index]
          const old = slab.unitsOf(block.ref)
          if (what === 'free') {
            expect(isMarked(slab, block.ref, old, block.value)).toBe(true)
            slab.free(block.ref)
            blocks.splice(index, 1)
          } else if (what === 'trim' && units < old) {
            slab.trim(block.ref, units)
          } else if (what === 'extend' && units > old && slab.extend(block.ref, units)) {
            expect(isMarked(slab, block.ref, old, block.value)).toBe(true)
            mark(slab, block.ref, block.value)
          }
        })
        slab.check()
        for (const { ref, value } of blocks) {
          expect(isMarked(slab, ref, slab.unitsOf(ref), value)).toBe(true)
          slab.free(ref)
        }
        slab.check()
        expect(slab.usedUnits).toBe(0)
      }),
      { numRuns: 60 }
    )
  })

  it('uses holes of one size for another size', () => {
    const slab = new Slab(2 ** 31)
    const refs = Array.from({ length: 3000 }, () => slab.allocate(7))
    const reserved = slab.reservedUnits
    for (const ref of refs) slab.free(ref)
    for (let i = 0; i < 1000; i++) slab.allocate(21)
    expect(slab.reservedUnits).toBe(reserved)
  })

  it('gives chunks back that are empty', () => {
    const slab = new Slab(2 ** 31)
    const refs = Array.from({ length: 40_000 }, () => slab.allocate(50))
    const reserved = slab.reservedUnits
    for (const ref of refs) slab.free(ref)
    slab.check()
    expect(slab.reservedUnits).toBeLessThan(reserved / 2)
    const own = slab.allocate(2_000_000)
    const withOwn = slab.reservedUnits
    slab.free(own)
    expect(slab.reservedUnits).toBe(withOwn - 2_000_000)
  })

  it('starts small', () => {
    const slab = new Slab(2 ** 31)
    slab.allocate(2)
    expect(slab.reservedUnits * UNIT_BYTES).toBeLessThanOrEqual(256 * 1024)
  })

  it('stops at its limit and goes on after something was freed', () => {
    const slab = new Slab(1024 * 1024)
    const refs: number[] = []
    const fill = (): void => {
      for (;;) refs.push(slab.allocate(64))
    }
    expect(fill).toThrow(StoreLimitError)
    expect(slab.reservedUnits * UNIT_BYTES).toBeLessThanOrEqual(1024 * 1024)
    expect(slab.usedUnits * UNIT_BYTES).toBeGreaterThan(900 * 1024)
    slab.check()
    const last = refs.pop()
    slab.free(last!)
    expect(slab.allocate(64)).toBe(last)
    expect(slab.allocate(64, true)).toBeGreaterThan(0)
  })
})
