/**
 * The eight rules of document 000 as written and in its order of priority: switch if the target has more
 * backups than primaries (1, 2), else give it a bucket that lacks a backup (4), else move one of the kind
 * this node has most of, towards nodes below the ideal (5 to 8); one transfer at a time (3). Of the
 * buckets that fit, the first by number is taken. The ideal counts all nodes, this one included
 * (the original code forgot itself and left a third node empty).
 *
 * A node knows its own rows, the ideal, and the load level it was just told; nothing else. That is not
 * enough to end evenly: five nodes can rest at 8, 6, 6, 6, 6, six at 1+4 beside 3+2. It is kept to be
 * compared with, and because it can be followed by hand.
 */
import { NOBODY, type NodeIndex } from '../ids.js'
import type { Random } from '../random.js'
import type { Action, CopyKind, Plan, Verdict } from './action.js'
import {
  acceptUnlessBusy,
  AskingOrder,
  choose,
  findPrimary,
  holdsLacking,
  planFirst,
  proposeMissing,
  type Proposal
} from './pairwise.js'
import type { Rule, RuleSet } from './rule.js'
import { lastMovedStays } from './rules/last-moved-stays.js'
import { largerKind } from './rules/larger-kind.js'
import { oneCopyANode } from './rules/one-copy-a-node.js'
import { oneTransfer } from './rules/one-transfer.js'
import { primarySurplus } from './rules/primary-surplus.js'
import { sourceAtIdeal } from './rules/source-at-ideal.js'
import { sourceKeepsMajority } from './rules/source-keeps-majority.js'
import { targetBelowIdeal } from './rules/target-below-ideal.js'
import { targetLacksPrimaries } from './rules/target-lacks-primaries.js'
import type { LoadLevel, View } from './view.js'

const SWITCH_RULES: readonly Rule[] = [sourceKeepsMajority, targetLacksPrimaries, oneTransfer]
const MOVE_RULES: readonly Rule[] = [
  oneTransfer,
  largerKind,
  targetBelowIdeal,
  primarySurplus,
  sourceAtIdeal,
  oneCopyANode,
  lastMovedStays((view) => view.lastTransfer)
]

export class Rules2014 implements RuleSet {
  readonly name = '2014'
  readonly #asking = new AskingOrder()

  /** A node below the ideal only sends PINGs, unless a bucket of its own lacks a backup. */
  ask(view: View, random: Random): NodeIndex {
    if (view.transferring || view.roster.get(view.self) === undefined) return NOBODY
    const busyElsewhere = view.arrangement.goneHolds || holdsLacking(view)
    const { primaries, backups } = view.own
    if (primaries + backups < view.ideal && !busyElsewhere) return NOBODY
    return this.#asking.next(view, random)
  }

  plan(view: View, answer: LoadLevel): Plan {
    return (
      planFirst(view, answer) ??
      choose(view, answer, [
        () => proposeSwitch(view, answer),
        () => proposeMissing(view, answer),
        () => proposeMove(view, answer)
      ])
    )
  }

  accept(view: View, action: Action): Verdict {
    return acceptUnlessBusy(view, action)
  }
}

function proposeSwitch(view: View, answer: LoadLevel): Proposal {
  const bucket = findPrimary(view, (b) => view.table.isHolder(b, answer.node))
  return {
    action: bucket === -1 ? undefined : { kind: 'switch', bucket, to: answer.node },
    rules: SWITCH_RULES,
    because: 'target-lacks-primaries',
    without: `no primary here has its backup on ${view.nameOf(answer.node)}`
  }
}

function proposeMove(view: View, answer: LoadLevel): Proposal {
  const { primaries, backups } = view.own
  const copy = primaries > backups ? 'primary' : 'backup'
  const bucket = findMovable(view, answer.node, copy)
  return {
    action: bucket === -1 ? undefined : { kind: 'move', bucket, to: answer.node, copy },
    rules: MOVE_RULES,
    because: 'target-below-ideal',
    without: `${view.nameOf(view.self)} has no ${copy}`
  }
}

/**
 * The first bucket by number of that kind whose other copy is not on the target, without the star. If
 * there is none, any of that kind: it will be denied, and the rule that denies it says why.
 */
function findMovable(view: View, to: NodeIndex, copy: CopyKind): number {
  const { table, self, lastTransfer } = view
  let denied = -1
  for (let bucket = 0; bucket <= table.mask; bucket++) {
    const isPrimary = table.primaryOf(bucket) === self
    if (copy === 'primary' ? !isPrimary : isPrimary || !table.isHolder(bucket, self)) continue
    if (bucket !== lastTransfer && !table.isHolder(bucket, to)) return bucket
    denied = bucket
  }
  return denied
}
