/** Each stage of a move, cut by each fault at each node that takes part. */
import { describe, expect, it } from 'vitest'
import { MOVE_STAGES } from '../../src/core/migration/stage.js'
import { MOVE_FAULTS, MOVE_PARTS, runScenario, SCENARIOS } from '../../sim/scenarios.js'

describe('a move is cut', () => {
  it.each(SCENARIOS.map((scenario, i) => [scenario.name, scenario, i + 1] as const))(
    'at %s',
    (name, scenario, seed) => {
      const { result, promise, message, trace, happened } = runScenario(scenario, seed)
      expect(happened, `${name} did not happen with seed ${seed}`).toBe(true)
      const told = `${result}: ${promise}: ${message}\n${trace.slice(-40).join('\n')}`
      expect(result, told).toBe('passed')
    }
  )

  it('at every stage there is', () => {
    const count = MOVE_STAGES.length * MOVE_PARTS.length * MOVE_FAULTS.length
    expect(new Set(SCENARIOS.map((scenario) => scenario.name)).size).toBe(count)
  })
})
