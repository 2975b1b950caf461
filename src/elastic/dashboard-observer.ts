/**
 * Tells a node's HTTP door what the balancer sees and decides, so that its dashboard can show it. The door takes it from
 * this machine and with its token, which is asked for once and again when the node was restarted. A door that does not
 * answer costs a pass two seconds at the most and one line; balancing goes on without it.
 */
import {
  reportPass,
  type BalancerReport,
  type HostProgress,
  type ReportFrame
} from '../core/scaling/balancer-report.js'
import { describeStep, type HostRecord } from './host-record.js'
import type { ObservedPass, Observer } from './observer.js'
import type { StateStore } from './state-store.js'

const TIMEOUT_MS = 2000
const TOKEN_HEADER = 'x-opencluster-token'

export interface DashboardOptions {
  /** `HOST:PORT` of the HTTP door. */
  readonly door: string
  readonly frame: ReportFrame
  readonly store: StateStore
  readonly report: (line: string) => void
}

export class DashboardObserver implements Observer {
  readonly #options: DashboardOptions
  #token: string | undefined
  #pass: ObservedPass | undefined
  #last: BalancerReport | undefined
  #said: string | undefined

  constructor(options: DashboardOptions) {
    this.#options = options
  }

  async observe(pass: ObservedPass, signal: AbortSignal): Promise<void> {
    this.#pass = pass
    await this.progress(signal)
  }

  /** The last pass with the hosts as they are now. */
  async progress(signal: AbortSignal): Promise<void> {
    const { store, frame, report } = this.#options
    if (this.#pass === undefined) return
    const { history, cost, records } = store.state
    const input = {
      ...this.#pass,
      progress: records.map(toProgress),
      idleSince: history.idleSince,
      costTotal: cost
    }
    this.#last = reportPass(frame, input, this.#last)
    try {
      await this.#send(this.#last, signal)
      this.#said = undefined
    } catch (error) {
      const line = `the dashboard is not told: ${error instanceof Error ? error.message : String(error)}`
      if (line !== this.#said && !signal.aborted) report(line)
      this.#said = line
    }
  }

  async #send(body: BalancerReport, signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
    // A second time with a new token: the node may have been restarted.
    for (const isLast of [false, true]) {
      this.#token ??= await this.#askToken(limit)
      const response = await this.#fetch(`/api/elastic/${body.cluster}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [TOKEN_HEADER]: this.#token },
        body: JSON.stringify(body),
        signal: limit
      })
      const text = await response.text()
      if (response.ok) return
      this.#token = undefined
      if (isLast || response.status !== 403) throw new Error(`${this.#options.door}: ${text}`)
    }
  }

  async #askToken(signal: AbortSignal): Promise<string> {
    const { door } = this.#options
    const response = await this.#fetch('/api/session', { signal })
    const session: unknown = await response.json()
    const token = (session as { token?: unknown } | null)?.token
    if (typeof token === 'string') return token
    throw new Error(`${door} takes this only from the machine it runs on`)
  }

  async #fetch(path: string, options: RequestInit): Promise<Response> {
    const { door } = this.#options
    try {
      return await fetch(`http://${door}${path}`, options)
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined
      const why = cause instanceof Error ? cause.message : String(error)
      throw new Error(`${door}: ${why}`, { cause: error })
    }
  }
}

function toProgress(record: HostRecord): HostProgress {
  const { name, phase, step, reason, failure, launchedAt } = record
  const isOnTheWay = step !== undefined
  return {
    name,
    phase,
    step: isOnTheWay ? describeStep(record) : undefined,
    reason: isOnTheWay || phase === 'closed' ? reason : undefined,
    failure,
    launchedAt
  }
}
