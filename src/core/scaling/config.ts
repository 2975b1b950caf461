/**
 * The knobs of the load balancer. The defaults are document 004's criteria: one host at a time when
 * a job has waited over 15 minutes, an idle host goes 45 minutes into its paid hour, every 60 s, down
 * to one host. Document 004's "nodes" are `hosts` here, and min and max count the master as it does.
 */
import type { QueueSlots, Resources } from './facts.js'

const MINUTE_MS = 60_000

/** What a new host will be. Without it the commonest managed worker is taken as the model. */
export interface HostTemplate {
  readonly slots: number
  /** The queues it joins; empty: whatever the job asks for. */
  readonly queues: readonly Pick<QueueSlots, 'queue' | 'slots'>[]
  readonly resources?: Resources
  readonly pricePerHour?: number
}

/** `hour`: every begun hour is paid. `second`: what runs is paid, so idle time decides. */
export type Billing =
  | { readonly kind: 'hour'; readonly killAfterMinutes: number }
  | { readonly kind: 'second'; readonly idleMs: number }

/** A floor at certain times: `[fromMinute, toMinute)` of the day, over midnight if from > to. */
export interface ScheduledMinimum {
  /** 0 is Sunday. Absent: every day. A range over midnight belongs to the day it begins on. */
  readonly days?: readonly number[]
  readonly fromMinute: number
  readonly toMinute: number
  readonly hostsMin: number
}

export interface BackOff {
  /** Wait after the first failure; doubled by each further one. */
  readonly firstMs: number
  readonly mostMs: number
}

export interface ScalingConfig {
  readonly intervalMs: number
  readonly hostsMin: number
  readonly hostsMax: number
  /** `add_nodes_per_iteration`. */
  readonly addPerPass: number
  readonly removePerPass: number
  /** `job_wait_time`: the oldest job must have waited longer. */
  readonly jobWaitMs: number
  readonly billing: Billing
  /** After adding, nothing is added for so long; booting hosts count as room, so 0 does not overshoot. */
  readonly cooldownUpMs: number
  /** After adding or removing, nothing is removed for so long. */
  readonly cooldownDownMs: number
  /** How far back finished jobs are looked at: `lookback_window`. */
  readonly lookbackMs: number
  /** Ask whether the present hosts will have started everything before a new one is up. */
  readonly forecast: boolean
  /** Fewer finished jobs than this foretell nothing. */
  readonly forecastSamplesMin: number
  /**
   * What waits must be worth a host: hosts are added only as far as each gets so much work,
   * by the forecast of job lengths. 0: one host for every hostful of slots.
   */
  readonly workPerHostMs: number
  /** How long a host takes to come up, until the provider has shown it. */
  readonly bootMs: number
  /** A host that boots for longer has failed. */
  readonly bootTimeoutMs: number
  readonly bootBackOff: BackOff
  /** So many boot failures in a row stop all adding until a host comes up or the last is a day old. */
  readonly bootFailuresMax: number
  readonly capacityBackOff: BackOff
  /** Halt when more hosts than `unreadyMin` and more than this fraction of all are unready. */
  readonly unreadyFractionMax: number
  readonly unreadyMin: number
  /** An unreachable host without jobs is replaced after so long. */
  readonly deadAfterMs: number
  /** Only these queues are balanced; empty: all. */
  readonly queues: readonly string[]
  readonly template?: HostTemplate
  /** Names, or beginnings of names that end in `*`. */
  readonly protectedHosts: readonly string[]
  readonly schedule: readonly ScheduledMinimum[]
  readonly utcOffsetMinutes: number
  /** Close hosts that the others can do without, so that they become idle. */
  readonly consolidate: boolean
  /** `stop` keeps the machine for the next time. */
  readonly removal: 'terminate' | 'stop'
  /** `--kill-cluster`: end the master too when nothing runs, waits or boots. */
  readonly killCluster: boolean
  /** Facts older than this are not acted on. */
  readonly factsAgeMaxMs: number
  /** A time may lie so far in the future and still be a matter of clocks. */
  readonly clockSkewMaxMs: number
}

