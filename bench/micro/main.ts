/**
 * The micro benchmarks by name, all of them if none is given, one aligned line a figure:
 *
 *   node dist/bench/micro/main.js [store|hash|resp|replication|plan|simulator]… [--keys N]
 */
import { parseArgs } from 'node:util'
import { run as runHash } from './hash.js'
import type { Measurement } from './measure.js'
import { run as runPlan } from './plan.js'
import { run as runReplication } from './replication.js'
import { run as runResp } from './resp.js'
import { run as runSimulator } from './simulator.js'
import { run as runStore } from './store.js'

interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
}

const KEYS_DEFAULT = 1_000_000
const KEYS_MAX = 100_000_000

/** In the order in which they run; `keys` is how much each does, in its own measure. */
const BENCHMARKS: readonly { name: string; run: (keys: number) => Figure[] }[] = [
  { name: 'store', run: (keys) => runStore({ keys }) },
  { name: 'hash', run: (keys) => runHash({ keys }).map(perSecond) },
  { name: 'resp', run: (keys) => runResp({ commands: keys }).map(perSecond) },
  { name: 'replication', run: (keys) => runReplication({ writes: keys }).map(perSecond) },
  {
    name: 'plan',
    run: (keys) => {
      // A decision looks at thousands of rows where the others look at a key.
      const rounds = Math.max(1, Math.ceil(keys / 500))
      return runPlan({ buckets: 4096, nodes: [8, 64], rounds }).map(inMicroseconds)
    }
  },
  { name: 'simulator', run: (keys) => runSimulator({ minutes: keys / KEYS_DEFAULT }) }
]

function perSecond({ name, nsPerOperation, perSecond: value }: Measurement): Figure {
  return { name, value, unit: `op/s ${nsPerOperation.toFixed(1).padStart(9)} ns` }
}

function inMicroseconds({ name, nsPerOperation }: Measurement): Figure {
  return { name, value: nsPerOperation / 1000, unit: 'µs' }
}

function format({ name, value, unit }: Figure): string {
  const digits = value < 1000 ? 1 : 0
  return `  ${name.padEnd(50)} ${value.toFixed(digits).padStart(14)} ${unit}`.trimEnd()
}

function complain(problem: string): number {
  const names = BENCHMARKS.map(({ name }) => name).join(', ')
  process.stderr.write(`bench: ${problem}; there are: ${names}; and --keys N\n`)
  return 2
}

function main(args: string[]): number {
  const options = { keys: { type: 'string' } } as const
  const { values, positionals, tokens } = parseArgs({
    args,
    options,
    strict: false,
    allowPositionals: true,
    tokens: true
  })
  for (const token of tokens) {
    if (token.kind === 'option' && token.name !== 'keys') return complain(`no ${token.rawName}`)
  }
  const given = values.keys ?? String(KEYS_DEFAULT)
  const keys = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : NaN
  if (!Number.isInteger(keys) || keys < 1 || keys > KEYS_MAX) {
    return complain(`--keys must be a whole number from 1 to ${KEYS_MAX}`)
  }
  const unknown = positionals.find((name) => BENCHMARKS.every((each) => each.name !== name))
  if (unknown !== undefined) return complain(`no ${unknown}`)
  for (const { name, run } of BENCHMARKS) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    process.stdout.write(`${name}\n`)
    for (const figure of run(keys)) process.stdout.write(`${format(figure)}\n`)
  }
  return 0
}

// `… | head` closes the pipe early, which is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})
process.exitCode = main(process.argv.slice(2))
