import { describe, expect, it } from 'vitest'
import { RING_SABOTAGES, type RingSabotage } from '../../src/node/ring/config.js'
import { runRing, type RingRunOptions } from '../../sim/ring/run.js'

/** Short runs; `opencluster simulate --placement ring` has the long ones. */
const SHORT = { minutes: 0.1 } as const

/**
 * Each found something once. 1071: two nodes answered each other's bare acknowledgements for ever. 6010: the greeting of one
 * that came back was thrown away with what it had not been told while it was away.
 */
const KEPT_SEEDS = [7, 14, 17, 27, 1071, 6010, 4_016_587_527] as const

describe('a ring keeps its promises', () => {
  it.each(['none', 'network', 'crash', 'all'] as const)('under faults: %s', (faults) => {
    for (const seed of [1, 2]) {
      const { result, promise, message } = runRing(seed, { ...SHORT, faults })
      expect({ seed, result, promise, message }).toMatchObject({ result: 'passed' })
    }
  })

  it('is the same run twice from one seed', () => {
    const [first, second] = [runRing(7, SHORT), runRing(7, SHORT)]
    expect(first.digest).toBe(second.digest)
    expect(runRing(8, SHORT).digest).not.toBe(first.digest)
  })

  it.each(KEPT_SEEDS)('with seed %i, which found something', (seed) => {
    expect(runRing(seed)).toMatchObject({ result: 'passed', message: '' })
  })
})

/** Circumstances in which each defect shows, and the seeds to try. */
const DEFECTS: Record<RingSabotage, { seeds: readonly number[]; options: RingRunOptions }> = {
  'overwrite-newer': { seeds: [1, 2], options: { ...SHORT, faults: 'all' } },
  'ack-early': { seeds: [1, 2], options: { ...SHORT, faults: 'all' } },
  'serve-hollow': {
    seeds: [1, 8],
    options: {
      ...{ faults: 'crash', keys: 400, minutes: 0.2, disks: 0 },
      rates: { crash: 3, join: 0, leave: 0 },
      config: { pullBatchBytes: 100 }
    }
  },
  'skip-newcomer': { seeds: [1, 2, 3], options: { minutes: 0.3, rates: { join: 3, leave: 3 } } },
  'skip-fill': { seeds: [3, 8], options: { ...SHORT, faults: 'none', rates: { join: 3 } } },
  'keep-surplus': {
    seeds: [1],
    options: { ...SHORT, faults: 'none', rates: { join: 3 }, convergeMs: 10_000 }
  },
  'forget-tombstone': { seeds: [1], options: { ...SHORT, faults: 'none' } },
  'never-heal': {
    seeds: [1],
    options: {
      ...{ faults: 'network', keys: 400, minutes: 0.15, convergeMs: 15_000 },
      rates: { partition: 3 }
    }
  },
  'one-more-copy': { seeds: [1], options: { ...SHORT, faults: 'none' } },
  // Nobody reads: it is seen at rest that keys are nowhere.
  'drop-unasked': {
    seeds: [10],
    options: { ...SHORT, faults: 'none', rates: { join: 3 }, reads: 0 }
  },
  'forget-ttl': { seeds: [2], options: { minutes: 0.2, faults: 'none', keys: 200 } },
  'forget-disk': { seeds: [3, 4], options: { minutes: 0.2, faults: 'crash', disks: 1 } }
}

describe('a planted defect is seen', () => {
  it.each(RING_SABOTAGES)('%s', (sabotage) => {
    const { seeds, options } = DEFECTS[sabotage]
    const results = seeds.map((seed) => {
      // A seed counts only if it passes without the defect.
      expect(runRing(seed, options).result).toBe('passed')
      return runRing(seed, { ...options, sabotage }).result
    })
    expect(results.filter((result) => result !== 'passed')).not.toEqual([])
  })
})
