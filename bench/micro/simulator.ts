/**
 * How fast the simulator is: simulated seconds per second of five nodes that stay five, without faults, with clients
 * that keep working. What counts is the steady part, as in the minutes of any longer seed: a run less a shorter one of
 * the same seed, which has the same beginning and the same end. One before both warms the compiler up.
 */
import { runSeed, type Statistics } from '../../sim/run.js'
import type { FaultKind } from '../../sim/faults.js'

export interface SimulatorFigure {
  readonly name: string
  readonly value: number
  readonly unit: string
}

const SEED = 1
const ROUNDS_DEFAULT = 3
const STILL: Partial<Record<FaultKind, number>> = { join: 0, leave: 0 }
/** How much longer the longer run is. */
const LONGER = 5

interface Timed {
  readonly statistics: Statistics
  readonly seconds: number
}

function time(minutes: number): Timed {
  const startMs = performance.now()
  const { result, message, statistics } = runSeed(SEED, {
    nodes: 5,
    minutes,
    faults: 'none',
    rates: STILL,
    restMs: 1000,
    config: { buckets: 256, copies: 2, splitAt: 0 },
    workload: { clients: 5, looseClients: 0, watchers: 1, thinkMs: 100, pipeline: 1 }
  })
  if (result !== 'passed') throw new Error(`seed ${SEED}: ${result}: ${message}`)
  return { statistics, seconds: (performance.now() - startMs) / 1000 }
}

export function run(options: { minutes: number; rounds?: number }): SimulatorFigure[] {
  const { minutes, rounds = ROUNDS_DEFAULT } = options
  time(minutes)
  let best = 0
  let [operations, messages] = [0, 0]
  for (let round = 0; round < rounds; round++) {
    const [short, long] = [time(minutes), time(minutes * (1 + LONGER))]
    const more = (name: 'virtualSeconds' | 'operations' | 'messages'): number =>
      long.statistics[name] - short.statistics[name]
    const virtualSeconds = more('virtualSeconds')
    best = Math.max(best, virtualSeconds / (long.seconds - short.seconds))
    operations = more('operations') / virtualSeconds
    messages = more('messages') / virtualSeconds
  }
  return [
    { name: 'simulator: five nodes, steady traffic', value: best, unit: 'simulated s/s' },
    { name: 'simulator: requests in it', value: operations, unit: 'per simulated s' },
    { name: 'simulator: messages in it', value: messages, unit: 'per simulated s' }
  ]
}
