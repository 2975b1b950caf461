/**
 * A host that died is taken away so that another can come: at once if the provider knows that the
 * machine is gone, else when it has been silent for long enough. With jobs listed on it and the machine
 * still there it stays, and is named: they may be running, behind a broken network.
 */
import type { HostFacts } from '../facts.js'
import type { HostRule } from '../rule.js'
import { isIdle, isUnready, type Situation } from '../situation.js'
import { countOf, formatDuration } from '../text.js'

export const deadHost: HostRule = {
  name: 'dead-host',
  facts: ({ config }) => ({ deadAfterSeconds: config.deadAfterMs / 1000 }),
  refuse(situation, host) {
    if (host.machine === 'gone') return undefined
    const silent = unreadyFor(situation, host)
    if (silent < situation.config.deadAfterMs) {
      return `${host.name} has been ${host.state} for ${formatDuration(silent)}`
    }
    if (isIdle(situation, host)) return undefined
    const jobs = situation.jobsOn.get(host.name) ?? host.used
    return `${host.name} is ${host.state}, and ${countOf(jobs, 'job')} may still run there: delete them or restart it`
  }
}

/** Hosts this rule is asked about; the others are judged by document 004's rules. */
export function isDead(host: HostFacts): boolean {
  return host.machine === 'gone' || isUnready(host)
}

function unreadyFor({ history, now }: Situation, host: HostFacts): number {
  const since = host.stateSince ?? history.unreadySince[host.name] ?? now
  return Math.max(0, now - since)
}
