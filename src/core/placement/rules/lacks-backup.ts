/**
 * Rule 4 of document 000: a bucket without a backup goes to any node that is not full, whatever the
 * other rules say about totals. A node is full when it has a copy of every bucket.
 */
import { allow, deny, formatBucket, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'lacks-backup'

export function lacksBackup({ view, action, target }: Candidate): Verdict {
  if (action.kind !== 'copy') return allow(RULE, 'no copy is made')
  const name = view.nameOf(target.node)
  const bucket = formatBucket(action.bucket)
  return target.primaries + target.backups < view.table.size
    ? allow(RULE, `${bucket} has no backup and ${name} is not full`)
    : deny(RULE, `${bucket} has no backup, but ${name} is full`)
}
