import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DEFAULT_CONFIG } from '../core/scaling/config.js'
import { decide } from '../core/scaling/decide.js'
import type { Facts } from '../core/scaling/facts.js'
import { createHistory } from '../core/scaling/history.js'
import { BALANCER_METRICS, BalancerMetrics, serveMetrics } from './metrics.js'
import type { ObservedPass } from './observer.js'
import { StateStore } from './state-store.js'

const NOW = 1_800_000_000_000
let folder: string
let metrics: BalancerMetrics
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opencluster-metrics-'))
  const store = new StateStore(join(folder, 'state.json'), NOW, { isReadOnly: true })
  metrics = new BalancerMetrics('lab', store)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const FACTS: Facts = {
  at: NOW,
  hosts: [
    {
      name: 'master',
      role: 'master',
      state: 'ready',
      slots: 2,
      used: 2,
      queues: [{ queue: 'all.q', slots: 2, used: 2 }],
      pricePerHour: 0.5
    }
  ],
  jobs: [{ id: '1', state: 'queued', submittedAt: NOW - 3_600_000, slots: 1, tasks: 3 }],
  finished: [],
  provider: { booting: [], bootFailures: [], capacityFailures: [] }
}

function passOf(facts: Facts | undefined): ObservedPass {
  const decision =
    facts === undefined ? undefined : decide(facts, DEFAULT_CONFIG, createHistory(NOW), NOW)
  return { at: NOW, facts, decision, problem: undefined, failedPasses: 0 }
}

test('figures, verdicts and counts of passes', async () => {
  metrics.observe(passOf(FACTS))
  metrics.observe(passOf(undefined))
  const text = await metrics.format()
  for (const line of [
    'opencluster_elastic_queued{cluster="lab"} 3',
    'opencluster_elastic_oldest_wait_s{cluster="lab"} 3600',
    'opencluster_elastic_cost_per_hour{cluster="lab"} 0.5',
    'opencluster_elastic_passes_total{cluster="lab"} 2',
    'opencluster_elastic_failed_passes_total{cluster="lab"} 1',
    'opencluster_elastic_hosts_added_total{cluster="lab"} 1',
    'opencluster_elastic_verdict{rule="longest-wait",phase="add",answer="allow",cluster="lab"} 1',
    'opencluster_elastic_verdict{rule="longest-wait",phase="add",answer="deny",cluster="lab"} 0'
  ]) {
    expect(text).toContain(`${line}\n`)
  }
})

test('are served on a port, and nothing else is', async () => {
  metrics.observe(passOf(FACTS))
  const door = await serveMetrics(metrics, { host: '127.0.0.1', port: 0 })
  try {
    const response = await fetch(`http://${door.address}/metrics`)
    expect(response.headers.get('content-type')).toContain('text/plain')
    expect(await response.text()).toBe(await metrics.format())
    expect((await fetch(`http://${door.address}/`)).status).toBe(404)
    const posted = await fetch(`http://${door.address}/metrics`, { method: 'POST' })
    expect(posted.status).toBe(404)
    const port = Number(door.address.split(':')[1])
    await expect(serveMetrics(metrics, { host: '127.0.0.1', port })).rejects.toThrow(
      `--metrics-port ${door.address}: is taken by another process`
    )
  } finally {
    await door.close()
  }
})

test('stand in the docs, all of them and no others', () => {
  const text = readFileSync(new URL('../../docs/elastic.md', import.meta.url), 'utf8')
  const listed = [...text.matchAll(/^\| `(opencluster_elastic_\w+)[^`]*` \| (.*) \|$/gm)].map(
    ([, name, help]) => [name, help]
  )
  expect(listed).toEqual(Object.entries(BALANCER_METRICS))
})
