/**
 * Rule 2 of document 001: send if the target "will remain with less, or both are even". The document counts
 * as if the sender lost what it sends: at 11 and 10 it "sees that the number of buckets is ok". A bucket
 * that has no backup is not counted at all (its note on nodes with the same number): any node may get it.
 */
import { NOBODY } from '../../ids.js'
import { allow, deny, formatBucket, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'target-has-less'

export function targetHasLess({ view, action, source, target }: Candidate): Verdict {
  if (action.kind !== 'copy') return allow(RULE, 'nothing is sent')
  const [here, there] = [view.nameOf(source.node), view.nameOf(target.node)]
  const [own, other] = [source.primaries + source.backups, target.primaries + target.backups]
  if (action.replaces === NOBODY) {
    return allow(RULE, `${formatBucket(action.bucket)} has no backup and ${there} does not hold it`)
  }
  return other + 1 <= own - 1
    ? allow(RULE, `${here} has ${own}, ${there} only ${other}`)
    : deny(RULE, `${here} has ${own}, ${there} ${other}: near enough`)
}
