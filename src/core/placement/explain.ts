/**
 * Why the balancer does or does not do something, from a table and a roster alone: what each node would do towards each
 * other by the rules in force, and where it would do nothing, what every rule says to a bucket that it might send. The
 * planner stops at the first rule that denies; whoever asks why wants to hear them all.
 */
import type { Action, Plan, Verdict } from './action.js'
import { MOVE_RULES, SWITCH_RULES } from './current.js'
import type { Rule, RuleSet } from './rule.js'
import { judgeSplit } from './split.js'
import type { LoadLevel, View } from './view.js'

export interface Towards {
  readonly target: LoadLevel
  /** What each of the two should hold in the end. */
  readonly quota: number
  readonly plan: Plan
  /** To a bucket that is shipped, and to a primary role that is handed over; empty where there is none to think of. */
  readonly move: readonly Verdict[]
  readonly switched: readonly Verdict[]
}

export interface Explanation {
  readonly source: LoadLevel
  readonly quota: number
  readonly split: Verdict
  /** Those that would get something first, then those that hold the least for their share. */
  readonly towards: readonly Towards[]
}

/** `levels` are what the other nodes would answer. */
export function explain(view: View, rules: RuleSet, levels: readonly LoadLevel[]): Explanation {
  const towards = levels
    .filter(({ node }) => node !== view.self)
    .map((target) => explainTowards(view, rules, target))
  const room = ({ target, quota }: Towards): number => quota - target.primaries - target.backups
  const acts = ({ plan }: Towards): number => (plan.action === undefined ? 0 : 1)
  towards.sort((a, b) => acts(b) - acts(a) || room(b) - room(a))
  return { source: view.own, quota: view.quotaOf(view.self), split: judgeSplit(view), towards }
}

function explainTowards(view: View, rules: RuleSet, target: LoadLevel): Towards {
  const { table, self } = view
  const find = (fits: (bucket: number) => boolean): number => {
    for (let bucket = 0; bucket <= table.mask; bucket++) if (fits(bucket)) return bucket
    return -1
  }
  const sent = find(
    (bucket) => table.isHolder(bucket, self) && !table.isHolder(bucket, target.node)
  )
  const handed = find(
    (bucket) => table.primaryOf(bucket) === self && table.isHolder(bucket, target.node)
  )
  const judgeAll = (among: readonly Rule[], action: Action): Verdict[] =>
    among.map((rule) => rule({ view, action, source: view.own, target }))
  const copy = sent >= 0 && table.primaryOf(sent) === self ? 'primary' : 'backup'
  return {
    target,
    quota: view.quotaOf(target.node),
    plan: rules.plan(view, target),
    move:
      sent < 0 ? [] : judgeAll(MOVE_RULES, { kind: 'move', bucket: sent, to: target.node, copy }),
    switched:
      handed < 0 ? [] : judgeAll(SWITCH_RULES, { kind: 'switch', bucket: handed, to: target.node })
  }
}

/** An action for people: `move backup 31 to c`. */
export function describeAction(view: View, action: Action): string {
  switch (action.kind) {
    case 'split':
      return 'cut all buckets in 16'
    case 'switch':
      return `make ${view.nameOf(action.to)} the primary of ${action.bucket}`
    case 'copy':
      return `copy ${action.bucket} to ${view.nameOf(action.to)}`
    case 'move':
      return `move ${action.copy} ${action.bucket} to ${view.nameOf(action.to)}`
    case 'release':
      return `give up the copy of ${action.bucket} on ${view.nameOf(action.to)}`
  }
}
