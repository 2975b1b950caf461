/**
 * Grid Engine's `qacct -j -b TIME`: plain text, one record a task, in UTC because the command is told so. Records
 * without a start (failed before it) are left out; one of a rescheduled job has 1970 as its submission, which is no
 * time at all.
 */
import type { FinishedJob } from '../../core/scaling/facts.js'

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** Only the newest foretell anything, and a list must end somewhere. */
const RECORDS_MAX = 20_000
const YEAR_MS = 366 * 24 * 3_600_000

/** What qacct says, with exit code 1, when there is nothing to say. */
const NOTHING_YET = /no jobs running since startup|no such file or directory|not found/i

export function isEmptyAccounting(said: string): boolean {
  return NOTHING_YET.test(said)
}

export function parseAccounting(text: string): FinishedJob[] {
  const jobs: FinishedJob[] = []
  let record = new Map<string, string>()
  const flush = (): void => {
    const job = readRecord(record)
    if (job !== undefined) jobs.push(job)
    record = new Map()
  }
  for (const line of text.split('\n')) {
    if (line.startsWith('=====')) flush()
    // The totals below the last record are none of a job.
    else if (line.startsWith('Total System Usage')) break
    else {
      const space = line.indexOf(' ')
      if (space > 0) record.set(line.slice(0, space), line.slice(space).trim())
    }
  }
  flush()
  return jobs.length > RECORDS_MAX ? jobs.slice(-RECORDS_MAX) : jobs
}

function readRecord(record: ReadonlyMap<string, string>): FinishedJob | undefined {
  const id = record.get('jobnumber')
  const startedAt = readTime(record.get('start_time'))
  const endedAt = readTime(record.get('end_time'))
  const slots = Number(record.get('slots') ?? '1')
  if (id === undefined || startedAt === undefined || endedAt === undefined) return undefined
  if (endedAt < startedAt || !Number.isInteger(slots) || slots < 1) return undefined
  const task = record.get('taskid') ?? 'undefined'
  const submittedAt = readTime(record.get('qsub_time'))
  return {
    id: task === 'undefined' ? id : `${id}.${task}`,
    ...(submittedAt === undefined ? {} : { submittedAt }),
    startedAt,
    endedAt,
    slots,
    family: `${record.get('owner') ?? ''}:${record.get('jobname') ?? ''}`
  }
}

/** `Sun Nov 15 19:19:39 2026`. */
function readTime(text: string | undefined): number | undefined {
  const found = /^\w{3} (\w{3}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})$/.exec(text ?? '')
  if (found === null) return undefined
  const month = MONTHS.indexOf(found[1])
  const [day, hour, minute, second, year] = found.slice(2).map(Number)
  if (month < 0) return undefined
  const time = Date.UTC(year, month, day, hour, minute, second)
  return time < YEAR_MS ? undefined : time
}

/** `-b` takes minutes: 202611151919, in UTC. */
export function formatAccountingTime(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace(/[-T:]/g, '')
}
