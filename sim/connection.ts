/**
 * A client's connection to a node: reliable and ordered both ways, until somebody ends it. The end is seen by
 * each side after what was sent before it; a node that died may leave its clients without a word.
 */
import type { Random } from '../src/core/random.js'
import type { EventQueue } from './event-queue.js'
import type { Host } from './host.js'

export interface ConnectionHandlers {
  readonly onBytes: (bytes: Uint8Array) => void
  readonly onClosed: () => void
  /** The node would like to go: please finish what is under way and close. */
  readonly onRetire: () => void
}

export interface ConnectionOptions {
  readonly session: number
  readonly host: Host
  readonly queue: EventQueue
  readonly random: Random
  readonly handlers: ConnectionHandlers
}

const DELAY_MS = 0.2
const JITTER_MS = 0.3
/** The longest time after which a client notices that the other machine is gone, if it ever does. */
const RESET_MS_MAX = 200

export class Connection {
  readonly session: number
  readonly #options: ConnectionOptions
  readonly #life: number
  #toNodeMs = 0
  #toClientMs = 0
  /** The client's end. */
  #closed = false
  /** The node's end. */
  #hungUp = false

  constructor(options: ConnectionOptions) {
    this.session = options.session
    this.#options = options
    this.#life = options.host.life
    options.host.connections.set(this.session, this)
    this.#toNode((host) => host.input((node, now) => node.open(this.session, now)))
  }

  get hostName(): string {
    return this.#options.host.name
  }

  get closed(): boolean {
    return this.#closed
  }

  /** The client sends. */
  send(bytes: Uint8Array): void {
    if (this.#closed) return
    this.#toNode((host) => {
      if (this.#hungUp) return
      host.input((node, now) => node.request(this.session, bytes, now))
    })
  }

  /** The client closes, or its machine does. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#toNode((host) => {
      host.connections.delete(this.session)
      if (this.#hungUp) return
      this.#hungUp = true
      host.input((node, now) => node.close(this.session, now))
    })
  }

  /** Both ends see the end at once: somebody cut the cable. */
  cut(): void {
    const wasClosed = this.#closed
    this.close()
    if (!wasClosed) this.#options.handlers.onClosed()
  }

  /** The node replies. */
  output(bytes: Uint8Array): void {
    if (this.#hungUp) return
    const copy = bytes.slice()
    this.#toClient(() => this.#options.handlers.onBytes(copy))
  }

  /** The node ends it. */
  hangUp(): void {
    if (this.#hungUp) return
    this.#hungUp = true
    this.#options.host.connections.delete(this.session)
    this.#toClient(() => this.#end())
  }

  retire(): void {
    this.#toClient(() => this.#options.handlers.onRetire())
  }

  /** The node is no more. Replies on their way still come; then there is a reset, or silence. */
  sever(): void {
    this.#hungUp = true
    if (this.#options.random.chance(0.3)) return
    this.#toClientMs += this.#options.random.fraction() * RESET_MS_MAX
    this.#toClient(() => this.#end())
  }

  #end(): void {
    this.#closed = true
    this.#options.handlers.onClosed()
  }

  #toNode(act: (host: Host) => void): void {
    const { queue, host } = this.#options
    this.#toNodeMs = this.#arrival(this.#toNodeMs)
    queue.at(this.#toNodeMs, () => {
      // What was meant for an earlier process of that name reaches nobody.
      if (host.life === this.#life && host.node !== undefined) act(host)
    })
  }

  #toClient(act: () => void): void {
    this.#toClientMs = this.#arrival(this.#toClientMs)
    this.#options.queue.at(this.#toClientMs, () => {
      if (!this.#closed) act()
    })
  }

  #arrival(last: number): number {
    const { queue, random } = this.#options
    return Math.max(last, queue.now + DELAY_MS + random.fraction() * JITTER_MS)
  }
}
