/**
 * One run of a ring from one seed: nodes come, go, crash and are cut off, clients ask all the time; then faults end,
 * the ring comes to rest, and every key is read back. The same faults as for buckets, with the ring's own promises.
 */
import { NODE_DEFAULTS } from '../../src/node/config.js'
import {
  RING_DEFAULTS,
  type RingNodeConfig,
  type RingSabotage
} from '../../src/node/ring/config.js'
import { Random } from '../../src/core/random.js'
import { BrokenPromise } from '../checkers/checker.js'
import { FaultPlan, type FaultClass, type FaultKind } from '../faults.js'
import { GOOD_LINK } from '../network.js'
import {
  conclude,
  NotConverged,
  repeatCommand,
  type RunStatistics,
  type SeedOutcome
} from '../outcome.js'
import { awaitRest } from '../rest.js'
import { Simulation } from '../simulator.js'
import { AllCopiesChecker } from './checkers/all-copies.js'
import type { RingChecker, RingView } from './checkers/checker.js'
import { CopiesAtMostChecker } from './checkers/copies-at-most.js'
import { LastWriteChecker } from './checkers/last-write.js'
import { NoLossChecker } from './checkers/no-loss.js'
import { NoRefusalChecker } from './checkers/no-refusal.js'
import { RightPlacesChecker } from './checkers/right-places.js'
import { SettledChecker } from './checkers/settled.js'
import { TimeLimitChecker } from './checkers/time-limit.js'
import { DrivenRing, SimulatedDisk } from './driven-ring.js'
import { LONE_QUORUM, QUORUMS, RingWorkload, type Quorum } from './workload.js'

export interface RingRunOptions {
  readonly nodes?: number
  readonly minutes?: number
  readonly faults?: FaultClass
  readonly rates?: Partial<Record<FaultKind, number>>
  readonly sabotage?: RingSabotage
  readonly config?: Partial<RingNodeConfig>
  readonly quorums?: readonly Quorum[]
  readonly keys?: number
  /** The share of requests that read. */
  readonly reads?: number
  /** How likely a node has a disk. */
  readonly disks?: number
  /** How long it may take to come to rest. */
  readonly convergeMs?: number
  readonly onLine?: (line: string) => void
}

export interface RingStatistics extends RunStatistics {
  readonly refused: number
  readonly versions: number
}

export type RingOutcome = SeedOutcome<RingStatistics>

const NODES_DEFAULT = 5
const NODES_MIN = 3
const MINUTES_DEFAULT = 0.5
const START_MS = 2000
const SETTLE_MS = 8000
const AFTER_FAULTS_MS = 3000
const CONVERGE_MS_MAX = 120_000
const READ_BACK_MS_MAX = 30_000
const REST_MS = 10_000
const FORGET_MS = 500
const SAMPLE_MS = 1000
/** The mean time between two changes of some node's positions. */
const PLACE_MS = 6000
const POSITIONS_MAX = 12
/** The mean time between two losses of power of those who have disks. */
const POWER_MS = 5000
/** How often a disk is gone when its node comes back. */
const WIPED = 0.2

class RingRun {
  readonly simulation: Simulation
  readonly workload: RingWorkload
  readonly faults: FaultPlan
  convergenceMs = 0
  powerCuts = 0
  readonly #options: RingRunOptions
  readonly #checkers: readonly RingChecker[]
  /** Down, and to come back with their disks. */
  readonly #kept = new Set<string>()
  readonly #disks = new Map<string, SimulatedDisk | undefined>()
  readonly #random: Random
  #steady = false
  #health: { readonly atMs: number; readonly isHealthy: boolean } | undefined

