/**
 * What elastic balancers have told nodes of this cluster. A balancer tells one node, the page may be at another: all doors are
 * asked, and of each cluster the newest report counts. Seldom while there is none, and not while nobody looks.
 */
import { signal } from '@preact/signals'
import type { PublishedReport } from '../../src/core/scaling/balancer-report.js'
import { connection, nodes, origin, state } from './model.js'

const ASK_MS = 3000
const ASK_SELDOM_MS = 10_000
/** A door that does not answer by then has nothing to say. */
const ANSWER_MS_MAX = 2000
const DOORS_MAX = 16

export const balancers = signal<readonly PublishedReport[]>([])

export function startElastic(): void {
  const ask = async (): Promise<void> => {
    if (state.value !== undefined && connection.value === 'live' && !document.hidden) {
      balancers.value = await fetchReports()
    }
    setTimeout(() => void ask(), balancers.value.length > 0 ? ASK_MS : ASK_SELDOM_MS)
  }
  setTimeout(() => void ask(), 1000)
}

async function fetchReports(): Promise<PublishedReport[]> {
  const doors = nodes.value
    .filter(({ state }) => state !== 'dead')
    .flatMap(({ http }) => (http === null ? [] : [`http://${http}`]))
  const all = [...new Set([origin.value, ...doors])].slice(0, DOORS_MAX)
  return newest((await Promise.all(all.map(fetchFrom))).flat())
}

async function fetchFrom(door: string): Promise<PublishedReport[]> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const response = await fetch(`${door}/api/elastic`, { signal })
    if (!response.ok) return []
    return ((await response.json()) as { balancers: PublishedReport[] }).balancers
  } catch {
    return []
  }
}

/** One a cluster, by name. */
export function newest(reports: readonly PublishedReport[]): PublishedReport[] {
  const found = new Map<string, PublishedReport>()
  for (const report of reports) {
    const known = found.get(report.cluster)
    if (known === undefined || known.receivedAt < report.receivedAt)
      found.set(report.cluster, report)
  }
  return [...found.values()].sort((a, b) => (a.cluster < b.cluster ? -1 : 1))
}
