/**
 * One primary a bucket an epoch: no two nodes ever enter rows of the same bucket and epoch that name
 * different primaries. A split keeps epochs, so a bucket and the piece with its number are one thing here. A row that
 * only one node has entered is gone when that node loses its memory: nobody else has ever acted on it.
 */
import type { NodeEvent } from '../../src/node/outbox.js'
import { BrokenPromise, type Checker } from './checker.js'

interface Entry {
  readonly primary: string
  /** The first that entered it. */
  readonly node: string
  readonly time: number
  /** Another one has entered it too. */
  shared: boolean
}

/** A bucket's older epochs are forgotten: nobody may go back to them anyway. */
const EPOCHS_KEPT = 64

export class OnePrimaryChecker implements Checker {
  readonly name = 'one primary a bucket an epoch'
  readonly #entries = new Map<number, Map<number, Entry>>()

  onEvent(node: string, event: NodeEvent, time: number): void {
    if (event.kind !== 'row') return
    const { bucket, epoch } = event
    const primary = event.primary ?? 'nobody'
    const epochs = this.#entries.get(bucket) ?? new Map<number, Entry>()
    this.#entries.set(bucket, epochs)
    const known = epochs.get(epoch)
    if (known === undefined) {
      epochs.set(epoch, { primary, node, time, shared: false })
      forgetOldest(epochs)
      return
    }
    if (known.node !== node) known.shared = true
    if (known.primary === primary) return
    const since = `${known.node} since ${(known.time / 1000).toFixed(6)}`
    throw new BrokenPromise(
      this.name,
      `bucket ${bucket} at epoch ${epoch}: the primary is ${primary} for ${node}, and ${known.primary} for ${since}`
    )
  }

  onCrash(node: string): void {
    for (const epochs of this.#entries.values()) {
      for (const [epoch, entry] of epochs) {
        if (entry.node === node && !entry.shared) epochs.delete(epoch)
      }
    }
  }
}

function forgetOldest(epochs: Map<number, Entry>): void {
  if (epochs.size <= EPOCHS_KEPT) return
  for (const oldest of epochs.keys()) {
    epochs.delete(oldest)
    return
  }
}
