/**
 * Bars of the ratios, one picture a group, and lines of what grows with a size: drawn by hand, because a bar needs a rectangle and
 * a line some points and nothing else.
 */
import { keyOf, type Row } from './row.js'

const WIDTH = 860
const LINE = 20
const MARGIN = { left: 390, right: 70, top: 56, bottom: 16 }
const [GOOD, BAD, AXIS] = ['#2ca02c', '#d62728', '#666']
/** A ratio further from 1 than this has a bar as long as this one. */
const RATIO_MAX = 32

/** How many times better ours is, on a scale where twice and half are equally long. */
export function drawRatios(title: string, rows: readonly Row[]): string {
  const drawn = rows.flatMap((row) => {
    if (row.ratio === null || !(row.ratio > 0)) return []
    const gain = row.better === 'more' ? row.ratio : 1 / row.ratio
    const clipped = Math.min(RATIO_MAX, Math.max(1 / RATIO_MAX, gain))
    return [{ label: keyOf(row), gain, length: Math.log2(clipped) }]
  })
  const reach = Math.max(1, ...drawn.map(({ length }) => Math.abs(length)))
  const middle = MARGIN.left + (WIDTH - MARGIN.left - MARGIN.right) / 2
  const scale = (WIDTH - MARGIN.left - MARGIN.right) / 2 / reach
  const height = MARGIN.top + drawn.length * LINE + MARGIN.bottom
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="12" y="22" font-size="16">${escapeText(title)}</text>`,
    `<text x="${middle}" y="44" text-anchor="middle" fill="${AXIS}">as good as the peer</text>`,
    `<text x="${WIDTH - 12}" y="44" text-anchor="end" fill="${AXIS}">better</text>`
  ]
  for (const [index, { label, gain, length }] of drawn.entries()) {
    const y = MARGIN.top + index * LINE
    const x = middle + Math.min(0, length) * scale
    const [width, color] = [Math.abs(length) * scale, length < 0 ? BAD : GOOD]
    const [at, anchor] = length < 0 ? [x - 4, 'end'] : [x + width + 4, 'start']
    lines.push(
      `<text x="12" y="${y + 13}">${escapeText(label)}</text>`,
      `<rect x="${fix(x)}" y="${y + 2}" width="${fix(width)}" height="${LINE - 6}" fill="${color}"/>`,
      `<text x="${fix(at)}" y="${y + 13}" text-anchor="${anchor}">${gain.toFixed(2)}</text>`
    )
  }
  const bottom = height - MARGIN.bottom
  lines.push(
    `<line x1="${middle}" y1="${MARGIN.top}" x2="${middle}" y2="${bottom}" stroke="${AXIS}"/>`,
    '</svg>',
    ''
  )
  return lines.join('\n')
}

const LINES = { left: 70, right: 150, top: 44, bottom: 40, height: 320 }
const COLORS = ['#2ca02c', '#d62728', '#1f77b4', '#9467bd', '#8c564b']

interface Line {
  readonly label: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

/** Figures of one series over its size, by powers of two, from zero up. */
export function drawLines(series: string, rows: readonly Row[]): string {
  const lines = linesOf(rows)
  const all = lines.flatMap(({ points }) => points)
  const [low, high] = [
    Math.log2(Math.min(...all.map(({ x }) => x))),
    Math.log2(Math.max(...all.map(({ x }) => x)))
  ]
  const most = Math.max(...all.map(({ y }) => y)) || 1
  const { left, right, top, bottom, height } = LINES
  const across = (x: number): number =>
    left + ((Math.log2(x) - low) / (high - low || 1)) * (WIDTH - left - right)
  const up = (y: number): number => height - bottom - (y / most) * (height - top - bottom)
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="12" y="22" font-size="16">${escapeText(series)}</text>`,
    `<path d="M${left} ${top}V${height - bottom}H${WIDTH - right}" fill="none" stroke="${AXIS}"/>`
  ]
  for (const y of [0, most / 2, most]) {
    parts.push(
      `<text x="${left - 6}" y="${fix(up(y) + 4)}" text-anchor="end" fill="${AXIS}">${shorten(y)}</text>`
    )
  }
  for (const x of new Set(all.map((point) => point.x))) {
    parts.push(
      `<text x="${fix(across(x))}" y="${height - bottom + 18}" text-anchor="middle" fill="${AXIS}">${shorten(x)}</text>`
    )
  }
  for (const [index, { label, points }] of lines.entries()) {
    const color = COLORS[index % COLORS.length]
    const path = points.map(({ x, y }) => `${fix(across(x))} ${fix(up(y))}`).join('L')
    const [last] = points.slice(-1)
    parts.push(
      `<path d="M${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...points.map(
        ({ x, y }) => `<circle cx="${fix(across(x))}" cy="${fix(up(y))}" r="3" fill="${color}"/>`
      ),
      `<text x="${fix(across(last.x) + 8)}" y="${fix(up(last.y) + 4)}" fill="${color}">${escapeText(label)}</text>`
    )
  }
  return [...parts, '</svg>', ''].join('\n')
}

/** Ours, and each peer's, from the lowest size on; a row without a figure leaves a gap. */
function linesOf(rows: readonly Row[]): Line[] {
  const lines = new Map<string, Map<number, number>>()
  const put = (label: string, x: number, y: number | null): void => {
    if (y === null || !Number.isFinite(y)) return
    const points = lines.get(label) ?? new Map<number, number>()
    lines.set(label, points.set(x, y))
  }
  for (const { at, peer, ours, theirs } of rows) {
    if (at === undefined) continue
    put('opencluster', at.x, ours)
    put(peer, at.x, theirs)
  }
  return [...lines].map(([label, points]) => ({
    label,
    points: [...points].map(([x, y]) => ({ x, y })).sort((a, b) => a.x - b.x)
  }))
}

function shorten(value: number): string {
  if (value >= 1e6) return `${fix(value / 1e6)} M`
  return value >= 1e4 ? `${fix(value / 1e3)} k` : fix(value)
}

function fix(value: number): string {
  return String(Math.round(value * 10) / 10)
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
