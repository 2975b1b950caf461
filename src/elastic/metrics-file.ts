/** The last pass as Prometheus metrics in a file, for the textfile collector of node_exporter. */
import type { HistoryRow } from './history-file.js'
import { writeFileSafely } from './state-file.js'

const HELP: Readonly<Record<keyof HistoryRow['values'], string>> = {
  hosts: 'Hosts that are paid for, the master included',
  usable: 'Hosts that take jobs',
  unready: 'Hosts that are unreachable or in error',
  booting: 'Hosts on their way',
  slots: 'Slots of the usable hosts',
  free: 'Slots that no job holds',
  running: 'Running and suspended jobs',
  queued: 'Waiting tasks of any kind',
  helpable: 'Waiting tasks that a new host could start',
  needed: 'Hosts missing for what waits, before any limit',
  oldest_wait_s: 'Seconds the oldest helpable job has waited',
  mean_wait_s: 'Mean seconds finished jobs had waited',
  mean_duration_s: 'Mean seconds finished jobs took',
  cost_per_hour: 'What the hosts cost an hour',
  cost: 'What the hosts have cost since the balancer first looked',
  added: 'Hosts asked for in the last pass',
  removed: 'Hosts given up in the last pass'
}

export function formatMetrics(cluster: string, row: HistoryRow, failedPasses: number): string {
  const label = `{cluster="${cluster.replace(/["\\\n]/g, '_')}"}`
  const lines = Object.entries(HELP).flatMap(([name, help]) => [
    `# HELP opencluster_elastic_${name} ${help}`,
    `# TYPE opencluster_elastic_${name} gauge`,
    `opencluster_elastic_${name}${label} ${row.values[name as keyof HistoryRow['values']]}`
  ])
  lines.push(
    '# HELP opencluster_elastic_last_pass_seconds When the last pass with facts was',
    '# TYPE opencluster_elastic_last_pass_seconds gauge',
    `opencluster_elastic_last_pass_seconds${label} ${row.at / 1000}`,
    '# HELP opencluster_elastic_failed_passes_total Passes without facts since the start',
    '# TYPE opencluster_elastic_failed_passes_total counter',
    `opencluster_elastic_failed_passes_total${label} ${failedPasses}`,
    ''
  )
  return lines.join('\n')
}

export function writeMetrics(path: string, text: string): void {
  writeFileSafely(path, text)
}
