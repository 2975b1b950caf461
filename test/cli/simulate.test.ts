import { describe, expect, test } from 'vitest'
import { opencluster } from './opencluster.js'

interface Entry {
  readonly event?: 'join' | 'leave'
  readonly nodes: number
  readonly totalsSpread: number
  readonly primariesSpread: number
  readonly shipped: number
  readonly minimum: number
  readonly switches: number
  readonly rounds: number
  readonly settled: boolean
  readonly buckets: number
}

const entriesOf = (...args: string[]): Entry[] => {
  const { code, stdout } = opencluster('simulate', ...args, '--json')
  expect(code).toBe(0)
  return JSON.parse(stdout) as Entry[]
}

describe('the contract of balancing', () => {
  test('one object per size, with the names that programs rely on', () => {
    const entries = entriesOf('--joins', '1..16', '--buckets', '256', '--seed', '1')
    expect(entries.map((entry) => entry.nodes)).toEqual(Array.from({ length: 16 }, (_, i) => i + 1))
    expect(Object.keys(entries[0])).toEqual([
      'nodes',
      'totalsSpread',
      'primariesSpread',
      'shipped',
      'minimum',
      'switches',
      'rounds',
      'settled',
      'buckets'
    ])
    for (const entry of entries) {
      expect(entry.totalsSpread).toBeLessThanOrEqual(1)
      expect(entry.primariesSpread).toBeLessThanOrEqual(1)
      expect(entry.shipped).toBeGreaterThanOrEqual(entry.minimum)
      expect(entry.shipped).toBeLessThanOrEqual(Math.floor(entry.minimum * 1.02))
      expect(entry).toMatchObject({ settled: true, buckets: 256 })
    }
  })

  test('leaves follow the joins, down to the first size', () => {
    const entries = entriesOf('--joins', '2..4', '--leaves', '--seed', '1')
    expect(entries.map(({ event, nodes }) => `${event} ${nodes}`)).toEqual([
      'join 2',
      'join 3',
      'join 4',
      'leave 3',
      'leave 2'
    ])
    for (const entry of entries) expect(entry.totalsSpread).toBeLessThanOrEqual(1)
  })

  test('three copies', () => {
    const [entry] = entriesOf('--joins', '5..5', '--copies', '3', '--seed', '1')
    expect(entry.totalsSpread).toBeLessThanOrEqual(1)
  })

  test('buckets split when the ideal falls to the threshold', () => {
    const args = ['--joins', '4..5', '--buckets', '16', '--seed', '1']
    expect(entriesOf(...args).map(({ buckets }) => buckets)).toEqual([16, 16])
    expect(entriesOf(...args, '--split-at', '6').map(({ buckets }) => buckets)).toEqual([16, 256])
  })

  test('the rules of 2012 are cut off where they do not come to rest', () => {
    const entries = entriesOf(
      '--joins',
      '1..6',
      '--buckets',
      '16',
      '--rules',
      '2012',
      '--seed',
      '1'
    )
    expect(entries.some(({ settled }) => !settled)).toBe(true)
    const { stdout } = opencluster(
      ...['simulate', '--joins', '1..6', '--buckets', '16', '--rules', '2012', '--seed', '1']
    )
    expect(stdout).toContain('does not come to rest')
  })
})

