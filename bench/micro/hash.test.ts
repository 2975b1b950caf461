import { expect, it } from 'vitest'
import { run } from './hash.js'

it('measures every hash at every key length', () => {
  const results = run({ keys: 50 })
  expect(results).toHaveLength(18)
  for (const result of results) {
    expect(result.operations).toBe(50)
    expect(result.perSecond).toBeGreaterThan(0)
  }
})
