import { expect, it } from 'vitest'
import { run } from './plan.js'

it('measures decisions at rest and while a newcomer is filled', () => {
  const results = run({ buckets: 256, nodes: [2, 5], rounds: 30 })
  expect(results.map(({ name }) => name)).toEqual(
    [2, 5].flatMap((nodes) => [
      `plan at rest, ${nodes} nodes`,
      `plan for a newcomer to ${nodes} nodes, table unchanged`,
      `plan for a newcomer to ${nodes} nodes, table changed`
    ])
  )
  for (const result of results) {
    expect(result.operations).toBe(30)
    expect(result.nsPerOperation).toBeGreaterThan(0)
    // Far above what it takes, far below what would be wrong with it.
    expect(result.nsPerOperation).toBeLessThan(50e6)
  }
})
