/** With billing by the second, idle time decides: long enough that the next job would have come. */
import type { HostRule } from '../rule.js'
import type { HostFacts } from '../facts.js'
import type { Situation } from '../situation.js'
import { formatDuration } from '../text.js'

export const idleTime: HostRule = {
  name: 'idle-time',
  facts: ({ config: { billing } }) =>
    billing.kind === 'second' ? { idleSeconds: billing.idleMs / 1000 } : undefined,
  refuse(situation, host) {
    const { billing } = situation.config
    if (billing.kind !== 'second') return undefined
    const idle = idleFor(situation, host)
    if (idle >= billing.idleMs) return undefined
    return `${host.name} has been idle for ${formatDuration(idle)}`
  }
}

/** The source's word, or since when this balancer has seen it so; not seen before: no time at all. */
export function idleFor({ history, now }: Situation, host: HostFacts): number {
  const since = host.idleSince ?? history.idleSince[host.name] ?? now
  return Math.max(0, now - since)
}
