/**
 * Buckets that lose all their copies: the only holder dies while the first copies are on their
 * way, or two nodes die at once with everything that both of them held. Seeds that are drawn never
 * do that, since nothing may be missing after them. Here it is done on purpose, under traffic, at
 * a moment at which the rows say exactly what will be lost: no more and no less than that must be
 * told, and everything else must still be there. Beside each way of losing something stands one
 * that is nearly the same and loses nothing: the two that die are a zone, whose copies all have a
 * partner elsewhere, or one of the two is only silent for a while.
 */
import type { Policy } from '../src/core/membership/voters.js'
import { Node } from '../src/node/node.js'
import { BrokenPromise } from './checkers/checker.js'
import { ToldLossesChecker, type Term } from './checkers/told-losses.js'
import { hasAllCopies, holdersOf, newestRows } from './cluster-view.js'
import type { CreateNode, InspectedRow, Inspection } from './driven-node.js'
import { GOOD_LINK } from './network.js'
import { runSeed, type Outcome, type Run, type RunOptions } from './run.js'
import type { Simulation } from './simulator.js'

interface Loss {
  readonly name: string
  /**
   * The first node alone dies, while others get their first copies of what it holds. Otherwise it
   * is two at rest.
   */
  readonly inFirstSync?: boolean
  /** What befalls the second of the two while the first one dies. */
  readonly second?: 'crash' | 'pause' | 'cut off' | 'cut off for long'
  /** Before anything is given up; memories are gone all the same. */
  readonly comesBack?: boolean
  /** The two that die are one. */
  readonly zones?: boolean
  readonly policies: readonly Policy[]
}

const EVERY_POLICY = ['majority', 'available', 'auto'] as const
/** With five nodes `auto` decides as `majority` does: it need not be seen in every scenario. */
const BOTH_WAYS = ['majority', 'available'] as const

const LOSSES: readonly Loss[] = [
  { name: 'the only holder dies in the first sync', inFirstSync: true, policies: EVERY_POLICY },
  {
    name: 'the only holder dies in the first sync and comes back with nothing',
    inFirstSync: true,
    comesBack: true,
    policies: EVERY_POLICY
  },
  { name: 'two nodes die', second: 'crash', policies: EVERY_POLICY },
  {
    name: 'two nodes die and come back with nothing',
    second: 'crash',
    comesBack: true,
    policies: EVERY_POLICY
  },
  { name: 'a zone of two nodes dies', second: 'crash', zones: true, policies: EVERY_POLICY },
  { name: 'one node dies and another is paused', second: 'pause', policies: BOTH_WAYS },
  { name: 'one node dies and another is cut off', second: 'cut off', policies: BOTH_WAYS },
  {
    name: 'one node dies and another is cut off for too long',
    second: 'cut off for long',
    // Where those who can be heard decide, the other side goes on too, and gives everybody up.
    policies: ['majority']
  }
]

export interface LossScenario extends Loss {
  readonly policy: Policy
}

export const LOSS_SCENARIOS: readonly LossScenario[] = LOSSES.flatMap((loss) =>
  loss.policies.map((policy) => ({ ...loss, name: `${policy}: ${loss.name}`, policy }))
)

export interface LossOutcome extends Outcome {
  /** Whether the moment came. */
  readonly happened: boolean
  /** Buckets of which no copy was left, by the rows of that moment. */
  readonly doomed: readonly number[]
  /** Buckets that both nodes held, or the one. */
  readonly shared: readonly number[]
  /** Buckets that were told as lost. */
  readonly told: readonly number[]
}

const FIRST = 'a'
const SECOND = 'b'
/** Few, so that each takes a while to copy; and many, so that any two nodes hold some together. */
const BUCKETS_IN_FIRST_SYNC = 16
const BUCKETS = 256
/** Where a majority decides, one must be left when the victims are gone. */
const JOINERS = { majority: 2, available: 1, auto: 1 }
const NODES = { majority: 5, available: 4, auto: 5 }

const LOST_AFTER_MS = 4000
const DEAD_AFTER_MS = 1000
/**
 * The dead are struck from the voters while buckets still wait for them, and not when all is at
 * rest.
 */
