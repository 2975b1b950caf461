/**
 * Rule 5 of document 001: "before removing a backup bucket, first make sure it wont imbalance the backup
 * node un-necessarily". Read as the first two steps of its walkthrough use it: the node that loses its
 * backup must have more in total than the node that gets one. With four nodes at 9, 8, 8 and 7 that still
 * takes from an 8 what the 7 lacks, and then it lacks it: the cluster never rests. (Steps three and four
 * can be read more strictly, "still more buckets after the transfer"; that would stop there, 2 apart.)
 */
import { NOBODY } from '../../ids.js'
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'old-backup-has-more'

export function oldBackupHasMore({ view, action, target }: Candidate): Verdict {
  if (action.kind !== 'copy' || action.replaces === NOBODY) return allow(RULE, 'no backup is lost')
  if (!view.roster.isStaying(action.replaces)) return allow(RULE, 'the old backup is leaving')
  const [old, other] = [view.table.totalOf(action.replaces), target.primaries + target.backups]
  const [loser, gainer] = [view.nameOf(action.replaces), view.nameOf(target.node)]
  return old > other
    ? allow(RULE, `${loser} loses its backup and has ${old}, ${gainer} only ${other}`)
    : deny(RULE, `${loser} would lose its backup and has ${old}, ${gainer} ${other}`)
}
