/** Who looks on while the balancer works, as the flags say. A dry run leaves no files, but may be looked at. */
import { join } from 'node:path'
import type { ReportFrame } from '../core/scaling/balancer-report.js'
import { DashboardObserver } from '../elastic/dashboard-observer.js'
import { BalancerMetrics, createMetricsFileObserver, serveMetrics } from '../elastic/metrics.js'
import { createHistoryObserver, createPlotObserver, type Observer } from '../elastic/observer.js'
import type { StateStore } from '../elastic/state-store.js'
import type { LoadbalanceValues } from './loadbalance-options.js'

export interface ObserverOptions {
  readonly values: LoadbalanceValues
  readonly stateFolder: string
  readonly store: StateStore
  readonly frame: ReportFrame
  readonly report: (line: string) => void
}

export async function createObservers(options: ObserverOptions): Promise<Observer[]> {
  const { values, frame, store, report } = options
  const { dashboard: door, 'metrics-port': where } = values
  const metrics = new BalancerMetrics(frame.cluster, store)
  const observers: Observer[] = [metrics]
  if (!frame.dryRun) observers.push(...createFiles(options, metrics))
  if (door !== undefined) observers.push(new DashboardObserver({ door, frame, store, report }))
  if (where !== undefined) {
    const { address, close } = await serveMetrics(metrics, where)
    report(`metrics at http://${address}/metrics`)
    observers.push({ observe: () => undefined, close })
  }
  return observers
}

function createFiles(
  { values, stateFolder, store, report }: ObserverOptions,
  metrics: BalancerMetrics
): Observer[] {
  const files: Observer[] = []
  const isPlotting = values['plot-stats'] === true
  const history = values['dump-stats-file'] ?? join(stateFolder, 'history.csv')
  if (isPlotting || values['dump-stats'] === true) {
    files.push(createHistoryObserver(history, store))
  }
  if (isPlotting) {
    const folder = values['plot-output-dir'] ?? stateFolder
    files.push(createPlotObserver({ historyFile: history, folder, report }))
  }
  const file = values['metrics-file']
  if (file !== undefined) files.push(createMetricsFileObserver(file, metrics))
  return files
}
