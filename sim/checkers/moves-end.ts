/**
 * Every move ends: none is older than a bound while faults go on, and there is none at rest. A node that no majority
 * hears can decide nothing, and so end nothing: its time does not count.
 */
import type { ClusterView } from '../cluster-view.js'
import { BrokenPromise, type RestChecker } from './checker.js'

export class MovesEndChecker implements RestChecker {
  readonly name = 'every move ends'
  readonly isSafety = false
  readonly #ageMsMax: number
  #since = new Map<string, number>()

  constructor(ageMsMax: number) {
    this.#ageMsMax = ageMsMax
  }

  onSample(view: ClusterView): void {
    const since = new Map<string, number>()
    for (const node of view.nodes) {
      for (const move of node.moves) {
        const id = `${node.name} > ${move.to}, bucket ${move.bucket}`
        const began = node.voters?.mayServe !== false ? (this.#since.get(id) ?? view.now) : view.now
        since.set(id, began)
        if (view.now - began <= this.#ageMsMax) continue
        const age = ((view.now - began) / 1000).toFixed(1)
        throw new BrokenPromise(this.name, `${id}: in stage ${move.stage} after ${age} s`)
      }
    }
    this.#since = since
  }

  problem(view: ClusterView): string | undefined {
    for (const node of view.nodes) {
      for (const move of node.moves) {
        return `bucket ${move.bucket} moves from ${node.name} to ${move.to}: ${move.stage}`
      }
    }
    return undefined
  }
}
