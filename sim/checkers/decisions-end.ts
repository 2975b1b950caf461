/** Every decision ends: at rest nobody is still trying to change a row or the voters. What is left unfinished changes rows later. */
import type { ClusterView } from '../cluster-view.js'
import type { RestChecker } from './checker.js'

export class DecisionsEndChecker implements RestChecker {
  readonly name = 'every decision ends'
  readonly isSafety = false

  problem(view: ClusterView): string | undefined {
    for (const { name, deciding = 0 } of view.nodes) {
      if (deciding > 0) return `${name} is still deciding ${deciding} registers`
    }
    return undefined
  }
}
