/**
 * What the load balancer knows when it decides: plain values, gathered by a source (the scheduler)
 * and a provider (the machines), all of one moment `at`. Times are milliseconds since 1970, sizes are
 * whole slots. A *host* is a machine that can run jobs, document 004's "node"; the word node stays
 * with the processes of the data cluster. Sources translate, they do not judge: a disabled host or a
 * job that can never run is reported as it is, and the rules say what it means. Fields that a source
 * cannot know are left out, never guessed.
 */

/** What a host or a template offers and a job asks for: `arch`, `memoryMb`, `gpu`. */
export type Resources = Readonly<Record<string, string | number>>

/**
 * - `ready` takes jobs now.
 * - `disabled` somebody closed it to new jobs (Grid Engine `d`, Slurm DRAIN by hand).
 * - `draining` this balancer closed it, on the way to its removal.
 * - `orphaned` it left the queue while its jobs still ran (Grid Engine `o`).
 * - `unreachable` the scheduler does not hear it (Grid Engine `u`, Slurm NOT_RESPONDING or DOWN).
 * - `error` the scheduler does not trust it (Grid Engine `E`).
 * - `alarm` it is alive but too loaded for new jobs (Grid Engine `a`).
 */
export type HostState =
  'ready' | 'disabled' | 'draining' | 'orphaned' | 'unreachable' | 'error' | 'alarm'

/** One queue (Slurm: partition) on one host. */
export interface QueueSlots {
  readonly queue: string
  readonly slots: number
  readonly used: number
}

export interface HostFacts {
  readonly name: string
  /** The master is never removed. A master that runs no jobs is listed with 0 slots. */
  readonly role: 'master' | 'worker'
  readonly state: HostState
  /** Slots of the whole machine, which its queues may share, and how many of them jobs hold. */
  readonly slots: number
  readonly used: number
  readonly queues: readonly QueueSlots[]
  readonly resources?: Resources
  /** Of `resources`, what jobs hold: only what is listed here is used up by a job (memory, not `arch`). */
  readonly resourcesUsed?: Readonly<Record<string, number>>
  /** When the provider began to bill it; without it the hour rule cannot say yes. */
  readonly launchedAt?: number
  /** Since when it runs no job, if the source knows; else the balancer's history says. */
  readonly idleSince?: number
  /** Since when it is in its present state, if known. */
  readonly stateSince?: number
  /** Nobody but its owner may remove it. */
  readonly protected?: boolean
  /** False: the provider did not launch it and cannot remove it. */
  readonly managed?: boolean
  /** What the provider says of the machine; `gone` proves that nothing runs there any more. */
  readonly machine?: 'running' | 'gone' | 'unknown'
  /** The provider will take the machine away at this time (a spot notice). */
  readonly interruptionAt?: number
  /** Price of an hour, for reports only. */
  readonly pricePerHour?: number
}

/**
 * - `queued` waits and nothing but room is missing, as far as the scheduler says (Grid Engine `qw`).
 * - `requeued` lost its host and waits again (Grid Engine `Rq`); counted like `queued`.
 * - `held` by its owner, an operator or a dependency (`hqw`).
 * - `errored` waits for a person (`Eqw`).
 * - `running` includes starting and ending; `suspended` sits on its host all the same.
 */
export type JobState = 'queued' | 'requeued' | 'held' | 'errored' | 'running' | 'suspended'

/** Why a job waits, where the scheduler says so; `impossible` and `licence` no new host can cure. */
export type PendingReason =
  | 'resources'
  | 'priority'
  | 'dependency'
  | 'hold'
  | 'start-time'
  | 'throttle'
  | 'quota'
  | 'licence'
  | 'impossible'
  | 'other'

/** The part of a running job on one host. */
export interface JobShare {
  readonly host: string
  /** The queue it came in by, if the source knows. */
  readonly queue?: string
  readonly slots: number
}

/** One line of the queue: a job, or all waiting tasks of an array, or one running task of it. */
export interface JobFacts {
  readonly id: string
  readonly state: JobState
  readonly submittedAt: number
  /** Slots of one task. */
  readonly slots: number
  /** Waiting tasks behind this line; 1 if it is no array. */
  readonly tasks: number
  /** At most so many tasks of the array may run at once (Grid Engine `-tc`, Slurm `%`). */
  readonly taskLimit?: number
  /** `hosts`: its slots may be spread over several hosts (MPI). Default `host`: all on one. */
  readonly span?: 'host' | 'hosts'
  /** Spread with exactly so many slots on each host; only with span `hosts`. */
  readonly slotsPerHost?: number
  /** Queues that may run it; absent: any. */
  readonly queues?: readonly string[]
  /** Hard requests: text must be equal (`|` separates alternatives, `*` ends a prefix), a number is a minimum. */
  readonly resources?: Resources
  readonly holds?: readonly string[]
  /** Jobs that must end first and have not. */
  readonly dependsOn?: readonly string[]
  /** It may not start before. */
  readonly startAfter?: number
  readonly reason?: PendingReason
  /** The scheduler's own words behind `reason`, for the explanation. */
  readonly reasonText?: string
  /** Where it runs; empty or absent while it waits. */
  readonly hosts?: readonly JobShare[]
  readonly startedAt?: number
  readonly timeLimitMs?: number
  /** What it resembles, so that its length can be foretold: a job name, an owner and a name. */
  readonly family?: string
}

/** A job that ended: what its like will take. */
export interface FinishedJob {
  readonly id: string
  readonly submittedAt?: number
  readonly startedAt: number
  readonly endedAt: number
  readonly slots: number
  readonly family?: string
}

/** Something the whole cluster has so many of and jobs take: licences, tokens. */
export interface Consumable {
  readonly name: string
  readonly total: number
  readonly used: number
}

/** A machine that was asked for and is not a host of the scheduler yet. */
export interface BootingHost {
  readonly name: string
  readonly since: number
  /** When the provider began to bill it, if other than `since`. */
  readonly launchedAt?: number
}

export interface ProviderFailure {
  readonly at: number
  readonly reason: string
  readonly host?: string
}

export interface ProviderFacts {
  readonly booting: readonly BootingHost[]
  /** Machines that can be started again instead of launched. */
  readonly stopped?: readonly string[]
  /** Machines the provider counts as running or booting, the master's too: it may know more than the scheduler. */
  readonly machines?: number
  readonly bootFailures: readonly ProviderFailure[]
  /** The provider had none to give. */
  readonly capacityFailures: readonly ProviderFailure[]
  /** When a host last came up: failures before it are forgiven. */
  readonly lastBootAt?: number
  /** How long recent hosts took from the request to `ready`, newest last. */
  readonly bootDurationsMs?: readonly number[]
}

export interface Facts {
  /** The moment the facts were taken, by the clock that `now` is read from. */
  readonly at: number
  readonly hosts: readonly HostFacts[]
  /** Every waiting, running and suspended job of every user. */
  readonly jobs: readonly JobFacts[]
  readonly finished: readonly FinishedJob[]
  readonly consumables?: readonly Consumable[]
  readonly provider: ProviderFacts
}

/** What the balancer remembers from pass to pass; plain, so that it survives a restart as JSON. */
export interface History {
  /** When this balancer first looked. */
  readonly startedAt: number
  readonly lastAddAt?: number
  readonly lastRemoveAt?: number
  /** Since when a host has been seen without a job. */
  readonly idleSince: Readonly<Partial<Record<string, number>>>
  /** Since when a host has been seen unreachable or in error. */
  readonly unreadySince: Readonly<Partial<Record<string, number>>>
}
