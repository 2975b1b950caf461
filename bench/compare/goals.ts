/**
 * What this project wants of itself, beside Redis in the same run. The page tells of each whether the run has reached it:
 * a figure that is missed stays in sight.
 */
import { formatValue } from './report.js'
import type { Row } from './row.js'

interface Goal {
  readonly what: string
  /** The name of its row; of several the last one, which is the largest. */
  readonly row: RegExp
  readonly figure: (row: Row) => number | null
  readonly atLeast?: number
  readonly atMost?: number
}

const ratio = (row: Row): number | null => row.ratio
const cpu = (row: Row): number | null => row.cpu?.ratio ?? null
const ours = (row: Row): number | null => row.ours

const ONE_NODE = ['GET', 'SET'].flatMap((command): Goal[] => [
  { what: `${command} P1`, row: named(`${command} P1 64 B`), figure: ratio, atLeast: 0.85 },
  { what: `${command} P16`, row: named(`${command} P16 64 B`), figure: ratio, atLeast: 1.2 },
  { what: `${command} P64`, row: named(`${command} P64 64 B`), figure: ratio, atLeast: 1.6 },
  {
    what: `${command} P16, processor time`,
    row: named(`${command} P16 64 B`),
    figure: cpu,
    atMost: 0.8
  }
])

const GOALS: readonly Goal[] = [
  ...ONE_NODE,
  { what: 'SET P1 with a backup', row: /^SET P1 with a backup/, figure: ratio, atLeast: 1.4 },
  { what: 'SET P16 with a backup', row: /^SET P16 with a backup/, figure: ratio, atLeast: 2 },
  {
    what: 'GET P16, three nodes: operations a second of processor time, against one of ours',
    row: /^GET P16, three nodes against one of ours/,
    figure: (row) => (row.cpu === undefined ? null : 1 / row.cpu.ratio),
    atLeast: 0.9
  },
  {
    what: 'memory per key, 5 million',
    row: /^memory per key of .* 5 M keys/,
    figure: ratio,
    atMost: 0.75
  },
  {
    what: 'rebalance against redis-cli as it comes',
    row: /^rebalance of .* idle, theirs as it comes/,
    figure: ratio,
    atLeast: 20
  },
  {
    what: 'rebalance against redis-cli, pipeline 1000',
    row: /^rebalance of .* idle, theirs pipeline/,
    figure: ratio,
    atLeast: 10
  },
  {
    what: 'rebalance between two idle nodes, keys/s',
    row: /^rebalance of .* idle/,
    figure: ours,
    atLeast: 300_000
  },
  {
    what: "clients' p99 during a rebalance, times their p99 at rest",
    row: /^clients' p99 during a rebalance/,
    figure: ours,
    atMost: 2
  },
  { what: 'kill -9 to the first write, s', row: /^kill -9 to/, figure: ours, atMost: 1.5 },
  {
    what: 'longest wait with 5 million keys, ms',
    row: /^longest wait, .* 5 M keys/,
    figure: ours,
    atMost: 20
  }
]

function named(name: string): RegExp {
  return new RegExp(`^${name}$`)
}

/** A table in Markdown. */
export function formatGoals(rows: readonly Row[]): string[] {
  const own = rows.filter(({ peer }) => !/^(valkey|keydb|memcached)/.test(peer))
  const lines = GOALS.map((goal) => {
    const found = own.filter(({ name }) => goal.row.test(name))
    const value = goal.figure(found.at(-1) ?? NO_ROW)
    return [
      goal.what,
      formatAim(goal),
      value === null ? '-' : formatValue(value),
      judge(goal, value)
    ]
  })
  return [['aim', 'wanted', 'measured', ''], ['---', '---', '---', '---'], ...lines].map(
    (cells) => `| ${cells.join(' | ')} |`
  )
}

const NO_ROW: Row = {
  group: '',
  name: '',
  peer: '',
  unit: '',
  better: 'more',
  ours: null,
  theirs: null,
  ratio: null,
  spread: null,
  rounds: 0
}

function formatAim({ atLeast, atMost }: Goal): string {
  return atLeast === undefined ? `≤ ${formatValue(atMost ?? null)}` : `≥ ${formatValue(atLeast)}`
}

function judge({ atLeast = -Infinity, atMost = Infinity }: Goal, value: number | null): string {
  if (value === null) return 'not in this run'
  return value >= atLeast && value <= atMost ? 'reached' : 'missed'
}
