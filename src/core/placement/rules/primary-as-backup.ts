/** Rule 3 of document 001: only the primary of a bucket may send it, and the target becomes its backup. */
import { allow, deny, formatBucket, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'primary-as-backup'

export function primaryAsBackup({ view, action, source }: Candidate): Verdict {
  if (action.kind === 'move') return deny(RULE, 'a copy is never given away, only replaced')
  if (action.kind !== 'copy') return allow(RULE, 'nothing is sent')
  const name = view.nameOf(source.node)
  return view.table.primaryOf(action.bucket) === source.node
    ? allow(RULE, `${name} is primary of ${formatBucket(action.bucket)}`)
    : deny(RULE, `${name} is not primary of ${formatBucket(action.bucket)}`)
}
