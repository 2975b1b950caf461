// Hosts carried through their steps by real commands; the scheduler is a small one in memory.
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
import { ADDING_STEPS, beginRemoving, createRecord, REMOVING_STEPS } from './host-record.js'
import { createLocalPlace } from './place.js'
import { createCommandProvider } from './providers/command.js'
import type { Registrar } from './registrars/registrar.js'
import { StateStore } from './state-store.js'
import { STAGE_NAMES, Work } from './work.js'

const signal = new AbortController().signal

/** Knows hosts, whether they are open, and how many jobs they have; a closed one gets no job. */
class SmallScheduler implements Registrar {
  readonly label = 'small'
  readonly hosts = new Map<string, { isOpen: boolean; jobs: number }>()

  register({ name }: { name: string }): Promise<void> {
    if (!this.hosts.has(name)) this.hosts.set(name, { isOpen: true, jobs: 0 })
    return Promise.resolve()
  }
  checkJoined({ name }: { name: string }): Promise<boolean> {
    return Promise.resolve(this.hosts.get(name)?.isOpen === true)
  }
  close({ name }: { name: string }): Promise<void> {
    const host = this.hosts.get(name)
    if (host !== undefined) host.isOpen = false
    return Promise.resolve()
  }
  open({ name }: { name: string }): Promise<void> {
    const host = this.hosts.get(name)
    if (host !== undefined) host.isOpen = true
    return Promise.resolve()
  }
  countJobs({ name }: { name: string }): Promise<number> {
    return Promise.resolve(this.hosts.get(name)?.jobs ?? 0)
  }
  deregister({ name }: { name: string }): Promise<void> {
    if ((this.hosts.get(name)?.jobs ?? 0) > 0) return Promise.reject(new Error('jobs run there'))
    this.hosts.delete(name)
    return Promise.resolve()
  }
}

let folder: string
let now: number
let lines: string[]
let scheduler: SmallScheduler

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opencluster-work-'))
  mkdirSync(join(folder, 'machines'))
  now = 1_800_000_000_000
  lines = []
  scheduler = new SmallScheduler()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const machines = (): string[] => readdirSync(join(folder, 'machines'))
const calls = (): string[] =>
  existsSync(join(folder, 'calls'))
    ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
    : []

/** Each command writes its name down, and fails while a file of that name says how often. */
function command(name: string, then = ':'): string {
  const fail = join(folder, `fail-${name}`)
  return [
    `echo ${name} >> ${folder}/calls`,
    `if [ -s ${fail} ]; then sed -i 1d ${fail}; echo broken >&2; exit \${FAIL_CODE:-1}; fi`,
    then
  ].join('\n')
}

function failing(name: string, times: number): void {
  writeFileSync(join(folder, `fail-${name}`), 'x\n'.repeat(times))
}

function createWork(options: { timeoutMs?: number } = {}): { store: StateStore; work: Work } {
  const store = new StateStore(join(folder, 'state.json'), now, { isReadOnly: false })
  const hooks = {
    placeOf: () => createLocalPlace(),
    cluster: 'lab',
    timeoutMs: options.timeoutMs ?? 10_000
  }
  const provider = createCommandProvider(
    {
      add: command(
        'add',
        `touch ${folder}/machines/$OC_HOST; echo '{"id":"i-1","address":"10.0.0.7"}'`
      ),
      wait: command('wait'),
      remove: command('remove', `rm -f ${folder}/machines/$OC_HOST`)
    },
    hooks
  )
  const stages = Object.fromEntries(STAGE_NAMES.map((name) => [name, command(name)]))
  const work = new Work({
    store,
    provider,
    registrar: scheduler,
    stages,
    hooks,
    settleMs: 0,
    retryMs: 1000,
    now: () => now,
    report: (line) => lines.push(line)
  })
  return { store, work }
}

