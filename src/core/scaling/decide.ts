/**
 * One pass of the load balancer: facts in, actions and the verdict of every rule out. Nothing is read
 * but the arguments, so a decision can be repeated from what was written down. The order:
 *
 * 1. Facts that cannot be true, or a cluster of which too much is unready, end the pass.
 * 2. Hosts that died are taken away, announced ends are drained, then document 004's criteria for
 *    removing are asked of every other host.
 * 3. Document 004's criteria for adding, with the corrections, are asked of the cluster. A minimum
 *    that is not met adds whatever waits, but no back-off or maximum is overruled.
 */
import { findBadSetting, type ScalingConfig } from './config.js'
import type { Action, Decision, HostAction, Statistics, Verdict } from './decision.js'
import { NAMED_JOBS_MAX } from './decision.js'
import { findImpossible } from './check.js'
import type { Facts, History, HostFacts } from './facts.js'
import { judgeCluster, judgeHosts, type ClusterRule, type HostRule } from './rule.js'
import { selectAboveMinimum } from './rules/above-minimum.js'
import { belowMaximum } from './rules/below-maximum.js'
import { belowMinimum, countMissing } from './rules/below-minimum.js'
import { blastRadius } from './rules/blast-radius.js'
import { bootBackOff } from './rules/boot-back-off.js'
import { capacityBackOff } from './rules/capacity-back-off.js'
import { cooldownDown } from './rules/cooldown-down.js'
import { cooldownUp } from './rules/cooldown-up.js'
import { deadHost, isDead } from './rules/dead-host.js'
import { countNeeded, drainForecast } from './rules/drain-forecast.js'
import { hostIdle } from './rules/host-idle.js'
import { hostUnprotected } from './rules/host-unprotected.js'
import { idleTime } from './rules/idle-time.js'
import { interruptedHost } from './rules/interrupted-host.js'
import { jobsWait } from './rules/jobs-wait.js'
import { longestWait } from './rules/longest-wait.js'
import { notMaster } from './rules/not-master.js'
import { nothingWaits } from './rules/nothing-waits.js'
import { paidHour } from './rules/paid-hour.js'
import { roomMissing } from './rules/room-missing.js'
import { chooseSpare, spareHost } from './rules/spare-host.js'
import { wholeClusterIdle } from './rules/whole-cluster-idle.js'
import { assess, isIdle, isLiving, type Situation } from './situation.js'
import { countOf, formatDuration, listNames } from './text.js'

/** What waits is a reason to add only if none of these denies. */
const DEMAND_RULES: readonly ClusterRule[] = [
  jobsWait,
  longestWait,
  roomMissing,
  drainForecast,
  cooldownUp
]
/** These deny every addition. */
const LIMIT_RULES: readonly ClusterRule[] = [belowMaximum, bootBackOff, capacityBackOff]
/** Asked of hosts that still take jobs; one that is closed already has nothing to wait for. */
const TIMING_RULES: readonly HostRule[] = [nothingWaits, paidHour, idleTime, cooldownDown]

export function decide(
  facts: Facts,
  config: ScalingConfig,
  history: History,
  now: number = facts.at
): Decision {
  const problem = findBadSetting(config) ?? findImpossible(facts, config, now)
  const sound: Verdict = {
    rule: 'facts-sound',
    phase: 'facts',
    answer: problem === undefined ? 'allow' : 'deny',
    facts: { hosts: facts.hosts.length, jobs: facts.jobs.length },
    sentence: problem ?? 'nothing in the facts is impossible'
  }
  const nothing = { at: now, actions: [], hopeless: [], hopelessCount: 0 }
  if (problem !== undefined) {
    return { ...nothing, verdicts: [sound], summary: `nothing is changed: ${problem}` }
  }
  const situation = assess({ facts, config, history, now })
  const known = {
    at: now,
    hopeless: situation.demand.hopeless.slice(0, NAMED_JOBS_MAX),
    hopelessCount: situation.demand.hopeless.length,
    statistics: statisticsOf(situation)
  }
  const radius = judgeCluster(blastRadius, situation)
  if (radius.answer === 'deny') {
    const summary = `nothing is changed: ${radius.sentence}`
    return { ...known, actions: [], verdicts: [sound, radius], summary }
  }
  const removing = decideRemoving(situation)
  const adding = decideAdding(situation)
  const ending = decideEnding(situation, [...removing.actions, ...adding.actions])
  const actions = [...removing.actions, ...adding.actions, ...ending.actions]
  const verdicts = [sound, radius, ...adding.verdicts, ...removing.verdicts, ...ending.verdicts]
  return { ...known, actions, verdicts, summary: summarise(actions, verdicts) }
}

