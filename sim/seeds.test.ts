import { expect, test } from 'vitest'
import type { Result, RunStatistics, SeedOutcome } from './outcome.js'
import { runSeeds } from './seeds.js'

const STATISTICS: RunStatistics = {
  virtualSeconds: 1,
  operations: 2,
  unknown: 0,
  messages: 3,
  joins: 0,
  leaves: 0,
  crashes: 0,
  convergenceMs: 500
}

/** The lines of so many seeds, one of which ends in another way. */
function linesOf(seeds: number, other: number, result: Result): string[] {
  const lines: string[] = []
  const run = (seed: number): SeedOutcome<RunStatistics> => ({
    seed,
    result: seed === other ? result : 'passed',
    promise: 'p',
    message: 'm',
    command: `again ${seed}`,
    trace: ['the last event'],
    digest: seed.toString(16).padStart(8, '0'),
    statistics: STATISTICS
  })
  const onLine = (line: string): void => void lines.push(line)
  runSeeds({ seed: 1, seeds, trace: false, onLine }, { run, columns: () => [] })
  return lines
}

test('a few have a line each', () => {
  const lines = linesOf(20, 0, 'passed')
  expect(lines.length).toBe(21)
  expect(lines[0]).toMatch(/^seed {10}1 {2}passed {2}digest 00000001 /)
  expect(lines.at(-1)).toBe('20 passed, 0 failed')
})

test('many have a line for fifty, and those that fail one of their own', () => {
  const lines = linesOf(120, 60, 'broke a promise')
  expect(lines[0]).toMatch(/^50 of 120, 0 failed, digest of all [0-9a-f]{8}$/)
  expect(lines[1]).toMatch(/^seed {9}60 {2}broke a promise /)
  expect(lines.slice(2, 5)).toEqual(['the last event', 'broke a promise: p: m', 'repeat: again 60'])
  expect(lines[5]).toMatch(/^100 of 120, 1 failed, /)
  expect(lines[6]).toMatch(/^120 of 120, 1 failed, /)
  expect(lines[7]).toBe('119 passed, 1 failed')
})

test('the digest of all tells two runs apart', () => {
  const [one, two] = [linesOf(50, 0, 'passed'), linesOf(51, 0, 'passed')]
  expect(one[0].split(' ').at(-1)).toBe(two[0].split(' ').at(-1))
  expect(two[0].split(' ').at(-1)).not.toBe(two[1].split(' ').at(-1))
})
