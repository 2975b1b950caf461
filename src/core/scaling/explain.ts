/** A decision as lines for a person: every rule, what it looked at, what it said, and what is done. */
import type { Action, Decision, Verdict } from './decision.js'
import { countOf } from './text.js'

const ANSWERS = { allow: 'yes', deny: 'no', 'not-applicable': '-' } as const

export function explainDecision(decision: Decision): string[] {
  const width = Math.max(...decision.verdicts.map(({ rule }) => rule.length))
  const lines = decision.verdicts.flatMap((verdict) => explainVerdict(verdict, width))
  for (const { id, why } of decision.hopeless) lines.push(`job ${id} waits in vain: ${why}`)
  const more = decision.hopelessCount - decision.hopeless.length
  if (more > 0) lines.push(`and ${countOf(more, 'more job')} in vain`)
  for (const action of decision.actions) lines.push(`=> ${explainAction(action)}`)
  lines.push(decision.summary)
  return lines
}

function explainVerdict(verdict: Verdict, width: number): string[] {
  const { phase, rule, answer, sentence, facts } = verdict
  const seen = Object.entries(facts).map(([name, value]) => `${name}=${value}`)
  const tail = seen.length === 0 ? '' : `  [${seen.join(' ')}]`
  const head = `${phase.padEnd(6)}  ${rule.padEnd(width)}  ${ANSWERS[answer].padEnd(3)}`
  const hosts = (verdict.hosts ?? [])
    .slice(1)
    .map(({ sentence: why }) => `${' '.repeat(width + 15)}${why}`)
  return [`${head}  ${sentence}${tail}`, ...hosts]
}

export function explainAction(action: Action): string {
  switch (action.kind) {
    case 'add': {
      const start = action.start.length === 0 ? '' : ` (starting ${action.start.join(', ')} again)`
      return `add ${countOf(action.count, 'host')}${start}: ${action.reason}`
    }
    case 'shutdown':
      return `end the cluster: ${action.reason}`
    default:
      return `${action.kind} ${action.host}: ${action.reason}`
  }
}
