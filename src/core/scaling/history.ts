/**
 * What the balancer remembers from one pass to the next. A restart with an empty history is safe: no
 * host has been idle or silent for any time yet, so the first pass removes nothing for that reason.
 */
import type { Decision } from './decision.js'
import type { Facts, History, HostFacts } from './facts.js'
import { isDead } from './rules/dead-host.js'

export function createHistory(now: number): History {
  return { startedAt: now, idleSince: {}, unreadySince: {} }
}

/** The history after a pass. Facts that were refused leave no trace. */
export function remember(history: History, facts: Facts, decision: Decision): History {
  if (decision.statistics === undefined) return history
  const busy = new Set(facts.jobs.flatMap(({ hosts }) => (hosts ?? []).map(({ host }) => host)))
  const isIdle = ({ name, used }: HostFacts): boolean => used === 0 && !busy.has(name)
  const keep = (
    before: History['idleSince'],
    hosts: readonly HostFacts[]
  ): Record<string, number> =>
    Object.fromEntries(hosts.map(({ name }) => [name, before[name] ?? decision.at]))
  const acted = (...kinds: string[]): boolean =>
    decision.actions.some(({ kind }) => kinds.includes(kind))
  return {
    ...history,
    ...(acted('add') ? { lastAddAt: decision.at } : {}),
    ...(acted('remove', 'stop') ? { lastRemoveAt: decision.at } : {}),
    idleSince: keep(history.idleSince, facts.hosts.filter(isIdle)),
    unreadySince: keep(history.unreadySince, facts.hosts.filter(isDead))
  }
}
