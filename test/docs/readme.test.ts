// README.md: its figures are those of a recorded run, and its "no" cells are true. `UPDATE_DOCS=1` takes the figures of
// the newest recorded run.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/commands/registry.js'
import { NODE_OPTIONS } from '../../src/config/options.js'

const root = join(import.meta.dirname, '..', '..')
const path = join(root, 'README.md')
const history = join(root, 'bench', 'history')
const BLOCK = /(<!-- measured: begin -->\n)[\s\S]*(<!-- measured: end -->)/

/** What says most about it; rows of `npm run bench`, good and bad. */
const ROWS = [
  'SET P16 64 B',
  'GET P16 64 B',
  'GET P1 64 B',
  'SET P16 with a backup, acks=all against WAIT 1',
  'GET P16, three nodes, cluster client',
  'SET P16, three nodes, cluster client',
  /^rebalance of .* keys, idle, theirs as it comes$/,
  'kill -9 to the first write, their timeout 15 s',
  'memory per key of 20 + 64 bytes, 1 M keys'
]

interface Recorded {
  readonly date: string
  readonly machine: { readonly processors: number; readonly loadBefore: number }
  readonly peers: readonly string[]
  readonly rows: readonly {
    readonly name: string
    readonly unit: string
    readonly ours: number | null
    readonly theirs: number | null
    readonly peer: string
  }[]
}

const digits = (value: number): string =>
  value >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)

function describeRun(name: string): string {
  const run = JSON.parse(readFileSync(join(history, name), 'utf8')) as Recorded
  const rows = ROWS.flatMap((wanted) => {
    const row = run.rows.findLast(({ name: named }) =>
      typeof wanted === 'string' ? named === wanted : wanted.test(named)
    )
    expect(row, String(wanted)).toBeDefined()
    // One that died in the middle has no figure.
    if (row === undefined || row.ours === null || row.theirs === null) return []
    const { unit, ours, theirs, peer } = row
    return [`| ${row.name} | ${digits(ours)} | ${digits(theirs)} | ${unit} | ${peer} |`]
  })
  const { processors, loadBefore } = run.machine
  const loaded = loadBefore > processors / 2 ? `, loaded (${loadBefore}) before it began` : ''
  return [
    '',
    '| row | ours | theirs | unit | of |',
    '| --- | ---: | ---: | --- | --- |',
    ...rows,
    '',
    `${run.date.slice(0, 10)}, ${run.peers.join(', ')}, ${processors} processors${loaded}; \`bench/history/${name}\`. P16: sixteen commands a round trip.`,
    ''
  ].join('\n')
}

function update(): void {
  const newest = readdirSync(history)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .at(-1)!
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace(BLOCK, `$1${describeRun(newest)}\n$2`))
}

if (process.env.UPDATE_DOCS === '1') update()
const readme = readFileSync(path, 'utf8')

describe('README.md', () => {
  test('has figures of a run that is recorded', () => {
    const named = /`bench\/history\/([\w.-]+\.json)`/.exec(readme)?.[1]
    expect(named).toBeDefined()
    const block = BLOCK.exec(readme)?.[0] ?? ''
    expect(block).toContain(describeRun(named!).trim())
    expect(block.split('\n').filter((line) => line.startsWith('| ')).length).toBeGreaterThan(6)
  })

  test('says no where there is nothing, and yes where there is something', () => {
    const names = new Set(COMMANDS.map(({ name }) => name.toUpperCase()))
    expect(names).toContain('GET')
    const has = {
      streams: names.has('XADD'),
      'Lua scripts': names.has('EVAL'),
      disk: 'data-dir' in NODE_OPTIONS,
      TLS: 'tls-cert' in NODE_OPTIONS,
      'users with permissions': 'users-file' in NODE_OPTIONS
    }
    for (const [feature, there] of Object.entries(has)) {
      const cell = new RegExp(`^\\| ${feature} \\| ([^|]+) \\|`, 'm').exec(readme)?.[1]
      expect(cell, feature).toBeDefined()
      expect(cell === '**no**', `${feature} is ${there ? 'there' : 'not there'}`).toBe(!there)
    }
  })

  test('begins with what it is, in five lines', () => {
    const lines = readme.split('\n')
    expect(lines.slice(2, 7).every((line) => line.length > 40)).toBe(true)
    expect([lines[1], lines[7]]).toEqual(['', ''])
  })
})
