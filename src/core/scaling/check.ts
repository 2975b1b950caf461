/**
 * Whether the facts can be true. A scheduler that answers nonsense, or half an answer, must not cost
 * anybody a host: the first impossible thing found ends the pass with one sentence. Only what cannot
 * be is refused. More slots in use than there are, for one, is real: Grid Engine shows an orphaned
 * queue with one slot and four jobs.
 */
import type { ScalingConfig } from './config.js'
import type { Facts, HostFacts, JobFacts } from './facts.js'
import { formatDuration } from './text.js'

const HOSTS_MAX = 100_000
const LINES_MAX = 1_000_000
const SLOTS_MAX = 1_000_000
const TASKS_MAX = 100_000_000

/** The first thing that cannot be, as a sentence, or undefined. */
export function findImpossible(
  facts: Facts,
  config: ScalingConfig,
  now: number
): string | undefined {
  const latest = now + config.clockSkewMaxMs
  return (
    checkMoment(facts, config, now) ??
    checkSizes(facts) ??
    checkHosts(facts.hosts, latest) ??
    checkJobs(facts, latest) ??
    checkRest(facts, latest)
  )
}

function checkMoment(facts: Facts, config: ScalingConfig, now: number): string | undefined {
  if (!Number.isFinite(facts.at)) return `the facts have no time: ${facts.at}`
  if (facts.at > now + config.clockSkewMaxMs) {
    return `the facts are from the future, by ${formatDuration(facts.at - now)}`
  }
  if (now - facts.at > config.factsAgeMaxMs) {
    return `the facts are ${formatDuration(now - facts.at)} old`
  }
  return undefined
}

function checkSizes({ hosts, jobs, finished }: Facts): string | undefined {
  if (hosts.length > HOSTS_MAX) return `${hosts.length} hosts are more than ${HOSTS_MAX}`
  const lines = Math.max(jobs.length, finished.length)
  if (lines > LINES_MAX) return `${lines} jobs are more than ${LINES_MAX}`
  return undefined
}

function checkHosts(hosts: readonly HostFacts[], latest: number): string | undefined {
  const names = new Set<string>()
  let masters = 0
  for (const host of hosts) {
    const name = host.name
    if (name === '') return 'a host has no name'
    if (names.has(name)) return `host ${name} is listed twice`
    names.add(name)
    if (host.role === 'master') masters++
    if (!isCount(host.slots, SLOTS_MAX)) return `host ${name} has ${host.slots} slots`
    if (!isCount(host.used, SLOTS_MAX)) return `host ${name} has ${host.used} slots in use`
    const queues = new Set<string>()
    for (const { queue, slots, used } of host.queues) {
      if (queues.has(queue)) return `queue ${queue} is listed twice on host ${name}`
      queues.add(queue)
      if (!isCount(slots, SLOTS_MAX)) return `queue ${queue} on ${name} has ${slots} slots`
      if (!isCount(used, SLOTS_MAX)) return `queue ${queue} on ${name} has ${used} slots in use`
    }
    if (!isTime(host.launchedAt, latest)) return `host ${name} was launched in the future`
    if (!isTime(host.idleSince, latest)) return `host ${name} is idle from the future on`
  }
  return masters > 1 ? `${masters} hosts say that they are the master` : undefined
}

function checkJobs({ jobs, hosts }: Facts, latest: number): string | undefined {
  const names = new Set(hosts.map(({ name }) => name))
  for (const job of jobs) {
    const found = checkJob(job, latest)
    if (found !== undefined) return `job ${job.id} ${found}`
    for (const { host, slots } of job.hosts ?? []) {
      if (!isCount(slots, SLOTS_MAX)) return `job ${job.id} has ${slots} slots on ${host}`
      // Hosts and jobs were not read at one moment, or one list was cut short.
      if (!names.has(host)) return `job ${job.id} is on ${host}, which is not among the hosts`
    }
  }
  return undefined
}

function checkJob(job: JobFacts, latest: number): string | undefined {
  if (!isCount(job.slots, SLOTS_MAX) || job.slots === 0) return `wants ${job.slots} slots`
  if (!isCount(job.tasks, TASKS_MAX)) return `has ${job.tasks} tasks`
  if (!isCount(job.taskLimit ?? 0, TASKS_MAX)) return `may run ${job.taskLimit ?? 0} tasks at once`
  const perHost = job.slotsPerHost
  if (perHost !== undefined && (!isCount(perHost, SLOTS_MAX) || perHost === 0)) {
    return `wants ${perHost} slots on each host`
  }
  if (!Number.isFinite(job.submittedAt) || job.submittedAt < 0) return 'has no time of submission'
  if (job.submittedAt > latest) return 'was submitted in the future'
  if (!isTime(job.startedAt, latest)) return 'started in the future'
  if (Number.isNaN(job.startAfter)) return 'may start at no time'
  return undefined
}

function checkRest({ provider, consumables }: Facts, latest: number): string | undefined {
  for (const { name, since } of provider.booting) {
    if (!isTime(since, latest)) return `host ${name} boots from the future on`
  }
  if (!isCount(provider.machines ?? 0, HOSTS_MAX)) {
    return `the provider counts ${provider.machines ?? 0} machines`
  }
  for (const { at } of [...provider.bootFailures, ...provider.capacityFailures]) {
    if (!isTime(at, latest)) return 'a failure of the provider lies in the future'
  }
  if (!isTime(provider.lastBootAt, latest)) return 'the last boot lies in the future'
  for (const ms of provider.bootDurationsMs ?? []) {
    if (!Number.isFinite(ms) || ms < 0) return `a host came up in ${ms} ms`
  }
  for (const { name, total, used } of consumables ?? []) {
    if (!(Number.isFinite(total) && total >= 0 && Number.isFinite(used) && used >= 0)) {
      return `of ${name} there are ${total}, and ${used} in use`
    }
  }
  return undefined
}

function isCount(value: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= most
}

function isTime(value: number | undefined, latest: number): boolean {
  return value === undefined || (Number.isFinite(value) && value <= latest)
}
