/** The comparison as rows, and the rows as a table for a terminal. */
import { POLICIES, type BillingKind, type Policy } from './policies.js'
import { replay, type ReplayOptions, type Result } from './replay.js'
import { awkwardDay, burstDay, smallDay, type Trace } from './trace.js'
import { parseWorkload } from './workload-format.js'

export type ElasticSettings = Omit<ReplayOptions, 'trace' | 'policy' | 'billing'>

export const ELASTIC_SETTINGS: ElasticSettings = {
  seed: 1,
  hostsMin: 1,
  hostsMax: 10,
  slotsPerHost: 8,
  bootMs: 180_000,
  intervalMs: 60_000,
  placement: 'spread'
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
}

export function runElastic(options: ElasticOptions): ElasticRow[] {
  const { trace, policies, billing } = options
  const settings = { ...ELASTIC_SETTINGS, ...options.settings }
  return policies.map((policy) => ({
    trace: trace.name,
    billing,
    ...replay({ ...settings, trace, policy, billing })
  }))
}

const HEADINGS = [
  'policy',
  'wait mean',
  'wait p95',
  'host hours',
  'billed',
  'most',
  'added',
  'removed',
  'killed',
  'unfinished',
  'crashes'
]

export function formatRows(rows: readonly ElasticRow[]): string[] {
  const cells = rows.map((row) => [
    row.policy,
    formatMinutes(row.waitMeanMs),
    formatMinutes(row.waitP95Ms),
    row.hostHours.toFixed(1),
    row.billedHours.toFixed(1),
    String(row.hostsMost),
    formatCount(row.added),
    formatCount(row.removed),
    String(row.killed),
    String(row.unfinished),
    String(row.crashes)
  ])
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column].length))
  )
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])
      )
      .join('  ')
  return [line(HEADINGS), ...cells.map(line)]
}

const DAYS = { small: smallDay, burst: burstDay, awkward: awkwardDay } as const

export type DayName = keyof typeof DAYS

export interface ElasticReportOptions {
  readonly seed?: number
  /** So many days of each kind are drawn, from this seed on, and their figures averaged. */
  readonly seeds?: number
  readonly days?: readonly DayName[]
  /** A trace in the Standard Workload Format, instead of the shipped days. */
  readonly workload?: { readonly name: string; readonly text: string }
  readonly settings?: Partial<ElasticSettings>
}

/** One day says little: where a host more or less is needed is a matter of luck. */
const SEEDS = 8
const SEEDS_MAX = 1000

/** Every trace under both kinds of billing, policy beside policy. */
export function elasticReport(options: ElasticReportOptions = {}): string[] {
  const { workload, days = ['small', 'burst', 'awkward'] } = options
  const settings = { ...ELASTIC_SETTINGS, ...options.settings }
  const first = options.seed ?? settings.seed
  const seeds = Math.min(SEEDS_MAX, options.seeds ?? (workload === undefined ? SEEDS : 1))
  const lines = [describeSettings(settings)]
  const drawn = Array.from({ length: seeds }, (_, index) => first + index)
  if (workload !== undefined) {
    const { trace, skipped } = parseWorkload(workload.text, workload.name)
    if (skipped > 0) lines.push(`${skipped} lines of ${workload.name} are no job that ran`)
    lines.push(
      ...compare(
        drawn.map((seed) => ({ seed, trace })),
        settings
      )
    )
    return lines
  }
  for (const day of days) {
    lines.push(
      ...compare(
        drawn.map((seed) => ({ seed, trace: DAYS[day](seed) })),
        settings
      )
    )
  }
  return lines
}

interface Drawn {
  readonly seed: number
  readonly trace: Trace
}

function compare(drawn: readonly Drawn[], settings: ElasticSettings): string[] {
  const [{ trace, seed }] = drawn
  const tasks = drawn.reduce((sum, each) => sum + countTasks(each.trace), 0)
  const which =
    drawn.length === 1 ? `seed ${seed}` : `mean of seeds ${seed} to ${seed + drawn.length - 1}`
  return (['hour', 'second'] as const).flatMap((billing) => {
    const rows = drawn.map((each) =>
      runElastic({
        trace: each.trace,
        policies: POLICIES,
        billing,
        settings: { ...settings, seed: each.seed }
      })
    )
    const title = `${trace.name}, ${Math.round(tasks / drawn.length)} tasks, billed by the ${billing} (${which})`
    return ['', title, ...formatRows(averageRows(rows))]
  })
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
      hostHours: mean(({ hostHours }) => hostHours),
      billedHours: mean(({ billedHours }) => billedHours),
      hostsMost: Math.max(...same.map(({ hostsMost }) => hostsMost)),
      added: mean(({ added }) => added),
      removed: mean(({ removed }) => removed),
      killed: sum(({ killed }) => killed),
      unfinished: sum(({ unfinished }) => unfinished),
      crashes: sum(({ crashes }) => crashes)
    }
  })
}

function describeSettings(settings: ElasticSettings): string {
  const { hostsMin, hostsMax, slotsPerHost, bootMs } = settings
  return (
    `${hostsMin} to ${hostsMax} hosts of ${slotsPerHost} slots, ${bootMs / 1000} s to boot; ` +
    `waits in minutes, billed in host hours`
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
