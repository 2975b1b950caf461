/**
 * Slurm's `sinfo --json` and `squeue --json` as facts. Slots are CPUs and queues are partitions. Learned from real
 * answers: squeue also lists finished jobs, which are the history of durations for free; a node's state is a base word
 * with flags; a number may be plain (22.05) or an object with `set`, `infinite` and `number` (from 23.02 on), and a
 * state a word or a list of words.
 */
import type {
  FinishedJob,
  HostFacts,
  HostState,
  JobFacts,
  JobShare,
  JobState,
  PendingReason
} from '../../core/scaling/facts.js'
import { FactsError } from './facts-error.js'
import { expandHostList } from './host-list.js'
import { parseJsonObject, toCount, toObjects, toText, type JsonObject } from './json-reading.js'
import { countTasks } from './task-list.js'

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOSTS_MAX = 100_000
const JOBS_MAX = 1_000_000
const CPUS_MAX = 1_000_000
/** The largest numbers stand for "not set" and "unlimited". */
const UNSET_FROM = 4_294_967_290

const RUNNING = new Set(['RUNNING', 'CONFIGURING', 'COMPLETING', 'STAGE_OUT', 'SIGNALING'])
const SUSPENDED = new Set(['SUSPENDED', 'STOPPED'])
const WAITING = new Set(['PENDING', 'REQUEUED', 'REQUEUE_FED', 'REQUEUE_HOLD', 'SPECIAL_EXIT'])

const REASONS: Readonly<Record<string, PendingReason>> = {
  Resources: 'resources',
  // More nodes than the partition has so far: whether it can ever have as many, the rules know.
  PartitionConfig: 'resources',
  PartitionNodeLimit: 'resources',
  NodeDown: 'resources',
  Priority: 'priority',
  Dependency: 'dependency',
  DependencyNeverSatisfied: 'impossible',
  BeginTime: 'start-time',
  JobHeldUser: 'hold',
  JobHeldAdmin: 'hold',
  JobArrayTaskLimit: 'throttle',
  Licenses: 'licence',
  BadConstraints: 'impossible',
  PartitionTimeLimit: 'impossible',
  AccountNotAllowed: 'impossible',
  InvalidAccount: 'impossible',
  InvalidQOS: 'impossible',
  Reservation: 'other',
  ReservationDeleted: 'impossible'
}

export function parseNodes(text: string, master: string | undefined): HostFacts[] {
  const root = readRoot(text, 'sinfo')
  const hosts: HostFacts[] = []
  const names = new Set<string>()
  for (const node of toObjects(root['nodes'], 'sinfo: nodes', HOSTS_MAX)) {
    const name = toText(node['name'], 'sinfo: the name of a node')
    if (names.has(name)) throw new FactsError(`sinfo: ${name} twice`)
    names.add(name)
    const words = new Set([...readWords(node['state']), ...readWords(node['state_flags'])])
    // Slurm's own power saving has it switched off: there is no machine.
    if (words.has('POWERED_DOWN') || words.has('FUTURE')) continue
    const slots = readNumber(node['cpus'], `sinfo: cpus of ${name}`, CPUS_MAX)
    const used = readNumber(node['alloc_cpus'] ?? 0, `sinfo: alloc_cpus of ${name}`, CPUS_MAX)
    if (used > slots) throw new FactsError(`sinfo: ${name} has ${slots} CPUs and ${used} in use`)
    const busyAt = readTime(node['last_busy'])
    hosts.push({
      name,
      role: name === master ? 'master' : 'worker',
      state: readNodeState(words),
      slots,
      used,
      queues: readList(node['partitions']).map((queue) => ({ queue, slots, used })),
      resources: readNodeResources(node),
      resourcesUsed: { memoryMb: readOptional(node['alloc_memory']) ?? 0 },
      ...(used === 0 && busyAt !== undefined ? { idleSince: busyAt } : {})
    })
  }
  if (master !== undefined && !hosts.some(({ role }) => role === 'master')) {
    hosts.push({ name: master, role: 'master', state: 'ready', slots: 0, used: 0, queues: [] })
  }
  return hosts
}

function readNodeState(words: ReadonlySet<string>): HostState {
  // On its way up or down by Slurm's own power saving: not dead, but nothing can begin there.
  if (words.has('POWERING_UP') || words.has('POWERING_DOWN')) return 'disabled'
  if (words.has('NOT_RESPONDING') || words.has('DOWN') || words.has('UNKNOWN')) return 'unreachable'
  if (words.has('ERROR') || words.has('FAIL') || words.has('INVALID_REG')) return 'error'
  if (
    ['DRAIN', 'DRAINED', 'DRAINING', 'MAINTENANCE', 'REBOOT_REQUESTED'].some((w) => words.has(w))
  ) {
    return 'disabled'
  }
  return 'ready'
}

