import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_CONFIG, PROMPT_CONFIG, type ScalingConfig } from './config.js'
import { decide } from './decide.js'
import type { Facts, HostFacts, JobFacts } from './facts.js'
import { createHistory } from './history.js'

const NOW = 1_700_006_400_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const ago = (mostMs: number): fc.Arbitrary<number> => fc.nat(mostMs).map((ms) => NOW - ms)
const maybe = <T>(key: string, value: fc.Arbitrary<T>): fc.Arbitrary<object> =>
  fc.option(value, { nil: undefined }).map((drawn) => (drawn === undefined ? {} : { [key]: drawn }))
const queueNames = fc.subarray(['all.q', 'gpu.q', 'long.q'], { minLength: 1 })
const resources = fc.record({ arch: fc.constantFrom('amd64', 'arm64'), gpu: fc.nat(2) })

const hostArbitrary = fc
  .tuple(
    fc.record({
      state: fc.constantFrom(
        ...(['ready', 'ready', 'ready', 'disabled', 'draining', 'orphaned'] as const),
        ...(['unreachable', 'error', 'alarm'] as const)
      ),
      slots: fc.nat(16),
      used: fc.oneof(fc.constant(0), fc.nat(4)),
      names: queueNames
    }),
    maybe('launchedAt', ago(30 * HOUR)),
    maybe('idleSince', ago(HOUR)),
    maybe('stateSince', ago(HOUR)),
    maybe('protected', fc.boolean()),
    maybe('managed', fc.boolean()),
    maybe('machine', fc.constantFrom('running', 'gone', 'unknown')),
    maybe('resources', resources),
    maybe('interruptionAt', fc.constant(NOW + MINUTE))
  )
  .map(([{ state, slots, used, names }, ...rest]): HostFacts => {
    const queues = names.map((queue) => ({ queue, slots, used: 0 }))
    const base: HostFacts = { name: '', role: 'worker', state, slots, used, queues }
    return rest.reduce<HostFacts>((host, part) => ({ ...host, ...part }), base)
  })

const jobArbitrary = fc
  .tuple(
    fc.record({
      id: fc.nat(30).map(String),
      state: fc.constantFrom(
        ...(['queued', 'queued', 'queued', 'requeued', 'held', 'errored'] as const)
      ),
      submittedAt: ago(30 * HOUR),
      slots: fc.integer({ min: 1, max: 24 }),
      tasks: fc.oneof(fc.constant(1), fc.nat(5000))
    }),
    maybe('taskLimit', fc.nat(8)),
    maybe('span', fc.constantFrom('host', 'hosts')),
    maybe('slotsPerHost', fc.integer({ min: 1, max: 8 })),
    maybe('queues', queueNames),
    maybe('resources', resources),
    maybe('startAfter', fc.integer({ min: NOW - HOUR, max: NOW + HOUR })),
    maybe('reason', fc.constantFrom('resources', 'licence', 'impossible', 'dependency')),
    maybe('family', fc.constantFrom('a', 'b'))
  )
  .map(([base, ...rest]) => rest.reduce<JobFacts>((job, part) => ({ ...job, ...part }), base))

const factsArbitrary: fc.Arbitrary<Facts> = fc
  .record({
    hosts: fc.array(hostArbitrary, { maxLength: 14 }),
    hasMaster: fc.boolean(),
    waiting: fc.oneof(fc.constant([]), fc.array(jobArbitrary, { maxLength: 12 })),
    running: fc.array(fc.tuple(jobArbitrary, fc.nat(20), fc.boolean(), ago(3 * HOUR)), {
      maxLength: 8
    }),
    durations: fc.array(fc.nat(2 * HOUR), { maxLength: 30 }),
    booting: fc.array(ago(20 * MINUTE), { maxLength: 4 }),
    failures: fc.array(ago(2 * HOUR), { maxLength: 3 }),
    stopped: fc.array(fc.constantFrom('s1', 's2'), { maxLength: 2 })
  })
  .map((drawn) => {
    const hosts = drawn.hosts.map((host, index): HostFacts => {
      const master = drawn.hasMaster && index === 0
      return { ...host, name: `node${index + 1}`, role: master ? 'master' : 'worker' }
    })
    const running = drawn.running.flatMap(([job, index, isSuspended, startedAt]): JobFacts[] => {
      if (hosts.length === 0) return []
      const share = { host: hosts[index % hosts.length].name, slots: job.slots }
      const state = isSuspended ? 'suspended' : 'running'
      return [{ ...job, state, tasks: 1, startedAt, hosts: [share] }]
    })
    return {
      at: NOW,
      hosts,
      jobs: [...running, ...drawn.waiting],
      finished: drawn.durations.map((ms, index) => ({
        id: String(index),
        submittedAt: NOW - ms - MINUTE,
        startedAt: NOW - ms,
        endedAt: NOW,
        slots: 1,
        family: index % 2 === 0 ? 'a' : 'b'
      })),
      provider: {
        booting: drawn.booting.map((since, index) => ({ name: `boot${index}`, since })),
        bootFailures: drawn.failures.map((at) => ({ at, reason: 'x' })),
        capacityFailures: [],
        stopped: drawn.stopped
      }
    }
  })

