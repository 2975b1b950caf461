/**
 * When much of the cluster is unready at once, it is rather the network, the master or the scheduler
 * that is broken than the hosts: nothing is added or removed until a person or time has cured it.
 * Hosts the provider knows to be gone are certain and do not count.
 */
import type { ClusterRule } from '../rule.js'
import { countOf, listNames } from '../text.js'

export const blastRadius: ClusterRule = {
  name: 'blast-radius',
  phase: 'facts',
  judge({ unready, machines, config }) {
    const fraction = machines === 0 ? 0 : unready.length / machines
    const facts = {
      unready: unready.length,
      machines,
      unreadyMin: config.unreadyMin,
      fractionMax: config.unreadyFractionMax
    }
    if (unready.length > config.unreadyMin && fraction > config.unreadyFractionMax) {
      const names = listNames(unready.map(({ name }) => name))
      const sentence = `${unready.length} of ${countOf(machines, 'host')} are unready (${names}): nothing is changed until they are looked at`
      return { answer: 'deny', facts, sentence }
    }
    const sentence = `${unready.length} of ${countOf(machines, 'host')} unready`
    return { answer: 'allow', facts, sentence }
  }
}
