/**
 * Which of the waiting jobs a host could start. A scheduler shows a job that waits for a slot and one
 * that waits for Christmas alike (`qw`), so each line is sorted: `helpable` (room is all it lacks, and
 * a new host would have it), `present` (only a host that is already here could run it), `later` (a
 * hold, a dependency, a start time, a limit), `hopeless` (no host could ever, so it is named).
 */
import type { ScalingConfig } from './config.js'
import type { Consumable, Facts, JobFacts } from './facts.js'
import type { NamedJob } from './decision.js'
import type { Bin, Room, Shape } from './room.js'
import { findUnmet } from './resources.js'
import { countOf } from './text.js'

export interface Waiting {
  readonly job: JobFacts
  readonly shape: Shape
  /** As many of its tasks as could start now. */
  readonly tasks: number
  /** When it could first have started. */
  readonly since: number
}

export interface Demand {
  /** Oldest first. */
  readonly helpable: readonly Waiting[]
  readonly present: readonly Waiting[]
  /** Tasks that may start before a new host would be up. */
  readonly soon: number
  readonly later: number
  readonly hopeless: readonly NamedJob[]
  /** All waiting tasks. */
  readonly queued: number
  /** Each distinct thing that helpable and present jobs ask for, with the oldest job that does. */
  readonly shapes: ReadonlyMap<Shape, string>
}

export interface DemandOptions {
  readonly facts: Facts
  readonly config: ScalingConfig
  readonly now: number
  readonly bootMs: number
  readonly room: Room
  /** A new host, empty; undefined if nobody knows what one would be. */
  readonly fresh: Bin | undefined
  /** The usable hosts as if empty, one of each kind and size, with how many there are. */
  readonly models: readonly { readonly bin: Bin; readonly count: number }[]
  /** Hosts there may be beside the usable ones. */
  readonly hostsToCome: number
}

export function sortDemand(options: DemandOptions): Demand {
  const { facts, now } = options
  const helpable: Waiting[] = []
  const present: Waiting[] = []
  const hopeless: NamedJob[] = []
  const shapes = new Map<Shape, string>()
  const hopes = new Map<Shape, string | undefined>()
  const allowance = countAllowance(facts.jobs)
  const stock = new Map((facts.consumables ?? []).map((each) => [each.name, { ...each }]))
  let [soon, later, queued] = [0, 0, 0]
  const waiting = facts.jobs.filter((job) => WAITING.has(job.state) && job.tasks > 0)
  for (const job of waiting.sort((a, b) => sinceOf(a) - sinceOf(b))) {
    queued += job.tasks
    const delay = findDelay(job, options)
    if (delay !== undefined) {
      if (delay === 'soon') soon += job.tasks
      else later += job.tasks
      continue
    }
    const shape = options.room.shapeOf(job)
    if (!hopes.has(shape)) hopes.set(shape, findHopeless(shape, options))
    const why = findRefusal(job) ?? hopes.get(shape) ?? findLicence(job, stock)
    if (why !== undefined) {
      hopeless.push({ id: job.id, why })
      continue
    }
    const tasks = takeLicences(job, grantTasks(job, allowance), stock)
    later += job.tasks - tasks
    if (tasks === 0) continue
    const entry = { job, shape, tasks, since: Math.min(sinceOf(job), now) }
    if (!shapes.has(entry.shape)) shapes.set(entry.shape, job.id)
    if (helpsWithNew(entry.shape, options)) helpable.push(entry)
    else present.push(entry)
  }
  return { helpable, present, soon, later, hopeless, queued, shapes }
}

const WAITING: ReadonlySet<string> = new Set(['queued', 'requeued', 'held', 'errored'])

/** A job with a start time has waited since then, not since it was handed in. */
function sinceOf(job: JobFacts): number {
  return Math.max(job.submittedAt, job.startAfter ?? 0)
}

function findDelay(
  job: JobFacts,
  { now, bootMs, room }: DemandOptions
): 'soon' | 'later' | undefined {
  if (job.state === 'held' || job.state === 'errored') return 'later'
  if ((job.holds?.length ?? 0) > 0 || (job.dependsOn?.length ?? 0) > 0) return 'later'
  if (job.startAfter !== undefined && job.startAfter > now) {
    return job.startAfter <= now + bootMs ? 'soon' : 'later'
  }
  if (job.queues !== undefined && !job.queues.some((queue) => room.isBalanced(queue)))
    return 'later'
  switch (job.reason) {
    case 'dependency':
    case 'hold':
    case 'throttle':
    case 'quota':
      return 'later'
    case 'start-time':
      // With the time itself known and past, the scheduler just has not looked again.
      return job.startAfter === undefined ? 'later' : undefined
    default:
      return undefined
  }
}