describe('what people see', () => {
  test('the same seed gives the same output twice, another seed another', () => {
    const run = (seed: string) =>
      opencluster('simulate', '--joins', '1..5', '--buckets', '16', '--explain', '--seed', seed)
    expect(run('7')).toEqual(run('7'))
    expect(run('8').stdout).not.toBe(run('7').stdout)
  })

  test('a drawn seed is printed and repeats the run', () => {
    const args = ['simulate', '--joins', '1..6', '--buckets', '16']
    const { stdout } = opencluster(...args)
    const seed = /^seed (\d+)\n/.exec(stdout)?.[1]
    expect(seed).toBeDefined()
    expect(opencluster(...args, '--seed', seed!).stdout).toBe(stdout.replace(/^seed \d+\n/, ''))
  })

  test('with --json the drawn seed is on the other stream', () => {
    const { stdout, problems } = opencluster('simulate', '--joins', '1..2', '--json')
    expect(JSON.parse(stdout)).toHaveLength(2)
    expect(problems).toEqual([expect.stringMatching(/^seed \d+$/)])
  })

  test('small tables are drawn, large ones are a line a size', () => {
    const small = opencluster('simulate', '--joins', '2..2', '--buckets', '16', '--seed', '1')
    expect(small.stdout).toContain(' | NODE-A | | NODE-B |\n')
    const args = ['simulate', '--joins', '2..3', '--seed', '1']
    for (const more of [[], ['--buckets', '16', '--no-picture']]) {
      const { stdout } = opencluster(...args, ...more)
      expect(stdout).not.toContain('NODE')
      const lines = stdout.trimEnd().split('\n')
      expect(lines).toHaveLength(3)
      expect(new Set(lines.map((line) => line.length)).size).toBe(1)
    }
  })

  test('--explain gives each action its reason', () => {
    const { stdout } = opencluster(
      ...['simulate', '--joins', '3..3', '--buckets', '16', '--seed', '1', '--explain']
    )
    expect(stdout).toMatch(
      /^round \d+ NODE-[AB] -> NODE-C move (primary|backup) #[0-9A-F]: NODE-[AB] is above its share, NODE-C below$/m
    )
  })
})

describe('wrong usage ends with 2 and one line a problem', () => {
  const joins = ['--joins', '1..6']
  test.each([
    [['--foo', ...joins], ['--foo: no such option']],
    [['bar', ...joins], ['bar: unexpected']],
    [[...joins, '--buckets', '0'], ['--buckets 0: must be 16, 256, 4096 or 16384']],
    [[...joins, '--buckets', '17'], ['--buckets 17: must be 16, 256, 4096 or 16384']],
    [['--joins', '1..2', '--copies', '3'], ['--copies 3: needs 3 nodes, but --joins ends at 2']],
    [[...joins, '--copies', '0'], ['--copies 0: must be a whole number from 1 to 4']],
    [[...joins, '--copies', '5'], ['--copies 5: must be a whole number from 1 to 4']],
    [
      [...joins, '--copies', '3', '--rules', '2014'],
      ['--copies 3: the rules of 2014 know 2 copies']
    ],
    [
      ['--joins', '6..1'],
      ['--joins 6..1: must be two whole numbers such as 1..6, the smaller first']
    ],
    [
      ['--joins', '0..3'],
      ['--joins 0..3: must be two whole numbers such as 1..6, the smaller first']
    ],
    [['--joins', '3'], ['--joins 3: must be two whole numbers such as 1..6, the smaller first']],
    [['--joins', '1..257'], ['--joins 1..257: there can be 256 nodes at the most']],
    [[], ['--joins: needed, such as --joins 1..6']],
    [[...joins, '--rules', '2013'], ['--rules 2013: must be current, 2014 or 2012']],
    [[...joins, '--seed', '-1'], ['--seed -1: must be a whole number from 0 to 4294967295']],
    [[...joins, '--seed', '1e3'], ['--seed 1e3: must be a whole number from 0 to 4294967295']],
    [[...joins, '--seed', '--json'], ['--seed: needs a value']],
    [[...joins, '--json=yes'], ['--json: takes no value']],
    [
      ['--joins', 'x', '--buckets', '0', '--foo'],
      [
        '--joins x: must be two whole numbers such as 1..6, the smaller first',
        '--buckets 0: must be 16, 256, 4096 or 16384',
        '--foo: no such option'
      ]
    ]
  ])('%j', (args, problems) => {
    const ended = opencluster('simulate', ...args)
    expect(ended.problems).toEqual(problems.map((problem) => `opencluster simulate: ${problem}`))
    expect(ended).toMatchObject({ code: 2, stdout: '' })
  })
})
