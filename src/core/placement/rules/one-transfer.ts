/** Rule 3 of document 000: a node sends or receives one bucket at a time. */
import { allow, deny, isTransfer, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'one-transfer'

export function oneTransfer({ view, action, source, target }: Candidate): Verdict {
  if (source.transferring) return deny(RULE, `${view.nameOf(source.node)} is already in a transfer`)
  if (isTransfer(action) && target.transferring) {
    return deny(RULE, `${view.nameOf(target.node)} is already in a transfer`)
  }
  return allow(RULE, 'both nodes are free')
}
