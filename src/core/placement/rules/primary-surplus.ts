/** Rule 7 of document 000: a primary is sent only from a node that has at least one more than the target. */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'primary-surplus'

export function primarySurplus({ view, action, source, target }: Candidate): Verdict {
  if (action.kind !== 'move' || action.copy !== 'primary') return allow(RULE, 'no primary is sent')
  const [here, there] = [view.nameOf(source.node), view.nameOf(target.node)]
  const counts = `${here} has ${source.primaries} primaries, ${there} ${target.primaries}`
  return source.primaries > target.primaries ? allow(RULE, counts) : deny(RULE, counts)
}