const VOTER_DROP_MS = 3000
/** By then clients have written enough to the first node. */
const FILLED_MS = 2500
const SETTLED_MS = 3000
const LOOK_MS = 5
const BACK_MS = 1200
const BACK_STEP_MS = 600
const SILENCE_MS = 3000
const LONG_SILENCE_MS = 7000
/** Clocks do not all run equally. */
const CLOCK_MS = 100
/** Until all know that a node is dead or back, and have agreed on what follows. */
const DECISION_MS_MAX = 4000
/** In the first sync: so many buckets have a second copy already, and so many have not. */
const EITHER_MIN = 3

export function runLossScenario(scenario: LossScenario, seed: number): LossOutcome {
  const script = new LossScript(scenario)
  const options = { ...optionsOf(scenario), ...script.options }
  const outcome = runSeed(seed, options)
  const { happened, shared, doomed, told } = script
  return { ...outcome, happened, shared, doomed, told }
}

function optionsOf({ policy, inFirstSync, second, zones }: LossScenario): RunOptions {
  return {
    policy,
    // Where nobody has to be asked, both sides of a cut go on.
    ...(second === 'crash' || second === undefined ? {} : { shortFaults: false }),
    nodes: inFirstSync === true ? 1 : NODES[policy],
    minutes: second === 'cut off for long' ? 0.22 : 0.15,
    restMs: 1000,
    quality: { ...GOOD_LINK, delayMs: inFirstSync === true ? 4 : 1 },
    config: {
      copies: 2,
      buckets: bucketsOf(inFirstSync),
      splitAt: 0,
      lostAfterMs: LOST_AFTER_MS,
      deadAfterMs: DEAD_AFTER_MS,
      voterDropMs: VOTER_DROP_MS,
      ...(inFirstSync === true ? { copyBatchBytes: 300, copyWindowBytes: 300 } : {})
    },
    workload: {
      ...{ clients: 5, looseClients: 0, watchers: 0, hotPlaces: 3 },
      ...(inFirstSync === true ? { thinkMs: 8, bulkPlaces: 150 } : { thinkMs: 15, bulkPlaces: 60 })
    },
    ...(zones === true ? { createNode: createInZone } : {})
  }
}

class LossScript {
  happened = false
  shared: readonly number[] = []
  doomed: readonly number[] = []
  readonly #scenario: LossScenario
  readonly #victims: readonly string[]
  readonly #checker: ToldLossesChecker

  constructor(scenario: LossScenario) {
    this.#scenario = scenario
    this.#victims = scenario.inFirstSync === true ? [FIRST] : [FIRST, SECOND]
    this.#checker = new ToldLossesChecker(bucketsOf(scenario.inFirstSync) - 1)
  }

  get options(): RunOptions {
    return {
      checkers: [this.#checker],
      isForgiven: (key) => this.#checker.isForgiven(key),
      script: (run) => this.#start(run)
    }
  }

  get told(): number[] {
    return [...this.#checker.told.keys()].sort((a, b) => a - b)
  }

  #start(run: Run): void {
    const { simulation, faults } = run
    const { inFirstSync, policy } = this.#scenario
    const strike = (): void => this.#strike(run)
    if (inFirstSync !== true) {
      const isNow = (): boolean => isSettled(simulation)
      simulation.queue.after(SETTLED_MS, () => when(simulation, isNow, strike))
      return
    }
    const joiners = JOINERS[policy]
    const isNow = (): boolean => isInFirstSync(simulation, joiners + 1)
    simulation.queue.after(FILLED_MS, () => {
      for (let i = 0; i < joiners; i++) simulation.start(faults.nextName(), [FIRST])
      when(simulation, isNow, strike)
    })
  }

  #strike({ simulation, faults }: Run): void {
    const { name, second, comesBack } = this.#scenario
    const isShort = second === 'pause' || second === 'cut off'
    this.happened = true
    this.shared = heldOnlyBy(newestRows(simulation.view().nodes), this.#victims)
    this.doomed = isShort ? [] : this.shared
    this.#checker.doom(this.doomed, this.#term(simulation.now))
    faults.doubtful = true
    simulation.note('scenario', 'now', `${name}; only there: ${this.shared.join(',')}`)
    // What a process has sent still arrives; what a machine has not sent yet is gone with its
    // power.
    const power = simulation.options.seed % 2 === 1
    simulation.crash(FIRST, power)
    if (second === 'crash') simulation.crash(SECOND, power)
    else if (second === 'pause') pause(simulation)
    else if (second !== undefined) cutOff(simulation, isShort ? SILENCE_MS : LONG_SILENCE_MS)
    if (comesBack === true) this.#bringBack(simulation)
    else simulation.queue.after(LOST_AFTER_MS / 2, () => this.#lookAtSurvivors(simulation))
  }

  /**
   * A loss is certain where the holder is back without its memory and nobody can have gone on
   * elsewhere.
   */
  #term(now: number): Term {
    const { comesBack, inFirstSync, policy } = this.#scenario
    const byMajority = policy === 'majority' || (policy === 'auto' && inFirstSync !== true)
    if (comesBack === true && byMajority) {
      return { earliestMs: now + BACK_MS, latestMs: now + LOST_AFTER_MS }
    }
    const latestMs =
      now + LOST_AFTER_MS + DECISION_MS_MAX + (comesBack === true ? BACK_MS + BACK_STEP_MS : 0)
    return { earliestMs: now + LOST_AFTER_MS - CLOCK_MS, latestMs }
  }

  /** One after the other: each finds the other in the rows, and none has anything. */
  #bringBack(simulation: Simulation): void {
    this.#victims.forEach((name, i) => {
      simulation.queue.after(BACK_MS + i * BACK_STEP_MS, () => {
        simulation.start(name, simulation.staying.slice(0, 2))
      })
    })
  }

  /** While it waits everybody can see what nobody holds, as `status` counts it. */
  #lookAtSurvivors(simulation: Simulation): void {
    for (const node of simulation.view().nodes) {
      if (this.#victims.includes(node.name)) continue
      const unheld = unheldOf(node)
      if (unheld.join() === this.shared.join()) continue
      const text = `${node.name} sees nobody hold ${unheld.join()}; it is ${this.shared.join()}`
      throw new BrokenPromise(this.#checker.name, text)
    }
  }
}

