/** Whole clusters from seeds: some that are always the same, some that are never, and the same one twice. */
import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { FAULT_CLASSES } from '../../sim/faults.js'
import { GOOD_LINK } from '../../sim/network.js'
import { EXIT_CODES } from '../../sim/outcome.js'
import { runSeed, runSimulation, type Outcome, type RunOptions } from '../../sim/run.js'

const MINUTES = 0.25
/** Long enough to see that nothing moves any more; the first seeds of each class rest for the usual minute. */
const REST_MS = 10_000

function expectPassed(outcome: Outcome): void {
  const { seed, result, promise, message, trace, command } = outcome
  const told = `seed ${seed} ${result}: ${promise}: ${message}\n${trace.join('\n')}\n${command}`
  expect(result, told).toBe('passed')
}

describe.each(FAULT_CLASSES)('with faults of the class %s', (faults) => {
  it.each([1, 2])('seed %i passes', (seed) => {
    const rest = seed === 1 ? {} : { restMs: REST_MS }
    expectPassed(runSeed(seed, { faults, minutes: MINUTES, ...rest }))
  })

  const fresh = [randomInt(0xffff_ffff)]
  it.each(fresh)('the fresh seed %i passes', (seed) => {
    expectPassed(runSeed(seed, { faults, minutes: MINUTES, restMs: REST_MS }))
  })
})

it('the same seed gives the same run', () => {
  const run = (seed: number): Outcome =>
    runSeed(seed, { faults: 'all', minutes: MINUTES, restMs: REST_MS })
  const [first, second] = [run(5), run(5)]
  expect(second.digest).toBe(first.digest)
  expect(second.statistics).toEqual(first.statistics)
  expect(run(6).digest).not.toBe(first.digest)
})

describe('as the cluster decides by default', () => {
  it.each([1, 2, randomInt(0xffff_ffff)])('seed %i passes', (seed) => {
    expectPassed(runSeed(seed, { policy: 'auto', minutes: MINUTES, restMs: REST_MS }))
  })
})

describe.each(['short', 'long'])('as those decide who can be heard, with %s cuts', (cuts) => {
  it.each([1, randomInt(0xffff_ffff)])('seed %i passes', (seed) => {
    const shortFaults = cuts === 'short'
    const options = { policy: 'available', minutes: MINUTES, restMs: REST_MS, shortFaults } as const
    expectPassed(runSeed(seed, options))
  })
})

