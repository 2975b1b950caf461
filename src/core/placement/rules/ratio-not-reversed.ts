/**
 * Rule 1 of document 001: switch when the target has more backups than primaries, but only if it is left
 * "with an even amount, or still more secondaries than primaries". So 0+1 is not switched and 0+2 is.
 */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'ratio-not-reversed'

export function ratioNotReversed({ view, action, target }: Candidate): Verdict {
  if (action.kind !== 'switch') return allow(RULE, 'no role changes')
  const levels = `${view.nameOf(target.node)} has ${target.primaries}+${target.backups}`
  return target.backups - 1 >= target.primaries + 1
    ? allow(RULE, `${levels}, more backups than primaries`)
    : deny(RULE, `${levels}, a switch would give it more primaries than backups`)
}
