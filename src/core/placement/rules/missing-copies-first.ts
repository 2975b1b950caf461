/** Rule 4, made strict: while any bucket lacks a copy, nothing is shipped or switched for balance. */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'missing-copies-first'

export function missingCopiesFirst({ view, action }: Candidate): Verdict {
  if (action.kind === 'copy') return allow(RULE, 'this makes a missing copy')
  if (action.kind === 'release') return allow(RULE, 'a copy too many')
  const { missing } = view.arrangement
  return missing > 0
    ? deny(RULE, `${missing} buckets lack a copy; they come first`)
    : allow(RULE, 'no bucket lacks a copy')
}
