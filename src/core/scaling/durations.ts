/**
 * How long jobs take, from those that ended: the mean for one that has not begun, and for one that
 * runs the mean of what is left to those that lasted longer. Jobs of the same family foretell each
 * other; with too few of a family all jobs do. Records with impossible times are left out one by one:
 * Grid Engine writes 1970 as the submission of a rescheduled job, which is no wait of 50 years.
 */
import type { FinishedJob, JobFacts } from './facts.js'

/** Fewer of a family are no family. */
const FAMILY_MIN = 5
const YEAR_MS = 366 * 24 * 3_600_000

interface Sample {
  /** Ascending. */
  readonly durations: readonly number[]
  /** `above[i]` is the sum of durations[i..]. */
  readonly above: readonly number[]
}

export interface Durations {
  readonly count: number
  readonly meanMs: number
  readonly waitMeanMs: number
  /** What a job that has not begun will take. */
  expect(job: JobFacts): number
  /** What is left of a job that runs. */
  remaining(job: JobFacts, now: number): number
}

export function learnDurations(finished: readonly FinishedJob[], since: number): Durations {
  const all: number[] = []
  const families = new Map<string, number[]>()
  let [waits, waited] = [0, 0]
  for (const job of finished) {
    const duration = job.endedAt - job.startedAt
    if (job.endedAt < since || !(duration >= 0) || job.startedAt < YEAR_MS) continue
    all.push(duration)
    if (job.family !== undefined) {
      const family = families.get(job.family)
      if (family === undefined) families.set(job.family, [duration])
      else family.push(duration)
    }
    if (job.submittedAt === undefined || job.submittedAt < YEAR_MS) continue
    if (job.submittedAt > job.startedAt) continue
    waits++
    waited += job.startedAt - job.submittedAt
  }
  const whole = sampleOf(all)
  const known = new Map<string, Sample>()
  for (const [family, durations] of families) {
    if (durations.length >= FAMILY_MIN) known.set(family, sampleOf(durations))
  }
  const find = (job: JobFacts): Sample =>
    (job.family === undefined ? undefined : known.get(job.family)) ?? whole
  return {
    count: all.length,
    meanMs: meanOf(whole),
    waitMeanMs: waits === 0 ? 0 : waited / waits,
    expect: (job) => Math.min(meanOf(find(job)), job.timeLimitMs ?? Infinity),
    remaining: (job, now) => {
      const elapsed = Math.max(0, now - (job.startedAt ?? now))
      const limit = job.timeLimitMs === undefined ? Infinity : job.timeLimitMs - elapsed
      return Math.max(0, Math.min(leftOf(find(job), elapsed), limit))
    }
  }
}

function sampleOf(durations: number[]): Sample {
  const sorted = durations.sort((a, b) => a - b)
  const above = new Array<number>(sorted.length + 1).fill(0)
  for (let i = sorted.length - 1; i >= 0; i--) above[i] = above[i + 1] + sorted[i]
  return { durations: sorted, above }
}

function meanOf({ durations, above }: Sample): number {
  return durations.length === 0 ? 0 : above[0] / durations.length
}

/** The mean rest of those that lasted longer; beyond all known ones half as long again. */
function leftOf({ durations, above }: Sample, elapsed: number): number {
  let [low, high] = [0, durations.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (durations[middle] > elapsed) high = middle
    else low = middle + 1
  }
  const longer = durations.length - low
  return longer === 0 ? elapsed / 2 : above[low] / longer - elapsed
}
