/** What a row looks like after an action: the one place that says so for the rules alone. */
import { assert } from '../../src/core/assert.js'
import { NOBODY, type NodeIndex } from '../../src/core/ids.js'
import type { Action } from '../../src/core/placement/action.js'

export function applyAction(
  holders: readonly NodeIndex[],
  source: NodeIndex,
  action: Exclude<Action, { kind: 'split' }>
): NodeIndex[] {
  switch (action.kind) {
    case 'switch': {
      assert(holders[0] === source && holders.includes(action.to), 'a switch between holders')
      return [action.to, ...holders.filter((node) => node !== action.to)]
    }
    case 'copy': {
      const kept =
        action.replaces === NOBODY ? holders : holders.filter((node) => node !== action.replaces)
      return [...kept, action.to]
    }
    case 'move':
      return holders.map((node) => (node === source ? action.to : node))
    case 'release':
      return holders.filter((node) => node !== action.to)
  }
}
