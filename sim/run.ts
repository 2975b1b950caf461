/**
 * One run from one seed, and many of them. A cluster grows while clients work and things go wrong, and safety is
 * watched. Then nothing goes wrong any more, and the cluster must come to rest within a limit; everything that was
 * ever written is read back; and it must stay at rest.
 */
import { Node } from '../src/node/node.js'
import type { Policy } from '../src/core/membership/voters.js'
import type { Sabotage } from '../src/node/config.js'
import {
  addOutages,
  Availability,
  formatOutages,
  NO_OUTAGES,
  type OutageCause,
  type OutagesByCause
} from './availability.js'
import { AllCopiesChecker } from './checkers/all-copies.js'
import { BalanceChecker } from './checkers/balance.js'
import { BoundedQueuesChecker } from './checkers/bounded-queues.js'
import { BrokenPromise, type Checker, type RestChecker } from './checkers/checker.js'
import { DecisionsEndChecker } from './checkers/decisions-end.js'
import { EqualCopiesChecker } from './checkers/equal-copies.js'
import { EqualTablesChecker } from './checkers/equal-tables.js'
import { LossesChecker } from './checkers/losses.js'
import { MovesEndChecker } from './checkers/moves-end.js'
import { NoRefusalChecker } from './checkers/no-refusal.js'
import { OnePrimaryChecker } from './checkers/one-primary.js'
import { ShipsNothingChecker } from './checkers/ships-nothing.js'
import type { CreateNode } from './driven-node.js'
import { drawCircumstances } from './draw.js'
import { FaultPlan, type FaultClass, type FaultKind } from './faults.js'
import type { LinkQuality } from './network.js'
import {
  conclude,
  NotConverged,
  repeatCommand,
  type RunStatistics,
  type SeedOutcome
} from './outcome.js'
import { awaitRest } from './rest.js'
import { nodesOf, runSeeds, type Range, type SeedsOptions } from './seeds.js'
import { Simulation, type ClusterConfig } from './simulator.js'
import { Workload, type WorkloadOptions } from './workload.js'

export interface RunOptions {
  /** At the beginning; more join. */
  readonly nodes?: number
  /** How long things go wrong. */
  readonly minutes?: number
  readonly faults?: FaultClass
  readonly rates?: Partial<Record<FaultKind, number>>
  /** Who decides that a row changes. */
  readonly policy?: Policy
  /** Nobody seems dead who is not; so by default where those who can be heard decide. */
  readonly shortFaults?: boolean
  /** No crash before all copies are there again. */
  readonly carefulCrashes?: boolean
  /** How long it must stay at rest. */
  readonly restMs?: number
  readonly sabotage?: Sabotage
  readonly config?: Partial<ClusterConfig>
  readonly workload?: Partial<WorkloadOptions>
  /** What links are like while nothing is wrong with them. */
  readonly quality?: LinkQuality
  readonly createNode?: CreateNode
  readonly onLine?: (line: string) => void
  /** Takes the place of the faults of the class; called when the cluster has started. */
  readonly script?: (run: Run) => void
  /** Looked at beside those of every run. */
  readonly checkers?: readonly Checker[]
  /** The key's bucket was told as lost: what was written to it before may be missing. */
  readonly isForgiven?: (key: string) => boolean
}

export interface Statistics extends RunStatistics {
  readonly latencyMsMax: number
  readonly moves: number
  readonly splits: number
  readonly outages: OutagesByCause
  readonly queuedBytesMax: number
  readonly undecided: number
}

export type Outcome = SeedOutcome<Statistics>

const NODES_DEFAULT = 5
const MINUTES_DEFAULT = 0.5
const REST_MS_DEFAULT = 60_000

/** From so many voters on `auto` decides by majority. */
const AUTO_NODES_MIN = 3
/** The first nodes start within this. */
const START_MS = 2000
const SAMPLE_MS = 250
/** After a pause or a cut: how often, and how many times, to look whether its nodes serve again. */
const SERVING_LOOK_MS = 20
const SERVING_LOOKS = 12
/** Traffic goes on for a while after the last fault. */
const AFTER_FAULTS_MS = 3000
const CONVERGE_MS_MAX = 120_000
const CONVERGE_STEP_MS = 500
/** It must be at rest so many times in a row. */
const REST_LOOKS = 3
const READ_BACK_MS_MAX = 60_000
const MOVE_AGE_MS_MAX = 45_000
const QUEUED_BYTES_MAX = 8 * 1024 * 1024
const QUEUED_AT_REST_BYTES_MAX = 64 * 1024

export class Run {
  readonly simulation: Simulation
  readonly workload: Workload
  readonly faults: FaultPlan
  moves = 0
  splits = 0
  convergenceMs = 0
  readonly #options: RunOptions
  readonly #nodes: number
  readonly #checkers: readonly Checker[]
  readonly #restCheckers: readonly RestChecker[]
  readonly #queues: BoundedQueuesChecker
  readonly #availability: Availability
  #sampling = true

