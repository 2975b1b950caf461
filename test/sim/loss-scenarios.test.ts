/** Every way to lose the last copy of a bucket, and those that look like one but leave a copy. */
import { describe, expect, it } from 'vitest'
import { LOSS_SCENARIOS, runLossScenario } from '../../sim/loss-scenarios.js'

/**
 * With odd ones the power goes, and what was on its way with it; otherwise only the process ends.
 */
const SEEDS = [1, 2]
/** Some messages are about all buckets. */
const LINE_MAX = 200

const CASES = LOSS_SCENARIOS.flatMap((scenario) =>
  SEEDS.map((seed) => [scenario.name, seed, scenario] as const)
)

describe('copies are gone', () => {
  it.each(CASES)('%s, seed %i', (name, seed, scenario) => {
    const { result, promise, message, trace, happened, shared, doomed, told } = runLossScenario(
      scenario,
      seed
    )
    const lines = trace.slice(-40).map((line) => line.slice(0, LINE_MAX))
    const text = `${result}: ${promise}: ${message}\n${lines.join('\n')}`
    expect(result, text).toBe('passed')
    expect(happened, `${name} did not happen with seed ${seed}`).toBe(true)
    expect(told).toEqual(doomed)
    // Without buckets that both held nothing is at stake; zones keep them apart.
    expect(shared.length > 0).toBe(scenario.zones !== true)
  })
})
