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
  readonly withinShare?: boolean
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

describe('weights and zones', () => {
  test('are given to the nodes in order and again from the first', () => {
    const args = ['--joins', '3..4', '--weights', '2,1', '--seed', '1']
    const [three, four] = entriesOf(...args)
    // 2, 1, 2 of 512 copies, then 2, 1, 2, 1.
    expect(three).toMatchObject({ withinShare: true, settled: true })
    expect(three.totalsSpread).toBeGreaterThanOrEqual(102)
    expect(three.totalsSpread).toBeLessThanOrEqual(104)
    expect([85, 86]).toContain(four.totalsSpread)
  })

  test('say for each size whether every node is inside its share', () => {
    for (const more of [
      ['--weights', '1,2,1'],
      ['--zones', 'x,y,z'],
      ['--weights', '1,3', '--zones', 'x,y,z']
    ]) {
      const entries = entriesOf('--joins', '1..12', '--leaves', ...more, '--seed', '3')
      expect(entries).toHaveLength(23)
      for (const entry of entries) {
        expect(entry).toMatchObject({ withinShare: true, settled: true })
        expect(Object.keys(entry).at(-1)).toBe('withinShare')
      }
    }
  })

  test('copies stand in different zones', () => {
    // A and B in one zone, C in the other: C has a copy of each bucket.
    const args = ['--joins', '3..3', '--buckets', '16', '--zones', 'x,x,y', '--seed', '1']
    const { stdout } = opencluster('simulate', ...args)
    expect(stdout).toMatch(/=8 +\d\+\d=8 +\d\+\d=16\n$/)
    expect(stdout).toContain('; all within their shares; ')
  })

  test('people see a column for it, and only then', () => {
    const args = ['simulate', '--joins', '2..3', '--seed', '1']
    const lines = opencluster(...args, '--weights', '1,2')
      .stdout.trimEnd()
      .split('\n')
    expect(lines[0]).toMatch(/ within share$/)
    expect(lines.slice(1).every((line) => line.endsWith(' yes'))).toBe(true)
    expect(opencluster(...args).stdout).not.toContain('within share')
  })
})

describe('whole clusters', () => {
  const short = ['--nodes', '3', '--minutes', '0.05', '--faults', 'none']

  test('the same seed gives the same lines twice, and the last line counts', () => {
    const run = () => opencluster('simulate', '--seed', '1', '--seeds', '2', ...short)
    const { code, stdout, problems } = run()
    expect({ code, problems }).toEqual({ code: 0, problems: [] })
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(/^seed +1 +passed +digest \w+/)
    expect(lines[1]).toMatch(/^seed +2 +passed +digest \w+/)
    expect(lines[2]).toBe('2 passed, 0 failed')
    expect(run().stdout).toBe(stdout)
  })

  test('each seed has its own number of nodes of a range', () => {
    const args = ['simulate', '--seed', '1', '--minutes', '0.05', '--faults', 'none']
    const lines = opencluster(...args, '--seeds', '2', '--nodes', '2..3').stdout.split('\n')
    expect(opencluster(...args, '--nodes', '3').stdout.split('\n')[0]).toBe(lines[0])
    expect(opencluster(...args, '--seed', '2', '--nodes', '2').stdout.split('\n')[0]).toBe(lines[1])
  })

  test('a drawn seed is printed and repeats the run', () => {
    const { code, stdout } = opencluster('simulate', ...short)
    const seed = /^seed (\d+)\n/.exec(stdout)?.[1]
    expect(seed).toBeDefined()
    const again = opencluster('simulate', '--seed', seed!, ...short)
    expect(again.code).toBe(code)
    expect(again.stdout).toBe(stdout.replace(/^seed \d+\n/, ''))
  })

  test('--trace prints every event', () => {
    const args = ['simulate', '--seed', '1', ...short]
    const events = opencluster(...args, '--trace')
      .stdout.trimEnd()
      .split('\n')
    const lines = opencluster(...args)
      .stdout.trimEnd()
      .split('\n')
    expect(events.length).toBeGreaterThan(100)
    expect(events.slice(-lines.length)).toEqual(lines)
  })
})

describe('what people see', () => {
  test('the same seed gives the same output twice, another seed another', () => {
    const run = (seed: string) =>
      opencluster('simulate', '--joins', '1..5', '--buckets', '16', '--explain', '--seed', seed)
    expect(run('7')).toEqual(run('7'))
    expect(run('8').stdout).not.toBe(run('7').stdout)
  })

  test('each seed has its own number of nodes of a range', () => {
    const args = ['simulate', '--seed', '1', '--minutes', '0.05', '--faults', 'none']
    const lines = opencluster(...args, '--seeds', '2', '--nodes', '2..3').stdout.split('\n')
    expect(opencluster(...args, '--nodes', '3').stdout.split('\n')[0]).toBe(lines[0])
    expect(opencluster(...args, '--seed', '2', '--nodes', '2').stdout.split('\n')[0]).toBe(lines[1])
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
    [
      [...joins, '--weights', '1,-2'],
      ['--weights 1,-2: each weight must be a number above 0, not -2']
    ],
    [[...joins, '--weights', '0'], ['--weights 0: each weight must be a number above 0, not 0']],
    [
      [...joins, '--weights', 'x,1,,1e3'],
      ['--weights x,1,,1e3: each weight must be a number above 0, not x, nothing or 1e3']
    ],
    [
      [...joins, '--weights', '-1', '--zones', 'x,,y'],
      [
        '--weights -1: each weight must be a number above 0, not -1',
        '--zones x,,y: each zone must be a short name, not nothing'
      ]
    ],
    [
      [...joins, '--rules', '2014', '--weights', '1,2', '--zones', 'x,y'],
      ['--weights: the rules of 2014 know no weights', '--zones: the rules of 2014 know no zones']
    ],
    [
      ['--weights', '1,2', '--leaves', '--no-picture'],
      [
        '--weights: only with --joins',
        '--leaves: only with --joins',
        '--picture: only with --joins'
      ]
    ],
    [[...joins, '--nodes', '3'], ['--nodes: only without --joins']],
    [['--policy', 'etcd'], ['--policy etcd: must be majority, available or auto']],
    [['--placement', 'tree'], ['--placement tree: must be buckets or ring']],
    [['--faults', 'fire'], ['--faults fire: must be none, network, crash or all']],
    [
      ['--cuts', 'long'],
      ['--cuts: only with --policy available; with the others they are as they come']
    ],
    [['--seeds', '0'], ['--seeds 0: must be a whole number from 1 to 1000000']],
    ...['1', '33', '6..3', '3..33', '3..4..5', '3..x'].map((nodes): [string[], string[]] => [
      ['--nodes', nodes],
      [`--nodes ${nodes}: must be a whole number from 2 to 32, or two such as 3..6`]
    ]),
    [['--minutes', '0'], ['--minutes 0: must be a number above 0, up to 1440']],
    [['--minutes', '-1'], ['--minutes -1: must be a number above 0, up to 1440']],
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
