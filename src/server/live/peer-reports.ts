/** Asks other nodes what is new with them: one connection and one question at a time for each, never waiting for any. */
import type { Report, Since } from '../../runtime/report.js'
import { RespConnection } from '../../runtime/resp-connection.js'

const ANSWER_MS_MAX = 2000
/** A node that could not be reached is tried again after this. */
const RETRY_MS = 1000

interface Asked {
  readonly address: string
  since: Since
  busy: boolean
  connection: RespConnection | undefined
  retryAtMs: number
}

export class PeerReports {
  readonly #onReport: (report: Report) => void
  readonly #asked = new Map<string, Asked>()
  #closed = false

  constructor(onReport: (report: Report) => void) {
    this.#onReport = onReport
  }

  /** `whole`: with the samples and entries since the last time. */
  ask(nodes: readonly { readonly name: string; readonly resp: string }[], whole: boolean): void {
    const names = new Set(nodes.map(({ name }) => name))
    for (const [name, asked] of this.#asked) {
      if (names.has(name)) continue
      asked.connection?.close()
      this.#asked.delete(name)
    }
    for (const { name, resp } of nodes) {
      let asked = this.#asked.get(name)
      if (asked?.address !== resp) {
        asked?.connection?.close()
        const since = { sample: 0, entry: 0 }
        asked = { address: resp, since, busy: false, connection: undefined, retryAtMs: 0 }
        this.#asked.set(name, asked)
      }
      if (!asked.busy && performance.now() >= asked.retryAtMs) void this.#askOne(asked, whole)
    }
  }

  /** Everything is wanted again. */
  forgetSince(): void {
    for (const asked of this.#asked.values()) asked.since = { sample: 0, entry: 0 }
  }

  close(): void {
    this.#closed = true
    for (const { connection } of this.#asked.values()) connection?.close()
    this.#asked.clear()
  }

  async #askOne(asked: Asked, whole: boolean): Promise<void> {
    asked.busy = true
    const { since } = asked
    const timer = setTimeout(() => asked.connection?.close(), ANSWER_MS_MAX)
    timer.unref()
    try {
      asked.connection ??= await RespConnection.open(asked.address, ANSWER_MS_MAX)
      const [sample, entry] = whole ? [since.sample, since.entry] : [Infinity, Infinity]
      const reply = await asked.connection.call('OC.REPORT', String(sample), String(entry))
      if (this.#closed || typeof reply !== 'string') return
      const report = JSON.parse(reply) as Report
      // Somebody may have begun to look in the meantime and want everything.
      if (asked.since === since && whole) {
        asked.since = {
          sample: report.samples.at(-1)?.id ?? since.sample,
          entry: report.entries.at(-1)?.id ?? since.entry
        }
      }
      this.#onReport(report)
    } catch {
      asked.connection?.close()
      asked.connection = undefined
      asked.retryAtMs = performance.now() + RETRY_MS
    } finally {
      clearTimeout(timer)
      asked.busy = false
      if (this.#closed) asked.connection?.close()
    }
  }
}
