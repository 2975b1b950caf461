/** Fewer hosts than the floor (the fixed one, or the schedule's): added whatever waits. */
import type { ClusterRule } from '../rule.js'
import type { Situation } from '../situation.js'
import { countOf } from '../text.js'

export const belowMinimum: ClusterRule = {
  name: 'below-minimum',
  phase: 'add',
  judge(situation) {
    const { living, hostsMin } = situation
    const facts = { living, hostsMin }
    const missing = countMissing(situation)
    return missing > 0
      ? {
          answer: 'allow',
          facts,
          sentence: `${countOf(living, 'host')} up or booting, ${missing} fewer than the minimum`
        }
      : {
          answer: 'not-applicable',
          facts,
          sentence: `at least ${countOf(hostsMin, 'host')} up or booting`
        }
  }
}

export function countMissing({ living, hostsMin }: Situation): number {
  return Math.max(0, hostsMin - living)
}
