import { describe, expect, test } from 'vitest'
import type { Facts, HostFacts, JobFacts } from './facts.js'
import { DEFAULT_004, decide004, type Outcome004 } from './policy-004.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = 1_700_006_400_000

function host(name: string, changes: Partial<HostFacts> = {}): HostFacts {
  const role = name === 'master' ? 'master' : 'worker'
  const launchedAt = NOW - 50 * MINUTE
  return { name, role, state: 'ready', slots: 4, used: 0, queues: [], launchedAt, ...changes }
}

function job(id: string, changes: Partial<JobFacts> = {}): JobFacts {
  return { id, state: 'queued', submittedAt: NOW - 16 * MINUTE, slots: 1, tasks: 1, ...changes }
}

const busy = job('0', { state: 'running', hosts: [{ host: 'master', slots: 4 }] })

function run(hosts: readonly HostFacts[], jobs: readonly JobFacts[], booting = 0): Outcome004 {
  const facts: Facts = {
    at: NOW,
    hosts,
    jobs,
    finished: [],
    provider: {
      booting: Array.from({ length: booting }, (_, i) => ({ name: `b${i}`, since: NOW })),
      bootFailures: [],
      capacityFailures: []
    }
  }
  return decide004(facts, DEFAULT_004, NOW - HOUR)
}

const kinds = (outcome: Outcome004): string[] => outcome.actions.map(({ kind }) => kind)

describe('as it was meant', () => {
  test('adds one for a full host of waiting jobs and removes an idle one', () => {
    const jobs = [busy, job('1', { tasks: 4 })]
    expect(kinds(run([host('master')], jobs))).toEqual(['add'])
    expect(kinds(run([host('master')], jobs, 1))).toEqual([])
    expect(kinds(run([host('master'), host('node001')], [busy]))).toEqual(['remove'])
  })
})

describe('as it was coded', () => {
  test('three waiting jobs on four-slot hosts bring none, for ever', () => {
    expect(kinds(run([host('master')], [busy, job('1', { tasks: 3 })]))).toEqual([])
  })

  test('the first listed job is taken for the oldest', () => {
    const young = job('9', { submittedAt: NOW - MINUTE })
    expect(kinds(run([host('master')], [busy, young, job('1', { tasks: 40 })]))).toEqual([])
  })

  test('a wait of 24 hours and 5 minutes is one of 5', () => {
    const old = job('1', { tasks: 40, submittedAt: NOW - 24 * HOUR - 5 * MINUTE })
    expect(kinds(run([host('master')], [busy, old]))).toEqual([])
  })

  test('a job for tomorrow, and one too big for any host, are demand', () => {
    const tomorrow = job('1', { slots: 64, startAfter: NOW + 20 * HOUR })
    expect(kinds(run([host('master')], [busy, tomorrow]))).toEqual(['add'])
  })

  test('hosts of different sizes end it, and so does a held job beside an idle host', () => {
    const mixed = [host('master'), host('node001', { slots: 8 })]
    expect(run(mixed, [busy, job('1', { tasks: 40 })]).crash).toMatch(/slots not consistent/)
    const held = job('1', { state: 'held' })
    expect(run([host('master'), host('node001')], [busy, held]).crash).toMatch(/NoneType/)
  })

  test('node1 is busy because node10 is', () => {
    const jobs = [job('1', { state: 'running', hosts: [{ host: 'node10', slots: 1 }] })]
    expect(kinds(run([host('master'), host('node1'), host('node10')], jobs))).toEqual([])
  })
})
