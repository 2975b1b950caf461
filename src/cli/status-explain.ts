/** `status --explain`: what every node would do towards every other, and what each rule says to it. */
import type { Verdict } from '../core/placement/action.js'
import { CurrentRules } from '../core/placement/current.js'
import {
  describeAction,
  explain,
  type Explanation,
  type Towards
} from '../core/placement/explain.js'
import type { View } from '../core/placement/view.js'
import type { Status } from '../runtime/status.js'
import { arrangementOf, viewsOf } from './status-model.js'
import { isRing } from './status-ring.js'
import { paint, type Style } from './status-style.js'

/** Of the nodes that another could send something to, so many are shown in full. */
const TARGETS_SHOWN = 3

export interface NodeExplanation {
  readonly node: string
  readonly total: number
  readonly share: number
  readonly split: Verdict
  readonly towards: readonly {
    readonly node: string
    readonly total: number
    readonly share: number
    /** What it would do now; null: nothing. */
    readonly action: string | null
    readonly reason: string
    readonly verdicts: readonly Verdict[]
  }[]
}

/** For `--json`; everything that `formatExplanation` shows, of all nodes. */
export function explainStatus(status: Status): NodeExplanation[] {
  if (isRing(status)) return []
  return explanationsOf(status).map(({ view, explanation: { source, quota, split, towards } }) => ({
    node: view.nameOf(source.node),
    total: source.primaries + source.backups,
    share: quota,
    split,
    towards: towards.map((one) => ({
      node: view.nameOf(one.target.node),
      total: one.target.primaries + one.target.backups,
      share: one.quota,
      action: one.plan.action === undefined ? null : describeAction(view, one.plan.action),
      reason: one.plan.reason,
      verdicts: verdictsOf(one)
    }))
  }))
}

export function formatExplanation(status: Status, style: Style): string[] {
  if (isRing(status)) {
    return ['', 'a ring is not balanced by rules: the positions alone say who holds what']
  }
  const lines: string[] = []
  for (const { view, explanation } of explanationsOf(status)) {
    const { source, quota, split, towards } = explanation
    const name = paint(view.nameOf(source.node), 'bold', style)
    const total = source.primaries + source.backups
    lines.push(
      '',
      `${name} holds ${source.primaries}+${source.backups}=${total}, its share is ${quota}`,
      `  ${formatVerdict(split, style)}`
    )
    for (const one of towards.slice(0, TARGETS_SHOWN))
      lines.push(...formatTowards(view, one, style))
    const more = towards.length - TARGETS_SHOWN
    if (more > 0) lines.push(paint(`  and ${more} nodes that have less room`, 'dim', style))
  }
  return lines
}

function explanationsOf(status: Status): { view: View; explanation: Explanation }[] {
  const rules = new CurrentRules()
  const views = viewsOf(status, arrangementOf(status))
  const staying = views.filter(({ view }) => view.roster.isStaying(view.self))
  const levels = staying.map(({ level }) => level)
  return views.map(({ view }) => ({ view, explanation: explain(view, rules, levels) }))
}

/** Those of the plan where there is one; where there is none, what all rules say to a bucket and to a role. */
function verdictsOf({ plan, move, switched }: Towards): Verdict[] {
  if (plan.action !== undefined) return [...plan.verdicts]
  const known = new Set(move.map(({ rule }) => rule))
  return [...move, ...switched.filter(({ rule }) => !known.has(rule))]
}

function formatTowards(view: View, one: Towards, style: Style): string[] {
  const { target, plan } = one
  const name = view.nameOf(target.node)
  const what =
    plan.action === undefined
      ? plan.reason
      : `${paint(describeAction(view, plan.action), 'yellow', style)}: ${plan.reason}`
  return [
    `  ${style.fine ? '→' : '->'} ${paint(name, 'bold', style)}  ${what}`,
    ...verdictsOf(one).map((verdict) => `     ${formatVerdict(verdict, style)}`)
  ]
}

const RULE_WIDTH = 22

function formatVerdict({ rule, allow, reason }: Verdict, style: Style): string {
  const word = allow ? paint('yes', 'green', style) : paint('no ', 'red', style)
  return `${word} ${rule.padEnd(RULE_WIDTH)} ${reason}`
}
