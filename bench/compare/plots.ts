/** Bars of the ratios, one picture a group: drawn by hand, because a bar needs a rectangle and nothing else. */
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

function fix(value: number): string {
  return String(Math.round(value * 10) / 10)
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
