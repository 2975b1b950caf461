/**
 * The Standard Workload Format, in which public traces of parallel machines are kept: `;` begins a
 * comment, every other line is 18 numbers, -1 where unknown. Read here: 1 job number, 2 submission
 * (seconds from the start), 4 run time, 5 processors used, 8 processors asked for, 12 user and
 * 14 program (together the family). A line that is no such job is passed over and counted, never
 * guessed at; cancelled jobs that never ran are such lines too.
 */
import type { Trace, TraceJob } from './trace.js'

const FIELDS_MIN = 5
const JOBS_MAX = 1_000_000
const SECOND_MS = 1000
const HOUR_MS = 3_600_000
const TAIL_MS = 6 * HOUR_MS

export interface Workload {
  readonly trace: Trace
  /** Lines that were no job that ran. */
  readonly skipped: number
}

/** At most the first `hoursMax` of it: public traces are months long, and a pass a minute is slow to replay. */
export function parseWorkload(text: string, name: string, hoursMax = Infinity): Workload {
  const jobs: TraceJob[] = []
  let skipped = 0
  for (const line of text.split('\n')) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith(';')) continue
    const job = jobs.length < JOBS_MAX ? readJob(trimmed) : undefined
    if (job === undefined) skipped++
    else jobs.push(job)
  }
  jobs.sort((a, b) => a.submitMs - b.submitMs)
  const start = jobs.length === 0 ? 0 : jobs[0].submitMs
  const shifted = jobs
    .map((job) => ({ ...job, submitMs: job.submitMs - start }))
    .filter(({ submitMs }) => submitMs < hoursMax * HOUR_MS)
  let end = 0
  for (const { submitMs, durationMs } of shifted) end = Math.max(end, submitMs + durationMs)
  return { trace: { name, jobs: shifted, horizonMs: end + TAIL_MS }, skipped }
}

function readJob(line: string): TraceJob | undefined {
  const fields = line.split(/\s+/).map(Number)
  if (fields.length < FIELDS_MIN) return undefined
  const [number, submit, , runTime, used] = fields
  const asked = fields.at(7) ?? -1
  const slots = used > 0 ? used : asked
  const sound = Number.isSafeInteger(number) && submit >= 0 && runTime >= 0
  if (!sound || !Number.isSafeInteger(slots) || slots <= 0) return undefined
  const [user, program] = [fields.at(11) ?? -1, fields.at(13) ?? -1]
  return {
    id: String(number),
    submitMs: submit * SECOND_MS,
    durationMs: Math.max(1, runTime) * SECOND_MS,
    slots,
    tasks: 1,
    family: `${user}/${program}`
  }
}
