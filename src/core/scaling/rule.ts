/**
 * A rule looks at one thing and answers with a reason a person can read. Rules about the cluster say
 * whether hosts may be added; rules about hosts say of each one whether it may go. No rule acts, and
 * none knows of another: `decide` asks them all, so that the explanation is whole even when the first
 * has already said no.
 */
import type { Answer, HostVerdict, Phase, Verdict } from './decision.js'
import { HOST_VERDICTS_MAX } from './decision.js'
import type { HostFacts } from './facts.js'
import type { Situation } from './situation.js'
import { countOf } from './text.js'

export interface ClusterRule {
  readonly name: string
  readonly phase: Phase
  judge(situation: Situation): Judgement
}

export interface Judgement {
  readonly answer: Answer
  readonly facts: Readonly<Record<string, string | number | boolean>>
  readonly sentence: string
}

export interface HostRule {
  readonly name: string
  /** Undefined: the rule has nothing to say in this situation. */
  readonly facts: (situation: Situation) => Judgement['facts'] | undefined
  /** Why the host must stay, or undefined if this rule lets it go. */
  refuse(situation: Situation, host: HostFacts): string | undefined
}

export function judgeCluster(rule: ClusterRule, situation: Situation): Verdict {
  return { rule: rule.name, phase: rule.phase, ...rule.judge(situation) }
}

export interface HostJudgement {
  readonly verdict: Verdict
  readonly allowed: readonly HostFacts[]
}

/** Asks a rule about each host; a host it refuses is not asked about again. */
export function judgeHosts(
  rule: HostRule,
  situation: Situation,
  hosts: readonly HostFacts[]
): HostJudgement {
  const facts = rule.facts(situation)
  const { name } = rule
  if (facts === undefined || hosts.length === 0) {
    const sentence = hosts.length === 0 ? 'no host is left to ask about' : 'not in use'
    const answer = 'not-applicable'
    const verdict: Verdict = { rule: name, phase: 'remove', answer, facts: facts ?? {}, sentence }
    return { verdict, allowed: hosts }
  }
  const allowed: HostFacts[] = []
  const refused: HostVerdict[] = []
  for (const host of hosts) {
    const sentence = rule.refuse(situation, host)
    if (sentence === undefined) allowed.push(host)
    else refused.push({ host: host.name, sentence })
  }
  const sentence =
    refused.length === 0
      ? `lets ${countOf(allowed.length, 'host')} go`
      : `keeps ${refused.length} of ${countOf(hosts.length, 'host')}: ${refused[0].sentence}`
  return {
    verdict: {
      rule: name,
      phase: 'remove',
      answer: allowed.length === 0 ? 'deny' : 'allow',
      facts: { ...facts, asked: hosts.length, kept: refused.length },
      sentence,
      hosts: refused.slice(0, HOST_VERDICTS_MAX)
    },
    allowed
  }
}
