/** Document 004, adding, 3: the number of hosts does not meet or exceed the maximum. */
import type { ClusterRule } from '../rule.js'

export const belowMaximum: ClusterRule = {
  name: 'below-maximum',
  phase: 'add',
  judge({ machines, config }) {
    const facts = { machines, hostsMax: config.hostsMax }
    return machines < config.hostsMax
      ? { answer: 'allow', facts, sentence: `${machines} of at most ${config.hostsMax} hosts` }
      : { answer: 'deny', facts, sentence: `${machines} hosts, and at most ${config.hostsMax}` }
  }
}
