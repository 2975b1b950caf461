/**
 * What a balancer tells others after a pass (docs/elastic.md, "In the dashboard"): the queue, the hosts, and the last
 * verdict of each rule, as one plain object whose size has a limit whatever the cluster's is. When a pass had no facts
 * the former report stays, with the problem beside it: an old picture with a warning says more than none.
 */
import type { Decision, NamedJob, Statistics, Verdict } from './decision.js'
import type { Facts, JobState } from './facts.js'

export const HOSTS_REPORTED_MAX = 200
export const JOBS_REPORTED_MAX = 50

/** What the balancer remembers of a host that it launched. */
export interface HostProgress {
  readonly name: string
  readonly phase: string
  /** `launch 1/9`; undefined when it is on no way. */
  readonly step?: string | undefined
  readonly reason?: string | undefined
  readonly failure?: string | undefined
  readonly launchedAt?: number | undefined
}

export interface ReportedHost {
  readonly name: string
  readonly role: string
  /** As in the facts, or `booting` while the scheduler does not know it. */
  readonly state: string
  readonly slots: number
  readonly used: number
  readonly phase: string | null
  readonly step: string | null
  readonly reason: string | null
  readonly failure: string | null
  readonly launchedAt: number | null
  readonly idleSince: number | null
  readonly pricePerHour: number | null
}

export interface ReportedJob {
  readonly id: string
  readonly state: JobState
  readonly slots: number
  readonly tasks: number
  readonly submittedAt: number
  readonly reason: string | null
}

export interface ReportedAction {
  readonly kind: string
  readonly host?: string
  readonly count?: number
  readonly rule: string
  readonly reason: string
}

export interface BalancerReport {
  readonly cluster: string
  readonly source: string
  readonly provider: string
  readonly dryRun: boolean
  readonly at: number
  readonly intervalMs: number
  readonly problem: string | null
  readonly failedPasses: number
  readonly summary: string
  readonly limits: { readonly hostsMin: number; readonly hostsMax: number }
  readonly statistics: Statistics | null
  readonly cost: { readonly perHour: number; readonly total: number }
  readonly actions: readonly ReportedAction[]
  readonly verdicts: readonly Verdict[]
  readonly hopeless: readonly NamedJob[]
  readonly hopelessCount: number
  readonly hosts: readonly ReportedHost[]
  readonly hostsCount: number
  readonly jobs: readonly ReportedJob[]
  readonly jobsCount: number
}

/** A line of what was, for the chart beside the report. */
export interface ReportPoint {
  readonly at: number
  readonly hosts: number
  readonly booting: number
  readonly running: number
  readonly queued: number
  readonly needed: number
  readonly oldestWaitMs: number
  readonly costPerHour: number
}

/** As `GET /api/elastic` shows it. */
export interface PublishedReport extends BalancerReport {
  readonly receivedAt: number
  readonly stale: boolean
  readonly history: readonly ReportPoint[]
}

/** What does not change from pass to pass. */
export type ReportFrame = Pick<
  BalancerReport,
  'cluster' | 'source' | 'provider' | 'dryRun' | 'intervalMs' | 'limits'
>

export interface ReportInput {
  readonly at: number
  /** Both undefined in a pass without facts. */
  readonly facts: Facts | undefined
  readonly decision: Decision | undefined
  readonly problem: string | undefined
  readonly failedPasses: number
  readonly progress: readonly HostProgress[]
  readonly idleSince: Readonly<Partial<Record<string, number>>>
  readonly costTotal: number
}

