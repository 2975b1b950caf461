/**
 * How many operations a second the nodes of a data cluster do, from the counters at their HTTP doors, between one pass
 * and the next. Known only when every node was there both times: a node that has just joined or was restarted makes
 * the next pass the first one again, and until then nobody concludes that there is little to do.
 */
import { FactsError } from './facts-error.js'

export interface CountedNode {
  readonly name: string
  /** `HOST:PORT` of its HTTP door. */
  readonly http: string | null
}

interface Count {
  readonly at: number
  readonly operations: number
}

const METRIC = /^opencluster_operations_total(?:\{[^}]*\})? (\d+(?:\.\d+)?(?:e\+?\d+)?)$/gm
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
const TIMEOUT_MS_MAX = 5000

export class OperationRate {
  readonly #timeoutMs: number
  #before = new Map<string, Count>()

  constructor(timeoutMs: number) {
    this.#timeoutMs = Math.min(timeoutMs, TIMEOUT_MS_MAX)
  }

  /** Operations a second of all nodes together; undefined if it cannot be known yet. */
  async read(nodes: readonly CountedNode[], now: number): Promise<number | undefined> {
    const counts = await Promise.all(nodes.map((node) => this.#count(node)))
    const before = this.#before
    this.#before = new Map(
      nodes.map(({ name }, index) => [name, { at: now, operations: counts[index] }])
    )
    let rate = 0
    for (const [name, { at, operations }] of this.#before) {
      const former = before.get(name)
      // Less than before: it is another process of the same name.
      if (former === undefined || at <= former.at || operations < former.operations) {
        return undefined
      }
      rate += ((operations - former.operations) * 1000) / (at - former.at)
    }
    return rate
  }

  async #count({ name, http }: CountedNode): Promise<number> {
    if (http === null) {
      throw new FactsError(`${name} has no HTTP door, so its operations cannot be counted`)
    }
    let text: string
    try {
      const signal = AbortSignal.timeout(this.#timeoutMs)
      const response = await fetch(`http://${http}/metrics`, { signal })
      if (!response.ok) throw new Error(`status ${response.status}`)
      text = await response.text()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new FactsError(`${name} does not say how many operations it did: ${why}`)
    }
    const found = text.length > ANSWER_BYTES_MAX ? [] : [...text.matchAll(METRIC)]
    if (found.length === 0) throw new FactsError(`${name} does not count its operations`)
    return found.reduce((sum, [, value]) => sum + Number(value), 0)
  }
}