function readNodeResources(node: JsonObject): Record<string, string | number> {
  const { architecture, real_memory: memory } = node
  const features = readList(node['active_features'] ?? node['features'])
  return {
    ...(typeof architecture === 'string' && architecture !== '' ? { arch: architecture } : {}),
    ...(typeof memory === 'number' ? { memoryMb: memory } : {}),
    ...Object.fromEntries(features.map((feature) => [`feature:${feature}`, 1]))
  }
}

export interface SlurmJobs {
  readonly jobs: JobFacts[]
  readonly finished: FinishedJob[]
}

export function parseJobs(text: string): SlurmJobs {
  const root = readRoot(text, 'squeue')
  const jobs: JobFacts[] = []
  const finished: FinishedJob[] = []
  for (const job of toObjects(root['jobs'], 'squeue: jobs', JOBS_MAX)) {
    const id = readId(job)
    const words = readWords(job['job_state'])
    if (words.length === 0) throw new FactsError(`squeue: job ${id} has no state`)
    if (words.some((word) => WAITING.has(word))) jobs.push(readWaiting(job, id, words))
    else if (words.some((word) => SUSPENDED.has(word))) jobs.push(readRunning(job, id, 'suspended'))
    else if (words.some((word) => RUNNING.has(word))) jobs.push(readRunning(job, id, 'running'))
    else if (words.includes('COMPLETED')) {
      const ended = readFinished(job, id)
      if (ended !== undefined) finished.push(ended)
    }
  }
  return { jobs, finished }
}

/** A task of an array has the array's number and its own. */
function readId(job: JsonObject): string {
  const id = readNumber(job['job_id'], 'squeue: job_id')
  const array = readOptional(job['array_job_id']) ?? 0
  const task = readOptional(job['array_task_id'])
  return array > 0 && task !== undefined ? `${array}_${task}` : String(id)
}

function readCommon(job: JsonObject, id: string): Omit<JobFacts, 'state' | 'tasks'> {
  const what = `squeue: job ${id}`
  const submittedAt = readTime(job['submit_time'])
  if (submittedAt === undefined) throw new FactsError(`${what}: no submit_time`)
  const limit = readOptional(job['time_limit'])
  const features = readText(job['features'])
  const memory = readOptional(job['memory_per_node'])
  const slots = readNumber(job['cpus'], `${what}: cpus`, CPUS_MAX)
  const queues = readText(job['partition']).split(',').filter(Boolean)
  const resources = {
    // `a&b` wants both; alternatives are for Slurm to judge.
    ...(/^[\w.&-]+$/.test(features)
      ? Object.fromEntries(features.split('&').map((feature) => [`feature:${feature}`, 1]))
      : {}),
    ...(memory === undefined || memory <= 0 ? {} : { memoryMb: memory })
  }
  return {
    id,
    submittedAt,
    slots,
    ...readSpan(job, slots),
    ...(queues.length > 0 ? { queues } : {}),
    ...(Object.keys(resources).length > 0 ? { resources } : {}),
    ...(limit === undefined || limit === 0 ? {} : { timeLimitMs: limit * MINUTE_MS }),
    family: `${readText(job['user_name'])}:${readText(job['name'])}`
  }
}

/** Tasks may go to several nodes unless one is the most that was asked for. */
function readSpan(job: JsonObject, slots: number): Pick<JobFacts, 'span' | 'slotsPerHost'> {
  const nodes = readOptional(job['node_count']) ?? 1
  const most = readOptional(job['max_nodes']) ?? 0
  const tasks = readOptional(job['tasks']) ?? 1
  if (nodes > 1 && most === nodes && slots % nodes === 0) {
    return { span: 'hosts', slotsPerHost: slots / nodes }
  }
  return (nodes > 1 || tasks > 1) && most !== 1 ? { span: 'hosts' } : { span: 'host' }
}

function readWaiting(job: JsonObject, id: string, words: readonly string[]): JobFacts {
  const text = readText(job['state_reason'])
  const known: PendingReason = /^(Assoc|QOS|Max)/.test(text) ? 'quota' : 'other'
  const reason = findReason(text) ?? (text === '' || text === 'None' ? undefined : known)
  const waits = [...readText(job['dependency']).matchAll(/:(\d+)\S*?\(unfulfilled\)/g)]
  const eligible = readTime(job['eligible_time'])
  const list = readText(job['array_task_string'])
  const taskLimit = readOptional(job['array_max_tasks']) ?? 0
  const isHeld = reason === 'hold' || reason === 'dependency' || words.includes('REQUEUE_HOLD')
  const state: JobState = isHeld ? 'held' : words.includes('REQUEUED') ? 'requeued' : 'queued'
  return {
    ...readCommon(job, id),
    state,
    tasks: list === '' ? 1 : countArrayTasks(list, id),
    ...(taskLimit > 0 ? { taskLimit } : {}),
    ...(reason === undefined ? {} : { reason, reasonText: text }),
    ...(waits.length > 0 ? { dependsOn: waits.map(([, other]) => other) } : {}),
    ...(reason === 'hold' ? { holds: [text] } : {}),
    ...(eligible !== undefined && reason === 'start-time' ? { startAfter: eligible } : {})
  }
}

