/** Rule 2 of document 000: switch when the target has more backups than primaries. */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'target-lacks-primaries'

export function targetLacksPrimaries({ view, action, target }: Candidate): Verdict {
  if (action.kind !== 'switch') return allow(RULE, 'no role changes')
  const levels = `${view.nameOf(target.node)} has ${target.primaries}+${target.backups}`
  return target.backups > target.primaries
    ? allow(RULE, `${levels}, more backups than primaries`)
    : deny(RULE, `${levels}, no more backups than primaries`)
}
