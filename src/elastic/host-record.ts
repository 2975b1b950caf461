/**
 * What the balancer remembers of a host it launched, from the decision to add it until its machine is gone. It is
 * written down before and after every step, so that a balancer that was stopped at any moment knows where to go on.
 */

/**
 * The stages of document 004. Adding: launch the machine, wait for it (its name was chosen before, the highest number
 * and one), tell all hosts its address, make the user there, export the shares to it and mount them, register it with
 * the scheduler, start the scheduler's daemon on it, and wait until the scheduler takes it.
 */
export const ADDING_STEPS = [
  'launch',
  'wait',
  'hosts',
  'user',
  'export',
  'mount',
  'register',
  'daemon',
  'join'
] as const

/**
 * Removing: close it to new jobs, look whether one got there before (then it is opened again), deregister it, take back
 * the shares and its address, end the machine.
 */
export const REMOVING_STEPS = [
  'drain',
  'empty',
  'deregister',
  'unexport',
  'unhosts',
  'terminate'
] as const

export type AddingStep = (typeof ADDING_STEPS)[number]
export type RemovingStep = (typeof REMOVING_STEPS)[number]
export type StepName = AddingStep | RemovingStep

/**
 * - `adding`, `removing`: on the way, `step` is the next to do.
 * - `serving`: the scheduler has it.
 * - `closed`: it takes no new jobs and is to go when it is empty.
 * - `stopped`: its machine is switched off and can be started again.
 */
export type Phase = 'adding' | 'serving' | 'closed' | 'removing' | 'stopped'

export interface HostRecord {
  readonly name: string
  readonly phase: Phase
  readonly step?: StepName
  /** The step was begun; after a crash it may have happened or not. */
  readonly begun?: boolean
  /** Why it is on the way. */
  readonly reason: string
  /** When the phase began. */
  readonly since: number
  /** The machine as its provider calls it. */
  readonly machineId?: string
  readonly address?: string
  readonly launchedAt?: number
  /** Whether the scheduler may know it: `register` was begun once. */
  readonly isRegistered?: boolean
  /** Switch the machine off instead of ending it. */
  readonly isStopping?: boolean
  /** Start the machine that was switched off instead of launching one. */
  readonly isStarting?: boolean
  /** The machine is dead: nothing on it can be asked or waited for. */
  readonly isDead?: boolean
  /** When it was closed to new jobs: what was already on its way to it shows a little later. */
  readonly closedAt?: number
  /** Attempts of the present step that failed, and what the last one said. */
  readonly failures?: number
  readonly failure?: string
  /** After a failure, not before. */
  readonly retryAt?: number
}

export function createRecord(name: string, reason: string, now: number): HostRecord {
  return { name, phase: 'adding', step: 'launch', reason, since: now }
}

/** On to removing, from wherever it is; what only concerned the way before is forgotten. */
export function beginRemoving(
  record: HostRecord,
  reason: string,
  options: { now: number; isStopping?: boolean; isDead?: boolean }
): HostRecord {
  return {
    ...identityOf(record),
    phase: 'removing',
    // One that was never registered has no jobs to wait for.
    step: record.isRegistered === true ? 'drain' : 'unexport',
    reason,
    since: options.now,
    ...(options.isStopping === true ? { isStopping: true } : {}),
    ...(options.isDead === true ? { isDead: true } : {})
  }
}

/** It has arrived: it serves, or it is switched off. */
export function settle(record: HostRecord, phase: 'serving' | 'stopped', now: number): HostRecord {
  const { isRegistered, ...rest } = identityOf(record)
  const isKnown = phase === 'serving' && isRegistered === true
  const { reason } = record
  return { ...rest, ...(isKnown ? { isRegistered } : {}), phase, reason, since: now }
}

/** The next step of the same way, not begun and not failed. */
export function proceed(record: HostRecord, step: StepName): HostRecord {
  const { phase, reason, since, isStopping, isStarting, isDead, closedAt } = record
  return {
    ...identityOf(record),
    phase,
    step,
    reason,
    since,
    ...(isStopping === undefined ? {} : { isStopping }),
    ...(isStarting === undefined ? {} : { isStarting }),
    ...(isDead === undefined ? {} : { isDead }),
    ...(closedAt === undefined ? {} : { closedAt })
  }
}

type Identity = Pick<HostRecord, 'name' | 'machineId' | 'address' | 'launchedAt' | 'isRegistered'>

/** What it is, wherever it is on its way. */
function identityOf(record: HostRecord): Identity {
  const { name, machineId, address, launchedAt, isRegistered } = record
  return {
    name,
    ...(machineId === undefined ? {} : { machineId }),
    ...(address === undefined ? {} : { address }),
    ...(launchedAt === undefined ? {} : { launchedAt }),
    ...(isRegistered === undefined ? {} : { isRegistered })
  }
}

/** The step after this one; undefined after the last. */
export function nextStep(record: HostRecord): StepName | undefined {
  const steps: readonly StepName[] = record.phase === 'adding' ? ADDING_STEPS : REMOVING_STEPS
  const { step } = record
  return step === undefined ? undefined : steps[steps.indexOf(step) + 1]
}

/** `launch 1/9`. */
export function describeStep(record: HostRecord): string {
  const steps: readonly StepName[] = record.phase === 'adding' ? ADDING_STEPS : REMOVING_STEPS
  const { step } = record
  return step === undefined ? record.phase : `${step} ${steps.indexOf(step) + 1}/${steps.length}`
}
