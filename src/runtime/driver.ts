/**
 * Feeds one deterministic node from the real world: bytes, links and time come in, and a turn ends once the
 * event loop has nothing more at hand. Everything that came in during a turn is one batch for each backup and
 * one write for each connection, which is where the speed under load comes from (one `setImmediate` a turn,
 * one timer for the node's next deadline, nothing per command).
 */
import { latin1Bytes } from '../core/bytes.js'
import { Node } from '../node/node.js'
import type { NodeConfig } from '../node/config.js'
import type { Outbox } from '../node/outbox.js'
import { ReplyLimitError } from '../wire/resp/reply-writer.js'
import type { Clock } from './clock.js'

export interface DriverPorts extends Outbox {
  /** The node has said all it has to say for now: write it. */
  endTurn(): void
  /** The node broke one of its own rules; nothing it says can be trusted any more. */
  failed(error: unknown): void
}

/** A timer for a deadline that has passed; 0 would starve the sockets. */
const WAKE_MS_MIN = 1
/** The longest sleep; deadlines further away are looked at again. */
const WAKE_MS_MAX = 60_000

export class Driver {
  readonly node: Node
  readonly #clock: Clock
  readonly #ports: DriverPorts
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

  constructor(config: NodeConfig, clock: Clock, ports: DriverPorts) {
    this.#clock = clock
    this.#ports = ports
    this.node = new Node(config, ports)
  }

  start(): void {
    this.#input((now) => this.node.start(now))
  }

  leave(): void {
    this.#input((now) => this.node.leave(now))
  }

  open(session: number): void {
    this.#input((now) => this.node.open(session, now))
  }

  close(session: number): void {
    this.#input((now) => this.node.close(session, now))
  }

  linkUp(address: string): void {
    this.#input((now) => this.node.linkUp(address, now))
  }

  linkDown(address: string): void {
    this.#input((now) => this.node.linkDown(address, now))
  }

  /** Strikes a node that will not come back; says why not, if it cannot be. */
  forget(name: string, force = false): string | undefined {
    let problem: string | undefined
    this.#input((now) => {
      problem = this.node.forget(name, now, force)
    })
    return problem
  }

  /** Lets somebody else act on the node inside a turn. */
  perform<T>(act: (node: Node, now: number) => T): T | undefined {
    let result: T | undefined
    this.#input((now) => {
      result = act(this.node, now)
    })
    return result
  }

  /** The two below are the data path and call the node without a closure. */
  request(session: number, bytes: Uint8Array): void {
    if (this.#stopped) return
    try {
      this.node.request(session, bytes, this.#clock.now())
    } catch (error) {
      if (error instanceof ReplyLimitError) this.#refuseAll(session, error)
      else this.#fail(error)
    }
    this.wake()
  }

  receive(envelope: Uint8Array): void {
    if (this.#stopped) return
    try {
      this.node.receive(envelope, this.#clock.now())
    } catch (error) {
      this.#fail(error)
    }
    this.wake()
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

  #input(act: (now: number) => void): void {
    if (this.#stopped) return
    this.#guard(() => act(this.#clock.now()))
    this.wake()
  }

  #guard(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** One client asked for more at once than fits into memory: that is its problem, not the node's. */
  #refuseAll(session: number, error: ReplyLimitError): void {
    this.#ports.output(session, latin1Bytes(`-ERR ${error.message}\r\n`))
    this.#ports.hangUp(session)
    this.close(session)
  }

  #fail(error: unknown): void {
    if (this.#stopped) return
    this.stop()
    this.#ports.failed(error)
  }

  /** A timer that is early enough stays: arming one each turn would cost more than the turn's end. */
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
      else this.#input((at) => this.node.tick(at))
    }, delay)
  }
}
