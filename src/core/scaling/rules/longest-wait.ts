/**
 * Document 004, adding, 2: the longest queued job has waited for more than 15 minutes. It is the
 * oldest, wherever the scheduler lists it, and its whole wait counts, days as well. With no slot
 * anywhere there is nothing to wait for, so the first job need not.
 */
import type { ClusterRule } from '../rule.js'
import { formatDuration } from '../text.js'

export const longestWait: ClusterRule = {
  name: 'longest-wait',
  phase: 'add',
  judge({ demand, now, config, slots, booting }) {
    if (demand.helpable.length === 0) {
      return { answer: 'not-applicable', facts: {}, sentence: 'no job waits' }
    }
    const { job, since } = demand.helpable[0]
    const waited = Math.max(0, now - since)
    const facts = {
      job: job.id,
      waitedSeconds: Math.floor(waited / 1000),
      jobWaitSeconds: config.jobWaitMs / 1000,
      slots
    }
    const text = `the oldest job, ${job.id}, has waited ${formatDuration(waited)}`
    if (slots === 0 && booting.length === 0) {
      return { answer: 'allow', facts, sentence: `${text} and there is no slot at all` }
    }
    if (waited > config.jobWaitMs) {
      const sentence = `${text}, longer than ${formatDuration(config.jobWaitMs)}`
      return { answer: 'allow', facts, sentence }
    }
    const sentence = `${text}, not yet longer than ${formatDuration(config.jobWaitMs)}`
    return { answer: 'deny', facts, sentence }
  }
}
