import { describe, expect, test } from 'vitest'
import { DEFAULT_CONFIG, PROMPT_CONFIG, type ScalingConfig } from './config.js'
import { decide } from './decide.js'
import type { Decision } from './decision.js'
import type { Facts, History, HostFacts, JobFacts, ProviderFacts } from './facts.js'
import { createHistory, remember } from './history.js'

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

function job(id: string, changes: Partial<JobFacts> = {}): JobFacts {
  return { id, state: 'queued', submittedAt: NOW - MINUTE, slots: 1, tasks: 1, ...changes }
}

interface Case {
  readonly hosts?: readonly HostFacts[]
  readonly jobs?: readonly JobFacts[]
  readonly provider?: Partial<ProviderFacts>
  readonly config?: Partial<ScalingConfig>
  readonly history?: Partial<History>
}

/** An idle master and an idle worker past 45 minutes. */
const IDLE = [host('master'), host('node001')]

function factsOf({ hosts = IDLE, jobs = [], provider }: Case): Facts {
  const calm = { booting: [], bootFailures: [], capacityFailures: [], ...provider }
  return { at: NOW, hosts, jobs, finished: [], provider: calm }
}

function decideCase(given: Case): Decision {
  const history = { ...createHistory(NOW - HOUR), ...given.history }
  return decide(factsOf(given), { ...DEFAULT_CONFIG, ...given.config }, history, NOW)
}

function acts(given: Case): string[] {
  return decideCase(given).actions.map((action) => {
    if (action.kind === 'add') return `add ${action.count}`
    return action.kind === 'shutdown' ? 'shutdown' : `${action.kind} ${action.host}`
  })
}

describe("document 004's criteria for removing", () => {
  test('an idle worker past 45 minutes of its hour, and never the master', () => {
    expect(acts({})).toEqual(['remove node001'])
  })

  test.each([
    [44.9, []],
    [45, ['remove node001']],
    [59.9, ['remove node001']],
    [60, []],
    [24 * 60 + 50, ['remove node001']]
  ])('up for %d minutes', (minutes, expected) => {
    const hosts = [host('master'), host('node001', { launchedAt: NOW - minutes * MINUTE })]
    expect(acts({ hosts })).toEqual(expected)
  })

  test('any and all in one pass, the one whose hour ends first at the head', () => {
    const up = (minutes: number) => ({ launchedAt: NOW - minutes * MINUTE })
    const hosts = [host('master'), host('a', up(46)), host('b', up(118)), host('c', up(50))]
    expect(acts({ hosts })).toEqual(['remove b', 'remove c', 'remove a'])
    expect(acts({ hosts, config: { hostsMin: 3 } })).toEqual(['remove b'])
    expect(acts({ hosts, config: { removePerPass: 2 } })).toEqual(['remove b', 'remove c'])
  })

  test('none while a job waits that it could run', () => {
    expect(acts({ jobs: [job('1')] })).toEqual([])
    expect(acts({ jobs: [job('1', { startAfter: NOW + 3 * MINUTE })] })).toEqual([])
  })

  test.each([
    ['slots in use', { used: 1 }, []],
    ['a running job', {}, [job('1', { state: 'running', hosts: [{ host: 'node001', slots: 1 }] })]],
    [
      'a suspended job',
      {},
      [job('1', { state: 'suspended', hosts: [{ host: 'node001', slots: 0 }] })]
    ]
  ] as const)('none with %s', (_, changes, jobs) => {
    expect(acts({ hosts: [host('master'), host('node001', changes)], jobs })).toEqual([])
  })
})

