import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HostFacts, JobFacts } from '../../core/scaling/facts.js'
import {
  formatAccountingTime,
  isEmptyAccounting,
  parseAccounting
} from './grid-engine-accounting.js'
import { composeHosts, isSameHost, listSiteResources, parseHosts } from './grid-engine-hosts.js'
import { parseQueue } from './grid-engine-queue.js'
import { chooseForDetails, parseDetails } from './grid-engine-reasons.js'
import { parseAllocationRule, parseComplexValues } from './grid-engine.js'

const folder = join(import.meta.dirname, '../../../test/elastic/fixtures/sge')
const samples = readdirSync(folder)
const read = (sample: string, file: string): string =>
  readFileSync(join(folder, sample, file), 'utf8')

function readSample(sample: string): {
  hosts: HostFacts[]
  running: readonly JobFacts[]
  waiting: JobFacts[]
} {
  const queue = parseQueue(read(sample, 'qstat-f-u-r.xml'))
  const list = parseHosts(read(sample, 'qhost.xml'))
  const details = parseDetails(read(sample, 'qstat-j-all.xml'))
  return {
    hosts: composeHosts(list, queue, { master: 'sgem', siteResources: [] }),
    running: queue.running,
    waiting: queue.waiting.map(({ facts }) => ({ ...details.get(facts.id), ...facts }))
  }
}

describe('every real sample', () => {
  test.each(samples)('%s is read, and its numbers agree', (sample) => {
    const { hosts, running } = readSample(sample)
    expect(hosts.filter(({ role }) => role === 'master')).toHaveLength(1)
    for (const host of hosts) {
      const shares = running.flatMap((job) => job.hosts ?? []).filter((s) => s.host === host.name)
      expect(host.used).toBe(shares.reduce((sum, share) => sum + share.slots, 0))
      expect(host.slots).toBeGreaterThanOrEqual(host.used)
    }
    const finished = parseAccounting(read(sample, 'qacct-j.txt'))
    for (const job of finished) {
      expect(job.endedAt - job.startedAt).toBeGreaterThanOrEqual(0)
      expect(job.endedAt - job.startedAt).toBeLessThan(3_600_000)
      expect(job.submittedAt ?? job.startedAt).toBeGreaterThan(Date.UTC(2026, 0))
    }
  })

  test.each(samples)('%s cut anywhere is refused, never an empty queue', (sample) => {
    for (const file of ['qstat-f-u-r.xml', 'qhost.xml']) {
      const whole = read(sample, file)
      const parse = file === 'qhost.xml' ? parseHosts : parseQueue
      const end = whole.lastIndexOf('>')
      for (let cut = 0; cut < 40; cut++) {
        const text = whole.slice(0, Math.floor((end * cut) / 40))
        expect(() => parse(text), `cut at ${text.length}`).toThrow(/qstat|qhost/)
      }
    }
  })
})

describe('01-mixed', () => {
  const { hosts, running, waiting } = readSample('01-mixed')
  const find = (id: string): JobFacts => [...running, ...waiting].find((job) => job.id === id)!

  test('has three full hosts and a master without slots', () => {
    expect(hosts.map(({ name, slots, used, state }) => [name, slots, used, state])).toEqual([
      ['node001', 4, 4, 'ready'],
      ['node002', 4, 4, 'ready'],
      ['node003', 4, 4, 'ready'],
      ['sgem', 0, 0, 'ready']
    ])
    expect(hosts[0].resources).toEqual({ arch: 'lx-amd64', memoryMb: 24_064, processors: 2 })
  })

  test('gathers a parallel job over two hosts', () => {
    expect(find('6')).toMatchObject({ slots: 6, span: 'hosts', state: 'running' })
    expect(find('6').hosts).toEqual([
      { host: 'node001', slots: 3 },
      { host: 'node003', slots: 3 }
    ])
  })

  test('a suspended job sits on its host', () => {
    expect(find('3')).toMatchObject({ state: 'suspended', hosts: [{ host: 'node003', slots: 1 }] })
  })

  test('knows the array, half of it running', () => {
    expect(running.filter(({ id }) => id.startsWith('7.')).map(({ id }) => id)).toEqual([
      '7.1',
      '7.3',
      '7.5'
    ])
    expect(find('7')).toMatchObject({ state: 'queued', tasks: 2, slots: 1 })
  })

  test('tells holds, dependencies, later starts and requests', () => {
    expect(find('10')).toMatchObject({ state: 'held', reason: 'hold', holds: ['hold'] })
    expect(find('11')).toMatchObject({ state: 'held', reason: 'dependency', dependsOn: ['3'] })
    expect(find('15')).toMatchObject({ state: 'queued', reason: 'start-time' })
    expect(find('15').startAfter).toBeGreaterThan(find('15').submittedAt + 60_000)
    expect(find('14').resources).toEqual({ arch: 'lx-arm' })
    expect(find('8')).toMatchObject({ resources: { memoryMb: 100 }, timeLimitMs: 600_000 })
    expect(find('9')).toMatchObject({ slots: 2 })
    expect(find('12')).toMatchObject({ slots: 64, submittedAt: Date.UTC(2026, 10, 15, 19, 19, 46) })
  })

  test('asks for the reasons of arrays, requests and jobs without a priority only', () => {
    const queue = parseQueue(read('01-mixed', 'qstat-f-u-r.xml'))
    expect(chooseForDetails(queue.waiting, 100)).toEqual(['7', '8', '14', '15'])
    expect(chooseForDetails(queue.waiting, 2)).toEqual(['7', '8'])
  })
})

