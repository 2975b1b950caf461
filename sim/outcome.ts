/** What came of one run, of whatever placement: how it ended, why, and the one command that repeats it. */
import { BrokenPromise } from './checkers/checker.js'
import { UnaskedReply } from './client.js'
import { NodeFailure } from './host.js'
import { RunawayError, type Simulation } from './simulator.js'

export type Result = 'passed' | 'crashed' | 'did not converge' | 'broke a promise'

/** Exit codes of `opencluster simulate`. */
export const EXIT_CODES: Record<Result, number> = {
  passed: 0,
  crashed: 127,
  'did not converge': 128,
  'broke a promise': 129
}

/** What is counted in every run. */
export interface RunStatistics {
  readonly virtualSeconds: number
  readonly operations: number
  readonly unknown: number
  readonly messages: number
  readonly joins: number
  readonly leaves: number
  readonly crashes: number
  /** From the end of faults until rest. */
  readonly convergenceMs: number
}

interface Verdict {
  readonly result: Result
  /** Which promise was broken, or what did not come to rest. */
  readonly promise: string
  readonly message: string
}

export interface SeedOutcome<S extends RunStatistics> extends Verdict {
  readonly seed: number
  /** Over everything that happened; the same seed gives the same one. */
  readonly digest: string
  readonly statistics: S
  readonly trace: readonly string[]
  /** Repeats it. */
  readonly command: string
}

const TRACE_LINES = 120
const PASSED: Verdict = { result: 'passed', promise: '', message: '' }

/** Faults are over, but the cluster does not come to rest. */
export class NotConverged extends Error {
  override readonly name = 'NotConverged'
  readonly promise: string

  constructor(promise: string, message: string) {
    super(message)
    this.promise = promise
  }
}

/** Runs it to its end, whatever that is. */
export function conclude<S extends RunStatistics>(
  seed: number,
  run: { readonly simulation: Simulation; run(): void; statistics(): S },
  command: string
): SeedOutcome<S> {
  let verdict = PASSED
  try {
    run.run()
  } catch (error) {
    verdict = classify(error)
  }
  const { trace } = run.simulation
  return {
    seed,
    ...verdict,
    digest: trace.digest,
    statistics: run.statistics(),
    trace: verdict === PASSED ? [] : trace.last(TRACE_LINES),
    command
  }
}

function classify(error: unknown): Verdict {
  if (error instanceof BrokenPromise) {
    return { result: 'broke a promise', promise: error.promise, message: error.message }
  }
  if (error instanceof NotConverged) {
    return { result: 'did not converge', promise: error.promise, message: error.message }
  }
  if (error instanceof RunawayError) {
    return { result: 'did not converge', promise: 'events', message: error.message }
  }
  if (error instanceof UnaskedReply) {
    return { result: 'broke a promise', promise: 'one reply a request', message: error.message }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const promise = error instanceof NodeFailure ? error.node : 'the simulator'
  return { result: 'crashed', promise, message }
}

/** Options that were not given are left out. */
export function repeatCommand(
  seed: number,
  options: Readonly<Record<string, string | number | undefined>>
): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return [
    `npx opencluster simulate --seed ${seed}`,
    ...given.map(([name, value]) => `--${name} ${value}`)
  ].join(' ')
}