describe('removing, where the original was wrong', () => {
  test.each([
    ['held', { state: 'held' }],
    ['errored', { state: 'errored' }],
    ['impossible', { slots: 64 }],
    ['for tomorrow', { startAfter: NOW + 10 * HOUR }],
    ['dependent', { dependsOn: ['4'] }]
  ] as const)('a job that is %s keeps no host', (_, changes) => {
    expect(acts({ jobs: [job('1', changes)] })).toEqual(['remove node001'])
  })

  test('node1 is idle though node10 is not', () => {
    const hosts = [host('master'), host('node1'), host('node10', { used: 1 })]
    const jobs = [job('1', { state: 'running', hosts: [{ host: 'node10', slots: 1 }] })]
    expect(acts({ hosts, jobs })).toEqual(['remove node1'])
  })

  test('a waiting job keeps only the hosts it could run on', () => {
    const hosts = [
      host('master', { resources: { gpu: 0 } }),
      host('node001', { resources: { gpu: 0 } }),
      host('node002', { resources: { gpu: 1 } })
    ]
    const jobs = [job('1', { resources: { gpu: 1 } })]
    expect(acts({ hosts, jobs })).toEqual(['remove node001'])
  })

  test('a host that takes no jobs does not hold a place of the minimum', () => {
    const hosts = [...IDLE, host('node002', { state: 'disabled', used: 1 })]
    expect(acts({ hosts })).toEqual(['remove node001'])
    expect(acts({ hosts, config: { hostsMin: 2 } })).toEqual([])
  })

  test('a dead host is taken away once silent for long, and never counts for the minimum', () => {
    const dead = (changes: Partial<HostFacts>): HostFacts =>
      host('node001', { state: 'unreachable', ...changes })
    const hosts = (changes: Partial<HostFacts>): HostFacts[] => [host('master'), dead(changes)]
    expect(acts({ hosts: hosts({ stateSince: NOW - MINUTE }) })).toEqual([])
    expect(acts({ hosts: hosts({ stateSince: NOW - 10 * MINUTE }) })).toEqual(['remove node001'])
    const history = { unreadySince: { node001: NOW - 10 * MINUTE } }
    expect(acts({ hosts: hosts({}), history })).toEqual(['remove node001'])
    expect(acts({ hosts: hosts({ machine: 'gone' }) })).toEqual(['remove node001'])
    expect(acts({ hosts: hosts({ machine: 'gone' }), config: { hostsMin: 2 } })).toEqual([
      'remove node001',
      'add 1'
    ])
  })

  test('a dead host with a job stays until its machine is known to be gone', () => {
    const changes = { state: 'unreachable', stateSince: NOW - HOUR, used: 1 } as const
    const jobs = [job('7', { state: 'running', hosts: [{ host: 'node001', slots: 1 }] })]
    expect(acts({ hosts: [host('master'), host('node001', changes)], jobs })).toEqual([])
    const gone = [host('master'), host('node001', { ...changes, machine: 'gone' })]
    expect(acts({ hosts: gone, jobs })).toEqual(['remove node001'])
  })
})

