/**
 * The facts as the rules look at them: hosts counted and sorted, demand sorted, what waits laid on
 * what is free. Worked out once a pass; the rules only read. How hosts are counted:
 *
 * - `machines` are paid for and count towards the maximum: every listed host but those that are gone,
 *   those that boot, and any the provider knows of beyond them.
 * - `living` count towards the minimum: machines that take jobs or soon will. An unreachable host
 *   holds no place there, so losing one below the minimum brings another.
 * - `usable` have slots that count. Dead, disabled, draining and orphaned hosts have none.
 */
import type { HostTemplate, ScalingConfig } from './config.js'
import { sortDemand, type Demand } from './demand.js'
import { learnDurations, type Durations } from './durations.js'
import type { BootingHost, Facts, History, HostFacts } from './facts.js'
import { sustainedSlots } from './arrivals.js'
import { forecast, type Forecast } from './forecast.js'
import { pack, type Packing } from './packing.js'
import { Room, type Bin } from './room.js'
import { matchesPattern } from './resources.js'
import { minimumAt } from './schedule.js'

export interface Situation {
  readonly facts: Facts
  readonly config: ScalingConfig
  readonly history: History
  readonly now: number
  readonly hostsMin: number
  readonly machines: number
  readonly living: number
  readonly usable: readonly HostFacts[]
  readonly unready: readonly HostFacts[]
  readonly booting: readonly BootingHost[]
  /** They have been booting for too long. */
  readonly overdue: readonly BootingHost[]
  /** How long a host asked for now will take. */
  readonly bootMs: number
  /** Running and suspended jobs by host. */
  readonly jobsOn: ReadonlyMap<string, number>
  readonly slots: number
  readonly slotsFree: number
  readonly durations: Durations
  /** Slots that the stream of new jobs keeps busy. */
  readonly sustained: number
  readonly room: Room
  readonly demand: Demand
  readonly packing: Packing
  /** Played only when something lacks room and there is history enough; undefined otherwise. */
  readonly forecast: Forecast | undefined
}

/** Stands for a host of which nothing is known: any job fits, so one is asked for and then looked at. */
const UNKNOWN_SLOTS = 1_000_000

export interface SituationOptions {
  readonly facts: Facts
  readonly config: ScalingConfig
  readonly history: History
  readonly now: number
}

export function assess({ facts, config, history, now }: SituationOptions): Situation {
  const sorted = sortHosts(facts, config, now)
  const { usable, booting } = sorted
  const template = config.template ?? findModel(facts.hosts, config)
  const room = new Room({ queues: config.queues, hosts: facts.hosts, template })
  const bootMs = bootTime(facts, config)
  const durations = learnDurations(facts.finished, now - config.lookbackMs)
  const create = (index: number): Bin =>
    room.binOfTemplate(template ?? { slots: UNKNOWN_SLOTS, queues: [] }, `new ${index}`)
  const demand = sortDemand({
    facts,
    config,
    now,
    bootMs,
    room,
    fresh: template === undefined ? undefined : create(0),
    models: modelsOf(room, usable),
    hostsToCome: Math.max(0, config.hostsMax - usable.length)
  })
  const free = usable.map((host) => room.binOf(host))
  const slotsFree = free.reduce((sum, bin) => sum + bin.free, 0)
  const bins = [...free, ...booting.map(() => create(0))]
  const createMax = config.hostsMax
  // What only present hosts can run takes its room there first.
  pack({ room, items: demand.present, bins: free, create: undefined, createMax })
  const packing = pack({ room, items: demand.helpable, bins, create, createMax })
  const slots = usable.reduce((sum, host) => sum + host.slots, 0)
  const sustained = sustainedSlots(facts, durations, now)
  const foreseen =
    config.forecast && packing.needed > 0 && durations.count >= config.forecastSamplesMin
      ? forecast({
          facts,
          now,
          until: now + bootMs,
          durations,
          room,
          waiting: demand.helpable,
          bins: usable.map((host) => room.binOf(host)),
          booting: booting.map(({ since }) => ({ bin: create(0), at: since + bootMs })),
          create,
          createMax,
          workPerHostMs: config.workPerHostMs,
          presentSlots: slots + booting.length * create(0).free,
          sustainedSlots: sustained
        })
      : undefined
  return {
    facts,
    config,
    history,
    now,
    hostsMin: minimumAt(config, now),
    ...sorted,
    bootMs,
    slots,
    slotsFree,
    durations,
    sustained,
    room,
    demand,
    packing,
    forecast: foreseen
  }
}

type Sorted = Pick<
  Situation,
  'machines' | 'living' | 'usable' | 'unready' | 'booting' | 'overdue' | 'jobsOn'
