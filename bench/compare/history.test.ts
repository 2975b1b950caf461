import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findRegressions, readLast, recordReport, renewReport } from './history.js'
import type { Report } from './report.js'
import type { Row } from './row.js'

function createReport(row: Partial<Row>, date = '2026-01-01T00:00:00.000Z'): Report {
  const machine = { processor: 'p', processors: 2, memoryGb: 4, node: 'v20', system: 's' }
  const figures = { ours: 1, theirs: 1, ratio: 1, spread: 0.02, rounds: 5, ...row }
  const rows = [
    { group: 'g', name: 'n', peer: 'redis', unit: 'op/s', better: 'more', ...figures } as const
  ]
  return { date, commit: 'c', machine: { ...machine, loadBefore: 0 }, peers: [], quick: true, rows }
}

test.each([
  ['less than the noise', { ratio: 0.95 }, 0],
  ['more than the noise', { ratio: 0.8 }, 1],
  ['better', { ratio: 2 }, 0],
  ['lost', { ratio: null, error: 'died' }, 1],
  ['a wide spread explains it', { ratio: 0.8, spread: 0.4 }, 0],
  ['more where less is better', { ratio: 1.3, better: 'less' as const }, 1]
])('%s', (_, row, count) => {
  expect(findRegressions(createReport({}), createReport(row))).toHaveLength(count)
})

test('processor time an operation is judged as well', () => {
  const cpu = (ratio: number): Partial<Row> => ({ cpu: { ours: ratio, theirs: 1, ratio } })
  const found = findRegressions(createReport(cpu(1)), createReport(cpu(1.5)))
  expect(found).toMatchObject([{ what: 'cpu', before: 1, now: 1.5 }])
})

test('the last recorded run of the same length is found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opencluster-history-'))
  try {
    expect(readLast(join(folder, 'none'), true)).toBeUndefined()
    recordReport(folder, createReport({ ratio: 1 }))
    recordReport(folder, createReport({ ratio: 2 }, '2026-02-01T00:00:00.000Z'))
    recordReport(folder, { ...createReport({}, '2026-03-01T00:00:00.000Z'), quick: false })
    expect(readLast(folder, true)?.rows[0].ratio).toBe(2)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('rows that are measured again take the places of the old ones, and new ones stand with their group', () => {
  const row = (group: string, name: string, ours: number): Row => ({
    ...createReport({}).rows[0],
    group,
    name,
    ours
  })
  const before = {
    ...createReport({}),
    rows: [row('a', 'one', 1), row('a', 'two', 2), row('b', 'three', 3)]
  }
  const again = createReport({}, '2026-02-01T10:20:30.000Z')
  const rows = [
    row('a', 'two', 20),
    row('a', 'four', 40),
    { ...row('c', 'five', 50), note: 'counted' }
  ]
  const renewed = renewReport(before, { ...again, rows, commit: 'abc' })
  const noted = 'measured again 2026-02-01T10:20Z, abc'
  expect(renewed.rows.map(({ name, ours, note }) => [name, ours, note])).toEqual([
    ['one', 1, undefined],
    ['two', 20, noted],
    ['four', 40, noted],
    ['three', 3, undefined],
    ['five', 50, `counted; ${noted}`]
  ])
  expect(renewed.date).toBe(before.date)
})