function findReason(text: string): PendingReason | undefined {
  return Object.hasOwn(REASONS, text) ? REASONS[text] : undefined
}

/** `1-10%2`; a long list is cut with dots, and what was cut off is not counted. */
function countArrayTasks(list: string, id: string): number {
  const whole = list
    .replace(/%\d+$/, '')
    .replace(/,?\.\.\.$/, '')
    .replace(/-$/, '')
  return whole === '' ? 1 : countTasks(whole, `squeue: job ${id}`)
}

function readRunning(job: JsonObject, id: string, state: JobState): JobFacts {
  const common = readCommon(job, id)
  const startedAt = readTime(job['start_time'])
  const hosts = readShares(job, common.slots)
  return { ...common, state, tasks: 1, hosts, ...(startedAt === undefined ? {} : { startedAt }) }
}

/** By the cores of each node where they are listed and add up; else in equal parts. */
function readShares(job: JsonObject, slots: number): JobShare[] {
  const names = expandHostList(readText(job['nodes']))
  const resources = job['job_resources'] as JsonObject | null | undefined
  const listed = Array.isArray(resources?.['allocated_nodes']) ? resources['allocated_nodes'] : []
  const counted = (listed as JsonObject[]).map((node) => ({
    host: readText(node['nodename']),
    slots: countCores(node['sockets'])
  }))
  const total = counted.reduce((sum, share) => sum + share.slots, 0)
  if (counted.length === names.length && total === slots) return counted
  const share = Math.floor(slots / Math.max(1, names.length))
  return names.map((host, index) => ({
    host,
    slots: index === 0 ? slots - share * (names.length - 1) : share
  }))
}

function countCores(sockets: unknown): number {
  if (typeof sockets !== 'object' || sockets === null) return 0
  return Object.values(sockets).reduce((sum: number, socket) => {
    const cores = (socket as JsonObject | null)?.['cores']
    return sum + (typeof cores === 'object' && cores !== null ? Object.keys(cores).length : 0)
  }, 0)
}

function readFinished(job: JsonObject, id: string): FinishedJob | undefined {
  const { slots, submittedAt, family } = readCommon(job, id)
  const startedAt = readTime(job['start_time'])
  const endedAt = readTime(job['end_time'])
  if (startedAt === undefined || endedAt === undefined || endedAt < startedAt) return undefined
  return { id, submittedAt, startedAt, endedAt, slots, ...(family === undefined ? {} : { family }) }
}

function readRoot(text: string, what: string): JsonObject {
  const root = parseJsonObject(text, what)
  const errors = root['errors']
  if (Array.isArray(errors) && errors.length > 0) {
    throw new FactsError(`${what}: ${JSON.stringify(errors[0]).slice(0, 200)}`)
  }
  return root
}

/** `"idle"`, `["IDLE", "CLOUD"]`, `"IDLE+CLOUD"`. */
function readWords(value: unknown): string[] {
  return readList(value).flatMap((word) => word.toUpperCase().split('+'))
}

function readList(value: unknown): string[] {
  if (typeof value === 'string') return value.split(',').filter(Boolean)
  if (!Array.isArray(value)) return []
  return (value as unknown[]).filter((item): item is string => typeof item === 'string')
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Plain, or `{ set, infinite, number }`; undefined when it is not set. */
function readOptional(value: unknown): number | undefined {
  if (typeof value === 'object' && value !== null) {
    const { set, infinite, number } = value as JsonObject
    return set === true && infinite !== true ? readOptional(number) : undefined
  }
  return typeof value === 'number' && value >= 0 && value < UNSET_FROM ? value : undefined
}

function readNumber(value: unknown, what: string, most?: number): number {
  const plain = typeof value === 'object' ? (readOptional(value) ?? value) : value
  return toCount(plain, what, most)
}

/** Seconds; 0 is no time. */
function readTime(value: unknown): number | undefined {
  const isObject = typeof value === 'object' && value !== null
  const seconds = isObject ? (value as JsonObject)['number'] : value
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0) return undefined
  return seconds * SECOND_MS
}