/** Document 004's criteria. `hostsMax` has no default there but the size the cluster was started with. */
export const DEFAULT_CONFIG: ScalingConfig = {
  intervalMs: MINUTE_MS,
  hostsMin: 1,
  hostsMax: 5,
  addPerPass: 1,
  removePerPass: 1_000,
  jobWaitMs: 15 * MINUTE_MS,
  billing: { kind: 'hour', killAfterMinutes: 45 },
  cooldownUpMs: 0,
  cooldownDownMs: 3 * MINUTE_MS,
  lookbackMs: 3 * 60 * MINUTE_MS,
  forecast: true,
  forecastSamplesMin: 10,
  workPerHostMs: 0,
  bootMs: 5 * MINUTE_MS,
  bootTimeoutMs: 15 * MINUTE_MS,
  bootBackOff: { firstMs: MINUTE_MS, mostMs: 30 * MINUTE_MS },
  bootFailuresMax: 10,
  capacityBackOff: { firstMs: 2 * MINUTE_MS, mostMs: 30 * MINUTE_MS },
  unreadyFractionMax: 0.45,
  unreadyMin: 3,
  deadAfterMs: 5 * MINUTE_MS,
  queues: [],
  protectedHosts: [],
  schedule: [],
  utcOffsetMinutes: 0,
  consolidate: false,
  removal: 'terminate',
  killCluster: false,
  factsAgeMaxMs: 5 * MINUTE_MS,
  clockSkewMaxMs: 5 * MINUTE_MS
}

/** The first setting that cannot be meant, as a sentence, or undefined. */
export function findBadSetting(config: ScalingConfig): string | undefined {
  const counts = ['hostsMin', 'hostsMax', 'addPerPass', 'removePerPass', 'unreadyMin'] as const
  for (const name of counts) {
    if (!Number.isSafeInteger(config[name]) || config[name] < 0) return `${name} is ${config[name]}`
  }
  const times = ['intervalMs', 'jobWaitMs', 'cooldownUpMs', 'cooldownDownMs', 'lookbackMs'] as const
  const more = ['bootMs', 'bootTimeoutMs', 'deadAfterMs', 'workPerHostMs', 'factsAgeMaxMs'] as const
  for (const name of [...times, ...more]) {
    if (!Number.isFinite(config[name]) || config[name] < 0) return `${name} is ${config[name]}`
  }
  if (config.hostsMin > config.hostsMax) {
    return `hostsMin ${config.hostsMin} is above hostsMax ${config.hostsMax}`
  }
  const { billing, template } = config
  const patience = billing.kind === 'hour' ? billing.killAfterMinutes : billing.idleMs
  if (!(patience >= 0) || (billing.kind === 'hour' && patience >= 60)) {
    return billing.kind === 'hour' ? `killAfterMinutes is ${patience}` : `idleMs is ${patience}`
  }
  if (template !== undefined && !(Number.isSafeInteger(template.slots) && template.slots > 0)) {
    return `a new host would have ${template.slots} slots`
  }
  return undefined
}

/**
 * The forecast in charge instead of a fixed wait: as many hosts at once as the foreseen work is worth,
 * as soon as it is clear that the present ones will not do. Shown beside the default by
 * `simulate --elastic`; docs/elastic-policy.md has the figures.
 */
export const PROMPT_CONFIG: Readonly<Record<Billing['kind'], ScalingConfig>> = {
  hour: {
    ...DEFAULT_CONFIG,
    jobWaitMs: 5 * MINUTE_MS,
    addPerPass: 100,
    consolidate: true,
    workPerHostMs: 40 * MINUTE_MS,
    cooldownDownMs: MINUTE_MS
  },
  second: {
    ...DEFAULT_CONFIG,
    jobWaitMs: 2 * MINUTE_MS,
    addPerPass: 100,
    consolidate: true,
    workPerHostMs: 20 * MINUTE_MS,
    cooldownDownMs: MINUTE_MS,
    billing: { kind: 'second', idleMs: 5 * MINUTE_MS }
  }
}

export const POLICY_NAMES = ['default', 'prompt'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]

/** A named set of settings with single ones changed; which of the prompt ones follows from the billing. */
export function composeConfig(name: PolicyName, changes: Partial<ScalingConfig>): ScalingConfig {
  const base = name === 'default' ? DEFAULT_CONFIG : PROMPT_CONFIG[changes.billing?.kind ?? 'hour']
  return { ...base, ...changes }
}
