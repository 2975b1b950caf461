import { expect, it } from 'vitest'
import { run } from './simulator.js'

it('measures the simulator', () => {
  const figures = run({ minutes: 0.1, rounds: 1 })
  expect(figures).toHaveLength(3)
  for (const { value } of figures) expect(value).toBeGreaterThan(0)
})