/** `former` is what was told last, for a pass that has nothing new to tell. */
export function reportPass(
  frame: ReportFrame,
  input: ReportInput,
  former: BalancerReport | undefined
): BalancerReport {
  const { facts, decision, at, failedPasses } = input
  const problem = input.problem ?? null
  if (facts === undefined || decision === undefined) {
    const summary = problem === null ? 'nothing is changed' : `nothing is changed: ${problem}`
    const rest = former ?? { ...EMPTY, ...frame }
    // Nothing was decided: what was decided before is not done again.
    return { ...rest, at, problem, failedPasses, summary, actions: [] }
  }
  const hosts = listHosts(input, facts)
  const waiting = facts.jobs
    .filter(({ state }) => state !== 'running' && state !== 'suspended')
    .sort((a, b) => a.submittedAt - b.submittedAt)
  return {
    ...frame,
    at,
    problem: decision.statistics === undefined ? (problem ?? decision.summary) : problem,
    failedPasses,
    summary: decision.summary,
    statistics: decision.statistics ?? null,
    cost: {
      perHour: facts.hosts.reduce((sum, { pricePerHour = 0 }) => sum + pricePerHour, 0),
      total: input.costTotal
    },
    actions: decision.actions.map(toReportedAction),
    verdicts: decision.verdicts,
    hopeless: decision.hopeless,
    hopelessCount: decision.hopelessCount,
    hosts: hosts.slice(0, HOSTS_REPORTED_MAX),
    hostsCount: hosts.length,
    jobs: waiting.slice(0, JOBS_REPORTED_MAX).map((job) => ({
      id: job.id,
      state: job.state,
      slots: job.slots,
      tasks: job.tasks,
      submittedAt: job.submittedAt,
      reason: job.reasonText ?? job.reason ?? null
    })),
    jobsCount: waiting.length
  }
}

export function toReportPoint({ at, statistics, cost }: BalancerReport): ReportPoint | undefined {
  if (statistics === null) return undefined
  const { hosts, booting, running, queued, needed, oldestWaitMs } = statistics
  return { at, hosts, booting, running, queued, needed, oldestWaitMs, costPerHour: cost.perHour }
}

const EMPTY = {
  statistics: null,
  cost: { perHour: 0, total: 0 },
  verdicts: [],
  hopeless: [],
  hopelessCount: 0,
  hosts: [],
  hostsCount: 0,
  jobs: [],
  jobsCount: 0
} as const

function toReportedAction(action: Decision['actions'][number]): ReportedAction {
  const { kind, rule, reason } = action
  if (action.kind === 'add') return { kind, count: action.count, rule, reason }
  return action.kind === 'shutdown'
    ? { kind, rule, reason }
    : { kind, host: action.host, rule, reason }
}

/** Hosts on their way first, then by name. */
function listHosts({ progress, idleSince }: ReportInput, facts: Facts): ReportedHost[] {
  const records = new Map(progress.map((record) => [record.name, record]))
  const known = new Set(facts.hosts.map(({ name }) => name))
  const listed = facts.hosts.map((host) => {
    const { name, role, state, slots, used } = host
    const idle = host.idleSince ?? idleSince[name]
    const progressed = describeProgress(records.get(name))
    return {
      name,
      role,
      state,
      slots,
      used,
      ...progressed,
      launchedAt: host.launchedAt ?? progressed.launchedAt,
      idleSince: used > 0 ? null : (idle ?? null),
      pricePerHour: host.pricePerHour ?? null
    }
  })
  const coming = progress
    .filter(({ name }) => !known.has(name))
    .map((record) => ({
      name: record.name,
      role: 'worker',
      state: record.phase === 'adding' ? 'booting' : record.phase,
      slots: 0,
      used: 0,
      ...describeProgress(record),
      idleSince: null,
      pricePerHour: null
    }))
  const rank = ({ step }: ReportedHost): number => (step === null ? 1 : 0)
  return [...coming, ...listed].sort(
    (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  )
}

function describeProgress(
  record: HostProgress | undefined
): Pick<ReportedHost, 'phase' | 'step' | 'reason' | 'failure' | 'launchedAt'> {
  return {
    phase: record?.phase ?? null,
    step: record?.step ?? null,
    reason: record?.reason ?? null,
    failure: record?.failure ?? null,
    launchedAt: record?.launchedAt ?? null
  }
}
