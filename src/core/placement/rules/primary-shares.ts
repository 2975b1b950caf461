/**
 * Rules 1, 2 and 7 by share: a switch takes a primary from a node that can spare it to one that can take it.
 * Document 000 compares primaries with backups on one node instead, which stops short of the even
 * spread when the counts are odd.
 */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'primary-shares'

export function primaryShares({ view, action, source, target }: Candidate): Verdict {
  if (action.kind !== 'switch') return allow(RULE, 'no role changes')
  const { shares } = view
  const [here, there] = [view.nameOf(source.node), view.nameOf(target.node)]
  if (view.roster.isLeaving(source.node)) return allow(RULE, `${here} is leaving`)
  if (source.primaries <= shares.primaryLow[source.node]) {
    return deny(RULE, `${here} has ${source.primaries} primaries and keeps them`)
  }
  if (target.primaries > shares.primaryHigh[target.node]) {
    return deny(RULE, `${there} has ${target.primaries} primaries, too many itself`)
  }
  const ways = target.primaries < shares.primaryHigh[target.node] ? 'has room' : 'passes one on'
  return allow(
    RULE,
    `${here} has ${source.primaries} primaries, ${there} ${target.primaries} and ${ways}`
  )
}