  constructor(seed: number, options: RunOptions) {
    const faults = options.faults ?? 'all'
    const policy = options.policy ?? 'majority'
    const shortFaults = options.shortFaults ?? policy === 'available'
    const { sabotage, workload, onLine, isForgiven } = options
    const config = { policy, ...options.config }
    const circumstances = drawCircumstances(seed, {
      faults,
      shortFaults,
      ...(sabotage === undefined ? {} : { sabotage }),
      config,
      ...(workload === undefined ? {} : { workload })
    })
    this.#options = options
    this.#nodes = options.nodes ?? NODES_DEFAULT
    this.simulation = new Simulation({
      ...circumstances.simulation,
      ...(options.quality === undefined ? {} : { quality: options.quality }),
      createNode: options.createNode ?? ((nodeConfig, outbox) => new Node(nodeConfig, outbox)),
      ...(onLine === undefined ? {} : { onLine })
    })
    // Two sides that went on by themselves are not one history any more: only losses that nobody tells are wrong.
    const mayPart = policy === 'available' && !shortFaults
    const oneHistory = !mayPart
    this.workload = new Workload(this.simulation, {
      ...circumstances.workload,
      oneHistory,
      ...(mayPart ? { watchers: 0 } : {}),
      ...(isForgiven === undefined ? {} : { isForgiven })
    })
    this.#availability = new Availability()
    this.faults = new FaultPlan(this.simulation, {
      faults,
      shortFaults,
      carefulCrashes: options.carefulCrashes ?? true,
      mayPart,
      // Where two alone decide, a word against a primary that lives parts the copies.
      accusations: policy !== 'available' || mayPart,
      // With fewer, `auto` does not decide by majority any more.
      nodesMin: Math.max(policy === 'auto' ? AUTO_NODES_MIN : 2, this.#nodes - 2),
      nodesMax: this.#nodes + 3,
      ...(options.rates === undefined ? {} : { rates: options.rates }),
      cutClient: () => this.simulation.random.run.pick(this.workload.clients).cut(),
      onSilence: (cause, names) => this.#silence(cause, names)
    })
    this.#queues = new BoundedQueuesChecker(QUEUED_BYTES_MAX, QUEUED_AT_REST_BYTES_MAX)
    this.#restCheckers = [
      new EqualTablesChecker(),
      new DecisionsEndChecker(),
      new AllCopiesChecker(),
      new MovesEndChecker(MOVE_AGE_MS_MAX),
      new BalanceChecker(),
      new EqualCopiesChecker(),
      this.#queues
    ]
    this.#checkers = [
      ...(mayPart ? [new LossesChecker()] : this.#oneHistory()),
      new ShipsNothingChecker(),
      ...this.#restCheckers,
      ...(options.checkers ?? [])
    ]
    this.#listen()
  }

