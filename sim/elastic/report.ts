/** The comparison as rows, and the rows as a table for a terminal. */
import {
  AS_WRITTEN,
  DEFAULT_POLICY,
  POLICIES,
  PROMPT_POLICY,
  type BillingKind,
  type Policy
} from './policies.js'
import { replay, type ReplayOptions, type Result } from './replay.js'
import { awkwardDay, burstDay, smallDay, type Trace } from './trace.js'
import { parseWorkload } from './workload-format.js'

export interface ElasticSettings extends Omit<ReplayOptions, 'trace' | 'policy' | 'billing'> {
  readonly pricePerHour: number
}

export const ELASTIC_SETTINGS: ElasticSettings = {
  seed: 1,
  hostsMin: 1,
  hostsMax: 10,
  slotsPerHost: 8,
  bootMs: 180_000,
  intervalMs: 60_000,
  placement: 'spread',
  pricePerHour: 0.34
}

export interface ElasticOptions {
  readonly trace: Trace
  readonly policies: readonly Policy[]
  readonly billing: BillingKind
  readonly settings?: Partial<ElasticSettings>
}

export interface ElasticRow extends Result {
  readonly trace: string
  readonly billing: BillingKind
  readonly cost: number
}

export function runElastic(options: ElasticOptions): ElasticRow[] {
  const { trace, policies, billing } = options
  const settings = { ...ELASTIC_SETTINGS, ...options.settings }
  return policies.map((policy) => {
    const result = replay({ ...settings, trace, policy, billing })
    const cost = result.billedHours * settings.pricePerHour
    return { trace: trace.name, billing, ...result, cost }
  })
}

type Column = readonly [heading: string, show: (row: ElasticRow) => string]

const COLUMNS: readonly Column[] = [
  ['policy', ({ policy }) => policy],
  ['wait mean', ({ waitMeanMs }) => formatMinutes(waitMeanMs)],
  ['p95', ({ waitP95Ms }) => formatMinutes(waitP95Ms)],
  ['max', ({ waitMaxMs }) => formatMinutes(waitMaxMs)],
  ['host hours', ({ hostHours }) => hostHours.toFixed(1)],
  ['billed', ({ billedHours }) => billedHours.toFixed(1)],
  ['cost', ({ cost }) => cost.toFixed(2)],
  ['most', ({ hostsMost }) => String(hostsMost)],
  ['added', ({ added }) => formatCount(added)],
  ['removed', ({ removed }) => formatCount(removed)],
  ['flaps', ({ flaps }) => formatCount(flaps)],
  ['killed', ({ killed }) => String(killed)],
  ['unfinished', ({ unfinished }) => String(unfinished)],
  ['crashes', ({ crashes }) => String(crashes)]
]

export function formatRows(rows: readonly ElasticRow[]): string[] {
  const cells = [
    COLUMNS.map(([heading]) => heading),
    ...rows.map((row) => COLUMNS.map(([, show]) => show(row)))
  ]
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((row) => row[column].length)))
  return cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])
      )
      .join('  ')
  )
}

/** A sentence a policy of ours: whether it waits less and costs less than the text it follows. */
export function judgeRows(rows: readonly ElasticRow[]): string[] {
  const written = rows.find(({ policy }) => policy === AS_WRITTEN.name)
  if (written === undefined) return []
  return rows
    .filter(({ policy }) => policy === DEFAULT_POLICY.name || policy === PROMPT_POLICY.name)
    .map((row) => {
      const waits = `${formatMinutes(row.waitMeanMs)} instead of ${formatMinutes(written.waitMeanMs)} min`
      const costs = `${row.cost.toFixed(2)} instead of ${written.cost.toFixed(2)}`
      const isBetter = row.waitMeanMs < written.waitMeanMs && row.cost < written.cost
      const verdict = isBetter ? 'better on both' : 'not better on both'
      return `${row.policy} against ${written.policy}: waits ${waits}, costs ${costs}: ${verdict}`
    })
}

const DAYS = { small: smallDay, burst: burstDay, awkward: awkwardDay } as const

export type DayName = keyof typeof DAYS
export const DAY_NAMES = Object.keys(DAYS) as DayName[]

/** A trace in the Standard Workload Format. */
export interface WorkloadFile {
  readonly name: string
  readonly text: string
}

