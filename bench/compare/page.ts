/** The measured part of docs/performance.md: the tables of a run between two marks, and a picture for each group. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatGoals } from './goals.js'
import { drawLines, drawRatios } from './plots.js'
import { formatPage, isLoaded, type Report } from './report.js'
import type { Row } from './row.js'

const [BEGIN, END] = ['<!-- measured: begin -->', '<!-- measured: end -->']

/** Rewrites the page in the folder of documents, and its pictures; returns the files. */
export function writePage(docs: string, report: Report): string[] {
  const page = join(docs, 'performance.md')
  const text = readFileSync(page, 'utf8')
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin === -1 || end < begin) throw new Error(`${page} has no marks to write between`)
  const images = join(docs, 'images')
  mkdirSync(images, { recursive: true })
  const files = [page]
  const pictures: string[] = []
  for (const group of new Set(report.rows.map((row) => row.group))) {
    const rows = report.rows.filter((row) => row.group === group && row.ratio !== null)
    if (rows.length === 0) continue
    const name = `bench-${group.replaceAll(' ', '-')}.svg`
    writeFileSync(join(images, name), drawRatios(group, rows))
    files.push(join(images, name))
    pictures.push(`![${group}](images/${name})`)
  }
  for (const [series, rows] of seriesOf(report.rows)) {
    const name = `bench-${series.replaceAll(/[^A-Za-z0-9]+/g, '-').toLowerCase()}.svg`
    writeFileSync(join(images, name), drawLines(series, rows))
    files.push(join(images, name))
    pictures.push(`![${series}](images/${name})`)
  }
  const tables = [...formatGoals(report.rows), '', ...formatPage(report.rows)]
  const measured = [BEGIN, '', describeRun(report), '', ...tables, '']
  const body = [...measured, ...pictures.flatMap((line) => [line, '']), ''].join('\n').trimEnd()
  writeFileSync(page, `${text.slice(0, begin)}${body}\n\n${text.slice(end)}`)
  return files
}

/** Rows that make a line: at least two sizes that have a figure. */
function seriesOf(rows: readonly Row[]): Map<string, Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    if (row.at === undefined || row.ours === null) continue
    found.set(row.at.series, [...(found.get(row.at.series) ?? []), row])
  }
  for (const [series, own] of found) {
    if (new Set(own.map(({ at }) => at?.x)).size < 2) found.delete(series)
  }
  return found
}

function describeRun({ date, commit, machine, peers, quick }: Report): string {
  const { processors, processor, memoryGb, node, loadBefore } = machine
  const loaded = isLoaded(machine)
    ? `**Measured on a loaded machine** (load ${loadBefore} on ${processors} processors before the run): only a check that it works.`
    : `Load ${loadBefore} before the run.`
  const place = `${processors} × ${processor}, ${memoryGb} GB, Node ${node}`
  return `${date.slice(0, 16)}Z, commit ${commit}, ${place}; against ${peers.join(', ')}; ${quick ? '`--quick`' : 'whole run'}. ${loaded}`
}