const configArbitrary: fc.Arbitrary<ScalingConfig> = fc
  .record({
    base: fc.constantFrom(DEFAULT_CONFIG, PROMPT_CONFIG.hour, PROMPT_CONFIG.second),
    hostsMin: fc.nat(6),
    hostsMore: fc.nat(12),
    addPerPass: fc.integer({ min: 1, max: 10 }),
    removePerPass: fc.integer({ min: 1, max: 10 }),
    queues: fc.constantFrom([], [], ['all.q']),
    consolidate: fc.boolean(),
    protectedHosts: fc.constantFrom([], ['node3'], ['node1*']),
    removal: fc.constantFrom('terminate' as const, 'stop' as const),
    killCluster: fc.boolean(),
    unreadyFractionMax: fc.constantFrom(0.45, 1)
  })
  .map(({ base, hostsMore, ...rest }) => ({
    ...base,
    ...rest,
    hostsMax: rest.hostsMin + hostsMore
  }))

const history = createHistory(NOW - 10 * HOUR)
const runs = { numRuns: 600 }

const isClosing = (kind: string): boolean => kind === 'remove' || kind === 'stop'

test('never below the minimum, never above the maximum', () => {
  fc.assert(
    fc.property(factsArbitrary, configArbitrary, (facts, config) => {
      const { actions } = decide(facts, config, history, NOW)
      const gone = new Set(
        facts.hosts.flatMap(({ name, machine }) => (machine === 'gone' ? [name] : []))
      )
      const machines = facts.hosts.length - gone.size + facts.provider.booting.length
      const living = facts.hosts.filter(
        (host) =>
          (host.state === 'ready' || host.state === 'alarm') &&
          !gone.has(host.name) &&
          host.interruptionAt === undefined
      )
      const removed = new Set(
        actions.flatMap((a) => ('host' in a && isClosing(a.kind) ? [a.host] : []))
      )
      for (const action of actions) {
        if (action.kind !== 'add') continue
        expect(action.count).toBeGreaterThan(0)
        expect(action.count).toBeLessThanOrEqual(config.addPerPass)
        expect(machines + action.count).toBeLessThanOrEqual(config.hostsMax)
        expect(action.start.length).toBeLessThanOrEqual(action.count)
      }
      const removedLiving = living.filter(({ name }) => removed.has(name)).length
      if (removedLiving > 0) {
        const late = facts.provider.booting.filter(
          ({ since }) => NOW - since > config.bootTimeoutMs
        )
        const coming = facts.provider.booting.length - late.length
        expect(living.length + coming - removedLiving).toBeGreaterThanOrEqual(config.hostsMin)
        expect(removedLiving).toBeLessThanOrEqual(config.removePerPass)
      }
    }),
    runs
  )
})

test('never removes a busy, protected, foreign or master host', () => {
  fc.assert(
    fc.property(factsArbitrary, configArbitrary, (facts, config) => {
      const { actions } = decide(facts, config, history, NOW)
      const touched = new Set<string>()
      for (const action of actions) {
        if (!('host' in action)) continue
        expect(touched.has(action.host)).toBe(false)
        touched.add(action.host)
        if (!isClosing(action.kind)) continue
        const host = facts.hosts.find(({ name }) => name === action.host)
        if (host === undefined) {
          expect(facts.provider.booting.map(({ name }) => name)).toContain(action.host)
          continue
        }
        expect(host.role).toBe('worker')
        expect(host.protected ?? false).toBe(false)
        expect(host.managed ?? true).toBe(true)
        expect(config.protectedHosts).not.toContain(host.name)
        if (config.protectedHosts.includes('node1*')) expect(host.name).not.toMatch(/^node1/)
        if (host.machine === 'gone') continue
        const jobs = facts.jobs.filter(({ hosts }) => hosts?.some((on) => on.host === host.name))
        expect(jobs).toEqual([])
        expect(host.used).toBe(0)
      }
      if (actions.some(({ kind }) => kind === 'shutdown')) {
        expect(actions.length).toBe(1)
        expect(facts.jobs).toEqual([])
      }
    }),
    runs
  )
})

