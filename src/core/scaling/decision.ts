/**
 * What the load balancer decides. Actions are carried out in the order given: what frees or drains
 * first, what adds last. `remove` and `stop` promise nothing about the next second, so whoever acts
 * closes the host to new jobs first, looks again, and gives up (opening the host) if a job got there.
 */

export interface AddAction {
  readonly kind: 'add'
  /** How many hosts, at least 1; `start` names those among them that only need to be started again. */
  readonly count: number
  readonly start: readonly string[]
  readonly rule: string
  readonly reason: string
}

export interface HostAction {
  /**
   * - `remove` close, check that it is empty, deregister, terminate.
   * - `stop` the same, but keep the machine so that it can be started again.
   * - `drain` close it to new jobs and leave it running: it is to go, but a job is still there.
   * - `open` let jobs come again to a host that was drained and still has one: it is needed after all.
   */
  readonly kind: 'remove' | 'stop' | 'drain' | 'open'
  /** A host of the facts, or a booting one that took too long. */
  readonly host: string
  readonly rule: string
  readonly reason: string
}

/** End the whole cluster, the master as well (`--kill-cluster`). Never together with another action. */
export interface ShutdownAction {
  readonly kind: 'shutdown'
  readonly rule: string
  readonly reason: string
}

export type Action = AddAction | HostAction | ShutdownAction

export type Phase = 'facts' | 'add' | 'remove'

export type Answer = 'allow' | 'deny' | 'not-applicable'

/** A host that a rule said no to, with the reason. */
export interface HostVerdict {
  readonly host: string
  readonly sentence: string
}

/** What one rule looked at and said. */
export interface Verdict {
  readonly rule: string
  readonly phase: Phase
  readonly answer: Answer
  /** The facts it looked at, by name, ready to print. */
  readonly facts: Readonly<Record<string, string | number | boolean>>
  readonly sentence: string
  /** For rules about single hosts: the ones refused, at most `HOST_VERDICTS_MAX`. */
  readonly hosts?: readonly HostVerdict[]
}

export const HOST_VERDICTS_MAX = 20

/** A waiting job that no new host could ever help, and why: counted nowhere, named here. */
export interface NamedJob {
  readonly id: string
  readonly why: string
}

/** Figures for the history file, the plots and the metrics. */
export interface Statistics {
  readonly hosts: number
  readonly hostsUsable: number
  readonly hostsUnready: number
  readonly booting: number
  readonly slots: number
  readonly slotsFree: number
  readonly running: number
  /** Waiting tasks of any kind. */
  readonly queued: number
  /** Waiting tasks that a host could start. */
  readonly queuedHelpable: number
  readonly queuedSlots: number
  readonly oldestWaitMs: number
  readonly durationMeanMs: number
  readonly waitMeanMs: number
  /** Hosts missing for what waits, at most `hostsMax`, before the other limits. */
  readonly needed: number
}

export interface Decision {
  readonly at: number
  readonly actions: readonly Action[]
  /** Every rule, in the order asked. */
  readonly verdicts: readonly Verdict[]
  /** Jobs that wait in vain, at most `NAMED_JOBS_MAX`, and how many there are. */
  readonly hopeless: readonly NamedJob[]
  readonly hopelessCount: number
  /** One line for the log: what is done, or why nothing is. */
  readonly summary: string
  /** Absent when the facts were refused. */
  readonly statistics?: Statistics
}

export const NAMED_JOBS_MAX = 50
