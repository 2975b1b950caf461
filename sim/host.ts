/**
 * The machine a node runs on: it gives the node its inputs and its time, ends its turns, wakes it at its
 * deadlines, can stop giving it anything for a while, and can take its memory away. Several inputs can fall into one
 * turn, as they do in a real process; what such a turn would have put out is lost when the node dies in it.
 */
import type { Random } from '../src/core/random.js'
import { BrokenPromise } from './checkers/checker.js'
import type { DriftingClock } from './drifting-clock.js'
import type { DrivenNode } from './driven-node.js'
import type { EventQueue, QueuedEvent } from './event-queue.js'

export type HostState = 'running' | 'paused' | 'down' | 'left'

/** A node threw: nothing it says afterwards can be trusted, and the run is over. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure'
  readonly node: string

  constructor(node: string, cause: unknown) {
    super(`${node}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
    this.node = node
  }
}

/** A deadline that has passed is met this much later: the time a real timer takes at the least. */
const WAKE_MS_MIN = 0.1
/** A turn that takes several inputs ends after this. */
const TURN_MS_MAX = 0.3
/** How long others go first where a node has more to say. */
const UNFINISHED_TURN_MS = 0.05
/** Clocks are converted back and forth; this much is rounding. */
const ROUNDING_MS = 0.01

export interface HostOptions {
  readonly name: string
  readonly queue: EventQueue
  readonly clock: DriftingClock
  readonly random: Random
  /** How often a turn waits for more inputs. */
  readonly longTurns: number
}

/** A client's connection, as the node's side of it sees it. */
export interface NodeEnd {
  output(bytes: Uint8Array): void
  hangUp(): void
  retire(): void
  sever(): void
}

export class Host {
  readonly name: string
  readonly connections = new Map<number, NodeEnd>()
  state: HostState = 'down'
  /** Its node was told to leave. */
  leaving = false
  /** When its node's process began. */
  life = 0
  readonly #options: HostOptions
  #node: DrivenNode | undefined
  #wake: QueuedEvent | undefined
  #turnEnd: QueuedEvent | undefined
  #backlog: ((node: DrivenNode, now: number) => void)[] = []

  constructor(options: HostOptions) {
    this.name = options.name
    this.#options = options
  }

  /** Only while it has one: running or paused. */
  get node(): DrivenNode | undefined {
    return this.#node
  }

  /** The time as the node sees it. */
  get localNow(): number {
    return this.#options.clock.read(this.#options.queue.now)
  }

  boot(node: DrivenNode): void {
    this.#node = node
    this.state = 'running'
    this.leaving = false
    this.input((it, now) => it.start(now))
  }

  /** Its memory is gone, and so is what was still waiting for it. */
  stop(state: 'down' | 'left'): void {
    const { queue } = this.#options
    if (this.#wake !== undefined) queue.cancel(this.#wake)
    if (this.#turnEnd !== undefined) queue.cancel(this.#turnEnd)
    this.#wake = undefined
    this.#turnEnd = undefined
    this.#node = undefined
    this.#backlog = []
    this.state = state
  }

  pause(): void {
    if (this.state === 'running') this.state = 'paused'
  }

  /** What came in meanwhile comes in now; before or after it the node learns how late it is. */
  resume(): void {
    if (this.state !== 'paused') return
    this.state = 'running'
    const backlog = this.#backlog
    this.#backlog = []
    const tickFirst = this.#options.random.chance(0.5)
    if (tickFirst) this.input((node, now) => node.tick(now))
    for (const act of backlog) this.input(act)
    if (!tickFirst) this.input((node, now) => node.tick(now))
  }

  input(act: (node: DrivenNode, now: number) => void): void {
    const node = this.#node
    if (node === undefined) return
    if (this.state === 'paused') {
      this.#backlog.push(act)
      return
    }
    this.#guard(() => act(node, this.localNow))
    const { longTurns, random, queue } = this.#options
    if (this.#turnEnd !== undefined) return
    if (longTurns > 0 && random.chance(longTurns)) {
      this.#turnEnd = queue.after(random.fraction() * TURN_MS_MAX, () => this.#endTurn())
    } else {
      this.#endTurn()
    }
  }

  #endTurn(): void {
    this.#turnEnd = undefined
    const node = this.#node
    if (node === undefined) return
    if (this.state === 'paused') {
      this.#backlog.push(() => undefined)
      return
    }
    this.#guard(() => node.flush(this.localNow))
    if (node.unfinished === true) {
      const { queue } = this.#options
      this.#turnEnd = queue.after(UNFINISHED_TURN_MS, () => this.#endTurn())
    }
    this.#arm(node)
  }

  #arm(node: DrivenNode): void {
    const { queue, clock } = this.#options
    const { deadline } = node
    if (deadline === Infinity) return
    const time = Math.max(clock.timeOf(deadline), queue.now + WAKE_MS_MIN)
    if (this.#wake !== undefined) {
      if (this.#wake.time <= time) return
      queue.cancel(this.#wake)
    }
    this.#wake = queue.at(time, () => {
      this.#wake = undefined
      if (this.state !== 'running' || this.#node === undefined) return
      const due = this.#node.deadline
      const early = due - this.localNow
      if (early > ROUNDING_MS) {
        this.#arm(this.#node)
        return
      }
      if (early > 0) clock.push(due)
      this.input((it, now) => it.tick(now))
    })
  }

  #guard(act: () => void): void {
    try {
      act()
    } catch (error) {
      // A checker that listens to the node's events speaks for itself.
      throw error instanceof BrokenPromise ? error : new NodeFailure(this.name, error)
    }
  }
}
