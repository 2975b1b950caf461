/**
 * Carries hosts through the steps of being added and removed. Each step is written down when it begins and when it is
 * done, can be repeated, and either succeeds, asks to be called later, or fails with one line. A host that cannot be
 * added after a few attempts is taken back by the same steps that remove one; a host that cannot be removed is tried
 * again for ever and named each time: its machine costs money.
 */
import { CommandFailure } from './external-command.js'
import { runHook, type Hook, type HookContext } from './hooks.js'
import {
  beginRemoving,
  describeStep,
  nextStep,
  proceed,
  settle,
  type HostRecord,
  type StepName
} from './host-record.js'
import { CapacityError, type Machine, type Provider } from './providers/provider.js'
import type { HostRequest, Registrar } from './registrars/registrar.js'
import type { StateStore } from './state-store.js'

/** Steps that are the user's own commands. */
export const STAGE_NAMES = [
  'hosts',
  'user',
  'export',
  'mount',
  'daemon',
  'unexport',
  'unhosts'
] as const satisfies readonly StepName[]
export type StageName = (typeof STAGE_NAMES)[number]
export type Stages = Readonly<Partial<Record<StageName, Hook>>>

export interface WorkOptions {
  readonly store: StateStore
  readonly provider: Provider
  /** Without one, hosts need not be made known to anybody. */
  readonly registrar: Registrar | undefined
  readonly stages: Stages
  readonly hooks: HookContext
  /** After closing a host, what the scheduler had already sent to it shows within this. */
  readonly settleMs: number
  /** A failed step is tried again after this, and later each time. */
  readonly retryMs: number
  readonly now: () => number
  readonly report: (line: string) => void
}

const FAILURES_MAX = 3
const RETRY_MS_MAX = 10 * 60_000
const AT_ONCE_MAX = 8

type Outcome =
  | { readonly kind: 'done'; readonly changes?: Partial<HostRecord> }
  | { readonly kind: 'later' }
  | { readonly kind: 'busy'; readonly jobs: number }

const DONE: Outcome = { kind: 'done' }
const LATER: Outcome = { kind: 'later' }

export class Work {
  readonly #options: WorkOptions
  readonly #active = new Set<string>()
  #isStopping = false

  constructor(options: WorkOptions) {
    this.#options = options
  }

  /** Whether any host is on its way. */
  get isPending(): boolean {
    return this.#options.store.records.some(isOnTheWay)
  }

  /** No further steps; those that run come to their end. */
  stop(): void {
    this.#isStopping = true
  }

  /** Takes every host as far as it goes at this moment. */
  async advance(signal: AbortSignal): Promise<void> {
    const { store, now } = this.#options
    const waiting = store.records
      .filter((record) => isOnTheWay(record) && (record.retryAt ?? 0) <= now())
      .map(({ name }) => name)
      .filter((name) => !this.#active.has(name))
    const next = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        this.#active.add(name)
        try {
          while (!this.#isStopping && !signal.aborted) {
            if (!(await this.#advanceOnce(name, signal))) break
          }
        } finally {
          this.#active.delete(name)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE_MAX }, next))
  }

  /** One step of one host; true if the next one can follow at once. */
  async #advanceOnce(name: string, signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options
    const before = store.find(name)
    if (before?.step === undefined) return false
    const isRegistering = before.step === 'register'
    const begun = { ...before, begun: true, ...(isRegistering ? { isRegistered: true } : {}) }
    if (before.begun !== true) store.put(begun)
    try {
      const outcome = await this.#run(begun, before.step, signal)
      if (outcome.kind === 'later') return false
      if (outcome.kind === 'busy') return await this.#giveUpRemoving(begun, outcome.jobs, signal)
      return this.#finishStep({ ...begun, ...outcome.changes })
    } catch (error) {
      if (signal.aborted || (error instanceof CommandFailure && error.kind === 'stopped')) {
        return false
      }
      this.#noteFailure(store.find(name) ?? begun, error)
      return false
    }
  }

  #finishStep(record: HostRecord): boolean {
    const { store, report, now } = this.#options
    const following = nextStep(record)
    if (following !== undefined) {
      report(`${record.name}: ${describeStep(record)} done`)
      store.put(proceed(record, following))
      return true
    }
    if (record.phase === 'adding') {
      const tookMs = now() - record.since
      store.put(settle(record, 'serving', now()))
      store.noteBoot(now(), tookMs)
      report(`${record.name}: added, after ${Math.round(tookMs / 1000)} s`)
    } else if (record.isStopping === true) {
      store.put(settle(record, 'stopped', now()))
      report(`${record.name}: stopped`)
    } else {
      store.drop(record.name)
      report(`${record.name}: removed`)
    }
    return false
  }

  /** A job got there before the host was closed. It is opened again and stays. */
  async #giveUpRemoving(record: HostRecord, jobs: number, signal: AbortSignal): Promise<boolean> {
    const { store, registrar, report, now } = this.#options
    await registrar?.open(toHostRequest(record), signal)
    store.put(settle(record, 'serving', now()))
    report(`${record.name}: stays, ${jobs === 1 ? 'a job is' : `${jobs} jobs are`} there`)
    return false
  }

  #noteFailure(record: HostRecord, error: unknown): void {
    const { store, report, now, retryMs } = this.#options
    const message = error instanceof Error ? error.message : String(error)
    const failures = (record.failures ?? 0) + 1
    report(`${record.name}: ${describeStep(record)} failed: ${message}`)
    if (error instanceof CapacityError && record.machineId === undefined) {
      store.noteFailure('capacityFailures', record.name, message, now())
      store.drop(record.name)
      return
    }
    if (record.phase === 'adding' && failures >= FAILURES_MAX) {
      store.noteFailure('bootFailures', record.name, message, now())
      const reason = `it could not be added: ${message}`
      store.put(beginRemoving(record, reason, { now: now() }))
      report(`${record.name}: taken back, ${reason}`)
      return
    }
    const pause = Math.min(RETRY_MS_MAX, retryMs * 2 ** Math.min(failures - 1, 16))
    store.put({ ...record, failures, failure: message, retryAt: now() + pause })
  }

