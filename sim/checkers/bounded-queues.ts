/** Queues stay bounded: whatever happens, a node never keeps more than so much for others. */
import type { ClusterView } from '../cluster-view.js'
import { BrokenPromise, type RestChecker } from './checker.js'

export class BoundedQueuesChecker implements RestChecker {
  readonly name = 'queues stay bounded'
  readonly isSafety = false
  /** The most any node had at any sample. */
  mostBytes = 0
  readonly #bytesMax: number
  readonly #restBytesMax: number

  constructor(bytesMax: number, restBytesMax: number) {
    this.#bytesMax = bytesMax
    this.#restBytesMax = restBytesMax
  }

  onSample(view: ClusterView): void {
    for (const { name, queuedBytes } of view.nodes) {
      this.mostBytes = Math.max(this.mostBytes, queuedBytes)
      if (queuedBytes <= this.#bytesMax) continue
      const text = `${name} keeps ${queuedBytes} bytes in its queues, more than ${this.#bytesMax}`
      throw new BrokenPromise(this.name, text)
    }
  }

  problem(view: ClusterView): string | undefined {
    const full = view.nodes.find((node) => node.queuedBytes > this.#restBytesMax)
    return full && `${full.name} keeps ${full.queuedBytes} bytes in its queues at rest`
  }
}
