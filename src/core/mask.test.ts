import { expect, test } from 'vitest'
import { formatMask, isMask, maskOf, MASKS, MASK_DEFAULT, nextMask } from './mask.js'

test('a mask is all ones and one less than a number of buckets', () => {
  for (const mask of MASKS) {
    expect(mask & (mask + 1)).toBe(0)
    expect(isMask(mask)).toBe(true)
    expect(maskOf(mask + 1)).toBe(mask)
  }
  expect(maskOf(256)).toBe(MASK_DEFAULT)
})

test.each([0, 1, 15, 17, 32, 255, 1024, 65_536, -16, 16.5, NaN, Infinity])(
  '%d is no number of buckets',
  (buckets) => {
    expect(isMask(buckets - 1)).toBe(false)
    expect(() => maskOf(buckets)).toThrow(
      new RangeError(`buckets must be 16, 256, 4096 or 16384, not ${buckets}`)
    )
  }
)

test('a split takes the next larger mask, up to the largest', () => {
  expect([0x000f, 0x00ff, 0x0fff, 0x3fff].map(nextMask)).toEqual([0x00ff, 0x0fff, 0x3fff, 0x3fff])
})

test('a bucket of the larger mask is in the bucket of the smaller that had its items', () => {
  for (const mask of MASKS.slice(0, -1)) {
    for (let hash = 0; hash <= 0x3fff; hash += 13) {
      expect(hash & nextMask(mask) & mask).toBe(hash & mask)
    }
  }
})

test('masks are shown as the documents write them', () => {
  expect(MASKS.map(formatMask)).toEqual(['0x000F', '0x00FF', '0x0FFF', '0x3FFF'])
})