>

function sortHosts(facts: Facts, config: ScalingConfig, now: number): Sorted {
  const { provider } = facts
  const stopped = new Set(provider.stopped ?? [])
  const names = new Set(facts.hosts.map(({ name }) => name))
  const usable: HostFacts[] = []
  const unready: HostFacts[] = []
  let [machines, living] = [0, 0]
  for (const host of facts.hosts) {
    if (stopped.has(host.name) || host.machine === 'gone') continue
    machines++
    if (isUnready(host)) unready.push(host)
    if (isLiving(host)) living++
    if (host.state === 'ready' && host.interruptionAt === undefined) usable.push(host)
  }
  const asked = provider.booting.filter(({ name }) => !names.has(name))
  const isOverdue = ({ since }: BootingHost): boolean => now - since > config.bootTimeoutMs
  const booting = asked.filter((host) => !isOverdue(host))
  const overdue = asked.filter(isOverdue)
  machines += asked.length
  living += booting.length
  // Machines the scheduler has not been told of yet, or was not asked about: better no second one.
  const unknown = Math.max(0, (provider.machines ?? 0) - machines)
  const jobsOn = countJobs(facts)
  return {
    machines: machines + unknown,
    living: living + unknown,
    usable,
    unready,
    booting,
    overdue,
    jobsOn
  }
}

export function isUnready({ state }: HostFacts): boolean {
  return state === 'unreachable' || state === 'error'
}

/** Takes jobs, or is only too loaded for the moment. */
export function isLiving({ state, machine, interruptionAt }: HostFacts): boolean {
  if (machine === 'gone' || interruptionAt !== undefined) return false
  return state === 'ready' || state === 'alarm'
}

/** By the scheduler's count or by the jobs listed there: either is enough. */
export function isIdle({ jobsOn }: Pick<Situation, 'jobsOn'>, host: HostFacts): boolean {
  if (host.used > 0 || host.queues.some(({ used }) => used > 0)) return false
  return (jobsOn.get(host.name) ?? 0) === 0
}

export function isProtected(config: ScalingConfig, host: HostFacts): boolean {
  if (host.protected === true) return true
  return config.protectedHosts.some((pattern) => matchesPattern(host.name, pattern))
}

function countJobs({ jobs }: Facts): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { hosts } of jobs) {
    for (const { host } of hosts ?? []) counts.set(host, (counts.get(host) ?? 0) + 1)
  }
  return counts
}

const BOOTS_LOOKED_AT = 10

/** The middle one of the last boots. */
function bootTime({ provider }: Facts, config: ScalingConfig): number {
  const recent = (provider.bootDurationsMs ?? []).slice(-BOOTS_LOOKED_AT)
  if (recent.length === 0) return config.bootMs
  return recent.sort((a, b) => a - b)[recent.length >>> 1]
}

/** The commonest worker that can be launched again, or any host with slots; the master may be a smaller one. */
function findModel(hosts: readonly HostFacts[], config: ScalingConfig): HostTemplate | undefined {
  const launched = hosts.filter(({ role, managed }) => role === 'worker' && managed !== false)
  return findCommonest(launched, config) ?? findCommonest(hosts, config)
}

function findCommonest(
  hosts: readonly HostFacts[],
  config: ScalingConfig
): HostTemplate | undefined {
  const counts = new Map<string, { count: number; template: HostTemplate }>()
  for (const { slots, queues: all, resources } of hosts) {
    const queues = all
      .filter(({ queue }) => config.queues.length === 0 || config.queues.includes(queue))
      .map(({ queue, slots: size }) => ({ queue, slots: size }))
    if (slots === 0 || (all.length > 0 && queues.every(({ slots: size }) => size === 0))) continue
    const key = JSON.stringify([slots, queues, resources])
    const found = counts.get(key)
    if (found !== undefined) found.count++
    else counts.set(key, { count: 1, template: { slots, queues, resources: resources ?? {} } })
  }
  let best: { count: number; template: HostTemplate } | undefined
  for (const entry of counts.values()) {
    if (best === undefined || entry.count > best.count) best = entry
  }
  return best?.template
}

function modelsOf(room: Room, hosts: readonly HostFacts[]): { bin: Bin; count: number }[] {
  const models = new Map<string, { bin: Bin; count: number }>()
  for (const host of hosts) {
    const bin = room.binOf(host, true)
    const key = `${bin.kind} ${bin.free} ${bin.queueFree.join(',')}`
    const found = models.get(key)
    if (found !== undefined) found.count++
    else models.set(key, { bin, count: 1 })
  }
  return [...models.values()]
}
