/** Rows as an aligned table for people, and the whole run as JSON for programs. */
import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import type { Latency } from './histogram.js'
import type { Row } from './row.js'

/** What a run says of itself, so that two runs can be told apart. */
export interface Report {
  readonly date: string
  readonly commit: string
  readonly machine: {
    readonly processor: string
    readonly processors: number
    readonly memoryGb: number
    readonly node: string
    readonly system: string
    /** The load average when the run began: more than a little, and the figures are of a busy machine. */
    readonly loadBefore: number
  }
  readonly peers: readonly string[]
  readonly quick: boolean
  readonly rows: readonly Row[]
}

export function describeMachine(loadBefore: number): Report['machine'] {
  return {
    processor: cpus().at(0)?.model ?? 'unknown',
    processors: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    system: `${process.platform} ${process.arch}`,
    loadBefore: Math.round(loadBefore * 10) / 10
  }
}

/** Of the folder the program stands in; `+` if something in it was changed since. */
export function readCommit(folder: string): string {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', folder, ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore']
      }).trim()
    const changed = git('status', '--porcelain', '--untracked-files=no') !== ''
    return git('rev-parse', '--short', 'HEAD') + (changed ? '+' : '')
  } catch {
    return 'unknown'
  }
}

/** More load than this a processor, and somebody else was at work. */
const LOAD_MAX = 0.5

export function isLoaded({ loadBefore, processors }: Report['machine']): boolean {
  return loadBefore / processors > LOAD_MAX
}

const HEAD = [
  'row',
  'peer',
  'ours',
  'theirs',
  'unit',
  'ratio',
  '±',
  'CPU µs/op',
  'p50/p99/p99.9 ms'
]

export function formatTable(rows: readonly Row[]): string[] {
  const lines = [HEAD, ...rows.map(cellsOf)]
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const left = new Set([0, 1, 4])
  return lines.map((line, index) => {
    const cells = line.map((cell, column) =>
      left.has(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])
    )
    const row = index === 0 ? undefined : rows[index - 1]
    const remark = row?.error === undefined ? row?.note : `ERROR ${row.error}`
    return [...cells, remark ?? ''].join('  ').trimEnd()
  })
}

/** The same as Markdown. */
export function formatPage(rows: readonly Row[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const remark = ({ error, note }: Row): string =>
    error === undefined ? (note ?? '') : `error: ${error}`
  return [
    line([...HEAD, '']),
    line([...HEAD, ''].map(() => '---')),
    ...rows.map((row) =>
      line([...cellsOf(row), remark(row)].map((cell) => cell.replaceAll('|', '/')))
    )
  ]
}

function cellsOf(row: Row): string[] {
  const { name, peer, ours, theirs, unit, ratio, spread, cpu, latency } = row
  const pair = [latency?.ours, latency?.theirs ?? undefined].map(formatLatency)
  return [
    name,
    peer,
    formatValue(ours),
    formatValue(theirs),
    unit,
    ratio === null ? '-' : ratio.toFixed(2),
    spread === null ? '' : `${Math.round(spread * 100)} %`,
    cpu === undefined ? '' : `${cpu.ours.toFixed(1)} : ${cpu.theirs.toFixed(1)}`,
    latency === undefined ? '' : pair.join(' : ')
  ]
}

function formatLatency(latency: Latency | undefined): string {
  if (latency === undefined) return '-'
  // JSON has no NaN: what a generator does not give comes back as null.
  const figures = [latency.p50, latency.p99, latency.p999 as number | null]
  return figures.map((ms) => (ms === null || Number.isNaN(ms) ? '-' : formatMs(ms))).join('/')
}

function formatMs(ms: number): string {
  return ms < 10 ? ms.toFixed(2) : ms.toFixed(0)
}

export function formatValue(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '-'
  return value >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : value.toFixed(value < 10 ? 2 : 1)
}
