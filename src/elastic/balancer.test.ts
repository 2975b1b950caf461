// Whole passes with real commands: the source is a file that is printed, machines are files in a folder.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Decision } from '../core/scaling/decision.js'
import { Balancer } from './balancer.js'
import { runLoop } from './loop.js'
import { BalancerMetrics, createMetricsFileObserver } from './metrics.js'
import { createHistoryObserver, createPlotObserver } from './observer.js'
import { createLocalPlace } from './place.js'
import { createCommandProvider } from './providers/command.js'
import type { HostRequest, Registrar } from './registrars/registrar.js'
import { SettingsReader } from './settings.js'
import { createElastic, findSetupProblems, type Elastic } from './setup.js'
import { StateStore } from './state-store.js'

const signal = new AbortController().signal
const MINUTE_MS = 60_000
let folder: string
let now: number
let lines: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opencluster-balancer-'))
  mkdirSync(join(folder, 'machines'))
  now = 1_800_000_000_000
  lines = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const machines = (): string[] => readdirSync(join(folder, 'machines')).sort()
const launch = (...names: string[]): void => {
  for (const name of names) writeFileSync(join(folder, 'machines', name), '')
}

interface Host {
  name: string
  slots: number
  [field: string]: unknown
}

const MASTER = { name: 'master', role: 'master', slots: 0 }

function answer(hosts: readonly Host[], jobs: readonly object[]): void {
  writeFileSync(join(folder, 'facts.json'), JSON.stringify({ hosts: [MASTER, ...hosts], jobs }))
}

const waiting = (id: string, minutes: number): object => ({
  id,
  slots: 2,
  submittedAt: now - minutes * MINUTE_MS
})

function create(
  options: {
    policy?: object
    isDryRun?: boolean
    provider?: object
    source?: object
    onLine?: () => void
  } = {}
): Elastic & {
  store: StateStore
} {
  const reader = new SettingsReader()
  const list = `ls ${folder}/machines | sed 's/\\(.*\\)#.*/\\1 &/;t;s/.*/& &/' | sed 's/\\(.*\\) \\(.*\\)/{"name":"\\1","id":"\\2"}/' | paste -sd, | sed 's/^/[/;s/$/]/'`
  const settings = reader.read(
    {
      source: {
        kind: 'command',
        command: `cat ${folder}/facts.json`,
        timeoutMs: 1000,
        ...options.source
      },
      provider: {
        kind: 'command',
        add: `touch ${folder}/machines/$OC_HOST`,
        remove: `rm -f ${folder}/machines/$OC_ID`,
        list,
        timeoutMs: 2000,
        ...options.provider
      },
      pricePerHour: 0.25,
      policy: { template: { slots: 2, queues: [] }, ...options.policy }
    },
    'elastic.lab'
  )
  expect([...reader.problems, ...findSetupProblems(settings)]).toEqual([])
  const isDryRun = options.isDryRun === true
  const store = new StateStore(join(folder, 'state.json'), now, { isReadOnly: isDryRun })
  const elastic = createElastic({
    cluster: 'lab',
    settings,
    stateFolder: folder,
    store,
    nodeArgv: [],
    statusArgv: [],
    isDryRun,
    isExplaining: false,
    now: () => now,
    report: (line) => {
      lines.push(line)
      options.onLine?.()
    }
  })
  return { ...elastic, store }
}

