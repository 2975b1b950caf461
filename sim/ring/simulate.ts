/** `simulate --placement ring`: seeds one after the other, a line each, and `N passed, M failed` at the end. */
import type { FaultClass } from '../faults.js'
import { EXIT_CODES, LINES_PER_SEED_MAX } from '../run.js'
import { runRing, type RingOutcome } from './run.js'

export interface RingSimulateOptions {
  readonly seed: number
  readonly seeds: number
  readonly nodes: number
  readonly minutes: number
  readonly faults: FaultClass
  /** Print every event as it happens. */
  readonly trace: boolean
  readonly onLine: (line: string) => void
  readonly onProgress?: (done: number, label: string) => void
}

/** Gives the exit code. */
export function simulateRing(options: RingSimulateOptions): number {
  const { seed, seeds, nodes, minutes, faults, trace, onLine } = options
  let [failed, exitCode] = [0, 0]
  for (let i = 0; i < seeds; i++) {
    const at = (seed + i) >>> 0
    const outcome = runRing(at, { nodes, minutes, faults, ...(trace ? { onLine } : {}) })
    const { result, promise, message } = outcome
    options.onProgress?.(i + 1, `seed ${at}`)
    if (seeds <= LINES_PER_SEED_MAX || result !== 'passed') onLine(formatRing(outcome))
    if (result === 'passed') continue
    failed++
    if (exitCode === 0) exitCode = EXIT_CODES[result]
    if (!trace) for (const line of outcome.trace) onLine(line)
    onLine(`${result}: ${promise}: ${message}`)
    const size = `--nodes ${nodes} --minutes ${minutes} --faults ${faults}`
    onLine(`repeat: npx opencluster simulate --placement ring --seed ${at} ${size}`)
  }
  onLine(`${seeds - failed} passed, ${failed} failed`)
  return exitCode
}

function formatRing({ seed, result, digest, statistics: s }: RingOutcome): string {
  return [
    `seed ${String(seed).padStart(10)}`,
    result.padEnd(6),
    `digest ${digest}`,
    `${s.virtualSeconds.toFixed(0).padStart(4)} s`,
    `${String(s.operations).padStart(6)} ops`,
    `${String(s.unknown).padStart(3)} unknown`,
    `${String(s.refused).padStart(4)} refused`,
    `${String(s.versions).padStart(3)} versions`,
    `${String(s.messages).padStart(7)} messages`,
    `${s.crashes} crashes`,
    `rest after ${(s.convergenceMs / 1000).toFixed(1)} s`
  ].join('  ')
}