/** Seeds that found something once, in the circumstances in which they did. */
const KEPT: readonly (readonly [number, RunOptions])[] = [
  [5, { minutes: 1, policy: 'majority' }],
  [113, {}],
  [116, {}],
  [
    127,
    {
      nodes: 3,
      minutes: 0.4,
      restMs: 1000,
      config: { copies: 2, buckets: 16, splitAt: 0, deadAfterMs: 1000 },
      rates: { crash: 6, partition: 2, pause: 0, join: 0, leave: 0, weather: 0, clientCut: 0 },
      quality: { ...GOOD_LINK, delayMs: 40, jitterMs: 2 },
      workload: { clients: 30, looseClients: 0, thinkMs: 3, hotPlaces: 1, bulkPlaces: 1 }
    }
  ],
  [135, { minutes: 0.4, workload: { watchers: 5 } }],
  [143, { minutes: 0.4, workload: { watchers: 5 } }],
  [193, { minutes: 0.5 }],
  [324, { minutes: 0.5 }],
  [602, { policy: 'available', shortFaults: false }],
  [704, { policy: 'available' }],
  [912, { faults: 'crash' }],
  [20_004, { minutes: 0.5 }],
  [20_032, { minutes: 0.5 }],
  [20_148, { minutes: 0.5 }],
  [50_021, { minutes: 0.5, restMs: 40_000 }],
  [60_252, { minutes: 2.2, policy: 'majority', nodes: 3 }],
  [61_022, { minutes: 0.4, restMs: 8000 }],
  [80_108, { minutes: 0.4 }],
  [110_006, { minutes: 0.5, policy: 'majority', nodes: 5 }],
  [110_342, { minutes: 2.6, policy: 'majority', nodes: 5 }],
  [120_010, { minutes: 0.5, policy: 'available', shortFaults: false, nodes: 2 }],
  [120_070, { minutes: 0.3, policy: 'available', shortFaults: false, nodes: 2 }],
  [120_017, { minutes: 0.7, policy: 'auto', nodes: 4 }],
  [120_038, { minutes: 1.4, policy: 'auto', nodes: 5 }],
  [140_023, { minutes: 2, policy: 'auto', nodes: 6 }],
  [160_045, { minutes: 0.5, policy: 'available', shortFaults: false, nodes: 3 }],
  [170_317, { minutes: 1.3, policy: 'majority', nodes: 4 }],
  [190_020, { minutes: 1.1, policy: 'available', shortFaults: false, nodes: 2 }],
  [200_020, { minutes: 1.4, policy: 'available', shortFaults: false, nodes: 2 }],
  [200_026, { minutes: 1, policy: 'available', shortFaults: false, nodes: 4 }],
  [200_030, { minutes: 0.6, policy: 'available', shortFaults: false, nodes: 4 }],
  [210_089, { minutes: 0.2, policy: 'available', shortFaults: false, nodes: 3 }],
  [300_837, { minutes: 2.6, policy: 'majority', nodes: 4 }],
  [310_656, { minutes: 2.1, policy: 'majority', nodes: 3 }],
  [400_131, { minutes: 2.6, policy: 'majority', nodes: 6 }],
  [410_335, { minutes: 0.4, policy: 'majority', nodes: 6 }],
  [500_878, { minutes: 1.8, policy: 'majority', nodes: 5 }],
  [600_238, { minutes: 4, policy: 'majority', nodes: 5 }],
  [595_651_814, { minutes: 0.5, policy: 'majority', nodes: 5 }],
  [3_211_346_548, { minutes: 0.5, policy: 'majority', nodes: 5 }],
  [3_211_346_605, { minutes: 0.5, policy: 'majority', nodes: 5, restMs: 8000 }],
  [1_739_890_567, { minutes: 0.5, policy: 'majority', nodes: 5 }],
  [335_266_088, { minutes: 0.5, policy: 'majority', nodes: 5 }],
  [335_266_117, { minutes: 0.5, policy: 'majority', nodes: 5 }]
]

describe('kept seeds', () => {
  it.each(KEPT)('%i passes', (seed, options) => {
    expectPassed(runSeed(seed, { faults: 'all', minutes: 0.3, restMs: 5000, ...options }))
  })
})

describe('what a run contains', () => {
  it('has moves, splits, joins, leaves, crashes and unknown outcomes over a few seeds', () => {
    const sum = { moves: 0, splits: 0, joins: 0, leaves: 0, crashes: 0, unknown: 0, operations: 0 }
    for (let seed = 15; seed < 20; seed++) {
      const { statistics } = runSeed(seed, { faults: 'all', minutes: MINUTES, restMs: 1000 })
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += statistics[name]
    }
    for (const [name, count] of Object.entries(sum)) expect(count, name).toBeGreaterThan(0)
  })
})

describe('many seeds', () => {
  const options = {
    seed: 1,
    seeds: 2,
    nodes: { from: 3, to: 3 },
    minutes: 0.05,
    policy: 'available',
    shortFaults: true,
    placement: 'buckets',
    trace: false
  } as const

  it('end with how many passed', () => {
    const lines: string[] = []
    const code = runSimulation({ ...options, faults: 'none', onLine: (line) => lines.push(line) })
    expect(code).toBe(0)
    expect(lines.at(-1)).toBe('2 passed, 0 failed')
    expect(lines.length).toBe(3)
  })

  it('print each event where that is wanted', () => {
    const lines: string[] = []
    const onLine = (line: string): void => void lines.push(line)
    runSimulation({ ...options, seeds: 1, trace: true, faults: 'none', onLine })
    expect(lines.length).toBeGreaterThan(100)
    expect(lines[0]).toMatch(/^ +0\.000000 {2}a {10}start {5}alone$/)
  })

  it('have an exit code for each kind of failure', () => {
    expect(Object.values(EXIT_CODES)).toEqual([0, 127, 128, 129])
  })
})
