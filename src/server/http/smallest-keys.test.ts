import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SmallestKeys } from './smallest-keys.js'

const key = fc.string({ maxLength: 3 }).map((text) => Buffer.from(text))
const sort = (keys: readonly Uint8Array[]): string[] =>
  [...new Set(keys.map((one) => Buffer.from(one).toString('latin1')))].sort()

it('are the smallest, each once, and say whether there were more', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (all, keys) => {
      const smallest = new SmallestKeys({ keys, bytes: 1000 })
      for (const one of all) smallest.add(one)
      const found = smallest.sorted().map((one) => Buffer.from(one).toString('latin1'))
      expect(found).toEqual(sort(all).slice(0, found.length))
      if (smallest.dropped) expect(found.length).toBeGreaterThan(0)
      else expect(found).toEqual(sort(all))
    })
  )
})

it('go by bytes as well, and keep one at least', () => {
  const smallest = new SmallestKeys({ keys: 100, bytes: 10 })
  for (const text of ['cccccccc', 'aaaaaaaaaaaaaaaa', 'bbbbbbbb']) smallest.add(Buffer.from(text))
  expect(smallest.sorted().map(String)).toEqual(['aaaaaaaaaaaaaaaa'])
  expect(smallest.dropped).toBe(true)
})
