/**
 * The polling loop: a pass an interval, and in between the hosts that are on their way are carried on. Nothing that
 * happens in a pass ends the loop; asked to stop, it lets the steps that run come to their end and begins no others.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Decision } from '../core/scaling/decision.js'
import type { Balancer } from './balancer.js'
import type { Observer } from './observer.js'
import type { Work } from './work.js'

export interface LoopOptions {
  readonly balancer: Balancer
  readonly work: Work
  readonly intervalMs: number
  /** How often hosts on their way are looked at. */
  readonly progressMs: number
  readonly isOnce: boolean
  readonly isDryRun: boolean
  readonly observers: readonly Observer[]
  readonly now: () => number
  readonly report: (line: string) => void
  readonly onDecision?: ((decision: Decision) => unknown) | undefined
  /** No new pass and no new step. */
  readonly stopping: AbortSignal
  /** End what runs, too. */
  readonly abort: AbortSignal
}

/** A pass that met a defect has said so already. */
const DEFECT = { decision: undefined, facts: undefined, problem: 'the pass met a defect' } as const

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
    const { decision, facts, problem } = result ?? DEFECT
    const pass = { at: options.now(), decision, facts, problem, failedPasses }
    await tellAll(options, (observer) => observer.observe(pass, abort))
    if (result?.isEnded === true) return true
    const until = startedAt + intervalMs
    if (isDryRun && isOnce) return isGood
    while (!stopping.aborted && performance.now() < until) {
      const isWorking = !isDryRun && work.isPending
      if (isOnce && !isWorking) return isGood
      const pause = Math.max(1, until - performance.now())
      await wait(isWorking ? Math.min(pause, options.progressMs) : pause, stopping)
      // Asked to stop, it begins nothing.
      if (!isWorking) continue
      await guard(report, () => work.advance(abort))
      await tellAll(options, (observer) => observer.progress?.(abort))
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

/** One after the other: some read what the one before has written. */
async function tellAll(
  { observers, report }: LoopOptions,
  tell: (observer: Observer) => Promise<void> | void
): Promise<void> {
  for (const observer of observers) {
    try {
      await tell(observer)
    } catch (error) {
      report(`not written down: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
