/**
 * Document 004 for comparison only, twice: to the letter of its text, and as it was once coded, defects
 * and all: what the original program did with the same facts. Kept on purpose: it stands still while any host boots; the "oldest" job is
 * the first one listed; ages wrap at 24 hours; the need is rounded down and free slots are not
 * subtracted from it; jobs that no host can help are demand; dead hosts' slots count; one clock cools
 * down both ways; a name within a name is taken for the same host; hosts of different sizes, and held
 * jobs when there is an idle host, end the program. `--kill-cluster` is left out.
 */
import type { Action } from './decision.js'
import type { Facts, HostFacts, JobFacts } from './facts.js'

export interface Config004 {
  readonly hostsMin: number
  readonly hostsMax: number
  readonly addPerPass: number
  readonly jobWaitMs: number
  readonly killAfterMinutes: number
  readonly stabilizationMs: number
}

export const DEFAULT_004: Config004 = {
  hostsMin: 1,
  hostsMax: 5,
  addPerPass: 1,
  jobWaitMs: 900_000,
  killAfterMinutes: 45,
  stabilizationMs: 180_000
}

export interface Outcome004 {
  readonly actions: readonly Action[]
  /** The exception that ended the program. */
  readonly crash?: string
}

const DAY_MS = 24 * 3_600_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const NOTHING: Outcome004 = { actions: [] }

/** One loop; `changedAt` is when the cluster was last changed, at first when the program was started. */
export function decide004(facts: Facts, config: Config004, changedAt: number): Outcome004 {
  if (facts.provider.booting.length > 0) return NOTHING
  const queued = facts.jobs.filter(({ state }) => state === 'queued')
  const stable = wrap(facts.at - changedAt) > config.stabilizationMs
  const adding = add({ facts, config, queued, stable })
  if (adding.actions.length > 0 || adding.crash !== undefined) return adding
  return remove({ facts, config, queued, stable })
}

/**
 * The text's criteria and nothing else: whatever is in `qw` counts, whether or not a slot is free and
 * whoever could run it, and there is no rest after a change. Adding waits for the host to come up
 * ("Wait for that node to come up"), so nothing is decided meanwhile.
 */
export function decideAsWritten(facts: Facts, config: Config004): Outcome004 {
  const { hosts, jobs, provider, at } = facts
  if (provider.booting.length > 0) return NOTHING
  const queued = jobs.filter(({ state }) => state === 'queued')
  const oldest = Math.min(...queued.map(({ submittedAt }) => submittedAt))
  if (queued.length > 0) {
    const count = Math.min(config.addPerPass, config.hostsMax - hosts.length)
    if (at - oldest <= config.jobWaitMs || count <= 0) return NOTHING
    const reason = 'the longest queued job has waited long enough'
    return { actions: [{ kind: 'add', count, start: [], rule: 'document-004', reason }] }
  }
  const idle = hosts.filter(
    (host) =>
      host.role === 'worker' && host.used === 0 && minuteOf(host, at) >= config.killAfterMinutes
  )
  const going = idle.slice(0, Math.max(0, hosts.length - config.hostsMin))
  return {
    actions: going.map(({ name }) => ({
      kind: 'remove',
      host: name,
      rule: 'document-004',
      reason: `nothing waits and ${name} is idle`
    }))
  }
}

function minuteOf({ launchedAt }: HostFacts, at: number): number {
  return Math.floor((at - (launchedAt ?? at)) / MINUTE_MS) % (HOUR_MS / MINUTE_MS)
}

interface Loop {
  readonly facts: Facts
  readonly config: Config004
  readonly queued: readonly JobFacts[]
  readonly stable: boolean
}

function add({ facts, config, queued, stable }: Loop): Outcome004 {
  const { hosts, jobs, at } = facts
  if (hosts.length >= config.hostsMax) return NOTHING
  if (queued.length === 0 && hosts.length >= config.hostsMin) return NOTHING
  const total = hosts.reduce((sum, host) => sum + slotsOf(host), 0)
  if (!stable && total > 0) return NOTHING
  const perHost = hosts.length === 0 ? 0 : slotsOf(hosts[0])
  if (total !== perHost * hosts.length) {
    return { actions: [], crash: 'Number of slots not consistent across cluster' }
  }
  let used = 0
  for (const { hosts: shares } of jobs) {
    for (const { slots } of shares ?? []) used += slots
  }
  const wanted = queued.reduce((sum, { slots, tasks }) => sum + slots * tasks, 0)
  let need = 0
  if (hosts.length < config.hostsMin) need = config.hostsMin - hosts.length
  else if (total === 0) need = 1
  else if (wanted > total - used && wrap(at - queued[0].submittedAt) > config.jobWaitMs) {
    need = Math.floor(wanted / perHost)
  }
  const count = Math.min(config.addPerPass, need, config.hostsMax - hosts.length)
  if (count <= 0) return NOTHING
  const reason = 'the first listed job has waited long enough'
  return { actions: [{ kind: 'add', count, start: [], rule: 'document-004', reason }] }
}

function remove({ facts, config, queued, stable }: Loop): Outcome004 {
  const { hosts, jobs, at } = facts
  if (queued.length > 0 || !stable || hosts.length <= config.hostsMin) return NOTHING
  const actions: Action[] = []
  const held = jobs.some(({ hosts: shares }) => shares === undefined || shares.length === 0)
  const workers = hosts
    .filter(({ role }) => role === 'worker')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const host of workers) {
    if (actions.length >= hosts.length - config.hostsMin) break
    if (isWorking(host, jobs)) continue
    if (held) return { actions, crash: "TypeError: argument of type 'NoneType' is not iterable" }
    const minutes = minuteOf(host, at)
    if (minutes < config.killAfterMinutes) continue
    const reason = `${host.name} is idle in minute ${minutes}`
    actions.push({ kind: 'remove', host: host.name, rule: 'document-004', reason })
  }
  return { actions }
}

function isWorking({ name }: HostFacts, jobs: readonly JobFacts[]): boolean {
  return jobs.some(({ hosts }) => hosts?.some(({ host }) => host.includes(name)) ?? false)
}

function slotsOf({ queues, slots }: HostFacts): number {
  return queues.find(({ queue }) => queue === 'all.q')?.slots ?? slots
}

/** `timedelta.seconds`: what is beyond whole days. */
function wrap(ms: number): number {
  return ((ms % DAY_MS) + DAY_MS) % DAY_MS
}
