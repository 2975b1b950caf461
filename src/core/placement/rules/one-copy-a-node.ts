/** Two copies of a bucket on one node would die together. */
import { allow, deny, formatBucket, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'one-copy-a-node'

export function oneCopyANode({ view, action, target }: Candidate): Verdict {
  if (action.kind !== 'copy' && action.kind !== 'move') return allow(RULE, 'no copy is made')
  const name = view.nameOf(target.node)
  return view.table.isHolder(action.bucket, target.node)
    ? deny(RULE, `${name} already holds ${formatBucket(action.bucket)}`)
    : allow(RULE, `${name} does not hold ${formatBucket(action.bucket)}`)
}
