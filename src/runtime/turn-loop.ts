/**
 * The turns of one deterministic node, whatever its kind: what came in during a turn of the event loop is one turn of the
 * node, ended by one `setImmediate`; one timer is set to the node's next deadline; and a node that broke one of its own
 * rules is stopped, since nothing it says can be trusted any more.
 */
import type { Clock } from './clock.js'
import { Stall } from './stall.js'

export interface TurnNode {
  tick(now: number): void
  flush(now: number): void
  /** When `tick` must be called next. */
  readonly deadline: number
  /** It has more to say, and lets others go first: another turn follows at once. */
  readonly unfinished?: boolean
}

export interface TurnPorts {
  /** Everything of this turn is known, and nothing of it has left the node: the moment to put it on a disk. */
  beforeFlush?(): void
  /** The node has said all it has to say for now: write it. */
  endTurn(): void
  failed(error: unknown): void
}

/** A timer for a deadline that has passed; 0 would starve the sockets. */
const WAKE_MS_MIN = 1
/** The longest sleep; deadlines further away are looked at again. */
const WAKE_MS_MAX = 60_000

export class TurnLoop {
  stopped = false
  readonly stall = new Stall()
  readonly #node: TurnNode
  readonly #clock: Clock
  readonly #ports: TurnPorts
  readonly #endTurn = (): void => {
    this.#ending = false
    if (this.stopped) return
    const beganMs = this.#beganMs
    try {
      this.#ports.beforeFlush?.()
      this.#node.flush(this.#clock.now())
      this.#ports.endTurn()
      const now = this.#clock.now()
      this.stall.worked(beganMs, now)
      if (this.#node.unfinished === true) this.wake(now)
    } catch (error) {
      this.fail(error)
    }
    this.#arm()
  }
  #ending = false
  /** When the turn that is to end began. */
  #beganMs = 0
  #timer: NodeJS.Timeout | undefined
  #wakeMs = Infinity

  constructor(node: TurnNode, clock: Clock, ports: TurnPorts) {
    this.#node = node
    this.#clock = clock
    this.#ports = ports
  }

  /** Lets somebody act on the node inside a turn. */
  input(act: (now: number) => void): void {
    if (this.stopped) return
    const now = this.#clock.now()
    try {
      act(now)
    } catch (error) {
      this.fail(error)
    }
    this.wake(now)
  }

  /** There is a turn to end; it began then, if it is not under way. */
  wake(now: number): void {
    if (this.#ending) return
    this.#ending = true
    this.#beganMs = now
    setImmediate(this.#endTurn)
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.#timer)
  }

  fail(error: unknown): void {
    if (this.stopped) return
    this.stop()
    this.#ports.failed(error)
  }

  /** A timer that is early enough stays: arming one each turn would cost more than the turn's end. */
  #arm(): void {
    if (this.stopped) return
    const { deadline } = this.#node
    if (this.#timer !== undefined && this.#wakeMs <= deadline) return
    clearTimeout(this.#timer)
    const now = this.#clock.now()
    const delay = Math.min(Math.max(deadline - now, WAKE_MS_MIN), WAKE_MS_MAX)
    this.#wakeMs = now + delay
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const wokeMs = this.#clock.now()
      this.stall.woke(this.#wakeMs, wokeMs)
      if (this.#node.deadline > wokeMs) this.#arm()
      else this.input((at) => this.#node.tick(at))
    }, delay)
  }
}
