/**
 * Seeds one after the other: a line each or one for many, what failed with its last events, and `N passed, M failed`. A line
 * for many has the digest of theirs, by which two builds can be compared that should do the same.
 */
import { mix } from '../src/core/table.js'
import { EXIT_CODES, type RunStatistics, type SeedOutcome } from './outcome.js'

/** Of more seeds than this only those that fail have a line of their own, and so many together one. */
const LINES_PER_SEED_MAX = 20
const SEEDS_A_LINE = 50

export interface SeedsOptions {
  readonly seed: number
  readonly seeds: number
  /** Print every event as it happens. */
  readonly trace: boolean
  readonly onLine: (line: string) => void
  readonly onProgress?: (done: number, label: string) => void
}

export interface Range {
  readonly from: number
  readonly to: number
}

/** How many nodes a seed begins with: as many seeds with each number of the range. */
export function nodesOf({ from, to }: Range, seed: number): number {
  return from + (seed % (to - from + 1))
}

export interface SeedRunner<S extends RunStatistics> {
  run(seed: number): SeedOutcome<S>
  /** What is counted besides, for the line of a seed. */
  columns(statistics: S): readonly string[]
  /** What is told of all of them. */
  sum?(): readonly string[]
}

/** Gives the exit code: that of the first that failed. */
export function runSeeds<S extends RunStatistics>(
  { seed, seeds, trace, onLine, onProgress }: SeedsOptions,
  runner: SeedRunner<S>
): number {
  let [failed, exitCode] = [0, 0]
  let digest = 0
  const tellTogether = (done: number): void => {
    if (seeds <= LINES_PER_SEED_MAX || (done % SEEDS_A_LINE !== 0 && done !== seeds)) return
    const text = digest.toString(16).padStart(8, '0')
    onLine(`${done} of ${seeds}, ${failed} failed, digest of all ${text}`)
  }
  for (let i = 0; i < seeds; i++) {
    const outcome = runner.run((seed + i) >>> 0)
    const { result, promise, message, command } = outcome
    digest = mix(digest ^ parseInt(outcome.digest, 16))
    const isFailed = result !== 'passed'
    if (isFailed) failed++
    if (exitCode === 0) exitCode = EXIT_CODES[result]
    onProgress?.(i + 1, `seed ${outcome.seed}`)
    if (seeds <= LINES_PER_SEED_MAX || isFailed) {
      onLine(formatOutcome(outcome, runner.columns(outcome.statistics)))
    }
    if (isFailed) {
      if (!trace) for (const line of outcome.trace) onLine(line)
      onLine(`${result}: ${promise}: ${message}`)
      onLine(`repeat: ${command}`)
    }
    tellTogether(i + 1)
  }
  for (const line of runner.sum?.() ?? []) onLine(line)
  onLine(`${seeds - failed} passed, ${failed} failed`)
  return exitCode
}

function formatOutcome(
  { seed, result, digest, statistics: s }: SeedOutcome<RunStatistics>,
  columns: readonly string[]
): string {
  return [
    `seed ${String(seed).padStart(10)}`,
    result.padEnd(6),
    `digest ${digest}`,
    `${s.virtualSeconds.toFixed(0).padStart(4)} s`,
    `${String(s.operations).padStart(6)} ops`,
    `${String(s.unknown).padStart(3)} unknown`,
    ...columns,
    `${String(s.messages).padStart(7)} messages`,
    `${s.crashes} crashes`,
    `rest after ${(s.convergenceMs / 1000).toFixed(1)} s`
  ].join('  ')
}
