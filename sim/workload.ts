/**
 * What clients do all day: mixed families of keys, read and written through any node, with a checker for each
 * family. When the day is over everything that was ever written is read back once more.
 */
import type { Random } from '../src/core/random.js'
import type { Checker } from './checkers/checker.js'
import { CounterChecker } from './checkers/counter.js'
import { ExpiryChecker } from './checkers/expiry.js'
import { LinearizabilityChecker } from './checkers/linearizable.js'
import { LogChecker } from './checkers/log.js'
import { RegisterChecker } from './checkers/register.js'
import { SubscriptionsChecker } from './checkers/subscriptions.js'
import { Client, type Draft } from './client.js'
import { CellFamily } from './families/cells.js'
import { CounterFamily } from './families/counters.js'
import { readDone, type Family } from './families/family.js'
import { LeaseFamily } from './families/leases.js'
import { LogFamily } from './families/logs.js'
import { RegisterFamily } from './families/registers.js'
import { drawPing, drawWatch } from './families/watchers.js'
import type { Operation } from './operation.js'
import type { Simulation } from './simulator.js'

export interface WorkloadOptions {
  /** Every key has one history, which is checked; false where two sides of a cut may go on. */
  readonly oneHistory?: boolean
  /**
   * Where it says so, the histories end: what is seen of that key from now on is held against
   * nobody.
   */
  readonly isForgiven?: (key: string) => boolean
  /** All clients work on this family of keys. */
  readonly only?: string
  readonly clients: number
  /** Clients that are content with the primary's word; their writes may be lost in a crash. */
  readonly looseClients: number
  /** Clients that watch; drawn where it is not said. */
  readonly watchers?: number
  readonly thinkMs: number
  readonly pipeline: number
  readonly timeoutMs: number
  /** Keys that each client writes all the time. */
  readonly hotPlaces: number
  /** Keys that each client writes at the beginning, so that there is something to copy. */
  readonly bulkPlaces: number
  /** How much the clocks of two nodes may differ. */
  readonly clockSlackMs: number
}

/** How often the operations of a family are drawn, out of 100. */
const WEIGHTS = [
  ['register', 40],
  ['field', 10],
  ['counter', 12],
  ['log', 8],
  ['list', 6],
  ['lease', 8],
  ['cell', 14],
  ['bulk', 2]
] as const

const GREETING: Draft = {
  family: 'session',
  key: '',
  place: '',
  action: { kind: 'session' },
  args: ['OC.ACKS', 'primary'],
  read: readDone
}

/** Watchers that are drawn, and how often they ask whether their node is there. */
const WATCHERS = [0, 1, 2, 3, 5]
const WATCHER_THINK_MS = 300

/** A read at the end that got no answer is tried again so often. */
const FINAL_TRIES_MAX = 5
const FINAL_THINK_MS = 1

export class Workload {
  /** The checkers of the families. */
  readonly checkers: readonly Checker[]
  readonly linearizability = new LinearizabilityChecker('cell')
  readonly subscriptions: SubscriptionsChecker
  readonly clients: readonly Client[]
  operations = 0
  unknown = 0
  /** The longest a request took that was answered. */
  latencyMsMax = 0
  readonly #listeners: Checker[] = []
  /** Those of them that see what is forgiven too. */
  readonly #strict: Checker[] = []
  readonly #isForgiven: (key: string) => boolean
  readonly #families: ReadonlyMap<string, Family>
  readonly #bulk: RegisterFamily
  readonly #loose: RegisterFamily
  readonly #random: Random
  readonly #looseFrom: number
  readonly #only: string | undefined
  #reading = false
  #finalReads: Draft[] = []
  #triesLeft = 0