  /** Throws what went wrong. */
  run(): void {
    const { simulation, workload } = this
    this.#startNodes()
    this.#sample()
    const { policy, script } = this.#options
    if (policy === 'auto' && this.#nodes >= AUTO_NODES_MIN) this.#awaitMajority()
    if (script === undefined) this.faults.start()
    else script(this)
    simulation.runFor((this.#options.minutes ?? MINUTES_DEFAULT) * 60_000)
    this.faults.stop()
    const healed = simulation.now
    simulation.runFor(AFTER_FAULTS_MS)
    workload.stop()
    this.#converge()
    this.convergenceMs = simulation.now - healed
    const rested = simulation.view()
    for (const checker of this.#checkers) checker.onRest?.(rested)
    this.#readBack()
    simulation.runFor(this.#options.restMs ?? REST_MS_DEFAULT)
    const ended = simulation.view()
    for (const checker of this.#checkers) checker.onEnd?.(ended)
    const problem = this.#findProblem()
    if (problem !== undefined) {
      throw new BrokenPromise(problem.checker.name, `it was at rest, and then: ${problem.text}`)
    }
  }

  statistics(): Statistics {
    const { simulation, workload, faults } = this
    return {
      virtualSeconds: simulation.now / 1000,
      operations: workload.operations,
      unknown: workload.unknown,
      latencyMsMax: workload.latencyMsMax,
      messages: simulation.network.sent,
      moves: this.moves,
      splits: this.splits,
      joins: faults.joins,
      leaves: faults.leaves,
      crashes: faults.crashes,
      outages: this.#availability.outages,
      convergenceMs: this.convergenceMs,
      queuedBytesMax: this.#queues.mostBytes,
      undecided: workload.linearizability.undecided
    }
  }

  #oneHistory(): Checker[] {
    return [
      ...this.workload.checkers,
      new NoRefusalChecker(() => this.faults.doubtful),
      new OnePrimaryChecker()
    ]
  }

  #listen(): void {
    const { simulation, workload } = this
    simulation.listen((node, event) => {
      if (event.kind === 'stage' && event.stage === 'done') this.moves++
      if (event.kind === 'split') this.splits++
      this.#availability.onEvent(node, event, simulation.now)
      for (const checker of this.#checkers) checker.onEvent?.(node, event, simulation.now)
    })
    const families = new Set(workload.checkers)
    for (const checker of this.#checkers) if (!families.has(checker)) workload.listen(checker)
    simulation.beforeCrash((name) => {
      this.#availability.begin('crash', [name], simulation.view())
      for (const checker of this.#checkers) checker.onCrash?.(name)
    })
  }

  #startNodes(): void {
    const { simulation, faults } = this
    const { random, queue } = simulation
    const first = faults.nextName()
    simulation.start(first, [])
    for (let i = 1; i < this.#nodes; i++) {
      const name = faults.nextName()
      queue.after(random.run.fraction() * START_MS, () => {
        const { staying } = simulation
        simulation.start(name, staying.length > 0 ? [random.run.pick(staying)] : [first])
      })
    }
  }

  /** Before that, two that do not hear each other would both go on; it is what `available` is for. */
  #awaitMajority(): void {
    const { simulation } = this
    const isPending = (): boolean =>
      simulation.hosts.some(({ node }) => node?.inspect().voters?.byMajority !== true)
    // Also those that have not started yet.
    simulation.runFor(START_MS)
    const limits = { stepMs: CONVERGE_STEP_MS, limitMs: CONVERGE_MS_MAX }
    if (simulation.runWhile(isPending, limits)) return
    throw new NotConverged('majority', 'the nodes do not decide by majority')
  }

  #silence(cause: OutageCause, names: readonly string[]): () => void {
    const { simulation } = this
    const over = this.#availability.begin(cause, names, simulation.view())
    return () => {
      over()
      this.#lookAgain(SERVING_LOOKS)
    }
  }

  /** Those who could not serve do so again as soon as their lease is renewed. */
  #lookAgain(looks: number): void {
    const { queue } = this.simulation
    this.#availability.look(this.simulation.view())
    if (looks > 0) queue.after(SERVING_LOOK_MS, () => this.#lookAgain(looks - 1))
  }

  #sample(): void {
    if (!this.#sampling) return
    const view = this.simulation.view()
    this.#availability.look(view)
    for (const checker of this.#checkers) checker.onSample?.(view)
    this.simulation.queue.after(SAMPLE_MS, () => this.#sample())
  }

  #converge(): void {
    const { simulation, workload } = this
    const isAtRest = awaitRest(simulation, {
      findProblem: () => this.#findProblem()?.text,
      isIdle: () => workload.idle,
      looks: REST_LOOKS,
      limitMs: CONVERGE_MS_MAX
    })
    if (isAtRest) return
    const problem = this.#findProblem()
    if (problem === undefined) {
      throw new NotConverged('every request ends', 'requests are still under way')
    }
    if (problem.checker.isSafety) throw new BrokenPromise(problem.checker.name, problem.text)
    throw new NotConverged(problem.checker.name, problem.text)
  }

  #findProblem(): { checker: RestChecker; text: string } | undefined {
    const view = this.simulation.view()
    for (const checker of this.#restCheckers) {
      const text = checker.problem(view)
      if (text !== undefined) return { checker, text }
    }
    return undefined
  }

  #readBack(): void {
    const { simulation, workload } = this
    workload.readBack()
    const limits = { stepMs: 100, limitMs: READ_BACK_MS_MAX }
    const read = simulation.runWhile(() => workload.unread > 0 || !workload.idle, limits)
    workload.stop()
    if (!read) {
      const text = `${workload.unread} keys could not be read back at rest`
      throw new BrokenPromise('no request is refused', text)
    }
  }
}

export function runSeed(seed: number, options: RunOptions = {}): Outcome {
  const { nodes, minutes, policy, faults, shortFaults } = options
  const cuts = policy === 'available' && shortFaults === false ? 'long' : undefined
  const command = repeatCommand(seed, { nodes, minutes, policy, cuts, faults })
  return conclude(seed, new Run(seed, options), command)
}

export interface SimulateOptions extends SeedsOptions {
  readonly nodes: Range
  readonly minutes: number
  readonly policy: Policy
  readonly faults: FaultClass
  readonly shortFaults: boolean
  readonly placement: 'buckets'
}

/** Gives the exit code. */
export function runSimulation(options: SimulateOptions): number {
  const { nodes, minutes, policy, faults, shortFaults, trace, onLine } = options
  let outages = NO_OUTAGES
  let undecided = 0
  return runSeeds(options, {
    run: (seed) => {
      const traced = trace ? { onLine } : {}
      const size = nodesOf(nodes, seed)
      const given = { nodes: size, minutes, policy, faults, shortFaults, ...traced }
      const outcome = runSeed(seed, given)
      outages = addOutages(outages, outcome.statistics.outages)
      undecided += outcome.statistics.undecided
      return outcome
    },
    columns: ({ moves }: Statistics) => [`${String(moves).padStart(4)} moves`],
    sum: () => [
      ...formatOutages(outages),
      // They were not seen to be wrong, which is less than right.
      ...(undecided === 0 ? [] : [`${undecided} histories were too entangled to be judged`])
    ]
  })
}