  async #run(record: HostRecord, step: StepName, signal: AbortSignal): Promise<Outcome> {
    const { provider, registrar, now } = this.#options
    const host = toHostRequest(record)
    const machine = { name: record.name, id: record.machineId, address: record.address }
    switch (step) {
      case 'launch':
        return { kind: 'done', changes: this.#toChanges(await this.#launch(record, signal)) }
      case 'wait': {
        const ready = await provider.checkReady(machine, signal)
        if (ready === undefined) return LATER
        return {
          kind: 'done',
          changes: this.#toChanges({ ...ready, launchedAt: record.launchedAt })
        }
      }
      case 'register':
        await registrar?.register(host, signal)
        return DONE
      case 'join':
        return registrar === undefined || (await registrar.checkJoined(host, signal)) ? DONE : LATER
      case 'drain':
        await registrar?.close(host, signal)
        return { kind: 'done', changes: { closedAt: now() } }
      case 'empty': {
        if (registrar === undefined || record.isDead === true) return DONE
        const jobs = await registrar.countJobs(host, signal)
        if (jobs > 0) return { kind: 'busy', jobs }
        return now() - (record.closedAt ?? now()) < this.#options.settleMs ? LATER : DONE
      }
      case 'deregister':
        await registrar?.deregister(host, signal)
        return DONE
      case 'terminate': {
        const isOver =
          record.isStopping === true && provider.stop !== undefined
            ? await provider.stop(machine, signal)
            : await provider.terminate(machine, signal)
        return isOver ? DONE : LATER
      }
      default:
        return this.#runStage(step, record, signal)
    }
  }

  #launch(record: HostRecord, signal: AbortSignal): Promise<Machine> {
    const { provider } = this.#options
    const { name, machineId: id, address } = record
    const request = { name, id, address, token: String(record.since) }
    if (record.isStarting === true && provider.start !== undefined) {
      return provider.start(request, signal)
    }
    return provider.launch(request, signal)
  }

  #toChanges(
    machine: Omit<Machine, 'launchedAt'> & { launchedAt?: number | undefined }
  ): Partial<HostRecord> {
    const { id, address, launchedAt } = machine
    return {
      machineId: id,
      launchedAt: launchedAt ?? this.#options.now(),
      ...(address === undefined ? {} : { address })
    }
  }

  async #runStage(stage: StageName, record: HostRecord, signal: AbortSignal): Promise<Outcome> {
    const { stages, hooks } = this.#options
    const hook = stages[stage]
    if (hook === undefined) return DONE
    const { name, machineId: id, address } = record
    const result = await runHook(hook, hooks, { name, id, address }, signal)
    return result === undefined ? LATER : DONE
  }
}

function isOnTheWay({ phase }: HostRecord): boolean {
  return phase === 'adding' || phase === 'removing'
}

function toHostRequest({ name, address, isDead }: HostRecord): HostRequest {
  return { name, address, isDead: isDead === true }
}
