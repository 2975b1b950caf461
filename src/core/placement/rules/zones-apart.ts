/** No move may put all copies of a bucket into one zone. */
import { NOBODY } from '../../ids.js'
import { allow, deny, formatBucket, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'
import { wouldCrowd } from '../zones.js'

const RULE = 'zones-apart'

export function zonesApart({ view, action, source, target }: Candidate): Verdict {
  if (action.kind !== 'move' && action.kind !== 'copy') return allow(RULE, 'no copy changes place')
  const { table, roster } = view
  if (roster.zones < 2) return allow(RULE, 'there is one zone')
  const instead = action.kind === 'move' ? source.node : NOBODY
  const crowds = wouldCrowd(table, roster, { bucket: action.bucket, node: target.node, instead })
  // A copy in the same zone is still better than none; it is moved apart afterwards.
  if (crowds && action.kind === 'move') {
    return deny(RULE, `all copies of ${formatBucket(action.bucket)} would be in one zone`)
  }
  return allow(RULE, crowds ? 'no room in another zone' : 'the copies stay in different zones')
}
