import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { appendHistory, HISTORY_COLUMNS, readHistory, type HistoryRow } from './history-file.js'
import { drawPlot, PLOTS } from './plot.js'
import { writePlots } from './plot-files.js'
import { parseXml } from './sources/scheduler-xml.js'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opencluster-plot-'))))
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

function row(at: number, value: number): HistoryRow {
  const names = HISTORY_COLUMNS.filter((name) => name !== 'time')
  return {
    at,
    values: Object.fromEntries(names.map((name) => [name, value])) as HistoryRow['values']
  }
}

test('what is appended is read again, with one header and without a line that was cut', () => {
  const path = join(folder, 'deep', 'history.csv')
  appendHistory(path, row(1_800_000_000_000, 1))
  appendHistory(path, row(1_800_000_060_000, 2.5))
  appendFileSync(path, '2027-01-15T08:02:00.000Z,3,4')
  expect(readHistory(path)).toEqual([row(1_800_000_000_000, 1), row(1_800_000_060_000, 2.5)])
  expect(readFileSync(path, 'utf8').split('\n')[0]).toBe(HISTORY_COLUMNS.join(','))
})

test('a file of another kind is not mixed', () => {
  const path = join(folder, 'history.csv')
  writeFileSync(path, 'a,b\n1,2\n')
  expect(() => appendHistory(path, row(1, 1))).toThrow('move it away')
  expect(() => readHistory(path)).toThrow('not a history')
})

test('every plot is whole SVG, of nothing, of one pass and of very many', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => row(index * 60_000, index % 977))
  for (const plot of PLOTS) {
    for (const rows of [[], [row(5, 0)], many]) {
      const svg = drawPlot(plot, rows)
      parseXml(svg, plot.file, 'svg')
      expect(svg).not.toMatch(/NaN|Infinity|undefined/)
      expect(svg.length).toBeLessThan(100_000)
    }
  }
})

test('a short peak among many passes is drawn', () => {
  const rows = Array.from({ length: 10_000 }, (_, index) =>
    row(index * 60_000, index === 5003 ? 90 : 1)
  )
  const svg = drawPlot(PLOTS[1], rows)
  const path = /<path d="([^"]+)"/.exec(svg)?.[1] ?? ''
  const heights = [...path.matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y))
  expect(Math.min(...heights)).toBeLessThan(70)
})

test('without a converter there are SVGs, and it is said what to install', async () => {
  const historyFile = join(folder, 'history.csv')
  appendHistory(historyFile, row(1_800_000_000_000, 1))
  vi.stubEnv('PATH', folder)
  const { signal } = new AbortController()
  expect(await writePlots({ historyFile, folder, signal })).toBe(
    'rsvg-convert is not installed (Debian: librsvg2-bin)'
  )
  const written = readdirSync(folder).filter((name) => name !== 'history.csv')
  expect(written.sort()).toEqual(PLOTS.map(({ file }) => `${file}.svg`).sort())
})