  constructor(seed: number, options: RingRunOptions) {
    this.#options = options
    const random = new Random(seed ^ 0x51f9)
    this.#random = new Random(seed ^ 0x91ace)
    const disks = options.disks ?? random.pick([0, 0.5, 1])
    const overrides = {
      requestMs: 1000,
      patienceMs: 20_000,
      joinPatienceMs: random.pick([2000, 5000]),
      sweepMs: 100,
      sweepSlices: random.pick([128, 512]),
      surplusMs: 3000,
      pullBatchBytes: random.pick([100, 1000, RING_DEFAULTS.pullBatchBytes]),
      hintBytesMax: random.pick([300, RING_DEFAULTS.hintBytesMax]),
      vnodes: random.pick([1, 4, 8]),
      ...(options.sabotage === undefined ? {} : { sabotage: options.sabotage }),
      ...options.config
    }
    const delayMs = random.pick([0.2, 1, 5]) * (0.5 + random.fraction())
    const faults = options.faults ?? 'all'
    this.simulation = new Simulation({
      seed,
      config: { ...NODE_DEFAULTS, copies: 2, deadAfterMs: random.pick([900, 1500]) },
      clock: { offsetMsMax: random.pick([0, 5, 50]), driftMax: random.pick([0, 0.0002, 0.005]) },
      quality: { ...GOOD_LINK, delayMs, jitterMs: delayMs / 2 },
      silenceMsMax: Infinity,
      longTurns: random.pick([0, 0, 0.3]),
      createNode: (config, outbox) =>
        new DrivenRing(config, outbox, {
          overrides,
          isHealthy: () => this.isHealthy(),
          disk: this.#diskOf(config.name, disks)
        }),
      ...(options.onLine === undefined ? {} : { onLine: options.onLine })
    })
    this.#checkers = [
      new LastWriteChecker(),
      new TimeLimitChecker(),
      new CopiesAtMostChecker(() => this.#settledVersion()),
      new NoRefusalChecker(() => this.#steady && faults === 'none'),
      new SettledChecker(),
      new RightPlacesChecker(),
      new AllCopiesChecker(),
      new NoLossChecker()
    ]
    this.workload = new RingWorkload(this.simulation, {
      clients: random.between(4, 8),
      keys: options.keys ?? random.pick([10, 40, 100]),
      thinkMs: random.pick([5, 20, 40]),
      timeoutMs: 5000,
      reads: options.reads ?? 0.5,
      quorums:
        options.quorums ??
        (faults === 'none' || faults === 'network' ? [...QUORUMS, LONE_QUORUM] : QUORUMS),
      isServing: (name) => {
        const node = this.simulation.findHost(name)?.node
        return node instanceof DrivenRing && node.node.joined
      },
      onInvoke: (operation) => {
        for (const checker of this.#checkers) checker.onInvoke?.(operation)
      },
      onComplete: (operation) => {
        for (const checker of this.#checkers) checker.onComplete?.(operation)
      }
    })
    const nodes = options.nodes ?? NODES_DEFAULT
    this.faults = new FaultPlan(this.simulation, {
      faults,
      shortFaults: false,
      carefulCrashes: true,
      mayPart: false,
      accusations: false,
      onSilence: () => () => undefined,
      nodesMin: Math.max(NODES_MIN + 1, nodes - 1),
      nodesMax: nodes + 3,
      ...(options.rates === undefined ? {} : { rates: options.rates }),
      cutClient: () => this.workload.cutSomebody(this.simulation.random.run)
    })
  }

  run(): void {
    const { simulation, workload, faults } = this
    this.#startNodes()
    simulation.runFor(START_MS)
    this.#wait(SETTLE_MS)
    workload.start()
    this.#forgetTheDead()
    this.#steady = true
    this.#sample()
    this.#placeSomebody()
    if (faultsOf(this.#options).crashes) this.#cutPower()
    faults.start()
    simulation.runFor((this.#options.minutes ?? MINUTES_DEFAULT) * 60_000)
    faults.stop()
    const healed = simulation.now
    simulation.runFor(AFTER_FAULTS_MS)
    workload.stop()
    this.#steady = false
    this.#wait(this.#options.convergeMs ?? CONVERGE_MS_MAX)
    this.convergenceMs = simulation.now - healed
    this.#readBack()
    simulation.runFor(REST_MS)
    const problem = this.#findProblem()
    if (problem !== undefined) throw new BrokenPromise(problem.name, `after rest: ${problem.text}`)
  }

  statistics(): RingStatistics {
    const { simulation, workload, faults } = this
    const versions = this.view().nodes.map(({ configuration }) => configuration.version)
    return {
      virtualSeconds: simulation.now / 1000,
      operations: workload.operations,
      unknown: workload.unknown,
      refused: workload.refused,
      messages: simulation.network.sent,
      versions: Math.max(0, ...versions),
      joins: faults.joins,
      leaves: faults.leaves,
      crashes: faults.crashes + this.powerCuts,
      convergenceMs: this.convergenceMs
    }
  }

  /** Whether any one node may lose its memory now: everything that was acknowledged is elsewhere as well. */
  isHealthy(): boolean {
    const { now } = this.simulation
    // Every node is asked in turn; nothing happens in between.
    if (this.#health?.atMs !== now) {
      this.#health = { atMs: now, isHealthy: this.#findProblem() === undefined }
    }
    return this.#health.isHealthy
  }

  view(): RingView {
    const nodes = this.simulation.hosts.flatMap(({ node }) =>
      node instanceof DrivenRing ? [node.node.inspect()] : []
    )
    return { now: this.simulation.now, nodes, staying: this.simulation.staying }
  }

  #startNodes(): void {
    const { simulation, faults } = this
    const { random, queue } = simulation
    const first = faults.nextName()
    simulation.start(first, [])
    for (let i = 1; i < (this.#options.nodes ?? NODES_DEFAULT); i++) {
      const name = faults.nextName()
      queue.after(random.run.fraction() * START_MS, () => simulation.start(name, [first]))
    }
  }

  /** The same one for all lives of a name, unless somebody takes it away in between. */
  #diskOf(name: string, share: number): SimulatedDisk | undefined {
    const isKnown = this.#disks.has(name)
    if (this.#kept.has(name)) return this.#disks.get(name)
    const isNew = isKnown ? this.#random.chance(WIPED) : this.#random.chance(share)
    if (isNew && (!isKnown || this.#disks.get(name) !== undefined)) {
      this.#disks.set(name, new SimulatedDisk())
    } else if (!isKnown) this.#disks.set(name, undefined)
    return this.#disks.get(name)
  }

  #settledVersion(): number {
    let settled = 0
    for (const { node } of this.simulation.hosts) {
      if (!(node instanceof DrivenRing)) continue
      const { stage, version } = node.node.configuration
      if (stage !== 'rest' || (settled !== 0 && version !== settled)) return 0
      settled = version
    }
    return settled
  }

  #sample(): void {
    if (!this.#steady) return
    const view = this.view()
    for (const checker of this.#checkers) checker.onSample?.(view)
    this.simulation.queue.after(SAMPLE_MS, () => this.#sample())
  }

  /** Somebody gives a running node one position more, or one less. */
  #placeSomebody(): void {
    const { simulation } = this
    const random = this.#random
    simulation.queue.after(random.fraction() * 2 * PLACE_MS, () => {
      if (!this.#steady) return
      const { staying } = simulation
      if (staying.length > 0) this.#place(random.pick(staying))
      this.#placeSomebody()
    })
  }

  /**
   * Those who have disks lose nothing but the present turn: one of them may go down at any moment while all others are
   * there, and if all have one, all of them at once.
   */
  #cutPower(): void {
    const { simulation, faults } = this
    const random = this.#random
    simulation.queue.after(random.fraction() * 2 * POWER_MS, () => {
      if (!this.#steady) return
      this.#cutPower()
      const up = simulation.hosts.filter(({ node }) => node !== undefined)
      const kept = up.filter(({ name }) => this.#disks.get(name) !== undefined)
      const isWhole = simulation.hosts.every(({ state }) => state !== 'down')
      if (kept.length === 0 || !isWhole || faults.restarts.length > 0) return
      const all = kept.length === up.length && random.chance(0.3)
      for (const { name } of all ? kept : [random.pick(kept)]) this.#goDown(name)
    })
  }

  #goDown(name: string): void {
    const { simulation } = this
    const { leaving } = simulation.host(name)
    this.#kept.add(name)
    simulation.crash(name, this.#random.chance(0.5))
    this.powerCuts++
    simulation.queue.after(this.#random.between(20, 3000), () => {
      // Whoever starts it knows others, up or not: one that was not yet on the ring must not found one of its own.
      simulation.start(
        name,
        simulation.addresses.filter((other) => other !== name)
      )
      this.#kept.delete(name)
      if (leaving) simulation.leave(name)
    })
  }

  #place(name: string): void {
    const random = this.#random
    this.simulation.host(name).input((node, now) => {
      if (!(node instanceof DrivenRing) || !node.node.joined) return
      const own = node.node.configuration.members.find((member) => member.name === name)
      const held = own?.wanted ?? []
      const drops = held.length >= POSITIONS_MAX || (held.length > 1 && random.chance(0.5))
      const positions = drops ? held.slice(1) : [...held, random.uint32() | 0]
      if (own?.leaving === true) return
      this.simulation.note(name, 'place', positions.join())
      node.node.place(positions, now)
    })
  }

  /** A person strikes nodes that crashed and will not be back. */
  #forgetTheDead(): void {
    const { simulation, faults } = this
    const dead = simulation.hosts
      .filter(({ name, state }) => state === 'down' && !faults.restarts.includes(name))
      .filter(({ name }) => !this.#kept.has(name))
      .map(({ name }) => name)
    for (const name of dead) {
      for (const host of simulation.hosts) {
        host.input((node, now) => {
          if (node instanceof DrivenRing) node.node.forget(name, now)
        })
      }
    }
    simulation.queue.after(FORGET_MS, () => this.#forgetTheDead())
  }

  #wait(limitMs: number): void {
    const isAtRest = awaitRest(this.simulation, {
      findProblem: () => this.#findProblem()?.text,
      isIdle: () => this.workload.idle,
      looks: 1,
      limitMs
    })
    if (isAtRest) return
    const problem = this.#findProblem()
    throw new NotConverged(problem?.name ?? 'every request ends', problem?.text ?? 'requests go on')
  }

  #findProblem(): { name: string; text: string } | undefined {
    const view = this.view()
    for (const checker of this.#checkers) {
      const text = checker.problem?.(view)
      if (text !== undefined) return { name: checker.name, text }
    }
    return undefined
  }

  #readBack(): void {
    const { simulation, workload } = this
    const unread = new Set(workload.keys)
    workload.readBack((operation) => unread.delete(operation.call.key))
    const limits = { stepMs: 100, limitMs: READ_BACK_MS_MAX }
    const done = simulation.runWhile(() => unread.size > 0 || !workload.idle, limits)
    workload.stop()
    if (!done) throw new NotConverged('every key can be read', `${unread.size} keys were not`)
  }
}

function faultsOf({ faults = 'all' }: RingRunOptions): { crashes: boolean } {
  return { crashes: faults === 'all' || faults === 'crash' }
}

export function runRing(seed: number, options: RingRunOptions = {}): RingOutcome {
  const { nodes, minutes, faults } = options
  const command = repeatCommand(seed, { placement: 'ring', nodes, minutes, faults })
  return conclude(seed, new RingRun(seed, options), command)
}