interface Part {
  readonly actions: readonly Action[]
  readonly verdicts: readonly Verdict[]
}

function decideAdding(situation: Situation): Part {
  const { config, machines, facts } = situation
  const demand = DEMAND_RULES.map((rule) => judgeCluster(rule, situation))
  const floor = judgeCluster(belowMinimum, situation)
  const limits = LIMIT_RULES.map((rule) => judgeCluster(rule, situation))
  const verdicts = [...demand, floor, ...limits]
  const opened = reopen(situation, demand)
  if (opened.length > 0) return { actions: opened, verdicts }
  if (limits.some(isDenial)) return { actions: [], verdicts }
  const missing = countMissing(situation)
  const needed = demand.some(isDenial) ? 0 : countNeeded(situation)
  const count = Math.min(config.addPerPass, Math.max(missing, needed), config.hostsMax - machines)
  if (count <= 0) return { actions: [], verdicts }
  const reason = missing >= needed ? floor : demand[1]
  const start = (facts.provider.stopped ?? []).slice(0, count)
  const action = { kind: 'add', count, start, rule: reason.rule, reason: reason.sentence } as const
  return { actions: [action], verdicts }
}

/**
 * A host that was drained and is still up is the quickest one to have, and the wait of document 004 is
 * for new ones. Only one that still has a job: an empty one may be half removed already.
 */
function reopen(situation: Situation, demand: readonly Verdict[]): HostAction[] {
  const { facts, config, packing, forecast } = situation
  // Near the end of a paid hour hosts are closed although something waits, so that alone is no reason.
  const byHour = config.billing.kind === 'hour'
  const needed = byHour ? Math.min(packing.needed, forecast?.needed ?? Infinity) : packing.needed
  if (!config.consolidate || needed === 0) return []
  const closed = facts.hosts.filter(
    (host) =>
      host.state === 'draining' &&
      host.machine !== 'gone' &&
      host.interruptionAt === undefined &&
      !isIdle(situation, host)
  )
  return closed.slice(0, needed).map(({ name }) => ({
    kind: 'open' as const,
    host: name,
    rule: roomMissing.name,
    reason: demand.find(({ rule }) => rule === roomMissing.name)?.sentence ?? ''
  }))
}

function decideRemoving(situation: Situation): Part {
  const { facts, config, overdue } = situation
  const verdicts: Verdict[] = []
  const filter = (rule: HostRule, hosts: readonly HostFacts[]): readonly HostFacts[] => {
    const { verdict, allowed } = judgeHosts(rule, situation, hosts)
    verdicts.push(verdict)
    return allowed
  }
  const removable = filter(hostUnprotected, filter(notMaster, facts.hosts))
  const dead = filter(deadHost, removable.filter(isDead))
  const announced = filter(
    interruptedHost,
    facts.hosts.filter((host) => host.interruptionAt !== undefined && !isDead(host))
  )
  const idle = filter(
    hostIdle,
    removable.filter((host) => !isDead(host) && !announced.includes(host))
  )
  let timed: readonly HostFacts[] = idle.filter((host) => !isClosed(host))
  for (const rule of TIMING_RULES) timed = filter(rule, timed)
  const spare = chooseSpare(filter(spareHost, findBusy(situation, removable)))
  const { verdict, chosen } = selectAboveMinimum(situation, [...idle.filter(isClosed), ...timed])
  verdicts.push(verdict)

  const kind: HostAction['kind'] = config.removal === 'stop' ? 'stop' : 'remove'
  const actions: HostAction[] = [
    ...overdue.map(({ name, since }) => ({
      kind: 'remove' as const,
      host: name,
      rule: 'boot-timeout',
      reason: `${name} has been booting for ${formatDuration(situation.now - since)}`
    })),
    ...dead.map((host) => ({
      kind: 'remove' as const,
      host: host.name,
      rule: deadHost.name,
      reason: host.machine === 'gone' ? `${host.name} is gone` : `${host.name} is ${host.state}`
    })),
    ...announced.map(({ name }) => ({
      kind: 'drain' as const,
      host: name,
      rule: interruptedHost.name,
      reason: `the provider will take ${name} away`
    })),
    ...(spare === undefined
      ? []
      : [
          {
            kind: 'drain' as const,
            host: spare.name,
            rule: spareHost.name,
            reason: `nothing waits, and the others can take what runs on ${spare.name}`
          }
        ]),
    ...chosen.map((host) => ({
      kind,
      host: host.name,
      rule: verdict.rule,
      reason: isClosed(host)
        ? `${host.name} is ${host.state} and empty`
        : idleReason(situation, host)
    }))
  ]
  return { actions, verdicts }
}