/** Until nothing is on its way; a failed step is tried when its time has come. */
async function finish({ work }: { work: Work }): Promise<void> {
  for (let turn = 0; turn < 50 && work.isPending; turn++) {
    await work.advance(signal)
    now += 60_000
  }
  expect(work.isPending).toBe(false)
}

describe('adding', () => {
  test('goes through all stages of the document, in order', async () => {
    const { store, work } = createWork()
    store.put(createRecord('node001', 'jobs wait', now))
    await work.advance(signal)
    expect(calls()).toEqual(['add', 'wait', 'hosts', 'user', 'export', 'mount', 'daemon'])
    expect(store.find('node001')).toMatchObject({
      phase: 'serving',
      machineId: 'i-1',
      address: '10.0.0.7',
      isRegistered: true
    })
    expect(scheduler.hosts.get('node001')).toEqual({ isOpen: true, jobs: 0 })
    expect(store.state.bootDurationsMs).toHaveLength(1)
    expect(lines.at(-1)).toContain('added')
  })

  test.each(['add', 'wait', 'hosts', 'user', 'export', 'mount', 'daemon'])(
    'a failure of %s is mended by the next attempt',
    async (name) => {
      const parts = createWork()
      parts.store.put(createRecord('node001', 'jobs wait', now))
      failing(name, 2)
      await finish(parts)
      expect(parts.store.find('node001')?.phase).toBe('serving')
      expect(calls().filter((call) => call === name)).toHaveLength(3)
      expect(machines()).toEqual(['node001'])
      expect(lines.filter((line) => line.includes('failed'))).toHaveLength(2)
    }
  )

  test.each(['add', 'wait', 'hosts', 'mount', 'daemon'])(
    'a failure of %s that stays is taken back, and nothing is left',
    async (name) => {
      const parts = createWork()
      parts.store.put(createRecord('node001', 'jobs wait', now))
      failing(name, 100)
      await finish(parts)
      expect(parts.store.records).toEqual([])
      expect(machines()).toEqual([])
      expect(scheduler.hosts.size).toBe(0)
      expect(parts.store.state.bootFailures).toMatchObject([{ host: 'node001' }])
    }
  )

  test.each(ADDING_STEPS)(
    'a balancer that died in %s is followed by one that goes on',
    async (step) => {
      const first = createWork()
      first.store.put(createRecord('node001', 'jobs wait', now))
      const index = ADDING_STEPS.indexOf(step)
      // As the state file is in that moment: the step was begun, and may have happened.
      if (index > 0) await mkMachine()
      if (index > ADDING_STEPS.indexOf('register')) await scheduler.register({ name: 'node001' })
      first.store.put({
        ...createRecord('node001', 'jobs wait', now),
        step,
        begun: true,
        ...(index > 0 ? { machineId: 'i-1', address: '10.0.0.7' } : {}),
        ...(index >= ADDING_STEPS.indexOf('register') ? { isRegistered: true } : {})
      })
      const second = createWork()
      await finish(second)
      expect(second.store.find('node001')?.phase).toBe('serving')
      expect(machines()).toEqual(['node001'])
      expect([...scheduler.hosts.keys()]).toEqual(['node001'])
    }
  )

  function mkMachine(): Promise<void> {
    writeFileSync(join(folder, 'machines', 'node001'), '')
    return Promise.resolve()
  }

  test('no machine to be had is no failure of the host', async () => {
    const { store, work } = createWork()
    store.put(createRecord('node001', 'jobs wait', now))
    failing('add', 1)
    process.env['FAIL_CODE'] = '75'
    try {
      await work.advance(signal)
    } finally {
      delete process.env['FAIL_CODE']
    }
    expect(store.records).toEqual([])
    expect(store.state.capacityFailures).toMatchObject([{ host: 'node001' }])
    expect(store.state.bootFailures).toEqual([])
  })

  test('a command that hangs fails in time', async () => {
    const { store, work } = createWork({ timeoutMs: 200 })
    store.put(createRecord('node001', 'jobs wait', now))
    writeFileSync(join(folder, 'fail-add'), '')
    const slow = createCommandProvider(
      { add: 'sleep 60', remove: 'true' },
      { placeOf: () => createLocalPlace(), cluster: 'lab', timeoutMs: 200 }
    )
    await expect(slow.launch({ name: 'x' }, signal)).rejects.toThrow('no answer within 0.2 s')
    await work.advance(signal)
    expect(store.find('node001')).toBeDefined()
  })
})

