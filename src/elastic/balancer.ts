/**
 * One pass: ask the scheduler and the provider, decide, act, write down. Whoever does not answer, or answers nonsense,
 * ends the pass with one line before anything is changed; the next pass asks again.
 */
import { findImpossible } from '../core/scaling/check.js'
import { decide } from '../core/scaling/decide.js'
import type { Action, Decision, HostAction } from '../core/scaling/decision.js'
import { explainAction, explainDecision } from '../core/scaling/explain.js'
import type { Facts } from '../core/scaling/facts.js'
import { remember } from '../core/scaling/history.js'
import type { ScalingConfig } from '../core/scaling/config.js'
import { composeFacts } from './compose-facts.js'
import { beginRemoving, createRecord, settle, type HostRecord } from './host-record.js'
import { chooseName, type NameForm } from './host-name.js'
import type { Machine, Provider } from './providers/provider.js'
import { reconcile } from './reconcile.js'
import type { HostRequest, Registrar } from './registrars/registrar.js'
import type { Source } from './sources/source.js'
import type { StateStore } from './state-store.js'
import type { Work } from './work.js'

export interface BalancerOptions {
  readonly source: Source
  readonly provider: Provider
  readonly registrar: Registrar | undefined
  readonly store: StateStore
  readonly work: Work
  readonly config: ScalingConfig
  readonly names: NameForm
  readonly pricePerHour: number | undefined
  /** Decide and say so, and change nothing anywhere. */
  readonly isDryRun: boolean
  /** Show every rule and its verdict. */
  readonly isExplaining: boolean
  readonly now: () => number
  readonly report: (line: string) => void
}

export interface PassResult {
  /** Undefined when there were no facts to decide on. */
  readonly decision: Decision | undefined
  readonly facts: Facts | undefined
  /** Why there were no facts. */
  readonly problem: string | undefined
  /** The cluster was ended: there is nothing left to balance. */
  readonly isEnded: boolean
}

const NOTHING = { decision: undefined, facts: undefined, isEnded: false } as const
const HOUR_MS = 3_600_000
const REPEATED_AFTER_MS = 10 * 60_000

export class Balancer {
  readonly #options: BalancerOptions
  #lastPassAt: number | undefined
  #hopeless: ReadonlySet<string> = new Set()
  #isClosedAgain = false
  #said = { line: '', at: -Infinity }

  constructor(options: BalancerOptions) {
    this.#options = options
  }

  async pass(signal: AbortSignal): Promise<PassResult> {
    const { config, store, isDryRun, isExplaining, report, now } = this.#options
    let facts: Facts
    try {
      facts = await this.#readFacts(signal)
    } catch (error) {
      if (signal.aborted) return { ...NOTHING, problem: 'it was stopped' }
      const why = error instanceof Error ? error.message : String(error)
      this.#reportOnce(`nothing is changed: ${why}`, now())
      return { ...NOTHING, problem: why }
    }
    const decision = decide(facts, config, store.state.history, now())
    if (isExplaining) for (const line of explainDecision(decision)) report(line)
    else {
      this.#nameHopeless(decision)
      this.#reportOnce(decision.summary, now())
    }
    if (isDryRun) {
      if (!isExplaining)
        for (const action of decision.actions) report(`would ${explainAction(action)}`)
      return { decision, facts, problem: undefined, isEnded: false }
    }
    this.#remember(facts, decision)
    if (decision.statistics !== undefined) await this.#closeAgain(signal)
    const isEnded = await this.#act(decision.actions, facts, signal)
    return { decision, facts, problem: undefined, isEnded }
  }

