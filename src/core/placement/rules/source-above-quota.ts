/** Rule 8 by quota: a node gives away only what it has too much of. */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'source-above-quota'

export function sourceAboveQuota({ view, action, source }: Candidate): Verdict {
  if (action.kind !== 'move') return allow(RULE, 'nothing is given away')
  const total = source.primaries + source.backups
  const quota = view.quotaOf(source.node)
  const name = view.nameOf(source.node)
  return total > quota
    ? allow(RULE, `${name} holds ${total}, its share is ${quota}`)
    : deny(RULE, `${name} holds ${total} of its share of ${quota} and keeps them`)
}
