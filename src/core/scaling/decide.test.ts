import { describe, expect, test } from 'vitest'
import { DEFAULT_CONFIG, type ScalingConfig } from './config.js'
import { decide } from './decide.js'
import type { Decision, Verdict } from './decision.js'
import { explainDecision } from './explain.js'
import type { Facts, FinishedJob, History, HostFacts, JobFacts, ProviderFacts } from './facts.js'
import { createHistory } from './history.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = 1_700_006_400_000

function host(name: string, changes: Partial<HostFacts> = {}): HostFacts {
  const { slots = 4, used = 0 } = changes
  return {
    name,
    role: name === 'master' ? 'master' : 'worker',
    state: 'ready',
    slots,
    used,
    queues: [{ queue: 'all.q', slots, used }],
    launchedAt: NOW - 50 * MINUTE,
    ...changes
  }
}

function job(id: string, changes: Partial<JobFacts> & { waitedMs?: number } = {}): JobFacts {
  const { waitedMs = 16 * MINUTE, ...rest } = changes
  return { id, state: 'queued', submittedAt: NOW - waitedMs, slots: 1, tasks: 1, ...rest }
}

function onHost(id: string, name: string, slots = 1, startedAt = NOW - MINUTE): JobFacts {
  return job(id, { state: 'running', slots, startedAt, hosts: [{ host: name, slots }] })
}

interface Case {
  readonly hosts?: readonly HostFacts[]
  readonly jobs?: readonly JobFacts[]
  readonly finished?: readonly FinishedJob[]
  readonly provider?: Partial<ProviderFacts>
  readonly facts?: Partial<Facts>
  readonly config?: Partial<ScalingConfig>
  readonly history?: Partial<History>
}

/** A full master, unless the case says otherwise. */
const FULL = [host('master', { used: 4 })]

function factsOf({ hosts = FULL, jobs = [], finished = [], provider, facts }: Case): Facts {
  const calm = { booting: [], bootFailures: [], capacityFailures: [], ...provider }
  return { at: NOW, hosts, jobs, finished, provider: calm, ...facts }
}

function decideCase(given: Case): Decision {
  const history = { ...createHistory(NOW - HOUR), ...given.history }
  return decide(factsOf(given), { ...DEFAULT_CONFIG, ...given.config }, history, NOW)
}

/** `add 2`, `remove node001`, …, in order. */
function acts(given: Case): string[] {
  return decideCase(given).actions.map((action) => {
    if (action.kind === 'add') return `add ${action.count}`
    return action.kind === 'shutdown' ? 'shutdown' : `${action.kind} ${action.host}`
  })
}

function verdictOf(given: Case, rule: string): Verdict {
  const found = decideCase(given).verdicts.find((verdict) => verdict.rule === rule)
  expect(found, rule).toBeDefined()
  return found!
}

describe("document 004's criteria for adding", () => {
  test('one host when a job has waited for more than 15 minutes', () => {
    expect(acts({ jobs: [job('1', { waitedMs: 15 * MINUTE + 1 })] })).toEqual(['add 1'])
    expect(acts({ jobs: [job('1', { waitedMs: 15 * MINUTE })] })).toEqual([])
    expect(acts({})).toEqual([])
  })

  test('not at the maximum, booting hosts counted', () => {
    const jobs = [job('1', { tasks: 100 })]
    expect(acts({ jobs, config: { hostsMax: 1 } })).toEqual([])
    expect(verdictOf({ jobs, config: { hostsMax: 1 } }, 'below-maximum').answer).toBe('deny')
    const provider = { booting: [{ name: 'node001', since: NOW - MINUTE }] }
    expect(acts({ jobs, provider, config: { hostsMax: 2 } })).toEqual([])
    expect(acts({ jobs, provider, config: { hostsMax: 3 } })).toEqual(['add 1'])
  })

  test('add_nodes_per_iteration, and no more than are missing', () => {
    const config = { addPerPass: 3, hostsMax: 50 }
    expect(acts({ jobs: [job('1', { tasks: 100 })], config })).toEqual(['add 3'])
    expect(acts({ jobs: [job('1', { tasks: 5 })], config })).toEqual(['add 2'])
  })
})

