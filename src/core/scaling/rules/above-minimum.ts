/**
 * Never below the minimum: of the hosts that may go, only as many do as leave it standing. Those that
 * take no jobs any more go first, then the one whose paid hour ends first or that has idled longest.
 */
import type { Verdict } from '../decision.js'
import type { HostFacts } from '../facts.js'
import { isLiving, type Situation } from '../situation.js'
import { countOf } from '../text.js'
import { idleFor } from './idle-time.js'
import { intoHour } from './paid-hour.js'

export interface Selection {
  readonly verdict: Verdict
  readonly chosen: readonly HostFacts[]
}

export function selectAboveMinimum(
  situation: Situation,
  candidates: readonly HostFacts[]
): Selection {
  const { machines, living, hostsMin, config } = situation
  const facts = { machines, living, hostsMin, candidates: candidates.length }
  const base = { rule: 'above-minimum', phase: 'remove', facts } as const
  if (candidates.length === 0) {
    const verdict = { ...base, answer: 'not-applicable', sentence: 'no host may go' } as const
    return { verdict, chosen: [] }
  }
  const chosen: HostFacts[] = []
  let [machinesLeft, livingLeft] = [machines, living]
  for (const host of inOrder(situation, candidates)) {
    if (chosen.length >= config.removePerPass || machinesLeft <= hostsMin) break
    if (isLiving(host)) {
      if (livingLeft <= hostsMin) continue
      livingLeft--
    }
    machinesLeft--
    chosen.push(host)
  }
  const sentence =
    chosen.length === candidates.length
      ? `${countOf(chosen.length, 'host')} may go, and ${machinesLeft} stay`
      : `${chosen.length} of ${countOf(candidates.length, 'host')} may go: the minimum is ${hostsMin}, at most ${config.removePerPass} a pass`
  return { verdict: { ...base, answer: chosen.length > 0 ? 'allow' : 'deny', sentence }, chosen }
}

function inOrder(situation: Situation, hosts: readonly HostFacts[]): HostFacts[] {
  const { now, config } = situation
  const urgency = (host: HostFacts): number => {
    if (!isLiving(host)) return Infinity
    if (config.billing.kind === 'second') return idleFor(situation, host)
    return host.launchedAt === undefined ? 0 : intoHour(host.launchedAt, now)
  }
  const urgencies = new Map(hosts.map((host) => [host, urgency(host)]))
  return [...hosts].sort((a, b) => {
    const [first, second] = [urgencies.get(a) ?? 0, urgencies.get(b) ?? 0]
    if (first !== second) return second > first ? 1 : -1
    return a.name < b.name ? 1 : -1
  })
}
