/** The state in memory and on disk, changed together: whatever was changed is on disk before anything follows from it. */
import type { HostRecord } from './host-record.js'
import { loadState, saveState, type ElasticState } from './state-file.js'

const FAILURES_KEPT = 50
const BOOTS_KEPT = 50

export class StateStore {
  readonly #path: string | undefined
  #state: ElasticState

  /** Without writing: a dry run looks and leaves no trace. */
  constructor(path: string, now: number, options: { readonly isReadOnly: boolean }) {
    this.#state = loadState(path, now)
    this.#path = options.isReadOnly ? undefined : path
  }

  get state(): ElasticState {
    return this.#state
  }

  get records(): readonly HostRecord[] {
    return this.#state.records
  }

  find(name: string): HostRecord | undefined {
    return this.#state.records.find((record) => record.name === name)
  }

  update(changes: Partial<ElasticState>): void {
    this.#state = { ...this.#state, ...changes }
    if (this.#path !== undefined) saveState(this.#path, this.#state)
  }

  put(record: HostRecord): void {
    const others = this.#state.records.filter(({ name }) => name !== record.name)
    this.update({ records: [...others, record] })
  }

  drop(name: string): void {
    this.update({ records: this.#state.records.filter((record) => record.name !== name) })
  }

  noteBoot(now: number, tookMs: number): void {
    const bootDurationsMs = [...this.#state.bootDurationsMs, tookMs].slice(-BOOTS_KEPT)
    this.update({ lastBootAt: now, bootDurationsMs })
  }

  noteFailure(
    kind: 'bootFailures' | 'capacityFailures',
    host: string,
    reason: string,
    at: number
  ): void {
    const failures = [...this.#state[kind], { at, reason, host }].slice(-FAILURES_KEPT)
    this.update({ [kind]: failures })
  }
}
