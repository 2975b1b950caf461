/** Whole clusters, seed after seed: lines to stdout as they come, a bar on a terminal. */
import { simulateRing } from '../../sim/ring/simulate.js'
import { runSimulation } from '../../sim/run.js'
import type { Output } from './command.js'
import { Progress } from './progress.js'
import type { SimulateValues } from './simulate-options.js'

export function runClusters(values: SimulateValues & { seed: number }, output: Output): number {
  const { seed, seeds, nodes, minutes, policy, cuts, faults, placement, trace } = values
  const progress = new Progress(output, seeds)
  const common = {
    ...{ seed, seeds, nodes, minutes, faults, trace: trace === true },
    onLine: (line: string) => {
      progress.clear()
      output.stdout.write(`${line}\n`)
    },
    onProgress: (_done: number, label: string) => progress.advance(label)
  }
  if (placement === 'ring') return simulateRing(common)
  const shortFaults = policy === 'available' && cuts === 'short'
  return runSimulation({ ...common, policy, shortFaults, placement })
}