  constructor(simulation: Simulation, options: WorkloadOptions) {
    const { clients, looseClients } = options
    this.#random = simulation.random.workload
    this.#looseFrom = clients
    this.#only = options.only
    const strings = { writers: clients, shape: 'string' } as const
    this.#bulk = new RegisterFamily({
      ...strings,
      name: 'bulk',
      places: options.bulkPlaces,
      removals: 0.1,
      reads: 0.5
    })
    this.#loose = new RegisterFamily({
      name: 'loose',
      shape: 'string',
      writers: clients + looseClients,
      places: 2,
      removals: 0.2,
      reads: 0.5
    })
    const families: Family[] = [
      new RegisterFamily({
        ...strings,
        name: 'register',
        places: options.hotPlaces,
        removals: 0.2,
        reads: 0.5
      }),
      new RegisterFamily({
        writers: clients,
        shape: 'hash',
        name: 'field',
        places: 4,
        removals: 0,
        reads: 0.5
      }),
      new CounterFamily(3),
      new LogFamily('string', 2),
      new LogFamily('list', 2),
      new LeaseFamily(clients),
      new CellFamily(2),
      this.#bulk,
      this.#loose
    ]
    this.#families = new Map(families.map((family) => [family.name, family]))
    this.subscriptions = new SubscriptionsChecker(options.clockSlackMs, simulation)
    this.checkers = [
      this.subscriptions,
      new RegisterChecker('register', { durable: true }),
      new RegisterChecker('field', { durable: true }),
      new RegisterChecker('bulk', { durable: true }),
      new RegisterChecker('loose', { durable: false }),
      new CounterChecker('counter'),
      new LogChecker('log'),
      new LogChecker('list'),
      new ExpiryChecker('lease', options.clockSlackMs),
      this.linearizability
    ]
    if (options.oneHistory !== false) this.#listeners.push(...this.checkers)
    this.#isForgiven = options.isForgiven ?? (() => false)
    let ids = 0
    this.clients = Array.from({ length: clients + looseClients }, (_, id) => {
      return new Client({
        id,
        simulation,
        random: this.#random.fork(),
        thinkMs: options.thinkMs,
        pipeline: options.pipeline,
        timeoutMs: options.timeoutMs,
        greeting: id >= clients ? GREETING : undefined,
        nextId: () => ++ids,
        draw: (client) => this.#draw(client),
        onInvoke: (operation) => {
          for (const listener of this.#listenersTo(operation)) listener.onInvoke?.(operation)
        },
        onComplete: (operation) => this.#complete(operation)
      })
    })
    this.#watch(simulation, { ...options, nextId: () => ++ids })
  }

  /** Whoever else wants to see every operation. */
  listen(checker: Checker): void {
    this.#listeners.push(checker)
    this.#strict.push(checker)
  }

  /** Nothing new is begun. */
  stop(): void {
    for (const client of this.clients) client.rest()
  }

  get idle(): boolean {
    return this.clients.every((client) => !client.busy)
  }

  /** Everything that was ever written is read once more, through any node. */
  readBack(): void {
    this.#reading = true
    this.#finalReads = [...this.#families.values()].flatMap((family) => family.drawFinalReads())
    this.#triesLeft = FINAL_TRIES_MAX
    for (const client of this.clients) {
      client.thinkMs = FINAL_THINK_MS
      client.wake()
    }
  }

  /** How many reads are still to be done. */
  get unread(): number {
    return this.#finalReads.length
  }

  /** Those who watch do nothing else, and to the end. */
  #watch(simulation: Simulation, options: WorkloadOptions & { nextId: () => number }): void {
    const { clients, looseClients, timeoutMs, nextId } = options
    const count = options.watchers ?? this.#random.pick(WATCHERS)
    for (let watcher = 0; watcher < count; watcher++) {
      new Client({
        id: clients + looseClients + watcher,
        simulation,
        random: this.#random.fork(),
        thinkMs: WATCHER_THINK_MS,
        pipeline: 1,
        timeoutMs,
        greeting: drawWatch(watcher),
        nextId,
        draw: () => drawPing(watcher),
        onInvoke: (operation) => this.subscriptions.onInvoke(operation),
        onComplete: (operation) => {
          for (const listener of this.#listeners) listener.onComplete?.(operation)
        },
        onPush: (client, push) => this.subscriptions.onPush(client, push),
        onEnd: (client) => this.subscriptions.onLost(client)
      })
    }
  }

  #draw(client: Client): Draft | undefined {
    if (this.#reading) return this.#finalReads.pop()
    const random = this.#random
    if (client.id >= this.#looseFrom) return this.#loose.draw(client.id, random)
    if (this.#only !== undefined) return this.#families.get(this.#only)?.draw(client.id, random)
    const first = random.chance(0.7) ? this.#bulk.drawFirst(client.id, random) : undefined
    if (first !== undefined) return first
    let choice = random.below(100)
    for (const [name, weight] of WEIGHTS) {
      choice -= weight
      if (choice < 0) return this.#families.get(name)?.draw(client.id, random)
    }
    return undefined
  }

  #listenersTo({ key, place }: Operation): readonly Checker[] {
    if (!this.#isForgiven(key)) return this.#listeners
    // It keeps the operations and looks at them only at the end: those that began before are
    // forgiven too.
    this.linearizability.forget(place)
    return this.#strict
  }

  #complete(operation: Operation): void {
    this.operations++
    const { outcome } = operation
    if (outcome.kind === 'unknown') this.unknown++
    else
      this.latencyMsMax = Math.max(this.latencyMsMax, operation.completedMs - operation.invokedMs)
    this.#families.get(operation.family)?.onComplete(operation)
    for (const listener of this.#listenersTo(operation)) listener.onComplete?.(operation)
    if (this.#reading && outcome.kind === 'unknown' && this.#triesLeft-- > 0) {
      this.#finalReads.push(
        ...(this.#families.get(operation.family)?.drawFinalReads() ?? []).filter(
          (draft) => draft.place === operation.place
        )
      )
    }
  }
}