describe('a pass', () => {
  test('adds what is missing, with the next number', async () => {
    launch('node004')
    answer([{ name: 'node004', slots: 2, used: 2 }], [waiting('7', 16)])
    const { balancer } = create()
    await balancer.pass(signal)
    expect(machines()).toEqual(['node004', 'node005'])
    expect(lines.join('\n')).toContain('node005: added')
  })

  test('asks for no second host while the first one comes', async () => {
    answer([], [waiting('7', 16)])
    const { balancer } = create({ provider: { wait: 'exit 75' } })
    for (let pass = 0; pass < 5; pass++) {
      await balancer.pass(signal)
      now += MINUTE_MS
      answer([], [waiting('7', 16)])
    }
    expect(machines()).toEqual(['node001'])
  })

  test('removes what idles, and nothing that it did not launch', async () => {
    launch('node001')
    const idle = { slots: 2, launchedAt: now - 50 * MINUTE_MS }
    answer(
      [
        { name: 'node001', ...idle },
        { name: 'other', ...idle }
      ],
      []
    )
    const { balancer, store } = create({ policy: { cooldownDownMs: 0 } })
    await balancer.pass(signal)
    now += MINUTE_MS
    await balancer.pass(signal)
    expect(machines()).toEqual([])
    expect(store.records).toEqual([])
  })

  test('a dry run says what it would do and touches nothing', async () => {
    answer([], [waiting('7', 16)])
    const { balancer } = create({ isDryRun: true })
    await balancer.pass(signal)
    expect(lines.join('\n')).toContain('would add 1 host')
    expect(readdirSync(folder).sort()).toEqual(['facts.json', 'machines'])
    expect(machines()).toEqual([])
  })

  test.each([
    ['half an answer', '{"hosts":[],"jobs":['],
    ['an impossible number', '{"hosts":[{"name":"a","slots":-2}],"jobs":[]}'],
    ['a host twice', '{"hosts":[{"name":"a","slots":2},{"name":"a","slots":2}],"jobs":[]}'],
    ['no answer', ''],
    ['a job from the future', '{"hosts":[],"jobs":[{"id":1,"submittedAt":1900000000000}]}']
  ])('%s changes nothing and is one line', async (_, text) => {
    launch('node001')
    writeFileSync(join(folder, 'facts.json'), text)
    const { balancer } = create({ policy: { hostsMin: 3 } })
    const { decision } = await balancer.pass(signal)
    expect(decision?.actions ?? []).toEqual([])
    expect(machines()).toEqual(['node001'])
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^nothing is changed: /)
  })

  test.each([
    ['fails', 'echo quota exceeded >&2; exit 1', /quota exceeded/],
    ['prints nonsense', 'echo hello', /a JSON list expected/],
    ['hangs', 'sleep 60', /no answer within/]
  ])('a provider whose list %s changes nothing', async (_, list, message) => {
    answer([], [waiting('7', 16)])
    const { balancer } = create({ provider: { list, timeoutMs: 300 } })
    await balancer.pass(signal)
    expect(machines()).toEqual([])
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(message)
  })

  test('a provider that launched twice: one is ended', async () => {
    launch('node001', 'node001#b')
    answer([{ name: 'node001', slots: 2, used: 2 }], [])
    const { balancer } = create()
    await balancer.pass(signal)
    expect(machines()).toEqual(['node001'])
    expect(lines.join('\n')).toContain(
      'node001: a second machine of that name (node001#b) is ended'
    )
  })

  test('a machine that nobody remembers is taken on, not forgotten and not launched again', async () => {
    launch('node001')
    answer([], [waiting('7', 16)])
    const { balancer, store } = create()
    await balancer.pass(signal)
    expect(machines()).toEqual(['node001'])
    expect(store.find('node001')?.phase).toBe('serving')
  })

  test('an empty list of machines does not make working hosts dead', async () => {
    launch('node001', 'node002')
    const hosts = ['node001', 'node002'].map((name) => ({ name, slots: 2, used: 2 }))
    answer(hosts, [])
    const { balancer, store } = create()
    await balancer.pass(signal)
    rmSync(join(folder, 'machines'), { recursive: true })
    mkdirSync(join(folder, 'machines'))
    now += MINUTE_MS
    const { decision } = await balancer.pass(signal)
    expect(decision?.actions).toEqual([])
    expect(store.records.map(({ phase }) => phase)).toEqual(['serving', 'serving'])
  })

  test('a machine that is gone, and that the scheduler does not hear, is cleared away', async () => {
    launch('node001')
    answer([{ name: 'node001', slots: 2, used: 2 }], [])
    const { balancer, store } = create()
    await balancer.pass(signal)
    rmSync(join(folder, 'machines', 'node001'))
    answer([{ name: 'node001', slots: 2, used: 2, state: 'unreachable' }], [])
    now += MINUTE_MS
    await balancer.pass(signal)
    expect(store.records).toEqual([])
  })
})

