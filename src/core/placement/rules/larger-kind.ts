/** Rule 5 of document 000: the kind the source has most of is sent; as many of both, and it is a backup. */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'larger-kind'

export function largerKind({ view, action, source }: Candidate): Verdict {
  if (action.kind !== 'move') return allow(RULE, 'nothing is moved')
  const kind = source.primaries > source.backups ? 'primary' : 'backup'
  const levels = `${view.nameOf(source.node)} has ${source.primaries}+${source.backups}`
  return action.copy === kind
    ? allow(RULE, `${levels} and sends a ${kind}`)
    : deny(RULE, `${levels} and sends no ${action.copy}`)
}
