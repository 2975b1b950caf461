import { describe, expect, test } from 'vitest'
import { DEFAULT_CONFIG } from '../../src/core/scaling/config.js'
import { POLICIES, policyOf, type Policy } from './policies.js'
import {
  averageRows,
  compareTraces,
  formatRows,
  judgeRows,
  runElastic,
  type ElasticRow
} from './report.js'
import { awkwardDay, burstDay, smallDay, type Trace, type TraceJob } from './trace.js'
import { parseWorkload } from './workload-format.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

function traceOf(jobs: readonly Partial<TraceJob>[]): Trace {
  const base = { submitMs: 0, durationMs: 10 * MINUTE, slots: 1, tasks: 1 }
  const whole = jobs.map((job, index) => ({ ...base, id: String(index + 1), ...job }))
  return { name: 'by hand', jobs: whole, horizonMs: 10 * HOUR }
}

/** Does what a list says, whatever the facts are. */
function scripted(script: Readonly<Record<number, string>>, drains = true): Policy {
  let passes = 0
  return {
    name: 'scripted',
    drains,
    start: () => () => {
      const [kind, host] = (script[++passes] ?? '').split(' ')
      const base = { rule: 'script', reason: 'because' }
      if (kind === 'add') return { actions: [{ kind, count: 1, start: [], ...base }] }
      if (kind === 'remove') return { actions: [{ kind, host, ...base }] }
      return { actions: [] }
    }
  }
}

function run(trace: Trace, policy: Policy): ElasticRow {
  return runElastic({ trace, policies: [policy], billing: 'hour' })[0]
}

describe('the replay', () => {
  test('one host: what does not fit waits for its turn', () => {
    const row = run(traceOf([{ tasks: 12 }]), scripted({}))
    // Eight start at once, four after ten minutes.
    expect(row.waitMeanMs).toBe((4 * 10 * MINUTE) / 12)
    expect(row).toMatchObject({ waitP95Ms: 10 * MINUTE, hostHours: 10, billedHours: 10, killed: 0 })
    expect(row).toMatchObject({ unfinished: 0, added: 0, removed: 0, hostsMost: 1 })
  })

  test('an added host takes its time to boot, works, and is paid by the begun hour', () => {
    const trace = traceOf([{ tasks: 16, durationMs: 30 * MINUTE }])
    const row = run(trace, scripted({ 1: 'add', 70: 'remove node001' }))
    expect(row).toMatchObject({ added: 1, removed: 1, hostsMost: 2, killed: 0 })
    // From minute 1 to minute 70 and some seconds: two begun hours beside the master's ten.
    expect(row.billedHours).toBe(12)
    expect(row.hostHours).toBeCloseTo(10 + 69.33 / 60, 2)
    const boot = 2 * row.waitMeanMs - MINUTE
    expect(boot).toBeGreaterThan(2 * MINUTE)
    expect(boot).toBeLessThan(4 * MINUTE)
  })

  test('a busy host is given up on when it is closed first, and kills its jobs when not', () => {
    const trace = traceOf([{ tasks: 16, durationMs: HOUR }])
    const script = { 1: 'add', 20: 'remove node001' }
    expect(run(trace, scripted(script))).toMatchObject({ removed: 0, killed: 0, unfinished: 0 })
    const rough = run(trace, scripted(script, false))
    expect(rough).toMatchObject({ removed: 1, killed: 8, unfinished: 0 })
  })

  test('holds, start times, limits and impossible jobs', () => {
    const trace = traceOf([
      { tasks: 4, taskLimit: 2 },
      { startAfterMs: HOUR },
      { heldUntilMs: 2 * HOUR },
      { impossible: true },
      { submitMs: 9.9 * HOUR, durationMs: HOUR }
    ])
    const row = run(trace, scripted({}))
    expect(row).toMatchObject({ waitMeanMs: 0, unfinished: 1 })
  })

  test('a job larger than a host is spread over several', () => {
    const row = run(
      traceOf([{ slots: 20 }]),
      policyOf('x', () => ({ ...DEFAULT_CONFIG, addPerPass: 5 }))
    )
    expect(row).toMatchObject({ added: 2, unfinished: 0 })
  })

  test('the same seed gives the same rows', () => {
    const once = (): ElasticRow[] =>
      runElastic({ trace: smallDay(3), policies: POLICIES, billing: 'second' })
    expect(once()).toEqual(once())
  })
})