describe('removing, further than the original', () => {
  test('by the second: idle time decides, from the source or from what was seen', () => {
    const config = { billing: { kind: 'second', idleMs: 5 * MINUTE } } as const
    const idle = (minutes: number): HostFacts[] => [
      host('master'),
      host('node001', { idleSince: NOW - minutes * MINUTE, launchedAt: NOW - 10 * MINUTE })
    ]
    expect(acts({ hosts: idle(4), config })).toEqual([])
    expect(acts({ hosts: idle(5), config })).toEqual(['remove node001'])
    expect(acts({ config })).toEqual([])
    const history = { idleSince: { node001: NOW - 6 * MINUTE } }
    expect(acts({ config, history })).toEqual(['remove node001'])
  })

  test('a cooldown of its own, after a change either way', () => {
    const after = (ms: number): string[][] => [
      acts({ history: { lastAddAt: NOW - ms } }),
      acts({ history: { lastRemoveAt: NOW - ms } })
    ]
    expect(after(3 * MINUTE - 1)).toEqual([[], []])
    expect(after(3 * MINUTE)).toEqual([['remove node001'], ['remove node001']])
  })

  test.each([
    ['protected by itself', { protected: true }, {}],
    ['protected by name', {}, { protectedHosts: ['node001'] }],
    ['protected by the beginning of its name', {}, { protectedHosts: ['node*'] }],
    ['not the provider’s', { managed: false }, {}]
  ])('a host that is %s stays, dead or alive', (_, changes, config) => {
    const hosts = [host('master'), host('node001', changes)]
    expect(acts({ hosts, config })).toEqual([])
    const dead = { ...changes, state: 'unreachable', machine: 'gone' } as const
    expect(acts({ hosts: [host('master'), host('node001', dead)], config })).toEqual([])
  })

  test('half of the hosts unready: nothing is changed at all', () => {
    const bad = [1, 2, 3, 4].map((i) => host(`bad${i}`, { state: 'unreachable', stateSince: 0 }))
    const hosts = [...IDLE, host('node002'), host('node003'), ...bad]
    const given = { hosts, jobs: [job('1', { slots: 64 })] }
    expect(acts(given)).toEqual([])
    expect(decideCase(given).summary).toMatch(/4 of 8 hosts are unready/)
    expect(acts({ hosts: hosts.slice(0, -1) })).toContain('remove bad1')
  })

  test('stop instead of terminate', () => {
    expect(acts({ config: { removal: 'stop' } })).toEqual(['stop node001'])
  })

  test('a host with an announced end is drained, then removed when empty', () => {
    const end = { interruptionAt: NOW + 2 * MINUTE }
    expect(acts({ hosts: [host('master'), host('node001', { ...end, used: 1 })] })).toEqual([
      'drain node001'
    ])
    const drained = host('node001', { ...end, state: 'draining', launchedAt: NOW })
    expect(acts({ hosts: [host('master'), drained] })).toEqual(['remove node001'])
    expect(acts({ hosts: [host('master'), { ...drained, used: 1 }] })).toEqual([])
  })

  test('the whole cluster, only alone and with nothing in the queue at all', () => {
    const config = { killCluster: true, hostsMin: 0 }
    expect(acts({ hosts: [host('master')], config })).toEqual(['shutdown'])
    expect(acts({ hosts: [host('master')], config: { killCluster: false } })).toEqual([])
    expect(acts({ config })).toEqual(['remove node001'])
    expect(acts({ hosts: [host('master')], config, jobs: [job('1', { state: 'held' })] })).toEqual(
      []
    )
    const provider = { booting: [{ name: 'node001', since: NOW }] }
    expect(acts({ hosts: [host('master')], config, provider })).toEqual([])
    const young = [host('master', { launchedAt: NOW - 10 * MINUTE })]
    expect(acts({ hosts: young, config })).toEqual([])
  })

  test('a busy host that the others can do without is closed, and opened when it is needed', () => {
    const config = { ...PROMPT_CONFIG.second, hostsMax: 3 }
    const hosts = [host('master'), host('node001', { used: 2 }), host('node002', { used: 1 })]
    expect(acts({ hosts, config })).toEqual(['drain node002'])
    expect(acts({ hosts, config: { ...config, consolidate: false } })).toEqual([])
    expect(acts({ hosts })).toEqual([])
    const full = hosts.map((each) => ({ ...each, used: 3 }))
    expect(acts({ hosts: full, config })).toEqual([])
    const closed = [
      host('master', { used: 4 }),
      host('node001', { state: 'draining', used: 1 }),
      host('node002', { state: 'draining', used: 0 })
    ]
    // The empty one may be half removed: it is not opened.
    expect(acts({ hosts: closed, config, jobs: [job('1')] })).toEqual([
      'remove node002',
      'open node001'
    ])
  })
})

describe('the history', () => {
  test('since when a host is idle or silent, and when the cluster was last changed', () => {
    const hosts = [host('master', { used: 1 }), host('node001'), host('x', { state: 'error' })]
    const given = { hosts, history: { idleSince: { node001: 5, gone: 6 } } }
    const decision = decideCase(given)
    const before = { ...createHistory(1), ...given.history }
    const after = remember(before, factsOf(given), decision)
    expect(after).toEqual({
      startedAt: 1,
      lastRemoveAt: NOW,
      idleSince: { node001: 5, x: NOW },
      unreadySince: { x: NOW }
    })
  })

  test('refused facts leave no trace', () => {
    const facts = factsOf({ hosts: [host('master', { slots: -1 })] })
    const before = createHistory(1)
    expect(remember(before, facts, decide(facts, DEFAULT_CONFIG, before, NOW))).toBe(before)
  })
})
