/**
 * The history as pictures: one SVG for each of the original's plots, drawn by hand because a line over time needs a
 * path, two axes and nothing else. Many passes are gathered into as many points as the picture has columns, and each
 * point is the largest of them, so that a short peak is not lost.
 */
import type { HistoryColumn, HistoryRow } from './history-file.js'

type Counted = Exclude<HistoryColumn, 'time'>

interface Plot {
  readonly file: string
  readonly title: string
  readonly unit: string
  readonly lines: readonly { readonly column: Counted; readonly label: string }[]
}

type Labels = Readonly<Partial<Record<Counted, string>>>

/** By the name of its file: the title, the unit, and a line a column. */
const TABLE: Readonly<Record<string, readonly [title: string, unit: string, lines: Labels]>> = {
  queued: ['Waiting tasks', '', { queued: 'waiting', helpable: 'a host would help' }],
  running: ['Running jobs', '', { running: 'running' }],
  hosts: ['Hosts', '', { hosts: 'hosts', booting: 'booting', unready: 'unready' }],
  wait: ['Waiting time', 's', { oldest_wait_s: 'oldest', mean_wait_s: 'mean' }],
  duration: ['Mean duration of jobs', 's', { mean_duration_s: 'mean' }],
  cost: ['Cost', '', { cost: 'so far', cost_per_hour: 'an hour' }]
}

export const PLOTS: readonly Plot[] = Object.entries(TABLE).map(([file, [title, unit, labels]]) => {
  const lines = Object.entries(labels).map(([column, label]) => {
    return { column: column as Counted, label }
  })
  return { file, title, unit, lines }
})

const [WIDTH, HEIGHT] = [800, 320]
const MARGIN = { left: 70, right: 20, top: 40, bottom: 50 }
const COLORS = ['#1f77b4', '#ff7f0e', '#d62728']
const POINTS_MAX = WIDTH - MARGIN.left - MARGIN.right
const TICKS = 5

export function drawPlot(plot: Plot, rows: readonly HistoryRow[]): string {
  const [from, to] = [rows.at(0)?.at ?? 0, rows.at(-1)?.at ?? 1]
  const series = plot.lines.map(({ column, label }) => ({ label, points: gather(rows, column) }))
  const highest = series.reduce(
    (most, { points }) => points.reduce((high, point) => Math.max(high, point.value), most),
    0
  )
  const top = roundUp(highest)
  const x = (at: number): number =>
    MARGIN.left + ((at - from) / Math.max(1, to - from)) * (WIDTH - MARGIN.left - MARGIN.right)
  const y = (value: number): number =>
    HEIGHT - MARGIN.bottom - (value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom)
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${MARGIN.left}" y="22" font-size="16">${escapeText(plot.title)}</text>`,
    ...drawAxes({ from, to, top, unit: plot.unit, x, y }),
    ...series.flatMap(({ label, points }, index) => {
      const color = COLORS[index % COLORS.length]
      const path = points
        .map(({ at, value }, i) => `${i === 0 ? 'M' : 'L'}${fix(x(at))} ${fix(y(value))}`)
        .join('')
      const key = WIDTH - MARGIN.right - (series.length - index) * 140
      return [
        `<path d="${path}" fill="none" stroke="${color}" stroke-width="1.5"/>`,
        `<rect x="${key}" y="12" width="12" height="12" fill="${color}"/>`,
        `<text x="${key + 18}" y="22">${escapeText(label)}</text>`
      ]
    }),
    '</svg>',
    ''
  ]
  return parts.join('\n')
}

interface Axes {
  readonly from: number
  readonly to: number
  readonly top: number
  readonly unit: string
  readonly x: (at: number) => number
  readonly y: (value: number) => number
}

function drawAxes({ from, to, top, unit, x, y }: Axes): string[] {
  const lines: string[] = []
  const [left, right] = [MARGIN.left, WIDTH - MARGIN.right]
  for (let tick = 0; tick <= TICKS; tick++) {
    const value = (top * tick) / TICKS
    const level = fix(y(value))
    lines.push(
      `<line x1="${left}" y1="${level}" x2="${right}" y2="${level}" stroke="#ddd"/>`,
      `<text x="${left - 8}" y="${fix(y(value) + 4)}" text-anchor="end">${formatValue(value)}${unit === '' ? '' : ` ${unit}`}</text>`
    )
    const at = from + ((to - from) * tick) / TICKS
    const anchor = tick === 0 ? 'start' : tick === TICKS ? 'end' : 'middle'
    lines.push(
      `<text x="${fix(x(at))}" y="${HEIGHT - MARGIN.bottom + 20}" text-anchor="${anchor}">${formatTime(at, to - from)}</text>`
    )
  }
  lines.push(`<text x="${right}" y="${HEIGHT - 8}" text-anchor="end" fill="#666">UTC</text>`)
  return lines
}

interface Point {
  readonly at: number
  readonly value: number
}

function gather(rows: readonly HistoryRow[], column: Counted): Point[] {
  const each = Math.max(1, Math.ceil(rows.length / POINTS_MAX))
  const points: Point[] = []
  for (let first = 0; first < rows.length; first += each) {
    let best = { at: rows[first].at, value: rows[first].values[column] }
    for (let index = first + 1; index < Math.min(rows.length, first + each); index++) {
      const value = rows[index].values[column]
      if (value > best.value) best = { at: rows[index].at, value }
    }
    points.push(best)
  }
  return points
}

/** 1, 2 or 5 times a power of ten, whichever is next. */
function roundUp(value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power
}

function formatValue(value: number): string {
  return String(Math.round(value * 1000) / 1000)
}

const DAY_MS = 24 * 3_600_000

function formatTime(at: number, span: number): string {
  const text = new Date(at).toISOString()
  return span > 2 * DAY_MS
    ? text.slice(0, 10)
    : span > DAY_MS
      ? text.slice(5, 16)
      : text.slice(11, 19)
}

function fix(value: number): string {
  return String(Math.round(value * 10) / 10)
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
