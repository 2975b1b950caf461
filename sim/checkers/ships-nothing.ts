/**
 * A balanced cluster ships nothing: between coming to rest and the end nobody begins a copy, and no row changes. All
 * tables are equal by then, so nobody has anything to learn either.
 */
import type { NodeEvent } from '../../src/node/outbox.js'
import type { ClusterView } from '../cluster-view.js'
import { BrokenPromise, type Checker } from './checker.js'

export class ShipsNothingChecker implements Checker {
  readonly name = 'a balanced cluster ships nothing'
  #shipped = new Map<string, number>()
  #since = Infinity

  onRest(view: ClusterView): void {
    this.#since = view.now
    this.#shipped = new Map(view.nodes.map((node) => [node.name, node.shipped]))
  }

  onEvent(node: string, event: NodeEvent, now: number): void {
    if (event.kind !== 'row' || now < this.#since) return
    const holders = [event.primary ?? 'nobody', ...event.backups].join(', ')
    const text = `${node} changed bucket ${event.bucket} to ${holders} at rest (${event.reason})`
    throw new BrokenPromise(this.name, text)
  }

  onEnd(view: ClusterView): void {
    for (const node of view.nodes) {
      const more = node.shipped - (this.#shipped.get(node.name) ?? 0)
      if (more === 0) continue
      const rest = ((view.now - this.#since) / 1000).toFixed(0)
      throw new BrokenPromise(this.name, `${node.name} shipped ${more} copies in ${rest} s of rest`)
    }
  }
}
