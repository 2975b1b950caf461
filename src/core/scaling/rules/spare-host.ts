/**
 * Schedulers spread jobs by load, so that in a quiet cluster every host has one and none is ever idle.
 * A host the others can do without is closed: its jobs end there, new ones go elsewhere, and it goes
 * when it is empty. One a pass, and only if the others could take what runs there and still have a
 * reserve. With hours billed, only near the end of one, and only if its jobs should end within it; a
 * new hour would be paid either way. Then even a host with work waiting is not worth another hour if
 * the others will do all of it within `workPerHostMs`.
 */
import type { HostFacts } from '../facts.js'
import type { HostRule } from '../rule.js'
import type { Situation } from '../situation.js'
import { formatDuration } from '../text.js'
import { intoHour } from './paid-hour.js'

const HOUR_MS = 3_600_000
/** Part of the other hosts' slots that must stay free. */
const RESERVE = 0.15

export const spareHost: HostRule = {
  name: 'spare-host',
  facts: ({ config, slots, slotsFree }) => (config.consolidate ? { slots, slotsFree } : undefined),
  refuse(situation, host) {
    const { config, now } = situation
    if (host.state !== 'ready') return `${host.name} is ${host.state}`
    const needed = isNeeded(situation, host)
    if (needed !== undefined) return needed
    if (config.billing.kind !== 'hour') return undefined
    if (host.launchedAt === undefined) return `nobody knows when ${host.name} was launched`
    const left = HOUR_MS - intoHour(host.launchedAt, now)
    const busy = remainingOn(situation, host)
    if (left < busy) return `${host.name} will be busy for ${formatDuration(busy)}, past its hour`
    // Closed no sooner than it must be: until then its paid time is of use.
    const slack = Math.max(busy, HOUR_MS - config.billing.killAfterMinutes * 60_000)
    if (left > slack + 2 * config.intervalMs) {
      return `${host.name} has ${formatDuration(left)} of its hour left`
    }
    return undefined
  }
}

function isNeeded(situation: Situation, host: HostFacts): string | undefined {
  const { slots, slotsFree, demand, durations, config, sustained } = situation
  const otherSlots = slots - host.slots
  const reserve = Math.ceil(RESERVE * otherSlots)
  if (otherSlots < sustained + reserve) {
    return `${host.name} is needed: new jobs take ${sustained.toFixed(1)} slots, and the others have ${otherSlots}`
  }
  if (demand.shapes.size === 0) {
    const free = slotsFree - Math.max(0, host.slots - host.used)
    if (free >= host.used + reserve) return undefined
    return `${host.name} is needed: the others have ${free} free slots, ${host.used} and ${reserve} in reserve are wanted`
  }
  if (config.billing.kind !== 'hour' || durations.count < config.forecastSamplesMin) {
    return `${host.name} is needed: jobs wait`
  }
  let work = 0
  for (const { job, tasks } of [...demand.helpable, ...demand.present]) {
    if (job.span === 'hosts') return `${host.name} is needed: job ${job.id} waits for several hosts`
    work += tasks * job.slots * durations.expect(job)
  }
  const workMs = work / (otherSlots - sustained)
  if (workMs <= config.workPerHostMs) return undefined
  return `${host.name} is needed: what waits would take the others ${formatDuration(workMs)}`
}

/** How long the longest of its jobs will still take, by what its like took. */
function remainingOn({ facts, durations, now }: Situation, { name }: HostFacts): number {
  let longest = 0
  for (const job of facts.jobs) {
    if (job.hosts?.some(({ host }) => host === name) !== true) continue
    longest = Math.max(longest, durations.remaining(job, now))
  }
  return longest
}

/** The one to close: the one with the least to finish, by slots in use. */
export function chooseSpare(hosts: readonly HostFacts[]): HostFacts | undefined {
  let best: HostFacts | undefined
  for (const host of hosts) {
    if (best === undefined || host.used < best.used) best = host
  }
  return best
}