/** How many more tasks of each limited array may start. */
function countAllowance(jobs: readonly JobFacts[]): Map<string, number> {
  const allowance = new Map<string, number>()
  for (const { id, taskLimit } of jobs) {
    if (taskLimit !== undefined && taskLimit > 0) allowance.set(id, taskLimit)
  }
  if (allowance.size === 0) return allowance
  for (const { id, state } of jobs) {
    const left = allowance.get(id)
    if (left === undefined || (state !== 'running' && state !== 'suspended')) continue
    allowance.set(id, Math.max(0, left - 1))
  }
  return allowance
}

function grantTasks(job: JobFacts, allowance: Map<string, number>): number {
  const left = allowance.get(job.id)
  if (left === undefined) return job.tasks
  const tasks = Math.min(job.tasks, left)
  allowance.set(job.id, left - tasks)
  return tasks
}

function findRefusal({ reason, reasonText }: JobFacts): string | undefined {
  const said = reasonText === undefined ? '' : `: ${reasonText}`
  if (reason === 'impossible') return `the scheduler says that it can never run${said}`
  if (reason === 'licence') return `waits for a licence, which no host brings${said}`
  return undefined
}

/** Why no host could ever run what is asked for. */
function findHopeless(shape: Shape, options: DemandOptions): string | undefined {
  const { room, fresh, models } = options
  if (fresh === undefined) return undefined
  const bins = [fresh, ...models.map(({ bin }) => bin)]
  if (bins.some((bin) => room.fit(shape, bin) > 0)) {
    if (shape.span === 'host') return undefined
    const most = mostUnits(shape, options) * shape.unit
    return most >= shape.slots ? undefined : `wants ${shape.slots} slots, and there can be ${most}`
  }
  if (!bins.some((bin) => room.matches(shape, bin))) return explainMismatch(shape, options)
  const largest = Math.max(...bins.map((bin) => (room.matches(shape, bin) ? bin.free : 0)))
  return `wants ${countOf(shape.unit, 'slot')} on one host, and the largest that fits it has ${largest}`
}

/** Units of a spread job on all usable hosts, were they empty, and all hosts to come. */
function mostUnits(shape: Shape, { room, fresh, models, hostsToCome }: DemandOptions): number {
  let units = fresh === undefined ? 0 : room.fit(shape, fresh) * hostsToCome
  for (const { bin, count } of models) units += room.fit(shape, bin) * count
  return units
}

function explainMismatch(shape: Shape, { facts, config }: DemandOptions): string {
  const offers = facts.hosts.map((host) => host.resources ?? {})
  if (config.template !== undefined) offers.push(config.template.resources ?? {})
  for (const name of Object.keys(shape.resources)) {
    const wanted = { [name]: shape.resources[name] }
    if (offers.every((offered) => findUnmet(offered, wanted) !== undefined)) {
      return `wants ${name}=${shape.resources[name]}, which no host offers`
    }
  }
  if (shape.queues !== undefined) return `no host of queue ${shape.queues.join(',')} can run it`
  return 'no host offers all that it asks for'
}

/** Which licence is missing for even one task. */
function findLicence(job: JobFacts, stock: ReadonlyMap<string, Consumable>): string | undefined {
  for (const { name, total, used, wanted } of licencesOf(job, stock)) {
    const free = Math.max(0, total - used)
    if (wanted > free) return `waits for ${name}: wants ${wanted}, ${free} free of ${total}`
  }
  return undefined
}

/** As many of the tasks as there are licences for, which are then taken. */
function takeLicences(job: JobFacts, tasks: number, stock: Map<string, Consumable>): number {
  const licences = licencesOf(job, stock)
  let granted = tasks
  for (const { total, used, wanted } of licences) {
    granted = Math.min(granted, Math.floor(Math.max(0, total - used) / wanted))
  }
  for (const { name, total, used, wanted } of licences) {
    stock.set(name, { name, total, used: used + wanted * granted })
  }
  return granted
}

function licencesOf(
  job: JobFacts,
  stock: ReadonlyMap<string, Consumable>
): (Consumable & { readonly wanted: number })[] {
  if (stock.size === 0 || job.resources === undefined) return []
  const resources = job.resources
  return Object.keys(resources).flatMap((name) => {
    const consumable = stock.get(name)
    const wanted = Number(resources[name])
    return consumable !== undefined && wanted > 0 ? [{ ...consumable, wanted }] : []
  })
}

function helpsWithNew(shape: Shape, { room, fresh }: DemandOptions): boolean {
  return fresh === undefined || room.fit(shape, fresh) > 0
}
