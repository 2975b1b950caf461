/**
 * The node's figures, once a second, for plots and for whoever asks later: the last few minutes are kept. Everything
 * here is read from counters that are there anyway; nothing on the way of a command knows of it.
 */
import { getHeapStatistics } from 'node:v8'
import type { Node } from '../node/node.js'
import type { Latency } from './latency.js'
import type { Sample } from './sample.js'

const SAMPLE_MS = 1000
const SAMPLES_MAX = 300

/** What a node knows of itself at a moment; `operations` and `shipped` count from its start. */
export type Measured = Pick<
  Sample,
  'operations' | 'shipped' | 'storeBytes' | 'items' | 'lagBytes' | 'lagMs' | 'held'
>

export interface RecorderOptions {
  /** Undefined while there is no node yet. */
  readonly measure: (timeMs: number) => Measured | undefined
  readonly latency: Latency
  /** The longest time in which nobody was served, since it was last asked for; in milliseconds. */
  readonly takeStallMs: () => number
  readonly now: () => number
}

export class Recorder {
  readonly #measure: RecorderOptions['measure']
  readonly #latency: Latency
  readonly #now: () => number
  readonly #takeStallMs: () => number
  readonly #timer: NodeJS.Timeout
  #samples: Sample[] = []
  #lastId = 0
  #lastMs: number
  #operations = 0
  #shipped = 0

  constructor(options: RecorderOptions) {
    this.#measure = options.measure
    this.#latency = options.latency
    this.#takeStallMs = options.takeStallMs
    this.#now = options.now
    this.#lastMs = this.#now()
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS)
    this.#timer.unref()
  }

  after(id: number): Sample[] {
    return this.#samples.filter((sample) => sample.id > id)
  }

  /** The longest delay of the event loop in the last minute, in milliseconds. */
  get loopDelayMs(): number {
    return this.#samples.slice(-60).reduce((most, { loopMs }) => Math.max(most, loopMs), 0)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #sample(): void {
    const timeMs = this.#now()
    const measured = this.#measure(timeMs)
    if (measured === undefined) return
    const seconds = Math.max(0.001, (timeMs - this.#lastMs) / 1000)
    this.#lastMs = timeMs
    const { operations, shipped } = measured
    this.#samples.push({
      ...measured,
      id: ++this.#lastId,
      timeMs,
      operations: Math.max(0, Math.round((operations - this.#operations) / seconds)),
      ...round(this.#latency.take()),
      heapBytes: getHeapStatistics().used_heap_size,
      shipped: Math.round((shipped - this.#shipped) / seconds),
      loopMs: this.#takeStallMs()
    })
    this.#operations = operations
    this.#shipped = shipped
    if (this.#samples.length > SAMPLES_MAX) this.#samples = this.#samples.slice(-SAMPLES_MAX)
  }
}

/** Of a node with buckets. */
export function measureNode(node: Node | undefined, now: number): Measured | undefined {
  if (node === undefined) return undefined
  const { door, held, shipped } = node.counters
  let [lagBytes, lagMs] = [0, 0]
  for (const { stream, isOpen, left } of node.peers.all()) {
    if (!isOpen || left) continue
    lagBytes = Math.max(lagBytes, stream.unackedBytes)
    lagMs = Math.max(lagMs, stream.stalledMs(now))
  }
  return {
    operations: door.commands + door.aside,
    shipped,
    storeBytes: node.store.memory().reservedBytes,
    items: node.store.items,
    lagBytes,
    lagMs,
    held
  }
}

function round({ p50, p99 }: { p50: number; p99: number }): { p50: number; p99: number } {
  return { p50: Math.round(p50), p99: Math.round(p99) }
}
