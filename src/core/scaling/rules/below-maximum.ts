/** Document 004, adding, 3: the number of hosts does not meet or exceed the maximum. */
import type { ClusterRule } from '../rule.js'
import { countOf } from '../text.js'

export const belowMaximum: ClusterRule = {
  name: 'below-maximum',
  phase: 'add',
  judge({ machines, config }) {
    const { hostsMax } = config
    const facts = { machines, hostsMax }
    const sentence = `${countOf(machines, 'host')}, and at most ${hostsMax}`
    return { answer: machines < hostsMax ? 'allow' : 'deny', facts, sentence }
  }
}
