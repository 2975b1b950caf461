/**
 * Grid Engine's `qstat -u '*' -f -r -xml` and `qhost -xml` as facts. Learned from real answers: a parallel job over k
 * hosts is k entries whose slots are the share on that host; running array tasks are one entry each and waiting ones
 * one entry with a list; a suspended job is among the running ones; a dead host keeps its slots and its jobs. Times
 * have no zone, so the commands are run with TZ=UTC.
 */
import type {
  HostState,
  JobFacts,
  JobShare,
  JobState,
  Resources
} from '../../core/scaling/facts.js'
import { FactsError } from './facts-error.js'
import {
  childOf,
  childrenOf,
  parseXml,
  requireCount,
  requireText,
  textOf,
  type XmlElement
} from './scheduler-xml.js'
import { countTasks } from './task-list.js'

/** More slots than this on one host is a misread number. */
const SLOTS_MAX = 1_000_000
const SECOND_MS = 1000
const MEMORY_UNITS_MB: Readonly<Record<string, number>> = {
  '': 1 / 1_048_576,
  k: 1000 / 1_048_576,
  K: 1 / 1024,
  m: 1_000_000 / 1_048_576,
  M: 1,
  g: 1_000_000_000 / 1_048_576,
  G: 1024,
  t: 1e12 / 1_048_576,
  T: 1024 * 1024
}

/** Limits and names of queues are requested like resources, and no host offers them. */
const ELSEWHERE = /^[hs]_|^(slots|qname|q|hostname|calendar|rerun|seq_no|tmpdir)$/
/** What a host's own line tells. */
export const OWN_RESOURCES = new Set(['arch', 'memoryMb', 'processors'])

/** A waiting entry: what the reasons may add to it later needs the parallel environment and the priority. */
export interface WaitingJob {
  readonly facts: JobFacts
  readonly environment: string | undefined
  readonly priority: number
  /** It asks for something that only the scheduler may know. */
  readonly hasRequests: boolean
}

export interface QueueInstance {
  readonly queue: string
  readonly host: string
  readonly state: HostState
  readonly slots: number
  readonly used: number
  readonly arch: string | undefined
}

export interface GridEngineQueue {
  readonly instances: readonly QueueInstance[]
  readonly running: readonly JobFacts[]
  readonly waiting: readonly WaitingJob[]
}

export function parseQueue(xml: string): GridEngineQueue {
  const root = parseXml(xml, 'qstat', 'job_info')
  const instances: QueueInstance[] = []
  const running = new Map<string, JobFacts>()
  for (const element of childrenOf(childOf(root, 'queue_info'), 'Queue-List')) {
    const instance = readInstance(element)
    instances.push(instance)
    for (const job of childrenOf(element, 'job_list')) {
      gatherRunning(running, readRunning(job, instance.host))
    }
  }
  const waiting = childrenOf(childOf(root, 'job_info'), 'job_list').map(readWaiting)
  return { instances, running: [...running.values()], waiting }
}

function readInstance(element: XmlElement): QueueInstance {
  const name = requireText(element, 'name', 'qstat: a queue instance')
  const what = `qstat: ${name}`
  const at = name.lastIndexOf('@')
  if (at < 1 || at === name.length - 1) throw new FactsError(`${what}: not QUEUE@HOST`)
  const used = requireCount(element, 'slots_used', what)
  const slots = requireCount(element, 'slots_total', what)
  if (slots > SLOTS_MAX) throw new FactsError(`${what}: ${slots} slots on one host`)
  return {
    queue: name.slice(0, at),
    host: name.slice(at + 1),
    state: readInstanceState(textOf(element, 'state') ?? ''),
    slots,
    used,
    arch: textOf(element, 'arch')
  }
}

/** The letters of a queue instance, the gravest first. */
function readInstanceState(letters: string): HostState {
  if (letters.includes('u')) return 'unreachable'
  if (/[Ec]/.test(letters)) return 'error'
  if (letters.includes('o')) return 'orphaned'
  // Suspended by hand, by its calendar or by another queue: it takes no jobs either.
  if (/[dDsSC]/.test(letters)) return 'disabled'
  return /[aA]/.test(letters) ? 'alarm' : 'ready'
}

function readRunning(element: XmlElement, host: string): JobFacts {
  const { id, slots, what } = readJob(element)
  const letters = textOf(element, 'state') ?? 'r'
  const startedAt = readTime(element, 'JAT_start_time', what)
  const task = textOf(element, 'tasks')
  const requests = readRequests(element)
  return {
    id: task === undefined || task === '' ? id : `${id}.${task}`,
    state: /[sST]/.test(letters) ? 'suspended' : 'running',
    // A running job does not show when it was submitted, and nothing asks for it any more.
    submittedAt: startedAt,
    startedAt,
    slots,
    tasks: 1,
    hosts: [{ host, slots }],
    ...requests.limits,
    resources: requests.resources,
    family: readFamily(element)
  }
}

/** The shares of a parallel job become one job. */
function gatherRunning(jobs: Map<string, JobFacts>, share: JobFacts): void {
  const known = jobs.get(share.id)
  if (known === undefined) {
    jobs.set(share.id, share)
    return
  }
  const hosts: JobShare[] = [...(known.hosts ?? []), ...(share.hosts ?? [])]
  jobs.set(share.id, { ...known, slots: known.slots + share.slots, span: 'hosts', hosts })
}