describe('a host that the others can do without', () => {
  const policy = {
    consolidate: true,
    billing: { kind: 'second', idleMs: 10 * MINUTE_MS },
    cooldownDownMs: 0,
    addPerPass: 5
  }
  const running = (id: string, host: string): object => ({
    id,
    state: 'running',
    slots: 1,
    submittedAt: now - 20 * MINUTE_MS,
    startedAt: now - 10 * MINUTE_MS,
    hosts: [{ host, slots: 1 }]
  })
  const hosts = ['node001', 'node002', 'node003'].map((name) => ({ name, slots: 2, used: 0 }))
  const [first, second, third] = hosts

  test('is closed, opened again when it is needed, and not removed with its job', async () => {
    launch('node001', 'node002', 'node003')
    const busy = { ...first, used: 1 }
    answer([busy, second, third], [running('1', 'node001')])
    const { balancer, store } = create({ policy })
    await balancer.pass(signal)
    expect(store.find('node001')?.phase).toBe('closed')
    expect(lines.join('\n')).toContain('node001: closed to new jobs')

    now += MINUTE_MS
    const full = [busy, { ...second, used: 2 }, { ...third, used: 2 }]
    const jobs = [running('1', 'node001'), waiting('9', 0)]
    answer(full, jobs)
    const { decision } = await balancer.pass(signal)
    expect(decision?.actions).toMatchObject([{ kind: 'open', host: 'node001' }])
    expect(store.find('node001')?.phase).toBe('serving')
    expect(lines.join('\n')).toContain('node001: opened again')
    expect(machines()).toEqual(['node001', 'node002', 'node003'])
  })

  test('goes when its job has ended', async () => {
    launch('node001', 'node002', 'node003')
    answer([{ ...first, used: 1 }, second, third], [running('1', 'node001')])
    const { balancer } = create({ policy })
    await balancer.pass(signal)
    now += MINUTE_MS
    answer(hosts, [])
    await balancer.pass(signal)
    expect(machines()).toEqual(['node002', 'node003'])
  })
})

describe('what was closed', () => {
  /** A scheduler that only knows which hosts it was told to close. */
  class Doors implements Registrar {
    readonly label = 'doors'
    readonly closed = new Set<string>()
    refuses = false
    register = (): Promise<void> => Promise.resolve()
    checkJoined = (): Promise<boolean> => Promise.resolve(true)
    countJobs = (): Promise<number> => Promise.resolve(1)
    deregister = (): Promise<void> => Promise.resolve()
    close({ name }: HostRequest): Promise<void> {
      if (this.refuses) return Promise.reject(new Error('not now'))
      this.closed.add(name)
      return Promise.resolve()
    }
    open({ name }: HostRequest): Promise<void> {
      this.closed.delete(name)
      return Promise.resolve()
    }
  }

  test('is closed again by the next balancer, until the scheduler has taken it', async () => {
    const doors = new Doors()
    const { store, config, work } = create()
    store.put({ name: 'node001', phase: 'closed', reason: 'spare', since: now })
    const busy = { role: 'worker', state: 'ready', slots: 2, used: 1, queues: [] } as const
    const facts = { at: now, hosts: [{ name: 'node001', ...busy }], jobs: [], finished: [] }
    const balancer = new Balancer({
      source: { label: 'here', read: () => Promise.resolve({ facts, notes: [] }) },
      provider: createCommandProvider(
        { add: 'true', remove: 'true' },
        {
          placeOf: () => createLocalPlace(),
          cluster: 'lab',
          timeoutMs: 1000
        }
      ),
      registrar: doors,
      store,
      work,
      config,
      names: { prefix: 'node', digits: 3 },
      pricePerHour: undefined,
      isDryRun: false,
      isExplaining: false,
      now: () => now,
      report: (line) => lines.push(line)
    })
    doors.refuses = true
    await balancer.pass(signal)
    expect(lines.join('\n')).toContain('node001: cannot be closed: not now')
    doors.refuses = false
    await balancer.pass(signal)
    expect([...doors.closed]).toEqual(['node001'])
    expect(store.find('node001')?.phase).toBe('closed')
  })
})

