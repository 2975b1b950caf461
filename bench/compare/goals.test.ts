import { expect, test } from 'vitest'
import { formatGoals } from './goals.js'
import type { Row } from './row.js'

function row(name: string, figures: Partial<Row>): Row {
  const base = { group: 'g', peer: 'redis', unit: '', better: 'more', rounds: 5 } as const
  return { ...base, name, ours: null, theirs: null, ratio: null, spread: null, ...figures }
}

function lineOf(rows: Row[], what: string): string | undefined {
  return formatGoals(rows).find((line) => line.startsWith(`| ${what} |`))
}

test('a goal is reached, missed, or not in this run', () => {
  const rows = [row('GET P16 64 B', { ratio: 1.3, cpu: { ours: 3, theirs: 2, ratio: 1.5 } })]
  expect(lineOf(rows, 'GET P16')).toBe('| GET P16 | ≥ 1.20 | 1.30 | reached |')
  expect(lineOf(rows, 'GET P16, processor time')).toContain('| ≤ 0.80 | 1.50 | missed |')
  expect(lineOf(rows, 'GET P64')).toContain('| - | not in this run |')
})

test('of several sizes the largest counts, and other peers than Redis do not', () => {
  const rows = [
    row('rebalance of 40 k keys, idle, theirs as it comes', { ours: 50_000, ratio: 9 }),
    row('rebalance of 333 k keys, idle, theirs as it comes', { ours: 90_000, ratio: 25 }),
    row('rebalance of 1 M keys, idle, ours alone', { ours: 310_000 }),
    row('SET P1 64 B', { ratio: 0.9 }),
    row('SET P1 64 B', { ratio: 0.1, peer: 'memcached' })
  ]
  expect(lineOf(rows, 'rebalance against redis-cli as it comes')).toContain('| 25.0 | reached |')
  expect(lineOf(rows, 'rebalance between two idle nodes, keys/s')).toContain(
    '| 310,000 | reached |'
  )
  expect(lineOf(rows, 'SET P1')).toContain('| 0.90 | reached |')
})
