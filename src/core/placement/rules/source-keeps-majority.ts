/** Rule 1 of document 000: no switch that leaves the source with more backups than primaries. */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'source-keeps-majority'

export function sourceKeepsMajority({ view, action, source }: Candidate): Verdict {
  if (action.kind !== 'switch') return allow(RULE, 'no role changes')
  const name = view.nameOf(source.node)
  const after = { primaries: source.primaries - 1, backups: source.backups + 1 }
  const levels = `${after.primaries}+${after.backups}`
  return after.primaries >= after.backups
    ? allow(RULE, `${name} would still have ${levels}`)
    : deny(RULE, `a switch would leave ${name} with ${levels}`)
}
