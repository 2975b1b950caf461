/**
 * The polling loop: a pass an interval, and in between the hosts that are on their way are carried on. Nothing that
 * happens in a pass ends the loop; asked to stop, it lets the steps that run come to their end and begins no others.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Decision } from '../core/scaling/decision.js'
import type { Balancer, PassResult } from './balancer.js'
import { appendHistory, describePass } from './history-file.js'
import { formatMetrics, writeMetrics } from './metrics-file.js'
import { writePlots } from './plot-files.js'
import type { StateStore } from './state-store.js'
import type { Work } from './work.js'

export interface LoopOptions {
  readonly cluster: string
  readonly balancer: Balancer
  readonly work: Work
  readonly store: StateStore
  readonly intervalMs: number
  /** How often hosts on their way are looked at. */
  readonly progressMs: number
  readonly isOnce: boolean
  readonly isDryRun: boolean
  readonly historyFile: string | undefined
  readonly plotFolder: string | undefined
  readonly metricsFile: string | undefined
  readonly report: (line: string) => void
  readonly onDecision?: ((decision: Decision) => unknown) | undefined
  /** No new pass and no new step. */
  readonly stopping: AbortSignal
  /** End what runs, too. */
  readonly abort: AbortSignal
}

/** False when the only pass of `--once` had no facts. */
export async function runLoop(options: LoopOptions): Promise<boolean> {
  const { balancer, work, report, stopping, abort, intervalMs, isOnce, isDryRun } = options
  let failedPasses = 0
  stopping.addEventListener('abort', () => work.stop(), { once: true })
  for (;;) {
    const startedAt = performance.now()
    const result = await guard(report, () => balancer.pass(abort))
    const isGood = result?.decision?.statistics !== undefined
    if (!isGood) failedPasses++
    if (result?.decision !== undefined) options.onDecision?.(result.decision)
    if (result !== undefined && !isDryRun) {
      await guard(report, () => record(options, result, failedPasses))
    }
    if (result?.isEnded === true) return true
    const until = startedAt + intervalMs
    if (isDryRun && isOnce) return isGood
    while (!stopping.aborted && performance.now() < until) {
      const isWorking = !isDryRun && work.isPending
      if (isOnce && !isWorking) return isGood
      const pause = Math.max(1, until - performance.now())
      await wait(isWorking ? Math.min(pause, options.progressMs) : pause, stopping)
      // Asked to stop, it begins nothing.
      if (isWorking) await guard(report, () => work.advance(abort))
    }
    if (isOnce || stopping.aborted) return isGood
  }
}

async function guard<T>(
  report: (line: string) => void,
  act: () => Promise<T>
): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    report(
      `nothing more is changed in this pass: ${error instanceof Error ? error.message : String(error)}`
    )
    return undefined
  }
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch {
    // Asked to stop: the caller looks.
  }
}

async function record(options: LoopOptions, result: PassResult, failed: number): Promise<void> {
  const { historyFile, plotFolder, metricsFile, store, cluster, abort } = options
  const { decision, facts } = result
  if (decision?.statistics === undefined || facts === undefined) return
  const perHour = facts.hosts.reduce((sum, { pricePerHour = 0 }) => sum + pricePerHour, 0)
  const row = describePass(decision, decision.statistics, { perHour, total: store.state.cost })
  if (historyFile !== undefined) appendHistory(historyFile, row)
  if (metricsFile !== undefined) writeMetrics(metricsFile, formatMetrics(cluster, row, failed))
  if (plotFolder !== undefined && historyFile !== undefined) {
    await writePlots({ historyFile, folder: plotFolder, signal: abort })
  }
}
