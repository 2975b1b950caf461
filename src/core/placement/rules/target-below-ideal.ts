/** Rule 6 of document 000: buckets go only to a node that has fewer than the ideal. */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'target-below-ideal'

export function targetBelowIdeal({ view, action, target }: Candidate): Verdict {
  if (action.kind !== 'move') return allow(RULE, 'nothing is moved')
  const total = target.primaries + target.backups
  const { ideal } = view
  const name = view.nameOf(target.node)
  return total < ideal
    ? allow(RULE, `${name} has ${total}, below the ideal of ${ideal}`)
    : deny(RULE, `${name} has ${total}, the ideal is ${ideal}`)
}