describe('the shipped days', () => {
  const seeds = [1, 2]
  const mean = (day: (seed: number) => Trace, billing: 'hour' | 'second'): ElasticRow[] =>
    averageRows(
      seeds.map((seed) =>
        runElastic({ trace: day(seed), policies: POLICIES, billing, settings: { seed } })
      )
    )

  test.each([
    ['small day', 'second', smallDay],
    ['burst day', 'hour', burstDay],
    ['burst day', 'second', burstDay]
  ] as const)('%s by the %s: the prompt policy waits less and costs less', (_, billing, day) => {
    const [written, coded, ours, prompt] = mean(day, billing)
    for (const original of [written, coded]) {
      expect(prompt.waitMeanMs).toBeLessThan(original.waitMeanMs)
      expect(prompt.waitP95Ms).toBeLessThan(original.waitP95Ms)
      expect(prompt.cost).toBeLessThan(original.cost)
    }
    expect(ours.waitMeanMs).toBeLessThan(coded.waitMeanMs)
    for (const row of [ours, prompt])
      expect(row).toMatchObject({ killed: 0, unfinished: 0, crashes: 0 })
  })

  test('awkward day: the original pays three times as much for jobs that nobody can help', () => {
    const [written, coded, ours, prompt] = runElastic({
      trace: awkwardDay(1),
      policies: POLICIES,
      billing: 'hour'
    })
    for (const original of [written, coded]) {
      expect(original.billedHours).toBeGreaterThan(2.5 * ours.billedHours)
    }
    expect(prompt.billedHours).toBeLessThan(ours.billedHours)
    for (const row of [ours, prompt])
      expect(row).toMatchObject({ killed: 0, unfinished: 0, crashes: 0 })
  })
})

describe('the Standard Workload Format', () => {
  const TEXT = `; Version: 2
; Computer: small
  1   100  5  60  4 -1 -1  8 -1 -1 1 7 1 3 -1 -1 -1 -1
  2    40  0 120 -1 -1 -1 16 -1 -1 1 7 1 3 -1 -1 -1 -1
  3   200  0  -1  1 -1 -1  1 -1 -1 5 7 1 3 -1 -1 -1 -1
  4   300  0  10  0 -1 -1 -1 -1 -1 1 7 1 3 -1 -1 -1 -1
  5 nonsense
`

  test('jobs that ran, in order of submission, from the first one on', () => {
    const { trace, skipped } = parseWorkload(TEXT, 'small.swf')
    expect(skipped).toBe(3)
    expect(trace.jobs).toEqual([
      { id: '2', submitMs: 0, durationMs: 120_000, slots: 16, tasks: 1, family: '7/3' },
      { id: '1', submitMs: 60_000, durationMs: 60_000, slots: 4, tasks: 1, family: '7/3' }
    ])
    expect(trace.horizonMs).toBe(120_000 + 6 * HOUR)
  })

  test('half a file, nothing and noise are no jobs', () => {
    for (const text of [
      '',
      ';',
      'x y z',
      '1 2',
      '\u0000\u0001',
      '1 -5 0 60 4',
      'NaN NaN NaN NaN NaN'
    ]) {
      expect(parseWorkload(text, 'x').trace.jobs).toEqual([])
    }
  })

  test('is compared like the shipped days, and as far as is asked for', () => {
    const traces = [{ name: 'small.swf', text: TEXT }]
    const [byHour, bySecond] = compareTraces({ traces })
    expect(byHour.title).toBe(
      'small.swf, 3 lines are no job that ran, 2 tasks, billed by the hour (seed 1)'
    )
    expect(bySecond.rows.map(({ policy }) => policy)).toEqual(POLICIES.map(({ name }) => name))
    expect(parseWorkload(TEXT, 'x', 1 / 60).trace.jobs.map(({ id }) => id)).toEqual(['2'])
  })
})

test('a sentence says whether a policy of ours is better than the text', () => {
  const rows = runElastic({ trace: traceOf([{ tasks: 12 }]), policies: POLICIES, billing: 'hour' })
  const change = (row: ElasticRow, waitMeanMs: number, cost: number): ElasticRow => ({
    ...row,
    waitMeanMs,
    cost
  })
  const [written, , ours, prompt] = rows
  expect(
    judgeRows([
      change(written, 6 * MINUTE, 10),
      change(ours, 3 * MINUTE, 11),
      change(prompt, MINUTE, 8)
    ])
  ).toEqual([
    'default against document 004 as written: waits 3.0 instead of 6.0 min, costs 11.00 instead of 10.00: not better on both',
    'prompt against document 004 as written: waits 1.0 instead of 6.0 min, costs 8.00 instead of 10.00: better on both'
  ])
})

test('the table is aligned', () => {
  const rows = runElastic({ trace: traceOf([{ tasks: 12 }]), policies: POLICIES, billing: 'hour' })
  const lines = formatRows(rows)
  expect(lines[0]).toMatch(/^policy +wait mean +p95 +max +host hours +billed +cost/)
  expect(new Set(lines.map((line) => line.length)).size).toBe(1)
})
