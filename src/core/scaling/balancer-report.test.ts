import { describe, expect, test } from 'vitest'
import {
  HOSTS_REPORTED_MAX,
  JOBS_REPORTED_MAX,
  reportPass,
  toReportPoint,
  type ReportFrame,
  type ReportInput
} from './balancer-report.js'
import { DEFAULT_CONFIG } from './config.js'
import { decide } from './decide.js'
import type { Facts, HostFacts, JobFacts } from './facts.js'
import { createHistory } from './history.js'

const NOW = 1_800_000_000_000
const FRAME: ReportFrame = {
  cluster: 'lab',
  source: 'sge',
  provider: 'command',
  dryRun: false,
  intervalMs: 60_000,
  limits: { hostsMin: 1, hostsMax: 5 }
}

const host = (name: string, used = 0): HostFacts => {
  const queues = [{ queue: 'all.q', slots: 2, used }]
  return { name, role: 'worker', state: 'ready', slots: 2, used, queues, pricePerHour: 0.25 }
}
const job = (id: number, minutes: number): JobFacts => {
  const submittedAt = NOW - minutes * 60_000
  return { id: String(id), state: 'queued', submittedAt, slots: 1, tasks: 1 }
}
const factsOf = (hosts: readonly HostFacts[], jobs: readonly JobFacts[]): Facts => {
  const provider = { booting: [], bootFailures: [], capacityFailures: [] }
  return { at: NOW, hosts, jobs, finished: [], provider }
}

function inputOf(facts: Facts, more: Partial<ReportInput> = {}): ReportInput {
  return {
    at: NOW,
    facts,
    decision: decide(facts, { ...DEFAULT_CONFIG, hostsMax: 5 }, createHistory(NOW), NOW),
    problem: undefined,
    failedPasses: 0,
    progress: [],
    idleSince: {},
    costTotal: 3,
    ...more
  }
}

describe('a report', () => {
  test('has the queue, the hosts, and the verdict of each rule', () => {
    const facts = factsOf([host('node001', 2), host('node002')], [job(2, 5), job(1, 20)])
    const input = inputOf(facts, {
      idleSince: { node001: 5, node002: NOW - 1000 },
      progress: [
        { name: 'node003', phase: 'adding', step: 'wait 2/9', reason: 'jobs wait' },
        { name: 'node001', phase: 'serving', launchedAt: 7 }
      ]
    })
    const report = reportPass(FRAME, input, undefined)
    expect(report).toMatchObject({ ...FRAME, problem: null, cost: { perHour: 0.5, total: 3 } })
    expect(report.jobs.map(({ id }) => id)).toEqual(['1', '2'])
    expect(report.verdicts).toEqual(input.decision?.verdicts)
    expect(report.hosts).toMatchObject([
      { name: 'node003', state: 'booting', phase: 'adding', step: 'wait 2/9', reason: 'jobs wait' },
      { name: 'node001', phase: 'serving', launchedAt: 7, idleSince: null, pricePerHour: 0.25 },
      { name: 'node002', phase: null, idleSince: NOW - 1000 }
    ])
    expect(toReportPoint(report)).toMatchObject({ at: NOW, queued: 2, hosts: 2, costPerHour: 0.5 })
  })

  test('of a pass without facts is the former one with the problem', () => {
    const good = reportPass(FRAME, inputOf(factsOf([host('node001')], [])), undefined)
    const without = { facts: undefined, decision: undefined, failedPasses: 1, at: NOW + 1 }
    const bad = { ...inputOf(factsOf([], [])), ...without, problem: 'qstat does not answer' }
    const report = reportPass(FRAME, bad, good)
    expect(report).toMatchObject({ at: NOW + 1, problem: 'qstat does not answer', failedPasses: 1 })
    expect(report.hosts).toEqual(good.hosts)
    const first = reportPass(FRAME, bad, undefined)
    expect(first).toMatchObject({ statistics: null, hosts: [], verdicts: [], actions: [] })
    expect(toReportPoint(first)).toBeUndefined()
  })

  test('of facts that cannot be true says so', () => {
    const report = reportPass(FRAME, inputOf(factsOf([{ ...host('a'), slots: -1 }], [])), undefined)
    expect(report.problem).toContain('nothing is changed')
    expect(report.statistics).toBeNull()
  })

  test('stays small however large the cluster is', () => {
    const hosts = Array.from({ length: 1000 }, (_, index) => host(`node${index}`))
    const jobs = Array.from({ length: 10_000 }, (_, index) => job(index, index % 90))
    const report = reportPass(FRAME, inputOf(factsOf(hosts, jobs)), undefined)
    expect(report).toMatchObject({ hostsCount: 1000, jobsCount: 10_000 })
    expect(report.hosts).toHaveLength(HOSTS_REPORTED_MAX)
    expect(report.jobs).toHaveLength(JOBS_REPORTED_MAX)
    expect(JSON.stringify(report).length).toBeLessThan(200_000)
  })
})
