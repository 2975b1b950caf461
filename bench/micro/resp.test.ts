import { expect, it } from 'vitest'
import { run } from './resp.js'

it('measures requests and replies', () => {
  const results = run({ commands: 30 })
  expect(results).toHaveLength(14)
  for (const result of results) {
    expect(result.operations).toBeGreaterThanOrEqual(30)
    expect(result.perSecond).toBeGreaterThan(0)
  }
})
