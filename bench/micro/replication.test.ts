import { expect, it } from 'vitest'
import { run } from './replication.js'

it('measures replication and pipelines', () => {
  const results = run({ writes: 200 })
  expect(results).toHaveLength(8)
  for (const result of results) {
    expect(result.operations).toBe(200)
    expect(result.perSecond).toBeGreaterThan(0)
  }
})