test('every rule is asked, every action has a reason, and the same facts give the same decision', () => {
  fc.assert(
    fc.property(factsArbitrary, configArbitrary, (facts, config) => {
      const decision = decide(facts, config, history, NOW)
      expect(decide(structuredClone(facts), config, history, NOW)).toEqual(decision)
      for (const { rule, sentence } of decision.verdicts) {
        expect(rule).not.toBe('')
        expect(sentence).not.toMatch(/^$|undefined|NaN/)
      }
      for (const { reason } of decision.actions) expect(reason).not.toMatch(/^$|undefined|NaN/)
    }),
    { numRuns: 200 }
  )
})

const spoilers: readonly (readonly [string, (facts: Facts) => object])[] = [
  ['old facts', () => ({ at: NOW - 6 * MINUTE })],
  ['facts from the future', () => ({ at: NOW + HOUR })],
  ['no time', () => ({ at: NaN })],
  ...(['slots', 'used'] as const).flatMap((key) =>
    [-1, 0.5, NaN, Infinity, 1e9].map(
      (value) =>
        [
          `${key} ${value}`,
          ({ hosts }: Facts) => ({ hosts: [...hosts, { ...plainHost('bad'), [key]: value }] })
        ] as const
    )
  ),
  ['a host twice', ({ hosts }) => ({ hosts: [...hosts, plainHost('x'), plainHost('x')] })],
  ['a host without a name', ({ hosts }) => ({ hosts: [...hosts, plainHost('')] })],
  [
    'a host launched tomorrow',
    ({ hosts }) => ({ hosts: [...hosts, { ...plainHost('x'), launchedAt: NOW + 24 * HOUR }] })
  ],
  [
    'two masters',
    ({ hosts }) => ({
      hosts: [
        ...hosts,
        { ...plainHost('x'), role: 'master' },
        { ...plainHost('y'), role: 'master' }
      ]
    })
  ],
  ...[
    { slots: 0 },
    { slots: -4 },
    { slots: NaN },
    { tasks: -1 },
    { tasks: 0.5 },
    { submittedAt: NaN },
    { submittedAt: NOW + HOUR },
    { startedAt: NOW + HOUR },
    { hosts: [{ host: 'nowhere', slots: 1 }] },
    { slotsPerHost: 0 }
  ].map(
    (changes) =>
      [
        `a job with ${JSON.stringify(changes)}`,
        ({ jobs }: Facts) => ({ jobs: [...jobs, { ...plainJob(), ...changes }] })
      ] as const
  ),
  [
    'a boot from the future',
    ({ provider }) => ({ provider: { ...provider, booting: [{ name: 'b', since: NOW + HOUR }] } })
  ],
  ['a negative count of machines', ({ provider }) => ({ provider: { ...provider, machines: -1 } })],
  ['impossible licences', () => ({ consumables: [{ name: 'l', total: NaN, used: 0 }] })]
]

function plainHost(name: string): HostFacts {
  return { name, role: 'worker', state: 'ready', slots: 4, used: 0, queues: [] }
}

function plainJob(): JobFacts {
  return { id: '1', state: 'queued', submittedAt: NOW - HOUR, slots: 1, tasks: 1 }
}

test.each(spoilers)('no action and one reason on bad facts: %s', (_, spoil) => {
  fc.assert(
    fc.property(factsArbitrary, configArbitrary, (drawn, config) => {
      const facts = {
        ...drawn,
        hosts: drawn.hosts.map((host) => ({ ...host, role: 'worker' as const }))
      }
      const decision = decide({ ...facts, ...spoil(facts) }, config, history, NOW)
      expect(decision.actions).toEqual([])
      expect(decision.verdicts).toHaveLength(1)
      expect(decision.verdicts[0]).toMatchObject({ rule: 'facts-sound', answer: 'deny' })
      expect(decision.summary).toBe(`nothing is changed: ${decision.verdicts[0].sentence}`)
      expect(decision.summary).not.toContain('\n')
    }),
    { numRuns: 10 }
  )
})

test('bad settings change nothing either', () => {
  const facts = { at: NOW, hosts: [], jobs: [plainJob()], finished: [] }
  const provider = { booting: [], bootFailures: [], capacityFailures: [] }
  for (const bad of [{ hostsMin: 9, hostsMax: 3 }, { addPerPass: NaN }, { jobWaitMs: -1 }]) {
    const decision = decide({ ...facts, provider }, { ...DEFAULT_CONFIG, ...bad }, history, NOW)
    expect(decision.actions).toEqual([])
    expect(decision.verdicts[0].answer).toBe('deny')
  }
})