describe('adding, where the original was wrong', () => {
  test('the oldest job decides, wherever it is listed', () => {
    const young = job('9', { waitedMs: MINUTE })
    expect(acts({ jobs: [young, job('1')] })).toEqual(['add 1'])
    expect(verdictOf({ jobs: [young, job('1')] }, 'longest-wait').facts.job).toBe('1')
  })

  test('one waiting slot on 8-slot hosts is a host, not none', () => {
    const hosts = [host('master', { slots: 8, used: 8 })]
    expect(acts({ hosts, jobs: [job('1')] })).toEqual(['add 1'])
  })

  test('what fits into free slots needs no host', () => {
    const hosts = [host('master', { used: 4 }), host('node001', { used: 2 })]
    const jobs = [job('1', { tasks: 2 })]
    expect(acts({ hosts, jobs })).toEqual([])
    expect(verdictOf({ hosts, jobs }, 'room-missing').answer).toBe('deny')
    expect(acts({ hosts, jobs: [job('1', { tasks: 3 })] })).toEqual(['add 1'])
    // Two free slots on two hosts are no room for a job of two.
    const split = [host('master', { used: 3 }), host('node001', { used: 3 })]
    expect(acts({ hosts: split, jobs: [job('1', { slots: 2 })] })).toEqual(['add 1'])
  })

  test('hosts of different sizes', () => {
    const hosts = [host('master', { slots: 2, used: 2 }), host('node001', { slots: 16, used: 16 })]
    const config = { addPerPass: 10, hostsMax: 10 }
    expect(acts({ hosts, jobs: [job('1', { tasks: 17 })], config })).toEqual(['add 2'])
  })

  test('a wait of 24 hours and 5 minutes is not one of 5 minutes', () => {
    expect(acts({ jobs: [job('1', { waitedMs: 24 * HOUR + 5 * MINUTE })] })).toEqual(['add 1'])
  })

  test.each([
    ['held', { state: 'held' }],
    ['errored', { state: 'errored' }],
    ['with a hold', { holds: ['u'] }],
    ['dependent', { dependsOn: ['7'] }],
    ['for tomorrow', { startAfter: NOW + 20 * HOUR }],
    ['at its user’s limit', { reason: 'quota' }],
    ['said to wait for its time', { reason: 'start-time' }],
    ['of another queue', { queues: ['gpu.q'] }]
  ] as const)('a job that is %s is no demand', (_, changes) => {
    const config = { queues: ['all.q'] }
    expect(acts({ jobs: [job('1', changes)], config })).toEqual([])
    expect(acts({ jobs: [job('1', changes), job('2')], config })).toEqual(['add 1'])
  })

  test('a start time that has come counts from then on', () => {
    const late = job('1', { waitedMs: 30 * HOUR, startAfter: NOW - 5 * MINUTE })
    expect(acts({ jobs: [late] })).toEqual([])
    expect(acts({ jobs: [{ ...late, startAfter: NOW - 16 * MINUTE }] })).toEqual(['add 1'])
  })

  test('of an array only as many tasks as may run at once', () => {
    const config = { addPerPass: 50, hostsMax: 50 }
    const hosts = [host('master', { slots: 4, used: 4 })]
    const array = job('1', { tasks: 2000 })
    expect(acts({ hosts, jobs: [array], config })).toEqual(['add 49'])
    expect(acts({ hosts, jobs: [{ ...array, taskLimit: 6 }], config })).toEqual(['add 2'])
    const two = [onHost('1', 'master', 2), onHost('1', 'master', 2)]
    expect(acts({ hosts, jobs: [...two, { ...array, taskLimit: 6 }], config })).toEqual(['add 1'])
    expect(acts({ hosts, jobs: [...two, { ...array, taskLimit: 2 }], config })).toEqual([])
  })

  test.each([
    ['too big for a host', { slots: 64 }, /64 slots on one host.* has 4/],
    ['of a wrong architecture', { resources: { arch: 'lx-sparc' } }, /arch=lx-sparc/],
    ['spread, and too big for all', { slots: 64, span: 'hosts' }, /there can be 20/],
    ['said to be impossible', { reason: 'impossible', reasonText: 'PartitionConfig' }, /Partition/],
    ['short of a licence', { resources: { matlab: 2 } }, /matlab: wants 2, 1 free of 5/],
    ['for a queue on no host', { queues: ['gpu.q'] }, /gpu\.q/]
  ] as const)('a job that is %s is named, not counted', (_, changes, why) => {
    const hosts = [host('master', { used: 4, resources: { arch: 'lx-amd64' } })]
    const facts = { consumables: [{ name: 'matlab', total: 5, used: 4 }] }
    const given = { hosts, facts, jobs: [job('13', changes)] }
    expect(acts(given)).toEqual([])
    const decision = decideCase(given)
    expect(decision.hopeless).toEqual([{ id: '13', why: expect.stringMatching(why) as string }])
    expect(explainDecision(decision).join('\n')).toContain('job 13 waits in vain')
  })

  test('a request that no host speaks of says nothing', () => {
    expect(acts({ jobs: [job('1', { resources: { h_rt: 3600 } })] })).toEqual(['add 1'])
  })

  test('memory is used up like slots', () => {
    const memory = { resources: { memoryMb: 16_000 }, resourcesUsed: { memoryMb: 15_000 } }
    const hosts = [host('master', { used: 1, ...memory })]
    const config = { addPerPass: 10, hostsMax: 10 }
    const jobs = [job('1', { tasks: 2, resources: { memoryMb: 9_000 } })]
    expect(acts({ hosts, jobs, config })).toEqual(['add 2'])
  })

  test('a spread job brings the hosts it lacks and no more', () => {
    const hosts = [host('master', { used: 1 })]
    const jobs = [job('1', { slots: 10, span: 'hosts' })]
    expect(acts({ hosts, jobs, config: { addPerPass: 9 } })).toEqual(['add 2'])
    const even = [job('1', { slots: 6, span: 'hosts', slotsPerHost: 2 })]
    expect(acts({ hosts, jobs: even, config: { addPerPass: 9 } })).toEqual(['add 1'])
  })

  test.each(['unreachable', 'disabled', 'orphaned', 'error', 'draining'] as const)(
    'slots of a host that is %s do not count',
    (state) => {
      const hosts = [...FULL, host('node001', { state, stateSince: NOW })]
      expect(acts({ hosts, jobs: [job('1')] })).toContain('add 1')
    }
  )

  test('a host only for another queue has no room', () => {
    const queues = [{ queue: 'gpu.q', slots: 4, used: 0 }]
    const hosts = [...FULL, host('node001', { queues, launchedAt: NOW })]
    expect(acts({ hosts, jobs: [job('1', { queues: ['all.q'] })] })).toEqual([])
    const template = { slots: 4, queues: [{ queue: 'all.q', slots: 4 }] }
    expect(acts({ hosts, jobs: [job('1', { queues: ['all.q'] })], config: { template } })).toEqual([
      'add 1'
    ])
  })

  test('with no slot anywhere the first job does not wait', () => {
    const hosts = [host('master', { slots: 0 })]
    expect(acts({ hosts, jobs: [job('1', { waitedMs: 1 })] })).toEqual(['add 1'])
    const provider = { booting: [{ name: 'node001', since: NOW }] }
    expect(acts({ hosts, provider, jobs: [job('1', { waitedMs: 1 })] })).toEqual([])
  })
})

