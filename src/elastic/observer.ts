/**
 * What looks on: files, pictures, metrics, the dashboard. Observers are told of every pass after it, with or without
 * facts, and of hosts that went on in between. None of them can change anything, and none that fails ends the loop.
 */
import type { Decision } from '../core/scaling/decision.js'
import type { Facts } from '../core/scaling/facts.js'
import { appendHistory, describePass, type HistoryRow } from './history-file.js'
import { writePlots } from './plot-files.js'
import type { StateStore } from './state-store.js'

export interface ObservedPass {
  readonly at: number
  /** Both undefined when there were no facts; `problem` says why. */
  readonly decision: Decision | undefined
  readonly facts: Facts | undefined
  readonly problem: string | undefined
  /** Passes so far that had no facts to decide on. */
  readonly failedPasses: number
}

export interface Observer {
  observe(pass: ObservedPass, signal: AbortSignal): Promise<void> | void
  /** Hosts went on since the last pass. */
  progress?(signal: AbortSignal): Promise<void> | void
  close?(): Promise<void> | void
}

/** The figures of a pass; undefined if it had none. */
export function toRow(
  { decision, facts }: ObservedPass,
  store: StateStore
): HistoryRow | undefined {
  if (decision?.statistics === undefined || facts === undefined) return undefined
  const perHour = facts.hosts.reduce((sum, { pricePerHour = 0 }) => sum + pricePerHour, 0)
  return describePass(decision, decision.statistics, { perHour, total: store.state.cost })
}

export function createHistoryObserver(path: string, store: StateStore): Observer {
  return {
    observe(pass) {
      const row = toRow(pass, store)
      if (row !== undefined) appendHistory(path, row)
    }
  }
}

export interface PlotObserverOptions {
  readonly historyFile: string
  readonly folder: string
  readonly report: (line: string) => void
}

/** After the one that writes the file. */
export function createPlotObserver(options: PlotObserverOptions): Observer {
  const { historyFile, folder, report } = options
  let said: string | undefined
  return {
    async observe({ decision }, signal) {
      if (decision?.statistics === undefined) return
      const missing = await writePlots({ historyFile, folder, signal })
      if (missing !== undefined && missing !== said) {
        report(`plots are drawn as SVG only: ${missing}`)
      }
      said = missing
    }
  }
}
