/** The metrics of the list, to be set anew at every scrape. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { METRICS, type Metric, type MetricName } from './metric-list.js'

type Labels = Readonly<Record<string, string>>

export class MetricSet {
  readonly registry = new Registry()
  readonly #gauges = new Map<string, Gauge>()
  readonly #counters = new Map<string, Counter>()
  readonly #histograms = new Map<string, Histogram>()

  constructor() {
    for (const [name, metric] of Object.entries<Metric>(METRICS)) this.#create(name, metric)
  }

  reset(): void {
    for (const gauge of this.#gauges.values()) gauge.reset()
    for (const counter of this.#counters.values()) counter.reset()
  }

  /** A counter counts on from nothing at every scrape, so setting it is adding to it. */
  set(name: MetricName, value: number, labels: Labels = {}): void {
    this.#gauges.get(name)?.set(labels, value)
    this.#counters.get(name)?.inc(labels, value)
  }

  observe(name: MetricName, value: number): void {
    this.#histograms.get(name)?.observe(value)
  }

  /** What every process has, whatever its placement. */
  setProcess(): void {
    const { rss, heapUsed } = process.memoryUsage()
    this.set('opencluster_memory_bytes', rss, { kind: 'resident' })
    this.set('opencluster_memory_bytes', heapUsed, { kind: 'heap' })
    const { user, system } = process.cpuUsage()
    this.set('opencluster_cpu_seconds_total', user / 1e6, { mode: 'user' })
    this.set('opencluster_cpu_seconds_total', system / 1e6, { mode: 'system' })
  }

  #create(name: string, { type, help, labels = [], buckets = [] }: Metric): void {
    const common = { name, help, labelNames: [...labels], registers: [this.registry] }
    if (type === 'gauge') this.#gauges.set(name, new Gauge(common))
    else if (type === 'counter') this.#counters.set(name, new Counter(common))
    else this.#histograms.set(name, new Histogram({ ...common, buckets: [...buckets] }))
  }
}
