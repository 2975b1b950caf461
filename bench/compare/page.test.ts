import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writePage } from './page.js'
import { formatTable, type Report } from './report.js'
import type { Row } from './row.js'

const ROW: Row = {
  group: 'commands',
  name: 'GET <P16>',
  peer: 'redis',
  unit: 'op/s',
  better: 'more',
  ours: 3000,
  theirs: 1500,
  ratio: 2,
  spread: 0.05,
  rounds: 3
}
const FAILED: Row = { ...ROW, name: 'SET', ratio: null, spread: null, error: 'redis: died' }
const SIZES: Row[] = [16, 4096].map((x) => ({
  ...ROW,
  name: `GET ${x} B`,
  at: { series: 'GET, op/s over bytes', x }
}))
const machine = { processor: 'p', processors: 2, memoryGb: 4, node: 'v20', system: 's' }
const REPORT: Report = {
  date: '2026-01-01T00:00:00.000Z',
  commit: 'abc',
  machine: { ...machine, loadBefore: 8 },
  peers: ['redis 7.0.15'],
  quick: true,
  rows: [ROW, FAILED]
}

test('the page keeps its text, is the same after a second time, and says that the machine was busy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opencluster-page-'))
  try {
    const page = join(folder, 'performance.md')
    writeFileSync(page, 'above\n\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nbelow\n')
    writePage(folder, REPORT)
    const first = readFileSync(page, 'utf8')
    expect(first).toMatch(/^above\n[^]*\| GET <P16> \| redis \| 3,000 \| 1,500 \|[^]*below\n$/)
    expect(first).toContain('Measured on a loaded machine')
    expect(first).toContain('error: redis: died')
    expect(first).not.toContain('old')
    writePage(folder, REPORT)
    expect(readFileSync(page, 'utf8')).toBe(first)
    const picture = readFileSync(join(folder, 'images', 'bench-commands.svg'), 'utf8')
    expect(picture).toContain('GET &lt;P16&gt;')
    expect(picture).not.toContain('NaN')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('rows that differ in a size make a line, a single one does not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opencluster-page-'))
  try {
    const page = join(folder, 'performance.md')
    writeFileSync(page, '<!-- measured: begin -->\n<!-- measured: end -->\n')
    writePage(folder, { ...REPORT, rows: [ROW, ...SIZES] })
    const picture = readFileSync(join(folder, 'images', 'bench-get-op-s-over-bytes.svg'), 'utf8')
    expect(picture).toMatch(/>16<[^]*>4096<[^]*>opencluster<[^]*>redis</)
    expect(picture).not.toContain('NaN')
    expect(readFileSync(page, 'utf8')).toContain('![GET, op/s over bytes]')
    const files = writePage(folder, { ...REPORT, rows: SIZES.slice(0, 1) })
    expect(files.filter((file) => file.includes('over-bytes'))).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('columns of the table stand under each other, and an error is in its row', () => {
  const lines = formatTable(REPORT.rows)
  expect(lines[1].indexOf('op/s')).toBe(lines[2].indexOf('op/s'))
  expect(lines[2]).toContain('ERROR redis: died')
})