export interface ElasticReportOptions {
  /** So many days of each kind are drawn, from this seed on, and their figures averaged. */
  readonly seeds?: number
  readonly traces?: readonly (DayName | WorkloadFile)[]
  /** Of a file, at most so much from its start. */
  readonly hoursMax?: number
  readonly settings?: Partial<ElasticSettings>
}

/** One trace under one kind of billing, policy beside policy. */
export interface Comparison {
  readonly title: string
  readonly rows: readonly ElasticRow[]
}

/** One day says little: where a host more or less is needed is a matter of luck. */
export const DAYS_DRAWN = 8

/** Every trace under both kinds of billing. */
export function* compareTraces(options: ElasticReportOptions = {}): Generator<Comparison> {
  const { traces = DAY_NAMES, seeds = DAYS_DRAWN, hoursMax } = options
  const settings = { ...ELASTIC_SETTINGS, ...options.settings }
  const drawn = Array.from({ length: seeds }, (_, index) => settings.seed + index)
  for (const one of traces) {
    if (typeof one === 'string') {
      yield* compare(
        drawn.map((seed) => ({ seed, trace: DAYS[one](seed) })),
        settings
      )
      continue
    }
    const { trace, skipped } = parseWorkload(one.text, one.name, hoursMax)
    const note = skipped === 0 ? '' : `, ${skipped} lines are no job that ran`
    const named = { ...trace, name: `${trace.name}${note}` }
    yield* compare([{ seed: settings.seed, trace: named }], settings)
  }
}

interface Drawn {
  readonly seed: number
  readonly trace: Trace
}

function* compare(drawn: readonly Drawn[], settings: ElasticSettings): Generator<Comparison> {
  const [{ trace, seed }] = drawn
  const tasks = drawn.reduce((sum, each) => sum + countTasks(each.trace), 0)
  const which =
    drawn.length === 1 ? `seed ${seed}` : `mean of seeds ${seed} to ${seed + drawn.length - 1}`
  for (const billing of ['hour', 'second'] as const) {
    const rows = drawn.map((each) =>
      runElastic({
        trace: each.trace,
        policies: POLICIES,
        billing,
        settings: { ...settings, seed: each.seed }
      })
    )
    const size = `${Math.round(tasks / drawn.length)} tasks`
    const title = `${trace.name}, ${size}, billed by the ${billing} (${which})`
    yield { title, rows: averageRows(rows) }
  }
}

/** Means, but for what must not happen even once: those are added up. */
export function averageRows(runs: readonly (readonly ElasticRow[])[]): ElasticRow[] {
  return runs[0].map((row, index) => {
    const same = runs.map((rows) => rows[index])
    const sum = (of: (row: ElasticRow) => number): number =>
      same.reduce((total, each) => total + of(each), 0)
    const mean = (of: (row: ElasticRow) => number): number => sum(of) / same.length
    return {
      ...row,
      waitMeanMs: mean(({ waitMeanMs }) => waitMeanMs),
      waitP95Ms: mean(({ waitP95Ms }) => waitP95Ms),
      waitMaxMs: Math.max(...same.map(({ waitMaxMs }) => waitMaxMs)),
      hostHours: mean(({ hostHours }) => hostHours),
      billedHours: mean(({ billedHours }) => billedHours),
      cost: mean(({ cost }) => cost),
      hostsMost: Math.max(...same.map(({ hostsMost }) => hostsMost)),
      added: mean(({ added }) => added),
      removed: mean(({ removed }) => removed),
      flaps: mean(({ flaps }) => flaps),
      killed: sum(({ killed }) => killed),
      unfinished: sum(({ unfinished }) => unfinished),
      crashes: sum(({ crashes }) => crashes)
    }
  })
}

export function describeSettings(settings: ElasticSettings): string {
  const { hostsMin, hostsMax, slotsPerHost, bootMs, pricePerHour } = settings
  return (
    `${hostsMin} to ${hostsMax} hosts of ${slotsPerHost} slots, ${bootMs / 1000} s to boot; ` +
    `waits in minutes, billed in host hours, ${pricePerHour} an hour`
  )
}

function countTasks({ jobs }: Trace): number {
  return jobs.reduce((sum, { tasks }) => sum + tasks, 0)
}

function formatMinutes(ms: number): string {
  return (ms / 60_000).toFixed(1)
}

function formatCount(count: number): string {
  return Number.isInteger(count) ? String(count) : count.toFixed(1)
}
