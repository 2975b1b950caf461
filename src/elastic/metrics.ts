/**
 * The balancer's metrics for Prometheus, from one table that docs/elastic.md is held to. They are served on a port of
 * their own or written to a file for the textfile collector of node_exporter: a balancer is no node and has no HTTP
 * door. Gauges are of the last pass that had facts; counters count from the start of this process.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, Gauge, Registry } from 'prom-client'
import { formatAddress, type Address } from '../config/address.js'
import type { HistoryColumn } from './history-file.js'
import { toRow, type ObservedPass, type Observer } from './observer.js'
import { writeFileSafely } from './state-file.js'
import type { StateStore } from './state-store.js'

const PREFIX = 'opencluster_elastic_'
const ANSWERS = ['allow', 'deny', 'not-applicable'] as const

/** A gauge a column of the history. */
const FIGURES: Readonly<Record<Exclude<HistoryColumn, 'time' | 'added' | 'removed'>, string>> = {
  hosts: 'Hosts that are paid for, the master included.',
  usable: 'Hosts that take jobs.',
  unready: 'Hosts that are unreachable or in error.',
  booting: 'Hosts on their way.',
  slots: 'Slots of the usable hosts.',
  free: 'Slots that no job holds.',
  running: 'Running and suspended jobs.',
  queued: 'Waiting tasks of any kind.',
  helpable: 'Waiting tasks that a new host could start.',
  needed: 'Hosts missing for what waits, before any limit.',
  oldest_wait_s: 'Seconds the oldest helpable job has waited.',
  mean_wait_s: 'Mean seconds finished jobs had waited.',
  mean_duration_s: 'Mean seconds finished jobs took.',
  cost_per_hour: 'What the hosts cost an hour.',
  cost: 'What the hosts have cost since the balancer first looked.'
}

const OTHERS = {
  last_pass_seconds: 'When the last pass with facts was, in seconds since 1970.',
  hopeless_jobs: 'Waiting jobs that no new host could ever help.',
  verdict: '1 for what a rule said in the last pass, 0 for what it did not say.',
  passes_total: 'Passes since the start.',
  failed_passes_total: 'Passes without facts, or with facts that cannot be true.',
  hosts_added_total: 'Hosts that were asked for.',
  hosts_removed_total: 'Hosts that were given up.'
} as const

/** Every metric with its help text; docs/elastic.md lists the same. */
export const BALANCER_METRICS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({ ...FIGURES, ...OTHERS }).map(([name, help]) => [`${PREFIX}${name}`, help])
)

export class BalancerMetrics implements Observer {
  readonly registry = new Registry()
  readonly #store: StateStore
  readonly #gauges = new Map<string, Gauge>()
  readonly #counters = new Map<string, Counter>()

  constructor(cluster: string, store: StateStore) {
    this.#store = store
    this.registry.setDefaultLabels({ cluster })
    for (const [name, help] of Object.entries({ ...FIGURES, ...OTHERS })) {
      const labelNames = name === 'verdict' ? ['rule', 'phase', 'answer'] : []
      const common = { name: `${PREFIX}${name}`, help, labelNames, registers: [this.registry] }
      if (name.endsWith('_total')) this.#counters.set(name, new Counter(common))
      else this.#gauges.set(name, new Gauge(common))
    }
  }

  observe(pass: ObservedPass): void {
    this.#count('passes_total', 1)
    const row = toRow(pass, this.#store)
    if (row === undefined || pass.decision === undefined) {
      this.#count('failed_passes_total', 1)
      return
    }
    const { added, removed, ...figures } = row.values
    for (const [name, value] of Object.entries(figures)) this.#set(name, value)
    this.#set('last_pass_seconds', row.at / 1000)
    this.#set('hopeless_jobs', pass.decision.hopelessCount)
    this.#count('hosts_added_total', added)
    this.#count('hosts_removed_total', removed)
    this.#gauges.get('verdict')?.reset()
    for (const { rule, phase, answer } of pass.decision.verdicts) {
      for (const one of ANSWERS) {
        this.#gauges.get('verdict')?.set({ rule, phase, answer: one }, one === answer ? 1 : 0)
      }
    }
  }

  format(): Promise<string> {
    return this.registry.metrics()
  }

  #set(name: string, value: number): void {
    this.#gauges.get(name)?.set(value)
  }

  #count(name: string, by: number): void {
    this.#counters.get(name)?.inc(by)
  }
}

export function createMetricsFileObserver(path: string, metrics: BalancerMetrics): Observer {
  return {
    async observe() {
      writeFileSafely(path, await metrics.format())
    }
  }
}

const CONNECTIONS_MAX = 64
const REQUEST_MS_MAX = 10_000

export interface MetricsDoor {
  /** Where it listens: the port may have been left to the system. */
  readonly address: string
  readonly close: () => Promise<void>
}

/** `/metrics`, and nothing else. */
export async function serveMetrics(
  metrics: Pick<BalancerMetrics, 'registry' | 'format'>,
  { host, port }: Address
): Promise<MetricsDoor> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0]
    if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('only GET /metrics is here\n')
      return
    }
    metrics.format().then(
      (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      () => response.writeHead(500).end()
    )
  })
  server.maxConnections = CONNECTIONS_MAX
  server.requestTimeout = REQUEST_MS_MAX
  server.headersTimeout = REQUEST_MS_MAX
  await listen(server, host, port)
  const { port: bound } = server.address() as AddressInfo
  return {
    address: formatAddress({ host, port: bound }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken by another process' : error.message
      reject(new Error(`--metrics-port ${formatAddress({ host, port })}: ${why}`))
    })
    server.listen(port, host, resolve)
  })
}