  /** The same line again and again says nothing; now and then it says that the balancer lives. */
  #reportOnce(line: string, at: number): void {
    const { line: before, at: when } = this.#said
    // While nothing is changed, a number that counts up or down is nothing new.
    const said = line.startsWith('nothing is changed') ? line.replace(/\d+/g, '0') : line
    if (said === before && at - when < REPEATED_AFTER_MS) return
    this.#said = { line: said, at }
    this.#options.report(line)
  }

  /** Jobs that wait in vain are named once each. */
  #nameHopeless({ hopeless }: Decision): void {
    const known = this.#hopeless
    this.#hopeless = new Set(hopeless.map(({ id }) => id))
    for (const { id, why } of hopeless) {
      if (!known.has(id)) this.#options.report(`job ${id} waits in vain: ${why}`)
    }
  }

  async #readFacts(signal: AbortSignal): Promise<Facts> {
    const { source, provider, registrar, store, config, report, isDryRun, now } = this.#options
    const { pricePerHour } = this.#options
    const started = now()
    const reading = await source.read({ now: started, lookbackMs: config.lookbackMs, signal })
    for (const note of reading.notes) report(note)
    const machines = await provider.list?.(signal)
    const compose = (): Facts =>
      composeFacts({ source: reading.facts, machines, state: store.state, pricePerHour })
    // Nothing is concluded from facts that cannot be true; the decision says what is wrong with them.
    const isSound = findImpossible(compose(), config, now()) === undefined
    if (machines !== undefined && isSound) {
      const spare = reconcile({
        store,
        machines,
        hosts: reading.facts.hosts,
        now: started,
        report,
        hasRegistrar: registrar !== undefined
      })
      if (!isDryRun) await this.#endSpare(spare, signal)
    }
    return compose()
  }

  async #endSpare(spare: readonly Machine[], signal: AbortSignal): Promise<void> {
    const { provider, report } = this.#options
    for (const { name, id, address } of spare) {
      try {
        await provider.terminate({ name, id, address }, signal)
      } catch (error) {
        report(`${name}: ${id} cannot be ended: ${error instanceof Error ? error.message : ''}`)
      }
    }
  }

  #remember(facts: Facts, decision: Decision): void {
    const { store } = this.#options
    const { state } = store
    const elapsedMs = this.#lastPassAt === undefined ? 0 : decision.at - this.#lastPassAt
    this.#lastPassAt = decision.at
    const perHour = facts.hosts.reduce((sum, { pricePerHour = 0 }) => sum + pricePerHour, 0)
    store.update({
      history: remember(state.history, facts, decision),
      cost: state.cost + (perHour * Math.max(0, elapsedMs)) / HOUR_MS
    })
  }

  async #act(actions: readonly Action[], facts: Facts, signal: AbortSignal): Promise<boolean> {
    const { work, store, provider, report } = this.#options
    for (const action of actions) {
      if (action.kind === 'add') this.#beginAdding(action.count, action.start, action.reason, facts)
      else if (action.kind === 'drain') await this.#close(action.host, action.reason, signal)
      else if (action.kind === 'open') await this.#open(action.host, action.reason, signal)
      else if (action.kind === 'shutdown') {
        if (provider.shutdown === undefined) {
          report(`the cluster could end (${action.reason}), but the provider cannot end the master`)
          continue
        }
        await provider.shutdown(signal)
        store.update({ records: [] })
        report('the cluster was ended')
        return true
      } else this.#beginRemoving(action, facts)
    }
    await work.advance(signal)
    return false
  }

  #beginAdding(count: number, start: readonly string[], reason: string, facts: Facts): void {
    const { store, names, provider, report, now } = this.#options
    for (let index = 0; index < count; index++) {
      const stopped = start.at(index) === undefined ? undefined : store.find(start[index])
      if (stopped?.phase === 'stopped') {
        const { name } = stopped
        const again = { ...stopped, phase: 'adding', step: 'launch', isStarting: true } as const
        store.put({ ...again, reason, since: now() })
        report(`${name}: started again, ${reason}`)
        continue
      }
      const taken = [
        ...facts.hosts.map((host) => host.name),
        ...store.records.map((record) => record.name)
      ]
      const name = chooseName(taken, names, provider.listNames?.())
      if (name === undefined) {
        report('no host is added: every machine of the pool is in use')
        store.noteFailure('capacityFailures', '', 'every machine of the pool is in use', now())
        return
      }
      store.put(createRecord(name, reason, now()))
      report(`${name}: to be added, ${reason}`)
    }
  }

  #beginRemoving(action: HostAction, facts: Facts): void {
    const { store, provider, report, now } = this.#options
    const record = store.find(action.host)
    if (record === undefined) {
      report(`${action.host}: not removed, it was not launched by this balancer`)
      return
    }
    if (record.phase === 'removing') return
    const host = facts.hosts.find(({ name }) => name === action.host)
    if (record.phase === 'adding') {
      store.noteFailure('bootFailures', record.name, action.reason, now())
    }
    const isStopping = action.kind === 'stop' && provider.stop !== undefined
    const isDead = host?.machine === 'gone'
    store.put(beginRemoving(record, action.reason, { now: now(), isStopping, isDead }))
    report(`${record.name}: to be removed, ${action.reason}`)
  }

  /** Written down first: one that dies in between is closed again by the next balancer. */
  async #close(name: string, reason: string, signal: AbortSignal): Promise<void> {
    const { store, registrar, report } = this.#options
    const record = store.find(name)
    if (record?.phase !== 'serving') return
    store.put({ ...record, phase: 'closed', reason })
    try {
      await registrar?.close(toRequest(record), signal)
      report(`${name}: closed to new jobs, ${reason}`)
    } catch (error) {
      store.put(record)
      report(`${name}: cannot be closed: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** It is needed after all. One that is being removed is opened by its own steps, if a job is there. */
  async #open(name: string, reason: string, signal: AbortSignal): Promise<void> {
    const { store, registrar, report, now } = this.#options
    const record = store.find(name)
    if (record?.phase !== 'closed') return
    try {
      await registrar?.open(toRequest(record), signal)
      store.put(settle(record, 'serving', now()))
      report(`${name}: opened again, ${reason}`)
    } catch (error) {
      report(`${name}: cannot be opened: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Once after the start: a balancer that was killed may have written down what it did not do. */
  async #closeAgain(signal: AbortSignal): Promise<void> {
    const { store, registrar, report } = this.#options
    if (this.#isClosedAgain || registrar === undefined) return
    this.#isClosedAgain = true
    for (const record of store.records.filter(({ phase }) => phase === 'closed')) {
      try {
        await registrar.close(toRequest(record), signal)
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        report(`${record.name}: cannot be closed: ${why}`)
        this.#isClosedAgain = false
      }
    }
  }
}

function toRequest({ name, address }: HostRecord): HostRequest {
  return { name, address, isDead: false }
}