describe('adding, further than the original', () => {
  const ended = (durationMs: number): FinishedJob[] =>
    Array.from({ length: 12 }, (_, i) => ({
      id: String(100 + i),
      submittedAt: NOW - 2 * HOUR,
      startedAt: NOW - HOUR - durationMs,
      endedAt: NOW - HOUR,
      slots: 1
    }))
  const running = [1, 2, 3, 4].map((i) => onHost(`r${i}`, 'master', 1, NOW - MINUTE))

  test('no host when the present ones will have started everything before it is up', () => {
    const jobs = [...running, job('1', { tasks: 4 })]
    const given = { jobs, finished: ended(2 * MINUTE) }
    expect(acts(given)).toEqual([])
    expect(verdictOf(given, 'drain-forecast').sentence).toMatch(/will have started all 4 tasks/)
    expect(acts({ jobs, finished: ended(30 * MINUTE) })).toEqual(['add 1'])
    expect(acts({ ...given, config: { forecast: false } })).toEqual(['add 1'])
    expect(acts({ jobs, finished: ended(2 * MINUTE).slice(0, 5) })).toEqual(['add 1'])
  })

  test('only for what will still wait', () => {
    // Four slots come free after one minute and after three; a new host is up after five.
    const given = { jobs: [...running, job('1', { tasks: 40 })], finished: ended(2 * MINUTE) }
    const { facts } = verdictOf(given, 'drain-forecast')
    expect(facts).toMatchObject({ waiting: 40, left: 32 })
    const config = { addPerPass: 50, hostsMax: 50 }
    expect(acts({ ...given, config })).toEqual(['add 8'])
    // 64 slot minutes are five minutes' work for 12.8 slots, of which 4 are there.
    expect(acts({ ...given, config: { ...config, workPerHostMs: 5 * MINUTE } })).toEqual(['add 3'])
  })

  test('a forecast that has long been wrong is not believed', () => {
    const jobs = [...running, job('1', { tasks: 4, waitedMs: HOUR })]
    expect(acts({ jobs, finished: ended(2 * MINUTE) })).toEqual(['add 1'])
  })

  test('a cooldown of its own', () => {
    const given = { jobs: [job('1')], history: { lastAddAt: NOW - 2 * MINUTE } }
    expect(acts(given)).toEqual(['add 1'])
    expect(acts({ ...given, config: { cooldownUpMs: 3 * MINUTE } })).toEqual([])
    expect(acts({ ...given, config: { cooldownUpMs: 2 * MINUTE } })).toEqual(['add 1'])
  })

  test.each(['bootFailures', 'capacityFailures'] as const)('backs off after %s', (kind) => {
    const at = (...minutes: number[]): Partial<ProviderFacts> => ({
      [kind]: minutes.map((ago) => ({ at: NOW - ago * MINUTE, reason: 'none left' }))
    })
    const jobs = [job('1')]
    expect(acts({ jobs, provider: at(0.5) })).toEqual([])
    expect(acts({ jobs, provider: at(2.5) })).toEqual(['add 1'])
    expect(acts({ jobs, provider: at(20, 10, 5, 2.5) })).toEqual([])
    expect(acts({ jobs, provider: { ...at(20, 10, 5, 2.5), lastBootAt: NOW - 1 } })).toEqual([
      'add 1'
    ])
  })

  test('ten boots that failed in a row stop all adding', () => {
    const failures = Array.from({ length: 10 }, (_, i) => ({
      at: NOW - (i + 1) * HOUR,
      reason: 'x'
    }))
    expect(acts({ jobs: [job('1')], provider: { bootFailures: failures } })).toEqual([])
    expect(acts({ jobs: [job('1')], provider: { bootFailures: failures.slice(1) } })).toEqual([
      'add 1'
    ])
  })

  test('a host that boots for too long is taken away and counts as a failure', () => {
    const provider = { booting: [{ name: 'node007', since: NOW - 15.5 * MINUTE }] }
    expect(acts({ jobs: [job('1')], provider })).toEqual(['remove node007'])
  })

  test('below the minimum hosts are added whatever waits, but not over a back-off', () => {
    const config = { hostsMin: 3, addPerPass: 5 }
    expect(acts({ config })).toEqual(['add 2'])
    const dead = host('node001', { state: 'unreachable', stateSince: NOW })
    expect(acts({ hosts: [...FULL, dead], config })).toEqual(['add 2'])
    expect(acts({ config, provider: { machines: 3 } })).toEqual([])
    const bootFailures = [{ at: NOW - 1000, reason: 'x' }]
    expect(acts({ config, provider: { bootFailures } })).toEqual([])
  })

  test('a schedule raises the minimum', () => {
    // NOW is a Wednesday, at midnight.
    const entry = { fromMinute: 23 * 60, toMinute: 60, hostsMin: 2 }
    expect(acts({ config: { schedule: [entry] } })).toEqual(['add 1'])
    expect(acts({ config: { schedule: [{ ...entry, days: [2] }] } })).toEqual(['add 1'])
    expect(acts({ config: { schedule: [{ ...entry, days: [3] }] } })).toEqual([])
    expect(acts({ config: { schedule: [entry], utcOffsetMinutes: 60 } })).toEqual([])
  })

  test('stopped machines are started before new ones are launched', () => {
    const provider = { stopped: ['node004', 'node005'] }
    const [action] = decideCase({ jobs: [job('1')], provider }).actions
    expect(action).toMatchObject({ kind: 'add', count: 1, start: ['node004'] })
  })
})
