/**
 * The star of both documents: the bucket that moved last does not move again until another has. In document
 * 001 (rule 4) the star is on the node that sent it, and such a bucket is not switched either; in
 * document 000 it is on the node that received it, and only keeps it from travelling on.
 */
import { allow, deny, formatBucket, type Verdict } from '../action.js'
import type { Candidate, Rule } from '../rule.js'
import type { View } from '../view.js'

const RULE = 'last-moved-stays'

export function lastMovedStays(lastMovedOf: (view: View) => number): Rule {
  return ({ view, action }: Candidate): Verdict => {
    if (action.kind === 'split' || action.kind === 'release') return allow(RULE, 'nothing moves')
    const bucket = formatBucket(action.bucket)
    return action.bucket === lastMovedOf(view)
      ? deny(RULE, `${bucket} was the last to move`)
      : allow(RULE, `${bucket} was not the last to move`)
  }
}