describe('hosts in trouble', () => {
  test('02-orphaned: a host that left its group, and a job in error', () => {
    const { hosts, waiting } = readSample('02-orphaned')
    expect(hosts.map(({ name, state }) => [name, state])).toContainEqual(['node003', 'orphaned'])
    expect(waiting).toMatchObject([{ id: '16', state: 'errored' }])
  })

  test('03-node-lost: unreachable with its jobs', () => {
    const { hosts, running } = readSample('03-node-lost')
    expect(hosts.find(({ name }) => name === 'node002')).toMatchObject({
      state: 'unreachable',
      slots: 4,
      used: 3
    })
    expect(running.filter((job) => job.hosts?.[0].host === 'node002')).toHaveLength(3)
  })

  test('a host with an open and a closed queue offers only the open one', () => {
    const queue = (name: string, state: string): string =>
      `<Queue-List><name>${name}@h</name><slots_used>1</slots_used><slots_total>8</slots_total>${state}</Queue-List>`
    const xml = `<job_info><queue_info>${queue('all.q', '')}${queue('big.q', '<state>d</state>')}</queue_info><job_info/></job_info>`
    const [host] = composeHosts({ lines: [], shared: new Map() }, parseQueue(xml), {
      siteResources: []
    })
    expect(host).toMatchObject({ state: 'ready', slots: 8, used: 2 })
    expect(host.queues).toEqual([
      { queue: 'all.q', slots: 8, used: 1 },
      { queue: 'big.q', slots: 1, used: 1 }
    ])
  })
})

describe('04-bigqueue', () => {
  test('counts the tasks of long lists, and their limit', () => {
    const { waiting } = readSample('04-bigqueue')
    expect(waiting).toMatchObject([
      { id: '25', tasks: 1924 },
      { id: '26', tasks: 7, taskLimit: 2 }
    ])
  })
})

describe('accounting', () => {
  test('leaves out what never began, and submissions of 1970', () => {
    const jobs = parseAccounting(read('03-node-lost', 'qacct-j.txt'))
    expect(jobs.length).toBeGreaterThan(5)
    expect(
      jobs.filter(({ submittedAt }) => submittedAt !== undefined && submittedAt < 1e12)
    ).toEqual([])
    expect(jobs[0]).toEqual({
      id: '1',
      submittedAt: Date.UTC(2026, 10, 15, 19, 19, 39),
      startedAt: Date.UTC(2026, 10, 15, 19, 19, 39),
      endedAt: Date.UTC(2026, 10, 15, 19, 19, 39),
      slots: 1,
      family: 'root:ok1'
    })
  })

  test('tells each task of an array', () => {
    const ids = parseAccounting(read('05-after-delete', 'qacct-j.txt')).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.some((id) => id.startsWith('25.'))).toBe(true)
  })

  test('an empty one is no failure', () => {
    expect(isEmptyAccounting(read('00-empty', 'qacct-j.txt'))).toBe(true)
    expect(isEmptyAccounting('error: unable to contact qmaster')).toBe(false)
    expect(formatAccountingTime(Date.UTC(2026, 10, 5, 9, 8, 7))).toBe('202611050908')
  })
})

