/** Rule 6 by quota: buckets go only where there are too few. */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'target-below-quota'

export function targetBelowQuota({ view, action, source, target }: Candidate): Verdict {
  if (action.kind !== 'move') return allow(RULE, 'nothing is moved')
  const total = target.primaries + target.backups
  const quota = view.quotaOf(target.node)
  const name = view.nameOf(target.node)
  if (total >= quota) return deny(RULE, `${name} holds ${total}, its share is ${quota}`)
  const giver = source.primaries + source.backups
  const [low, high] = [view.shares.low[target.node], view.shares.high[source.node]]
  if (total >= low && giver <= high) {
    return deny(RULE, `${giver} here and ${total} there are both fair; a move would gain nothing`)
  }
  return allow(RULE, `${name} holds ${total}, its share is ${quota}`)
}