function bucketsOf(inFirstSync: boolean | undefined): number {
  return inFirstSync === true ? BUCKETS_IN_FIRST_SYNC : BUCKETS
}

/** The two that die are in one zone, and each of the others is in one of its own. */
const createInZone: CreateNode = (config, outbox) => {
  const zone = config.name === SECOND ? FIRST : config.name
  return new Node({ ...config, zone }, outbox)
}

/** Looks again and again. */
function when(simulation: Simulation, isNow: () => boolean, act: () => void): void {
  if (isNow()) act()
  else simulation.queue.after(LOOK_MS, () => when(simulation, isNow, act))
}

/** Everything is where it should be, and no row is about to change. */
function isSettled(simulation: Simulation): boolean {
  const view = simulation.view()
  const isMoving = view.nodes.some(({ moves }) => moves.length > 0)
  return hasAllCopies(view) && !isMoving && isDecided(view.nodes)
}

/** Some buckets have a second copy and some have not. */
function isInFirstSync(simulation: Simulation, size: number): boolean {
  const { nodes } = simulation.view()
  if (nodes.length < size || !isDecided(nodes)) return false
  const rows = newestRows(nodes)
  const alone = heldOnlyBy(rows, [FIRST]).length
  return alone >= EITHER_MIN && rows.length - alone >= EITHER_MIN
}

/**
 * Everybody votes, so that enough voters remain; and no row is about to change, or it would depend
 * on what is on its way whether a bucket has one holder more.
 */
function isDecided(nodes: readonly Inspection[]): boolean {
  return nodes.every(
    ({ deciding, voters }) => deciding === 0 && voters?.voters.length === nodes.length
  )
}

function heldOnlyBy(rows: readonly InspectedRow[], names: readonly string[]): number[] {
  return rows
    .filter((row) => holdersOf(row).every((name) => names.includes(name)))
    .map(({ bucket }) => bucket)
}

/** Buckets of which this node takes every holder for dead. */
function unheldOf({ rows, members }: Inspection): number[] {
  const dead = members.filter((member) => member.dead).map(({ name }) => name)
  return heldOnlyBy(rows, dead)
}

function pause(simulation: Simulation): void {
  simulation.pause(SECOND)
  simulation.queue.after(SILENCE_MS, () => simulation.resume(SECOND))
}

function cutOff({ network, queue, hosts }: Simulation, ms: number): void {
  const others = hosts.map(({ name }) => name).filter((name) => name !== SECOND)
  for (const other of others) {
    network.cut(SECOND, other)
    network.cut(other, SECOND)
  }
  queue.after(ms, () => {
    for (const other of others) {
      network.mend(SECOND, other)
      network.mend(other, SECOND)
    }
  })
}
