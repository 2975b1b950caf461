/**
 * A day of jobs, as handed in: what the replay feeds to a policy. The shipped days are drawn from a
 * seed by a few plain habits of people (office hours, evening batches, a deadline), so that anybody can
 * draw others; times are milliseconds from the start of the trace.
 */
import { Random } from '../../src/core/random.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export interface TraceJob {
  readonly id: string
  readonly submitMs: number
  /** Of each task. */
  readonly durationMs: number
  readonly slots: number
  readonly tasks: number
  readonly family?: string
  /** At most so many of its tasks at once. */
  readonly taskLimit?: number
  /** It may not start before, counted from the start of the trace. */
  readonly startAfterMs?: number
  /** Its owner lets it go only then; until then it is held. */
  readonly heldUntilMs?: number
  /** No host will ever have what it asks for, though the scheduler shows it as waiting. */
  readonly impossible?: boolean
}

export interface Trace {
  readonly name: string
  /** Handed in order of submission. */
  readonly jobs: readonly TraceJob[]
  /** Up to when hosts are paid for in the comparison, the same for every policy. */
  readonly horizonMs: number
}

/** About 500 jobs, most in office hours, most of them minutes long, some hours, a few on many slots. */
export function smallDay(seed: number): Trace {
  const random = new Random(seed)
  const jobs: TraceJob[] = []
  for (let hour = 7; hour < 22; hour++) {
    const busy = hour >= 9 && hour < 18 ? 45 : 10
    for (let i = 0; i < busy; i++) {
      const submitMs = Math.floor((hour + random.fraction()) * HOUR_MS)
      jobs.push({ id: '', submitMs, tasks: 1, ...drawKind(random) })
    }
  }
  return finish('small day', jobs, 30 * HOUR_MS)
}

function drawKind(random: Random): Pick<TraceJob, 'durationMs' | 'slots' | 'family'> {
  const draw = random.fraction()
  if (draw < 0.65) {
    return { durationMs: between(random, 2, 15) * MINUTE_MS, slots: 1, family: 'short' }
  }
  if (draw < 0.9) {
    return { durationMs: between(random, 20, 80) * MINUTE_MS, slots: 1, family: 'long' }
  }
  return { durationMs: between(random, 15, 60) * MINUTE_MS, slots: 4, family: 'parallel' }
}

/** Little for most of the day, and five arrays of hundreds of tasks, each handed in at once. */
export function burstDay(seed: number): Trace {
  const random = new Random(seed)
  const jobs: TraceJob[] = []
  for (let hour = 0; hour < 24; hour++) {
    for (let i = 0; i < 4; i++) {
      const submitMs = Math.floor((hour + random.fraction()) * HOUR_MS)
      const durationMs = between(random, 2, 12) * MINUTE_MS
      jobs.push({ id: '', submitMs, durationMs, slots: 1, tasks: 1, family: 'short' })
    }
  }
  for (const hour of [2, 9, 11.5, 14, 19]) {
    const submitMs = Math.floor((hour + random.fraction() / 2) * HOUR_MS)
    const durationMs = between(random, 6, 14) * MINUTE_MS
    const tasks = random.between(150, 500)
    jobs.push({ id: '', submitMs, durationMs, slots: 1, tasks, family: 'array' })
  }
  return finish('burst day', jobs, 30 * HOUR_MS)
}

/**
 * The small day with what schedulers show as waiting though no host helps: a job too big for any host,
 * one for tomorrow, a held one and an array that may run two tasks at a time.
 */
export function awkwardDay(seed: number): Trace {
  const { jobs } = smallDay(seed)
  const base = { id: '', slots: 1, tasks: 1, durationMs: 30 * MINUTE_MS }
  const awkward: TraceJob[] = [
    { ...base, submitMs: 8 * HOUR_MS, slots: 64, impossible: true, family: 'too big' },
    { ...base, submitMs: 10 * HOUR_MS, startAfterMs: 27 * HOUR_MS, family: 'tomorrow' },
    { ...base, submitMs: 12 * HOUR_MS, heldUntilMs: 20 * HOUR_MS, family: 'held' },
    {
      ...base,
      submitMs: 9 * HOUR_MS,
      tasks: 40,
      taskLimit: 2,
      durationMs: 15 * MINUTE_MS,
      family: 'two at a time'
    }
  ]
  return finish('awkward day', [...jobs, ...awkward], 30 * HOUR_MS)
}

function finish(name: string, jobs: readonly TraceJob[], horizonMs: number): Trace {
  const sorted = [...jobs].sort((a, b) => a.submitMs - b.submitMs)
  return { name, jobs: sorted.map((job, index) => ({ ...job, id: String(index + 1) })), horizonMs }
}

function between(random: Random, low: number, high: number): number {
  return low + (high - low) * random.fraction()
}
