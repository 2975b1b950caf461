/**
 * How long buckets were without a primary after a crash: from the loss of the primary to the first row that
 * gives the bucket a new one, whoever enters it. A split in between hands the loss on to the pieces.
 */
import type { NodeEvent } from '../src/node/outbox.js'
import type { Checker } from './checkers/checker.js'
import { newestRows, type ClusterView } from './cluster-view.js'

interface Loss {
  readonly since: number
  readonly epoch: number
}

export class Availability implements Checker {
  readonly name = 'availability'
  outages = 0
  worstMs = 0
  #sumMs = 0
  #mask = 0
  #losses = new Map<number, Loss>()

  get meanMs(): number {
    return this.outages === 0 ? 0 : this.#sumMs / this.outages
  }

  /** The node is going down; the view is the last one with it. */
  lose(name: string, view: ClusterView): void {
    const rows = newestRows(view.nodes)
    this.#expand(rows.length - 1)
    for (const { bucket, primary, epoch } of rows) {
      if (primary === name) this.#losses.set(bucket, { since: view.now, epoch })
    }
  }

  onEvent(_node: string, event: NodeEvent, now: number): void {
    if (event.kind === 'split') this.#expand(event.mask)
    if (event.kind !== 'row' || event.primary === null) return
    const loss = this.#losses.get(event.bucket)
    if (loss === undefined || event.epoch <= loss.epoch) return
    this.#losses.delete(event.bucket)
    this.outages++
    this.#sumMs += now - loss.since
    this.worstMs = Math.max(this.worstMs, now - loss.since)
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
