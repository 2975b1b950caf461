/**
 * Earlier runs, one file each, and what has become worse since the last. Only ratios are compared: both sides of one had the same
 * machine at the same time. What counts as worse is more than both runs' own noise.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLoaded, type Report } from './report.js'
import { keyOf, type Row } from './row.js'

/** Rounds that happened to agree say little: less than this is never worth a word. */
const NOISE_MIN = 0.1
/** One round has no spread of its own. */
const NOISE_UNKNOWN = 0.25

export interface Regression {
  readonly row: string
  readonly what: 'ratio' | 'cpu'
  readonly before: number
  readonly now: number
  /** The part by which it may change. */
  readonly allowed: number
}

export function recordReport(folder: string, report: Report): string {
  mkdirSync(folder, { recursive: true })
  const stamp = report.date.replaceAll(/[:.]/g, '-').slice(0, 19)
  const file = join(folder, `${stamp}${report.quick ? '-quick' : ''}.json`)
  writeFileSync(file, formatReport(report))
  return file
}

/** One line a row, so that two runs can be laid side by side. */
export function formatReport({ rows, ...rest }: Report): string {
  const head = JSON.stringify(rest, undefined, 2).slice(0, -2)
  return `${head},\n  "rows": [\n${rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n')}\n  ]\n}\n`
}

/** The last recorded run of the same length. */
export function readLast(folder: string, quick: boolean): Report | undefined {
  let names: string[]
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch {
    return undefined
  }
  for (const name of names.sort().reverse()) {
    const report = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report
    if (report.quick === quick) return report
  }
  return undefined
}

/**
 * An earlier run with these rows in the place of its own of the same name, or behind those of their group. A whole run
 * takes more than half an hour; a row is a comparison by itself, and says when it was made.
 */
export function renewReport(before: Report, { rows, date, commit }: Report): Report {
  const renewed = [...before.rows]
  for (const row of rows) {
    const note = `measured again ${date.slice(0, 16)}Z, ${commit}`
    const noted = { ...row, note: row.note === undefined ? note : `${row.note}; ${note}` }
    const place = renewed.findIndex((old) => keyOf(old) === keyOf(row))
    const last = renewed.findLastIndex(({ group }) => group === row.group)
    if (place >= 0) renewed[place] = noted
    else renewed.splice(last < 0 ? renewed.length : last + 1, 0, noted)
  }
  return { ...before, rows: renewed }
}

export function findRegressions(before: Report, now: Report): Regression[] {
  const known = new Map(before.rows.map((row) => [keyOf(row), row]))
  // Processes that come and go beside the run shift ratios, not only figures.
  const factor = isLoaded(before.machine) || isLoaded(now.machine) ? 2 : 1
  const found: Regression[] = []
  for (const row of now.rows) {
    const old = known.get(keyOf(row))
    if (old === undefined || old.ratio === null) continue
    const allowed = factor * Math.max(NOISE_MIN, noiseOf(old) + noiseOf(row))
    const judge = (
      what: Regression['what'],
      pair: [number, number],
      better: Row['better']
    ): void => {
      const [past, present] = pair
      const worse = better === 'more' ? past / present - 1 : present / past - 1
      if (worse > allowed) {
        found.push({ row: keyOf(row), what, before: past, now: present, allowed })
      }
    }
    // A row that once had a ratio and now fails is the worst of all.
    judge('ratio', [old.ratio, row.ratio ?? (row.better === 'more' ? 0 : Infinity)], row.better)
    if (old.cpu !== undefined && row.cpu !== undefined) {
      judge('cpu', [old.cpu.ratio, row.cpu.ratio], 'less')
    }
  }
  return found
}

function noiseOf({ spread }: Row): number {
  return spread ?? NOISE_UNKNOWN
}