describe('impossible numbers', () => {
  const job = (inside: string): string =>
    `<job_info><queue_info/><job_info><job_list state="pending">${inside}</job_list></job_info></job_info>`
  const time = '<JB_submission_time>2026-11-15T19:19:45</JB_submission_time>'
  test.each([
    ['<JB_job_number>1</JB_job_number><state>qw</state><slots>-4</slots>', /<slots> is -4/],
    ['<JB_job_number>1</JB_job_number><state>qw</state><slots>99999999</slots>', /99999999 slots/],
    ['<JB_job_number>1</JB_job_number><state>qw</state>', /no <slots>/],
    [`<JB_job_number>1</JB_job_number><slots>1</slots>${time}`, /no <state>/],
    ['<JB_job_number>x</JB_job_number><state>qw</state><slots>1</slots>', /not a number/],
    [
      '<JB_job_number>1</JB_job_number><state>qw</state><slots>1</slots><JB_submission_time>soon</JB_submission_time>',
      /soon, not a time/
    ],
    [
      `<JB_job_number>1</JB_job_number><state>qw</state><slots>1</slots><tasks>9-1:0</tasks>${time}`,
      /no range of tasks/
    ]
  ])('%s', (inside, message) => {
    expect(() => parseQueue(job(inside))).toThrow(message)
  })

  test('the document type of a bomb is refused', () => {
    expect(() => parseQueue('<!DOCTYPE a [<!ENTITY b "b">]><job_info/>')).toThrow(/document type/)
  })
})

test('an allocation rule tells how a job spreads', () => {
  expect(parseAllocationRule('pe_name smp\nallocation_rule    $pe_slots\n')).toEqual({
    span: 'host'
  })
  expect(parseAllocationRule('allocation_rule 4\n')).toEqual({ span: 'hosts', slotsPerHost: 4 })
  expect(parseAllocationRule('allocation_rule $fill_up\n')).toEqual({ span: 'hosts' })
})

test('a host is the same with and without its domain, but not by its beginning', () => {
  expect(isSameHost('node10', 'node100')).toBe(false)
  expect(isSameHost('node10.a.org', 'node10')).toBe(true)
  expect(isSameHost('node10.a.org', 'node10.b.org')).toBe(false)
})

describe('resources of the site', () => {
  const running =
    '<job_list state="running"><JB_job_number>1</JB_job_number><state>r</state><slots>2</slots><JAT_start_time>2026-11-15T19:19:45</JAT_start_time><hard_request name="gpu">1</hard_request></job_list>'
  const waiting =
    '<job_list state="pending"><JB_job_number>2</JB_job_number><state>qw</state><slots>1</slots><JB_submission_time>2026-11-15T19:19:45</JB_submission_time><hard_request name="gpu">1</hard_request><hard_request name="lic">1</hard_request><hard_request name="h_vmem">7</hard_request></job_list>'
  const queue = parseQueue(
    `<job_info><queue_info><Queue-List><name>all.q@a</name><slots_used>2</slots_used><slots_total>4</slots_total>${running}</Queue-List></queue_info><job_info>${waiting}</job_info></job_info>`
  )
  const line = (name: string, values: string): string =>
    `<host name='${name}'><hostvalue name='load_avg'>1</hostvalue>${values}</host>`
  const value = (name: string, dominance: string, amount: string): string =>
    `<resourcevalue name='${name}' dominance='${dominance}'>${amount}</resourcevalue>`
  const list = parseHosts(
    `<qhost>${line('global', value('lic', 'gc', '3.000000'))}${line('a', value('gpu', 'hc', '0.000000') + value('lic', 'gc', '3.000000'))}${line('b', '')}</qhost>`
  )

  test('are asked for by name', () => {
    expect(listSiteResources(queue)).toEqual(['gpu', 'lic'])
  })

  test('what is taken counts as there, what nobody has counts as none, and licences are of no host', () => {
    const hosts = composeHosts(list, queue, { siteResources: ['gpu', 'lic'] })
    expect(
      hosts.map(({ name, resources, resourcesUsed }) => [name, resources, resourcesUsed])
    ).toEqual([
      ['a', { gpu: 2 }, { gpu: 2 }],
      ['b', { gpu: 0 }, { gpu: 0 }]
    ])
    expect([...list.shared]).toEqual([['lic', 3]])
    expect([
      ...parseComplexValues('hostname global\ncomplex_values        lic=5,tok\\\n  en=20\n')
    ]).toEqual([
      ['lic', 5],
      ['token', 20]
    ])
  })
})