function readWaiting(element: XmlElement): WaitingJob {
  const { id, slots, what } = readJob(element)
  const letters = requireText(element, 'state', what)
  const tasks = textOf(element, 'tasks')
  const requests = readRequests(element)
  const queues = childrenOf(element, 'hard_req_queue')
    .map((queue) => textOf(queue, '#text') ?? '')
    .filter((name) => name !== '')
  const dependsOn = childrenOf(element, 'predecessor_jobs')
    .map((job) => textOf(job, '#text') ?? '')
    .filter((job) => job !== '')
  const { resources } = requests
  const pinned = queues.flatMap((name) => (name.includes('@') ? [name.split('@')[1]] : []))
  const pin = [...requests.hosts, ...pinned].find((name) => !/[*?[|@]/.test(name))
  const state = readWaitingState(letters)
  return {
    facts: {
      id,
      state,
      submittedAt: readTime(element, 'JB_submission_time', what),
      slots,
      tasks: tasks === undefined || tasks === '' ? 1 : countTasks(tasks, what),
      ...(queues.length > 0 ? { queues: queues.map((name) => name.split('@')[0]) } : {}),
      ...(Object.keys(resources).length > 0 ? { resources } : {}),
      ...(dependsOn.length > 0 ? { dependsOn } : {}),
      ...(state === 'held' && dependsOn.length === 0 ? { holds: ['hold'] } : {}),
      // Whoever wants one certain host is not helped by another one.
      ...(pin === undefined ? {} : { reason: 'impossible', reasonText: `only on host ${pin}` }),
      ...requests.limits,
      family: readFamily(element)
    },
    environment: readEnvironment(element),
    priority: Number(textOf(element, 'JAT_prio') ?? 0),
    hasRequests: element['hard_request'] !== undefined
  }
}

function readWaitingState(letters: string): JobState {
  if (letters.includes('E')) return 'errored'
  if (letters.includes('h')) return 'held'
  return letters.includes('R') ? 'requeued' : 'queued'
}

function readJob(element: XmlElement): { id: string; slots: number; what: string } {
  const id = requireText(element, 'JB_job_number', 'qstat: a job')
  const what = `qstat: job ${id}`
  if (!/^\d{1,15}$/.test(id)) throw new FactsError(`${what}: not a number`)
  const slots = requireCount(element, 'slots', what)
  if (slots > SLOTS_MAX) throw new FactsError(`${what}: asks for ${slots} slots`)
  return { id, slots, what }
}

function readFamily(element: XmlElement): string {
  const name = textOf(element, 'full_job_name') ?? ''
  return `${textOf(element, 'JB_owner') ?? ''}:${name}`
}

function readEnvironment(element: XmlElement): string | undefined {
  const environment = element['requested_pe']
  if (typeof environment !== 'object' || environment === null) return undefined
  const name = (environment as XmlElement)['@name']
  return typeof name === 'string' ? name : undefined
}

/** `2026-11-15T19:19:45`, in UTC because the command was told so. */
function readTime(element: XmlElement, name: string, what: string): number {
  const text = requireText(element, name, what)
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/.test(text) ? Date.parse(`${text}Z`) : NaN
  if (Number.isNaN(time)) throw new FactsError(`${what}: <${name}> is ${text}, not a time`)
  return time
}

interface Requests {
  readonly resources: Resources
  readonly hosts: readonly string[]
  readonly limits: Pick<JobFacts, 'timeLimitMs'>
}

/**
 * Hard requests that can be compared: the architecture, memory and processors that every host tells, and counts of
 * whatever the site defined (licences, graphics cards), for which the hosts are asked by name.
 */
function readRequests(element: XmlElement): Requests {
  const resources: Record<string, string | number> = {}
  const hosts: string[] = []
  let limits: Pick<JobFacts, 'timeLimitMs'> = {}
  for (const request of childrenOf(element, 'hard_request')) {
    const name = request['@name']
    const value = textOf(request, '#text') ?? ''
    if (name === 'arch') resources[name] = value
    else if (name === 'hostname') hosts.push(value)
    else if (name === 'mem_total' || name === 'mem_free' || name === 'virtual_free') {
      const megabytes = readMemory(value)
      if (megabytes !== undefined) resources['memoryMb'] = megabytes
    } else if (name === 'num_proc' && /^\d{1,6}$/.test(value))
      resources['processors'] = Number(value)
    else if (name === 'h_rt') limits = readTimeLimit(value)
    else if (typeof name === 'string' && !ELSEWHERE.test(name) && /^\d{1,9}$/.test(value)) {
      resources[name] = Number(value)
    }
  }
  return { resources, hosts, limits }
}

/** Seconds, or `hours:minutes:seconds` of which each may be left out. */
function readTimeLimit(text: string): Pick<JobFacts, 'timeLimitMs'> {
  if (!/^\d{0,9}(:\d{0,9}){0,2}$/.test(text) || text === '') return {}
  const seconds = text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  return seconds > 0 ? { timeLimitMs: seconds * SECOND_MS } : {}
}

/** `23.5G` in megabytes; Grid Engine's capital letters are powers of 1024. */
export function readMemory(text: string): number | undefined {
  const found = /^(\d{1,12}(?:\.\d{1,9})?)([kKmMgGtT]?)$/.exec(text)
  if (found === null) return undefined
  return Math.floor(Number(found[1]) * MEMORY_UNITS_MB[found[2]])
}
