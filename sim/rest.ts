/** Waiting until nothing is left to do: again and again the same question, and a line in the trace whenever its answer is another. */
import type { Simulation } from './simulator.js'

const STEP_MS = 500

export interface RestOptions {
  /** What is not yet as it must be at rest. */
  readonly findProblem: () => string | undefined
  /** No request is under way. */
  readonly isIdle: () => boolean
  /** It must be at rest so many times in a row. */
  readonly looks: number
  readonly limitMs: number
}

/** False if it did not come to rest in time. */
export function awaitRest(simulation: Simulation, options: RestOptions): boolean {
  const { findProblem, isIdle, limitMs } = options
  let looks = 0
  let said = ''
  const isPending = (): boolean => {
    const problem = findProblem() ?? (isIdle() ? '' : 'requests are under way')
    if (problem !== '' && problem !== said) simulation.note('rest', 'waits', problem)
    said = problem
    looks = problem === '' ? looks + 1 : 0
    return looks < options.looks
  }
  return simulation.runWhile(isPending, { stepMs: STEP_MS, limitMs })
}
