/**
 * How fast the simulator is: simulated seconds per second of five nodes that stay five, without faults, with clients
 * that keep working. The first runs warm the compiler up, as the first seeds of any long run do; the fastest counts.
 */
import { runSeed } from '../../sim/run.js'
import type { FaultKind } from '../../sim/faults.js'

export interface SimulatorFigure {
  readonly name: string
  readonly value: number
  readonly unit: string
}

const ROUNDS = 5
const STILL: Partial<Record<FaultKind, number>> = { join: 0, leave: 0 }

export function run(options: { minutes: number }): SimulatorFigure[] {
  const { minutes } = options
  let best = 0
  let [operations, messages] = [0, 0]
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const startMs = performance.now()
    const { result, message, statistics } = runSeed(seed, {
      nodes: 5,
      minutes,
      faults: 'none',
      rates: STILL,
      restMs: 1000,
      config: { buckets: 256, copies: 2, splitAt: 0 },
      workload: { clients: 5, looseClients: 0, watchers: 1, thinkMs: 100, pipeline: 1 }
    })
    if (result !== 'passed') throw new Error(`seed ${seed}: ${result}: ${message}`)
    const { virtualSeconds } = statistics
    const speed = virtualSeconds / ((performance.now() - startMs) / 1000)
    if (speed <= best) continue
    best = speed
    operations = statistics.operations / virtualSeconds
    messages = statistics.messages / virtualSeconds
  }
  return [
    { name: 'simulator: five nodes, steady traffic', value: best, unit: 'simulated s/s' },
    { name: 'simulator: requests in it', value: operations, unit: 'per simulated s' },
    { name: 'simulator: messages in it', value: messages, unit: 'per simulated s' }
  ]
}