describe('removing', () => {
  async function serving(): Promise<ReturnType<typeof createWork>> {
    const parts = createWork()
    parts.store.put(createRecord('node001', 'jobs wait', now))
    await finish(parts)
    rmSync(join(folder, 'calls'))
    lines.splice(0)
    return parts
  }
  const remove = ({ store }: { store: StateStore }): void =>
    store.put(beginRemoving(store.find('node001')!, 'idle', { now }))

  test('closes, looks, deregisters and ends', async () => {
    const parts = await serving()
    remove(parts)
    await finish(parts)
    expect(calls()).toEqual(['unexport', 'unhosts', 'remove'])
    expect(machines()).toEqual([])
    expect(scheduler.hosts.size).toBe(0)
    expect(parts.store.records).toEqual([])
    expect(lines.map((line) => /: (\w+) \d\/6 done/.exec(line)?.[1]).filter(Boolean)).toEqual(
      REMOVING_STEPS.slice(0, -1)
    )
  })

  test('gives up when a job got there, and opens the host again', async () => {
    const parts = await serving()
    scheduler.hosts.get('node001')!.jobs = 1
    remove(parts)
    await parts.work.advance(signal)
    expect(parts.store.find('node001')).toMatchObject({ phase: 'serving', machineId: 'i-1' })
    expect(scheduler.hosts.get('node001')).toEqual({ isOpen: true, jobs: 1 })
    expect(machines()).toEqual(['node001'])
    expect(lines.at(-1)).toBe('node001: stays, a job is there')
  })

  test('a job that shows after the first look still stops it: the scheduler refuses', async () => {
    const parts = await serving()
    remove(parts)
    parts.store.put({ ...parts.store.find('node001')!, step: 'deregister' })
    scheduler.hosts.get('node001')!.jobs = 1
    for (let turn = 0; turn < 5; turn++) {
      await parts.work.advance(signal)
      now += 700_000
    }
    expect(machines()).toEqual(['node001'])
    expect(parts.store.find('node001')).toMatchObject({ step: 'deregister', failures: 5 })
    scheduler.hosts.get('node001')!.jobs = 0
    await finish(parts)
    expect(machines()).toEqual([])
  })

  test.each(['unexport', 'unhosts', 'remove'])('%s is tried until it succeeds', async (name) => {
    const parts = await serving()
    failing(name, 6)
    remove(parts)
    for (let turn = 0; turn < 10; turn++) {
      await parts.work.advance(signal)
      now += 700_000
    }
    expect(parts.store.records).toEqual([])
    expect(machines()).toEqual([])
    expect(calls().filter((call) => call === name)).toHaveLength(7)
  })

  test.each(REMOVING_STEPS)(
    'a balancer that died in %s is followed by one that goes on',
    async (step) => {
      const parts = await serving()
      remove(parts)
      parts.store.put({ ...parts.store.find('node001')!, step, begun: true })
      await finish(createWork())
      expect(machines()).toEqual([])
    }
  )
})

test('one that is asked to stop begins no further step', async () => {
  const { store, work } = createWork()
  store.put(createRecord('node001', 'jobs wait', now))
  const running = work.advance(signal)
  work.stop()
  await running
  expect(calls()).toEqual(['add'])
  expect(store.find('node001')).toMatchObject({ phase: 'adding', step: 'wait', machineId: 'i-1' })
})
