/**
 * The history of a cluster as CSV with a header, a line a pass, only ever appended to. Times are ISO 8601 in UTC and
 * durations are seconds, so that any spreadsheet reads it. A file with another header is left alone and not mixed.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync
} from 'node:fs'
import { dirname } from 'node:path'
import type { Decision, Statistics } from '../core/scaling/decision.js'

export const HISTORY_COLUMNS = [
  'time',
  'hosts',
  'usable',
  'unready',
  'booting',
  'slots',
  'free',
  'running',
  'queued',
  'helpable',
  'needed',
  'oldest_wait_s',
  'mean_wait_s',
  'mean_duration_s',
  'cost_per_hour',
  'cost',
  'added',
  'removed'
] as const
export type HistoryColumn = (typeof HISTORY_COLUMNS)[number]

export interface HistoryRow {
  readonly at: number
  readonly values: Readonly<Record<Exclude<HistoryColumn, 'time'>, number>>
}

const COUNTED = HISTORY_COLUMNS.filter((name) => name !== 'time')
const HEADER = HISTORY_COLUMNS.join(',')
/** About three months of passes a minute are drawn. */
const ROWS_READ_MAX = 130_000
const FIRST_LINE_BYTES = 4096
const FILE_BYTES_MAX = 256 * 1024 * 1024

export function describePass(
  decision: Decision,
  statistics: Statistics,
  money: { readonly perHour: number; readonly total: number }
): HistoryRow {
  const seconds = (ms: number): number => Math.round(ms / 100) / 10
  const cents = (amount: number): number => Math.round(amount * 10_000) / 10_000
  let [added, removed] = [0, 0]
  for (const action of decision.actions) {
    if (action.kind === 'add') added += action.count
    else if (action.kind === 'remove' || action.kind === 'stop') removed++
  }
  return {
    at: decision.at,
    values: {
      hosts: statistics.hosts,
      usable: statistics.hostsUsable,
      unready: statistics.hostsUnready,
      booting: statistics.booting,
      slots: statistics.slots,
      free: statistics.slotsFree,
      running: statistics.running,
      queued: statistics.queued,
      helpable: statistics.queuedHelpable,
      needed: statistics.needed,
      oldest_wait_s: seconds(statistics.oldestWaitMs),
      mean_wait_s: seconds(statistics.waitMeanMs),
      mean_duration_s: seconds(statistics.durationMeanMs),
      cost_per_hour: cents(money.perHour),
      cost: cents(money.total),
      added,
      removed
    }
  }
}

export function appendHistory(path: string, row: HistoryRow): void {
  mkdirSync(dirname(path), { recursive: true })
  const isNew = !existsSync(path) || statSync(path).size === 0
  if (!isNew && readFirstLine(path) !== HEADER) {
    throw new Error(`${path} is not a history of this version; move it away or name another file`)
  }
  const line = [new Date(row.at).toISOString(), ...COUNTED.map((name) => row.values[name])].join(
    ','
  )
  appendFileSync(path, `${isNew ? `${HEADER}\n` : ''}${line}\n`)
}

function readFirstLine(path: string): string {
  const start = Buffer.alloc(FIRST_LINE_BYTES)
  const file = openSync(path, 'r')
  try {
    const length = readSync(file, start, 0, start.length, 0)
    return start.toString('utf8', 0, length).split('\n')[0]
  } finally {
    closeSync(file)
  }
}

/** Lines that were cut by a crash are passed over. */
export function readHistory(path: string): HistoryRow[] {
  if (statSync(path).size > FILE_BYTES_MAX) throw new Error(`${path} is too large to be drawn`)
  const [header, ...lines] = readFileSync(path, 'utf8').split('\n')
  if (header !== HEADER) throw new Error(`${path} is not a history of this version`)
  const rows: HistoryRow[] = []
  for (const line of lines.slice(-ROWS_READ_MAX)) {
    const cells = line.split(',')
    const at = Date.parse(cells[0])
    const numbers = cells.slice(1).map(Number)
    if (cells.length !== HISTORY_COLUMNS.length || Number.isNaN(at) || numbers.some(Number.isNaN)) {
      continue
    }
    const entries = COUNTED.map((name, index) => [name, numbers[index]])
    rows.push({ at, values: Object.fromEntries(entries) as HistoryRow['values'] })
  }
  return rows
}
