/**
 * How long buckets were without a primary that may serve, by what took it from them: a crash, a pause, or a cut that
 * left it without a majority. It begins with the fault and ends with the first row that gives the bucket a primary
 * outside the fault, or when the old one may serve again. A split in between hands it on to the pieces. What else
 * goes wrong meanwhile makes it longer, and is counted under the fault that came first.
 */
import type { NodeEvent } from '../src/node/outbox.js'
import { newestRows, type ClusterView } from './cluster-view.js'

export const OUTAGE_CAUSES = ['crash', 'pause', 'partition'] as const
export type OutageCause = (typeof OUTAGE_CAUSES)[number]

export interface Outages {
  readonly count: number
  readonly sumMs: number
  readonly worstMs: number
}

export type OutagesByCause = Record<OutageCause, Outages>

interface Fault {
  readonly cause: OutageCause
  readonly names: ReadonlySet<string>
  over: boolean
}

interface Loss {
  readonly fault: Fault
  readonly primary: string
  readonly since: number
  readonly epoch: number
}

const NONE: Outages = { count: 0, sumMs: 0, worstMs: 0 }
export const NO_OUTAGES: OutagesByCause = { crash: NONE, pause: NONE, partition: NONE }

export class Availability {
  readonly #outages: OutagesByCause = { ...NO_OUTAGES }
  readonly #faults = new Set<Fault>()
  #losses = new Map<number, Loss>()
  #mask = 0

  get outages(): OutagesByCause {
    return { ...this.#outages }
  }

  /** These nodes serve nobody from now on; what ends it is called when that is over. */
  begin(cause: OutageCause, names: readonly string[], view: ClusterView): () => void {
    const fault: Fault = { cause, names: new Set(names), over: false }
    this.#faults.add(fault)
    const rows = newestRows(view.nodes)
    this.#expand(rows.length - 1)
    for (const { bucket, primary, epoch } of rows) {
      if (primary === null || !fault.names.has(primary) || this.#losses.has(bucket)) continue
      this.#losses.set(bucket, { fault, primary, since: view.now, epoch })
    }
    return () => {
      fault.over = true
      this.#faults.delete(fault)
    }
  }

  onEvent(node: string, event: NodeEvent, now: number): void {
    if (event.kind === 'split') this.#expand(event.mask)
    if (event.kind === 'joined' && event.node === node) this.#isBack(node)
    if (event.kind !== 'row' || event.primary === null) return
    const loss = this.#losses.get(event.bucket)
    if (loss === undefined || event.epoch <= loss.epoch || this.#isAway(event.primary)) return
    this.#end(event.bucket, loss, now)
  }

  /** Buckets whose old primary is back and still theirs are served again. */
  look(view: ClusterView): void {
    if (this.#losses.size === 0) return
    const serving = new Set<string>()
    for (const { name, voters } of view.nodes) {
      if (voters?.mayServe !== false && !this.#isAway(name)) serving.add(name)
    }
    const rows = newestRows(view.nodes)
    for (const [bucket, loss] of this.#losses) {
      const { primary } = rows[bucket]
      if (primary === null || !serving.has(primary)) continue
      if (primary === loss.primary && (!loss.fault.over || loss.fault.cause === 'crash')) continue
      this.#end(bucket, loss, view.now)
    }
  }

  /** A node that crashed is another process now, and in. */
  #isBack(name: string): void {
    for (const fault of this.#faults) {
      if (fault.cause === 'crash' && fault.names.has(name)) this.#faults.delete(fault)
    }
  }

  #isAway(name: string): boolean {
    for (const fault of this.#faults) if (fault.names.has(name)) return true
    return false
  }

  #end(bucket: number, loss: Loss, now: number): void {
    this.#losses.delete(bucket)
    const { cause } = loss.fault
    const ms = now - loss.since
    const { count, sumMs, worstMs } = this.#outages[cause]
    this.#outages[cause] = {
      count: count + 1,
      sumMs: sumMs + ms,
      worstMs: Math.max(worstMs, ms)
    }
  }

  #expand(mask: number): void {
    if (mask <= this.#mask) return
    const before = this.#losses
    this.#losses = new Map()
    for (const [bucket, loss] of before) {
      for (let piece = bucket; piece <= mask; piece += this.#mask + 1) this.#losses.set(piece, loss)
    }
    this.#mask = mask
  }
}

export function addOutages(a: OutagesByCause, b: OutagesByCause): OutagesByCause {
  const add = (cause: OutageCause): Outages => ({
    count: a[cause].count + b[cause].count,
    sumMs: a[cause].sumMs + b[cause].sumMs,
    worstMs: Math.max(a[cause].worstMs, b[cause].worstMs)
  })
  return { crash: add('crash'), pause: add('pause'), partition: add('partition') }
}

/** Mean and worst, one line a cause; nothing where nothing was unavailable. */
export function formatOutages(outages: OutagesByCause): string[] {
  const lines = OUTAGE_CAUSES.filter((cause) => outages[cause].count > 0).map((cause) => {
    const { count, sumMs, worstMs } = outages[cause]
    const mean = `${(sumMs / count).toFixed(0)} ms`
    const worst = `${worstMs.toFixed(0)} ms`
    return `${cause.padEnd(18)} ${String(count).padStart(9)} ${mean.padStart(10)} ${worst.padStart(10)}`
  })
  if (lines.length === 0) return []
  const head = `${'unavailable after'.padEnd(18)} ${'buckets'.padStart(9)} ${'mean'.padStart(10)} ${'worst'.padStart(10)}`
  return [head, ...lines]
}
