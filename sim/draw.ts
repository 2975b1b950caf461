/**
 * A cluster and its circumstances, drawn from the seed: how many buckets and copies, how small the batches and windows
 * are (small ones make many stages out of little data), how far the clocks are off, how busy the clients are.
 */
import { Random } from '../src/core/random.js'
import { NODE_DEFAULTS, type Sabotage } from '../src/node/config.js'
import type { ClockBounds } from './drifting-clock.js'
import type { FaultClass } from './faults.js'
import { GOOD_LINK, type LinkQuality } from './network.js'
import type { ClusterConfig, SimulationOptions } from './simulator.js'
import type { WorkloadOptions } from './workload.js'

export interface Circumstances {
  readonly simulation: Omit<SimulationOptions, 'createNode'>
  readonly workload: WorkloadOptions
}

export interface DrawOptions {
  readonly faults: FaultClass
  readonly shortFaults: boolean
  readonly sabotage?: Sabotage
  /** Instead of what is drawn. */
  readonly config?: Partial<ClusterConfig>
  readonly workload?: Partial<WorkloadOptions>
}

/** Where buckets are few, joins split them; the thresholds are those of both documents, and some more. */
const SPLIT_AT = [0, 4, 6, 6, 8]

export function drawCircumstances(seed: number, options: DrawOptions): Circumstances {
  const random = new Random(seed ^ 0x5eed)
  const config = drawConfig(random, options)
  const clock = drawClock(random)
  const { deadAfterMs, heartbeatMs } = config
  return {
    simulation: {
      seed,
      config,
      clock,
      quality: drawQuality(random),
      // One heartbeat in a row may be lost, and a cut may keep two or three more back.
      silenceMsMax: options.shortFaults ? Math.max(heartbeatMs, deadAfterMs * 0.35) : Infinity,
      longTurns: random.pick([0, 0, 0.3])
    },
    workload: {
      clients: random.between(4, 8),
      looseClients: random.between(0, 2),
      thinkMs: random.pick([10, 20, 40, 80]),
      pipeline: random.pick([1, 1, 3]),
      timeoutMs: config.holdMs * 1.5,
      hotPlaces: random.between(1, 3),
      bulkPlaces: random.pick([10, 30, 80]),
      clockSlackMs: 2 * clock.offsetMsMax + 2 * clock.driftMax * 600_000 + 2,
      ...options.workload
    }
  }
}

function drawConfig(random: Random, options: DrawOptions): ClusterConfig {
  const copyBatchBytes = random.pick([300, 2000, 32 * 1024])
  return {
    ...NODE_DEFAULTS,
    copies: random.pick([2, 2, 2, 3]),
    buckets: random.pick([16, 16, 256]),
    splitAt: random.pick(SPLIT_AT),
    deadAfterMs: random.pick([900, 1500]),
    // Nobody that lives is cut off for so long, and nothing that lives may be given up.
    lostAfterMs: 3_600_000,
    holdMs: 6000,
    copyBatchBytes,
    copyWindowBytes: copyBatchBytes * random.pick([1, 4, 16]),
    streamWindowBytes: random.pick([20_000, 1_000_000]),
    ...(options.sabotage === undefined ? {} : { sabotage: options.sabotage }),
    ...options.config
  }
}

/** A rack, a building, or two towns. */
function drawQuality(random: Random): LinkQuality {
  const delayMs = random.pick([0.2, 1, 5]) * (0.5 + random.fraction())
  return { ...GOOD_LINK, delayMs, jitterMs: delayMs / 2 }
}

function drawClock(random: Random): ClockBounds {
  return { offsetMsMax: random.pick([0, 5, 50]), driftMax: random.pick([0, 0.0002, 0.005]) }
}
