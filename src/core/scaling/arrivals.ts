/**
 * How many slots the stream of new jobs keeps busy, from the work handed in lately. The lower of two
 * windows is taken, the last quarter of an hour and the three before it: a burst shows in one of them
 * only and is no stream, however large it was.
 */
import type { Durations } from './durations.js'
import type { Facts } from './facts.js'

const NEAR_MS = 15 * 60_000
const FAR_MS = 60 * 60_000

export function sustainedSlots(facts: Facts, durations: Durations, now: number): number {
  let [near, far] = [0, 0]
  const count = (submittedAt: number | undefined, workMs: number): void => {
    if (submittedAt === undefined) return
    const age = now - submittedAt
    if (age < NEAR_MS) near += workMs
    else if (age < FAR_MS) far += workMs
  }
  for (const { submittedAt, startedAt, endedAt, slots } of facts.finished) {
    count(submittedAt, slots * Math.max(0, endedAt - startedAt))
  }
  for (const job of facts.jobs) {
    if (job.state === 'held' || job.state === 'errored') continue
    count(job.submittedAt, job.slots * job.tasks * durations.expect(job))
  }
  return Math.min(near / NEAR_MS, far / (FAR_MS - NEAR_MS))
}