/** Hosts that could be emptied: none boots, and the minimum stands without one of them. */
function findBusy(situation: Situation, hosts: readonly HostFacts[]): readonly HostFacts[] {
  const { config, demand, booting, living, hostsMin } = situation
  if (!config.consolidate || demand.soon > 0 || booting.length > 0) return []
  if (living <= hostsMin) return []
  return hosts.filter((host) => isLiving(host) && !isIdle(situation, host))
}

/** Closed to new jobs on its way out: by this balancer, or because it left the queue. */
function isClosed({ state }: HostFacts): boolean {
  return state === 'draining' || state === 'orphaned'
}

function idleReason({ config }: Situation, { name }: HostFacts): string {
  return config.billing.kind === 'hour'
    ? `nothing waits, ${name} is idle and its paid hour is nearly over`
    : `nothing waits and ${name} has been idle for long enough`
}

function decideEnding(situation: Situation, others: readonly Action[]): Part {
  const verdict = judgeCluster(wholeClusterIdle, situation)
  if (verdict.answer !== 'allow' || others.length > 0) return { actions: [], verdicts: [verdict] }
  const action = { kind: 'shutdown', rule: verdict.rule, reason: verdict.sentence } as const
  return { actions: [action], verdicts: [verdict] }
}

function isDenial({ answer }: Verdict): boolean {
  return answer === 'deny'
}

function summarise(actions: readonly Action[], verdicts: readonly Verdict[]): string {
  if (actions.length === 0) {
    const adding = verdicts.find(({ phase, answer }) => phase === 'add' && answer === 'deny')
    const removing = verdicts.find(({ phase, answer }) => phase === 'remove' && answer === 'deny')
    const why = [adding, removing].flatMap((verdict) => verdict?.sentence ?? [])
    return `nothing is changed: ${why.join('; ') || 'no rule asks for it'}`
  }
  const parts: string[] = []
  for (const kind of ['remove', 'stop', 'drain', 'open'] as const) {
    const hosts = actions.filter((action): action is HostAction => action.kind === kind)
    if (hosts.length === 0) continue
    const names = listNames(hosts.map(({ host }) => host))
    parts.push(`${kind} ${countOf(hosts.length, 'host')} (${names}): ${hosts[0].reason}`)
  }
  for (const action of actions) {
    if (action.kind === 'add') parts.push(`add ${countOf(action.count, 'host')}: ${action.reason}`)
    if (action.kind === 'shutdown') parts.push(`end the cluster: ${action.reason}`)
  }
  return parts.join('; ')
}

function statisticsOf(situation: Situation): Statistics {
  const { facts, usable, unready, booting, overdue, demand, durations, packing } = situation
  const running = facts.jobs.filter(({ state }) => state === 'running' || state === 'suspended')
  const oldest = demand.helpable.at(0)
  return {
    hosts: situation.machines - booting.length - overdue.length,
    hostsUsable: usable.length,
    hostsUnready: unready.length,
    booting: booting.length + overdue.length,
    slots: situation.slots,
    slotsFree: situation.slotsFree,
    running: running.length,
    queued: demand.queued,
    queuedHelpable: demand.helpable.reduce((sum, { tasks }) => sum + tasks, 0),
    queuedSlots: demand.helpable.reduce((sum, { tasks, shape }) => sum + tasks * shape.slots, 0),
    oldestWaitMs: oldest === undefined ? 0 : Math.max(0, situation.now - oldest.since),
    durationMeanMs: durations.meanMs,
    waitMeanMs: durations.waitMeanMs,
    needed: packing.needed
  }
}
