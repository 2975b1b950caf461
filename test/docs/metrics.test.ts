// docs/metrics.md, the dashboard for Grafana, the alerts and what a node really exports name the same metrics.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, startNode, type RunningNode } from '../../src/index.js'
import { METRICS, type Metric } from '../../src/server/http/metric-list.js'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

function describeMetrics(): string {
  const rows = Object.entries<Metric>(METRICS).map(([name, { type, help, labels = [] }]) => {
    const shown = labels.map((label) => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`
  })
  return [
    '# Metrics',
    '',
    'Every node has its own at `http://HOST:13680/metrics`, in the text format of Prometheus. A scrape reads counters that',
    'are kept anyway; commands do not wait for it. `deploy/grafana-dashboard.json` shows them, `deploy/alerts.yml` has the',
    'alerts worth waking somebody for, and [operations](#what-to-watch) says what they mean.',
    '',
    '| name | type | labels | what |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    '## What to watch',
    '',
    '- `opencluster_buckets_lost` above 0: data is gone, or every holder of a bucket is away. Bring the dead nodes back before',
    '  `--lost-after` has passed; afterwards the buckets start empty.',
    '- `opencluster_buckets_without_backup` above 0 for more than a minute: one more death loses data. Add a node, or look at',
    '  why moves are cancelled (`opencluster_moves_total{outcome="cancelled"}`).',
    '- `opencluster_replication_lag_seconds` above 1: a backup processes nothing; writes wait for it until it is struck.',
    '- `opencluster_event_loop_delay_seconds` near `--dead-after-ms`: the machine is too busy, and healthy nodes look dead.',
    '- `opencluster_serving` 0 on a node that should serve: it joins, leaves, or hears no majority.',
    ''
  ].join('\n')
}

/** Histograms have three names on the wire. */
const baseOf = (name: string): string => name.replace(/_(?:bucket|sum|count)$/, '')

function namesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/\bopencluster_[a-z_]+/g)].map(([name]) => baseOf(name)))
}

describe('metrics', () => {
  let node: RunningNode | undefined
  let scraped = ''
  beforeAll(async () => {
    node = await startNode({ port: 0, httpPort: 0, name: 'scraped' })
    const client = await connect(node.address)
    await client.set('a', '1')
    await client.get('a')
    await client.close()
    scraped = await (await fetch(`http://${node.http!}/metrics`)).text()
  })
  afterAll(() => node?.close())

  test('the page lists what the code has', () => {
    const path = join(root, 'docs', 'metrics.md')
    if (process.env.UPDATE_DOCS === '1') writeFileSync(path, describeMetrics())
    expect(existsSync(path) ? readFileSync(path, 'utf8') : '').toBe(describeMetrics())
  })

  test('a node exports all of them and nothing else', () => {
    const exported = [...scraped.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [
      name,
      type
    ])
    const listed = Object.entries<Metric>(METRICS).map(([name, { type }]) => [name, type])
    expect(exported.sort()).toEqual(listed.sort())
  })

  test('they say what was done', () => {
    expect(scraped).toMatch(/^opencluster_operations_total\{family="string"\} 2$/m)
    expect(scraped).toMatch(/^opencluster_items\{role="primary"\} 1$/m)
    expect(scraped).toMatch(/^opencluster_buckets\{role="primary"\} 256$/m)
    expect(scraped).toMatch(/^opencluster_serving 1$/m)
    expect(scraped).toMatch(/^opencluster_request_duration_seconds_count [1-9]/m)
    expect(scraped).toMatch(/^opencluster_connections_total [1-9]/m)
  })

  test.each(['deploy/alerts.yml', 'deploy/grafana-dashboard.json'])(
    '%s asks only for metrics that are there',
    (path) => {
      const names = namesIn(read(path))
      expect(names.size).toBeGreaterThan(5)
      for (const name of names) expect(Object.keys(METRICS), path).toContain(name)
    }
  )
})
