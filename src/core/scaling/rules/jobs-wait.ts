/** Document 004, adding, 1: there are jobs in the waiting state. Those that no host can help are not counted. */
import type { ClusterRule } from '../rule.js'
import { countOf } from '../text.js'

export const jobsWait: ClusterRule = {
  name: 'jobs-wait',
  phase: 'add',
  judge({ demand }) {
    const helpable = demand.helpable.reduce((sum, { tasks }) => sum + tasks, 0)
    const facts = {
      waiting: demand.queued,
      helpable,
      later: demand.later + demand.soon,
      hopeless: demand.hopeless.length
    }
    if (helpable > 0) {
      const sentence = `${countOf(helpable, 'task')} ${helpable === 1 ? 'waits' : 'wait'} that a new host could run`
      return { answer: 'allow', facts, sentence }
    }
    const sentence =
      demand.queued === 0 ? 'no job waits' : 'nothing waits that a new host could help'
    return { answer: 'deny', facts, sentence }
  }
}