test('a host that is switched off is started again before a new one is launched', async () => {
  launch('node001')
  const policy = { removal: 'stop', cooldownDownMs: 0 }
  const provider = {
    list: `ls ${folder}/machines | sed 's/\\(.*\\).off/{"name":"\\1","state":"stopped"}/;t;s/.*/{"name":"&"}/' | paste -sd, | sed 's/^/[/;s/$/]/'`,
    stop: `mv ${folder}/machines/$OC_HOST ${folder}/machines/$OC_HOST.off`,
    start: `mv ${folder}/machines/$OC_HOST.off ${folder}/machines/$OC_HOST`
  }
  answer([{ name: 'node001', slots: 2, launchedAt: now - 50 * MINUTE_MS }], [])
  const { balancer, store } = create({ policy, provider })
  await balancer.pass(signal)
  expect(machines()).toEqual(['node001.off'])
  expect(store.find('node001')?.phase).toBe('stopped')
  now += MINUTE_MS
  answer([], [waiting('7', 16)])
  await balancer.pass(signal)
  expect(machines()).toEqual(['node001'])
  expect(lines.join('\n')).toContain('node001: started again')
})

test('the whole cluster is ended when it is alone and idle, and only if that is asked for', async () => {
  const master = { ...MASTER, launchedAt: now - 50 * MINUTE_MS }
  writeFileSync(join(folder, 'facts.json'), JSON.stringify({ hosts: [master], jobs: [] }))
  const provider = { shutdown: `touch ${folder}/ended` }
  await create({ provider, policy: { hostsMin: 0 } }).balancer.pass(signal)
  expect(existsSync(join(folder, 'ended'))).toBe(false)
  const { balancer } = create({ provider, policy: { hostsMin: 0, killCluster: true } })
  expect((await balancer.pass(signal)).isEnded).toBe(true)
  expect(existsSync(join(folder, 'ended'))).toBe(true)
})

test('the loop goes on after bad passes, and keeps figures and pictures', async () => {
  launch('node001')
  answer([{ name: 'node001', slots: 2, used: 2 }], [waiting('7', 1)])
  const file = join(folder, 'facts.json')
  const good = readFileSync(file, 'utf8')
  writeFileSync(file, '{')
  const elastic = create({ onLine: () => writeFileSync(file, good) })
  const stopping = new AbortController()
  const decisions: Decision[] = []
  const pictures: string[] = []
  const history = join(folder, 'history.csv')
  const metrics = new BalancerMetrics('lab', elastic.store)
  await runLoop({
    balancer: elastic.balancer,
    work: elastic.work,
    intervalMs: 10,
    progressMs: 5,
    isOnce: false,
    isDryRun: false,
    observers: [
      metrics,
      createHistoryObserver(history, elastic.store),
      createPlotObserver({
        historyFile: history,
        folder: join(folder, 'plots'),
        report: (line) => pictures.push(line)
      }),
      createMetricsFileObserver(join(folder, 'metrics.prom'), metrics)
    ],
    now: () => now,
    report: (line) => lines.push(line),
    onDecision: (decision) => {
      decisions.push(decision)
      now += MINUTE_MS
      if (decisions.length === 3) stopping.abort()
    },
    stopping: stopping.signal,
    abort: signal
  })
  expect(lines[0]).toContain('not whole JSON')
  const rows = readFileSync(history, 'utf8').trim().split('\n')
  expect(rows).toHaveLength(4)
  expect(rows[0]).toMatch(/^time,hosts,/)
  expect(rows.every((row) => row.split(',').length === rows[0].split(',').length)).toBe(true)
  expect(readdirSync(join(folder, 'plots')).filter((name) => name.endsWith('.svg'))).toHaveLength(6)
  expect(readFileSync(join(folder, 'metrics.prom'), 'utf8')).toContain(
    'opencluster_elastic_hosts{cluster="lab"} 2'
  )
  expect(existsSync(join(folder, 'state.json'))).toBe(true)
  expect(elastic.store.state.cost).toBeCloseTo((0.5 * 2) / 60, 5)
})

