/** `simulate --placement ring`. */
import type { FaultClass } from '../faults.js'
import { nodesOf, runSeeds, type Range, type SeedsOptions } from '../seeds.js'
import { runRing, type RingStatistics } from './run.js'

export interface RingSimulateOptions extends SeedsOptions {
  readonly nodes: Range
  readonly minutes: number
  readonly faults: FaultClass
}

/** Gives the exit code. */
export function simulateRing(options: RingSimulateOptions): number {
  const { nodes, minutes, faults, trace, onLine } = options
  return runSeeds(options, {
    run: (seed) => {
      const traced = trace ? { onLine } : {}
      return runRing(seed, { nodes: nodesOf(nodes, seed), minutes, faults, ...traced })
    },
    columns: ({ refused, versions }: RingStatistics) => [
      `${String(refused).padStart(4)} refused`,
      `${String(versions).padStart(3)} versions`
    ]
  })
}
