/**
 * A move, cut at each of its stages: for every stage in the list of stages, for each node that has a part in the
 * move, and for each way in which that node can fail, one scenario. They are generated from the list, so a new
 * stage cannot be forgotten. A cluster runs under traffic until a move comes to that stage; at that very moment the
 * fault happens; everything that was promised is then demanded as in any other run.
 */
import { MOVE_STAGES } from '../src/core/migration/stage.js'
import type { NodeEvent } from '../src/node/outbox.js'
import { newestRows } from './cluster-view.js'
import { GOOD_LINK } from './network.js'
import { runSeed, type Outcome, type Run, type RunOptions } from './run.js'

/** The one that ships, the one that gets, and another one that holds the bucket. */
export const MOVE_PARTS = ['source', 'target', 'partner'] as const
export const MOVE_FAULTS = ['crash', 'pause', 'cut off'] as const

export interface Scenario {
  readonly name: string
  readonly stage: string
  readonly part: (typeof MOVE_PARTS)[number]
  readonly fault: (typeof MOVE_FAULTS)[number]
}

export const SCENARIOS: readonly Scenario[] = MOVE_STAGES.flatMap((stage) =>
  MOVE_PARTS.flatMap((part) =>
    MOVE_FAULTS.map((fault) => ({ name: `${stage}: ${fault} of the ${part}`, stage, part, fault }))
  )
)

type Stage = Extract<NodeEvent, { kind: 'stage' }>

export interface ScenarioOutcome extends Outcome {
  /** Whether the moment came. */
  readonly happened: boolean
}

const NODES = 4
const BUCKETS = 16
/** Moves before this are those of the start. */
const SETTLED_MS = 4000
const BACK_MS = 2500
/** Moves that went through the stage too fast before one of them is taken all the same. */
const PASSED_BY_MAX = 3

export function runScenario(scenario: Scenario, seed: number): ScenarioOutcome {
  let happened = false
  const outcome = runSeed(seed, {
    ...scenarioOptions(),
    script: (run) => {
      watch(run, scenario, () => {
        happened = true
      })
    }
  })
  return { ...outcome, happened }
}

/** Few buckets with much in them, small batches and slow links, so that each stage takes a while. */
function scenarioOptions(): RunOptions {
  return {
    nodes: NODES,
    minutes: 0.2,
    restMs: 5000,
    faults: 'all',
    quality: { ...GOOD_LINK, delayMs: 4 },
    config: {
      copies: 2,
      buckets: BUCKETS,
      splitAt: 0,
      copyBatchBytes: 400,
      copyWindowBytes: 800,
      deadAfterMs: 1000
    },
    workload: { clients: 5, looseClients: 0, thinkMs: 8, bulkPlaces: 60, hotPlaces: 3 }
  }
}

function watch(run: Run, scenario: Scenario, onHappened: () => void): void {
  const { simulation } = run
  let state: 'waiting' | 'armed' | 'over' = 'waiting'
  let passedBy = 0
  let last: Stage | undefined
  simulation.queue.after(SETTLED_MS, () => {
    state = 'armed'
    simulation.start('newcomer', simulation.staying.slice(0, 1))
  })
  simulation.listen((node, event) => {
    // Both ends may tell of a stage; the one that ships is the one to believe.
    if (event.kind !== 'stage' || event.from !== node) return
    last = event
    if (state !== 'armed' || event.stage !== scenario.stage) return
    const victim = victimOf(run, scenario, event)
    if (victim === undefined) return
    // The fault comes at the end of the turn. A stage that is over by then is no moment to cut at, unless
    // there is no other.
    simulation.queue.after(0, () => {
      if (state !== 'armed' || (last !== event && passedBy++ < PASSED_BY_MAX)) return
      state = 'over'
      onHappened()
      simulation.note('scenario', 'now', `${scenario.name}: ${victim}, bucket ${event.bucket}`)
      inflict(run, victim, scenario.fault)
    })
  })
}

function victimOf({ simulation }: Run, { part }: Scenario, event: Stage): string | undefined {
  if (part === 'source') return event.from
  if (part === 'target') return event.to
  const row = newestRows(simulation.view().nodes)[event.bucket]
  return [row.primary, ...row.backups].find(
    (name): name is string => name !== null && name !== event.from && name !== event.to
  )
}

function inflict(run: Run, victim: string, fault: Scenario['fault']): void {
  const { simulation, faults } = run
  const { queue, network } = simulation
  const shortMs = faults.silenceMsMax
  faults.doubtful = true
  switch (fault) {
    case 'crash':
      simulation.crash(victim, simulation.options.seed % 2 === 1)
      queue.after(BACK_MS, () => simulation.start(victim, simulation.staying.slice(0, 2)))
      return
    case 'pause':
      simulation.pause(victim)
      queue.after(shortMs, () => simulation.resume(victim))
      return
    case 'cut off': {
      const others = simulation.hosts.map((host) => host.name).filter((name) => name !== victim)
      for (const other of others) {
        network.cut(victim, other)
        network.cut(other, victim)
      }
      queue.after(shortMs, () => {
        for (const other of others) {
          network.mend(victim, other)
          network.mend(other, victim)
        }
      })
    }
  }
}