describe('settings', () => {
  const problemsOf = (value: unknown): string[] => {
    const reader = new SettingsReader()
    const settings = reader.read(value, 'elastic.lab')
    return [...reader.problems, ...findSetupProblems(settings)]
  }

  test('what is wrong is said at once, with its place', () => {
    expect(
      problemsOf({
        source: { kind: 'pbs', timeoutMs: -1 },
        provider: { kind: 'command', ad: 'x' },
        policy: { hostsMax: 'many', maxHosts: 3 },
        extra: 1
      })
    ).toEqual([
      'elastic.lab.extra: no such setting',
      'elastic.lab.source.kind: must be sge, slurm, command, opencluster',
      'elastic.lab.source.timeoutMs: must be a number from 0 to 86400000',
      'elastic.lab.provider.ad: no such setting',
      'elastic.lab.policy.maxHosts: no such setting',
      'elastic.lab.policy.hostsMax: must be a number from 0 to 1000000',
      'source.kind: which scheduler is not said',
      'provider.add: is missing',
      'provider.remove: is missing',
      'policy: hostsMax is many'
    ])
  })

  test("the rules' numbers, down to the last", () => {
    const problems = problemsOf({
      source: { kind: 'slurm' },
      provider: { kind: 'process' },
      policy: {
        billing: { kind: 'second', killAfterMinutes: 45 },
        template: { queues: [{ queue: 'all.q' }], memory: 3 },
        schedule: [{ fromMinute: 1500, toMinute: 60, hostsMin: 2, days: [7] }],
        queues: 'all.q',
        removal: 'burn',
        unreadyFractionMax: 45,
        bootBackOff: null
      }
    })
    const where = 'elastic.lab.policy'
    expect(problems.slice(0, 10)).toEqual([
      `${where}.billing.killAfterMinutes: no such setting`,
      `${where}.billing.idleMs: is missing`,
      `${where}.template.memory: no such setting`,
      `${where}.template.slots: is missing`,
      `${where}.template.queues[0].slots: is missing`,
      `${where}.schedule[0].fromMinute: must be a number from 0 to 1440`,
      `${where}.schedule[0].days[0]: must be a number from 0 to 6`,
      `${where}.queues: must be a list`,
      `${where}.removal: must be terminate or stop`,
      `${where}.unreadyFractionMax: must be a number from 0 to 1`
    ])
    expect(problems).toContain(`${where}.bootBackOff: must be an object`)
  })

  test('a template needs no queues', () => {
    const reader = new SettingsReader()
    const { policy } = reader.read({ policy: { template: { slots: 4 } } }, 'elastic.lab')
    expect(reader.problems).toEqual([])
    expect(policy.template).toEqual({ slots: 4, queues: [] })
  })

  test('a pool, and where hooks run', () => {
    const problems = problemsOf({
      source: { kind: 'sge', ssh: { target: 'root@master' } },
      scheduler: { slots: 4 },
      provider: { kind: 'ssh', pool: [{ name: 'a', target: 'root@a' }] },
      steps: { user: { on: 'host', run: 'useradd x' }, mount: ['mount', '/home'] }
    })
    expect(problems).toEqual([])
    expect(problemsOf({ steps: { user: { on: 'moon', run: 'x' } } })[0]).toBe(
      'elastic.lab.steps.user.on: must be here, master, host'
    )
  })
})
