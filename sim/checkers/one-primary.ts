/**
 * One primary a bucket an epoch: no two nodes ever enter rows of the same bucket and epoch that name
 * different primaries. A split keeps epochs, so a bucket and the piece with its number are one thing here.
 */
import type { NodeEvent } from '../../src/node/outbox.js'
import { BrokenPromise, type Checker } from './checker.js'

interface Entry {
  readonly primary: string
  readonly node: string
  readonly time: number
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
    let epochs = this.#entries.get(bucket)
    if (epochs === undefined) {
      epochs = new Map()
      this.#entries.set(bucket, epochs)
    }
    const known = epochs.get(epoch)
    if (known !== undefined && known.primary !== primary) {
      throw new BrokenPromise(
        this.name,
        `bucket ${bucket} at epoch ${epoch} has the primary ${primary} for ${node}, and ${known.primary} for ` +
          `${known.node} since ${(known.time / 1000).toFixed(6)}`
      )
    }
    if (known !== undefined) return
    epochs.set(epoch, { primary, node, time })
    if (epochs.size <= EPOCHS_KEPT) return
    for (const oldest of epochs.keys()) {
      epochs.delete(oldest)
      break
    }
  }
}
