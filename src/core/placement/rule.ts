/**
 * A rule looks at one thing a node would like to do and answers allow or deny, with a reason a person
 * can read. Rules never act and never look for alternatives: a rule set proposes candidates in its
 * order of priority, and the first that no rule denies is the plan.
 */
import type { NodeIndex } from '../ids.js'
import type { Random } from '../random.js'
import type { Action, Plan, Verdict } from './action.js'
import type { LoadLevel, View } from './view.js'

export interface Candidate {
  readonly view: View
  readonly action: Action
  /** This node's own load, exact. */
  readonly source: LoadLevel
  /** The other node's answer: exact when it was given, perhaps old by now. */
  readonly target: LoadLevel
}

export type Rule = (candidate: Candidate) => Verdict

export interface RuleSet {
  readonly name: 'current' | '2014' | '2012'
  /** Whom to ask for its load level next; NOBODY when there is nothing to gain from asking. */
  ask(view: View, random: Random): NodeIndex
  /** What to do after the answer. */
  plan(view: View, answer: LoadLevel): Plan
  /** What the node that is offered a bucket says, by what it knows of itself. */
  accept(view: View, action: Action): Verdict
}

/** Asks the rules in order, up to the first that denies. */
export function judge(rules: readonly Rule[], candidate: Candidate): Verdict[] {
  const verdicts: Verdict[] = []
  for (const rule of rules) {
    const verdict = rule(candidate)
    verdicts.push(verdict)
    if (!verdict.allow) break
  }
  return verdicts
}

export function isDenied(verdicts: readonly Verdict[]): boolean {
  return verdicts.some((verdict) => !verdict.allow)
}
