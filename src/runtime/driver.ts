/**
 * Feeds one deterministic node from the real world: bytes, links and time come in, and a turn ends once the
 * event loop has nothing more at hand. Everything that came in during a turn is one batch for each backup and
 * one write for each connection, which is where the speed under load comes from (one `setImmediate` a turn,
 * one timer for the node's next deadline, nothing per command).
 */
import { latin1Bytes } from '../core/bytes.js'
import { Node } from '../node/node.js'
import type { Origin } from '../node/door/client-state.js'
import type { NodeConfig } from '../node/config.js'
import type { Outbox } from '../node/outbox.js'
import { ReplyLimitError } from '../wire/resp/reply-writer.js'
import type { Clock } from './clock.js'
import { TurnLoop, type TurnPorts } from './turn-loop.js'

export interface DriverPorts extends Outbox, TurnPorts {
  /** What clients were answered so far need not wait for the end of the turn. */
  writeReplies(): void
}

export class Driver {
  readonly node: Node
  readonly #clock: Clock
  readonly #ports: DriverPorts
  readonly #turns: TurnLoop

  constructor(config: NodeConfig, clock: Clock, ports: DriverPorts) {
    this.#clock = clock
    this.#ports = ports
    this.node = new Node(config, ports)
    this.#turns = new TurnLoop(this.node, clock, ports)
  }

  start(): void {
    this.#input((now) => this.node.start(now))
  }

  leave(): void {
    this.#input((now) => this.node.leave(now))
  }

  open(session: number, origin?: Origin): void {
    this.#input((now) => this.node.open(session, now, origin))
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
    if (this.#turns.stopped) return
    const now = this.#clock.now()
    try {
      this.node.request(session, bytes, now)
    } catch (error) {
      if (error instanceof ReplyLimitError) this.#refuseAll(session, error)
      else this.#turns.fail(error)
    }
    this.#turns.wake(now)
  }

  /** A node whose large envelope is still coming is not silent. */
  hearing(peer: string): void {
    if (!this.#turns.stopped) this.node.peers.hearing(peer, this.#clock.now())
  }

  receive(envelope: Uint8Array): void {
    if (this.#turns.stopped) return
    const now = this.#clock.now()
    try {
      this.node.receive(envelope, now)
      // Whoever waited for a backup hears before this turn's requests are read: nothing that they do holds it up.
      this.#ports.writeReplies()
    } catch (error) {
      this.#turns.fail(error)
    }
    this.#turns.wake(now)
  }

  /** Something is to be written although the node was not told anything. */
  wake(): void {
    this.#turns.wake(this.#clock.now())
  }

  /** The longest time in which nobody was served, since it was last asked for; in milliseconds. */
  takeStallMs(): number {
    return this.#turns.stall.take()
  }

  stop(): void {
    this.#turns.stop()
  }

  #input(act: (now: number) => void): void {
    this.#turns.input(act)
  }

  /** One client asked for more at once than fits into memory: that is its problem, not the node's. */
  #refuseAll(session: number, error: ReplyLimitError): void {
    this.#ports.output(session, latin1Bytes(`-ERR ${error.message}\r\n`))
    this.#ports.hangUp(session)
    this.close(session)
  }
}
