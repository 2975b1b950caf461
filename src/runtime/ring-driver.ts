/**
 * Feeds one node of a ring from the real world, as `Driver` does for buckets: bytes, links and time come in, and a
 * turn ends once the event loop has nothing more at hand.
 */
import { RingNode } from '../node/ring/node.js'
import type { RingNodeConfig } from '../node/ring/config.js'
import type { RingOutbox } from '../node/ring/outbox.js'
import type { Clock } from './clock.js'

export interface RingDriverPorts extends RingOutbox {
  /** The node has said all it has to say for now: write it. */
  endTurn(): void
  /** The node broke one of its own rules; nothing it says can be trusted any more. */
  failed(error: unknown): void
}

const WAKE_MS_MIN = 1
const WAKE_MS_MAX = 60_000

export class RingDriver {
  readonly node: RingNode
  readonly #clock: Clock
  readonly #ports: RingDriverPorts
  readonly #endTurn = (): void => {
    this.#ending = false
    if (this.#stopped) return
    this.#guard(() => {
      this.node.flush(this.#clock.now())
      this.#ports.endTurn()
    })
    this.#arm()
  }
  #ending = false
  #stopped = false
  #timer: NodeJS.Timeout | undefined
  #wakeMs = Infinity

  constructor(config: RingNodeConfig, clock: Clock, ports: RingDriverPorts) {
    this.#clock = clock
    this.#ports = ports
    this.node = new RingNode(config, ports)
  }

  /** Acts on the node inside a turn; undefined when it has stopped. */
  perform<T>(act: (node: RingNode, now: number) => T): T | undefined {
    if (this.#stopped) return undefined
    let result: T | undefined
    this.#guard(() => {
      result = act(this.node, this.#clock.now())
    })
    this.wake()
    return result
  }

  /** Something is to be written although the node was not told anything. */
  wake(): void {
    if (this.#ending) return
    this.#ending = true
    setImmediate(this.#endTurn)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #guard(act: () => void): void {
    try {
      act()
    } catch (error) {
      if (this.#stopped) return
      this.stop()
      this.#ports.failed(error)
    }
  }

  /** A timer that is early enough stays. */
  #arm(): void {
    if (this.#stopped) return
    const { deadline } = this.node
    if (this.#timer !== undefined && this.#wakeMs <= deadline) return
    clearTimeout(this.#timer)
    const now = this.#clock.now()
    const delay = Math.min(Math.max(deadline - now, WAKE_MS_MIN), WAKE_MS_MAX)
    this.#wakeMs = now + delay
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.node.deadline > this.#clock.now()) this.#arm()
      else this.perform((node, at) => node.tick(at))
    }, delay)
  }
}
