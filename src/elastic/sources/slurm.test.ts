import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expandHostList } from './host-list.js'
import { parseJobs, parseNodes } from './slurm-answer.js'

const folder = join(import.meta.dirname, '../../../test/elastic/fixtures/slurm')
const samples = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'sinfo.json')))
const read = (sample: string, file: string): string =>
  readFileSync(join(folder, sample, file), 'utf8')

describe('every real sample', () => {
  test.each(samples)('%s is read, and its numbers agree', (sample) => {
    const hosts = parseNodes(read(sample, 'sinfo.json'), undefined)
    const { jobs } = parseJobs(read(sample, 'squeue.json'))
    for (const host of hosts) {
      const shares = jobs.flatMap((job) => job.hosts ?? []).filter((s) => s.host === host.name)
      expect(shares.reduce((sum, share) => sum + share.slots, 0)).toBe(host.used)
    }
  })

  test.each(samples)('%s cut anywhere is refused', (sample) => {
    for (const [file, parse] of [
      ['sinfo.json', (text: string) => parseNodes(text, undefined)],
      ['squeue.json', parseJobs]
    ] as const) {
      const whole = read(sample, file).trimEnd()
      for (let cut = 0; cut < 40; cut++) {
        const text = whole.slice(0, Math.floor((whole.length * cut) / 40))
        expect(() => parse(text)).toThrow(/squeue|sinfo/)
      }
    }
  })
})

describe('jobs', () => {
  const { jobs } = parseJobs(read('01-powering-up', 'squeue.json'))
  const find = (id: string): unknown => jobs.find((job) => job.id === id)

  test('waiting ones carry their reason', () => {
    expect(find('5')).toMatchObject({
      state: 'queued',
      reason: 'resources',
      slots: 8,
      span: 'hosts'
    })
    expect(find('6')).toMatchObject({ state: 'held', reason: 'dependency', dependsOn: ['1'] })
    expect(find('12')).toMatchObject({ state: 'held', reason: 'hold' })
    expect(find('13')).toMatchObject({
      state: 'queued',
      reason: 'start-time',
      startAfter: 1_794_778_098_000
    })
    expect(find('14')).toMatchObject({ reasonText: 'PartitionConfig', slotsPerHost: 1, slots: 50 })
    expect(find('15')).toMatchObject({ slotsPerHost: 4, slots: 32, queues: ['burst'] })
  })

  test('a configuring job holds its hosts', () => {
    expect(find('2')).toMatchObject({
      state: 'running',
      hosts: [
        { host: 'cloud2', slots: 4 },
        { host: 'cloud3', slots: 4 }
      ]
    })
    expect(find('3_1')).toMatchObject({ state: 'running', slots: 2 })
  })

  test('finished ones are history, cancelled ones are not', () => {
    const { jobs: left, finished } = parseJobs(read('05-cloud-idle', 'squeue.json'))
    expect(left).toEqual([])
    expect(finished).toHaveLength(3)
    expect(finished.every(({ startedAt, endedAt }) => endedAt > startedAt)).toBe(true)
  })
})

describe('nodes', () => {
  test('powered down ones are no machines', () => {
    const names = parseNodes(read('09-dynamic', 'sinfo.json'), 'ctl').map(({ name }) => name)
    expect(names).toEqual(['local1', 'local2', 'dyn1', 'ctl'])
  })

  test('powering up is closed, not dead', () => {
    const states = parseNodes(read('01-powering-up', 'sinfo.json'), undefined).map((h) => h.state)
    expect(new Set(states)).toEqual(new Set(['disabled', 'ready']))
  })

  test.each([
    [['IDLE'], 'ready'],
    [['MIXED', 'PLANNED'], 'ready'],
    [['IDLE', 'DRAIN'], 'disabled'],
    [['DOWN'], 'unreachable'],
    [['ALLOCATED', 'NOT_RESPONDING'], 'unreachable']
  ])('%s is %s', (state, expected) => {
    const node = { name: 'a', cpus: 2, alloc_cpus: 0, state, partitions: ['p'] }
    const [host] = parseNodes(JSON.stringify({ errors: [], nodes: [node] }), undefined)
    expect(host.state).toBe(expected)
  })

  test('impossible numbers are refused', () => {
    const node = { name: 'a', cpus: 2, alloc_cpus: 3, state: 'idle' }
    expect(() => parseNodes(JSON.stringify({ nodes: [node] }), undefined)).toThrow(/2 CPUs and 3/)
    expect(() => parseNodes('{"nodes":[{"name":"a","cpus":-1}]}', undefined)).toThrow(/cpus of a/)
    expect(() => parseNodes('{"errors":[{"error":"down"}],"nodes":[]}', undefined)).toThrow(/down/)
    expect(() => parseNodes('{}', undefined)).toThrow(/must be a list/)
  })
})

test('later versions of Slurm', () => {
  const number = (value: number): object => ({ set: true, infinite: false, number: value })
  const job = {
    job_id: 7,
    array_job_id: number(7),
    array_task_id: { set: false, infinite: false, number: 0 },
    array_task_string: '1-10:3,12%2',
    array_max_tasks: number(2),
    job_state: ['PENDING'],
    state_reason: 'JobArrayTaskLimit',
    submit_time: number(1_794_770_898),
    time_limit: { set: false, infinite: true, number: 0 },
    cpus: number(2),
    node_count: number(1),
    tasks: number(1),
    partition: 'a,b',
    user_name: 'u',
    name: 'n'
  }
  expect(parseJobs(JSON.stringify({ jobs: [job] })).jobs).toEqual([
    {
      id: '7',
      state: 'queued',
      submittedAt: 1_794_770_898_000,
      slots: 2,
      span: 'host',
      tasks: 5,
      taskLimit: 2,
      queues: ['a', 'b'],
      reason: 'throttle',
      reasonText: 'JobArrayTaskLimit',
      family: 'u:n'
    }
  ])
})

test('host lists', () => {
  expect(expandHostList('cloud[2-3,05],local1')).toEqual(['cloud2', 'cloud3', 'cloud05', 'local1'])
  expect(expandHostList('')).toEqual([])
  expect(() => expandHostList('a[1-')).toThrow(/host list/)
  expect(() => expandHostList('a[1-999999999]')).toThrow(/host list/)
})
