/**
 * A whole cluster in one process: one queue of events, one virtual clock, one seed. Nodes are the very ones
 * that run for real; they get their inputs from here and what they put out comes here. Chance is forked
 * by concern, so that a change to the workload, say, does not change the network's weather.
 */
import { assert, fail } from '../src/core/assert.js'
import { nodeName } from '../src/core/ids.js'
import { Random } from '../src/core/random.js'
import type { NodeConfig } from '../src/node/config.js'
import type { NodeEvent, Outbox } from '../src/node/outbox.js'
import type { ClusterView } from './cluster-view.js'
import { Connection, type ConnectionHandlers } from './connection.js'
import { DriftingClock, type ClockBounds } from './drifting-clock.js'
import type { CreateNode, Inspection } from './driven-node.js'
import { EnvelopeMemory } from './envelope-memory.js'
import { EventQueue } from './event-queue.js'
import { Host } from './host.js'
import { Network, type LinkQuality } from './network.js'
import type { Operation } from './operation.js'
import { Trace } from './trace.js'

/** What all nodes of a run have in common. */
export type ClusterConfig = Omit<NodeConfig, 'name' | 'address' | 'life' | 'seed' | 'join'>

export interface SimulationOptions {
  readonly seed: number
  readonly createNode: CreateNode
  readonly config: ClusterConfig
  readonly clock: ClockBounds
  readonly quality: LinkQuality
  readonly silenceMsMax: number
  readonly longTurns: number
  readonly onLine?: (line: string) => void
}

/** The other side sees the end of a link after this. */
const LINK_END_MS = 1
/** A node that may go stays this long, for those who do not know yet. */
const LINGER_MS = 500
const RETIRE_MS_MAX = 20_000
/** More than this in one virtual second is a storm that feeds itself. */
const EVENTS_PER_SECOND_MAX = 400_000
const POISON = 0xa5

export class Simulation {
  readonly queue = new EventQueue()
  readonly network: Network
  readonly trace: Trace
  readonly options: SimulationOptions
  /** For those who build the run, each fork its own concern. */
  readonly random: {
    readonly faults: Random
    readonly workload: Random
    readonly run: Random
  }
  readonly #hosts = new Map<string, Host>()
  readonly #listeners: ((node: string, event: NodeEvent) => void)[] = []
  readonly #crashListeners: ((name: string) => void)[] = []
  readonly #nodeRandom: Random
  readonly #clockRandom: Random
  readonly #clientRandom: Random
  readonly #memory = new EnvelopeMemory()
  #sessions = 0
  #lastLife = 0

  constructor(options: SimulationOptions) {
    this.options = options
    const root = new Random(options.seed)
    const networkRandom = root.fork()
    this.#nodeRandom = root.fork()
    this.#clockRandom = root.fork()
    this.#clientRandom = root.fork()
    this.random = { faults: root.fork(), workload: root.fork(), run: root.fork() }
    this.trace = new Trace(options.onLine)
    this.network = new Network({
      queue: this.queue,
      random: networkRandom,
      quality: options.quality,
      silenceMsMax: options.silenceMsMax,
      deliver: (from, to, envelope) => this.#deliver(from, to, envelope)
    })
  }

  get now(): number {
    return this.queue.now
  }

  /** Called with everything that nodes announce. A listener may not touch a node: it is in its turn. */
  listen(listener: (node: string, event: NodeEvent) => void): void {
    this.#listeners.push(listener)
  }

  /** Called just before a node loses its memory. */
  beforeCrash(listener: (name: string) => void): void {
    this.#crashListeners.push(listener)
  }

  note(where: string, what: string, detail: string | Operation): void {
    this.trace.add(this.now, where, what, detail)
  }

  get hosts(): readonly Host[] {
    return [...this.#hosts.values()]
  }

  findHost(name: string): Host | undefined {
    return this.#hosts.get(name)
  }

  host(name: string): Host {
    const host = this.#hosts.get(name)
    return host ?? fail(`no host ${name}`)
  }

  /** Nodes that run and are to stay. */
  get staying(): string[] {
    return this.hosts.filter((host) => host.node !== undefined && !host.leaving).map((h) => h.name)
  }

  /** Nodes a client knows of; some of them may be down. */
  get addresses(): string[] {
    return this.hosts.filter((host) => host.state !== 'left' && !host.leaving).map((h) => h.name)
  }

  /** Starts a node, or starts it again with nothing in its memory. */
  start(name: string, join: readonly string[]): void {
    const known = this.#hosts.get(name)
    assert(known?.node === undefined, `${name} runs already`)
    const host = known ?? this.#createHost(name)
    // Two processes of one name never begin in the same millisecond.
    this.#lastLife = Math.max(this.#lastLife + 1, Math.floor(host.localNow))
    host.life = this.#lastLife
    const config: NodeConfig = {
      ...this.options.config,
      name: nodeName(name),
      address: name,
      life: host.life,
      seed: this.#nodeRandom.uint32(),
      join
    }
    this.note(name, 'start', join.length === 0 ? 'alone' : `joins ${join.join(', ')}`)
    host.boot(this.options.createNode(config, this.#outboxOf(host)))
  }

  /** Takes its memory away, and with `power` also what its machine had not put on the wire yet. */
  crash(name: string, power = false): void {
    const host = this.host(name)
    for (const listener of this.#crashListeners) listener(name)
    this.note(name, 'crash', power ? 'power' : '')
    if (power) this.network.loseOnTheWay(name)
    else this.#breakLinks(name)
    this.#remove(host, 'down')
  }

  /** The process ended but its machine did not: it tells the others that their links are broken. */
  #breakLinks(name: string): void {
    for (const other of this.hosts) {
      if (other.name === name || other.node === undefined) continue
      if (!this.network.isOpen(name, other.name)) continue
      const { life } = other
      this.queue.after(LINK_END_MS, () => {
        if (other.life === life) other.input((node, now) => node.linkDown(name, now))
      })
    }
  }

  pause(name: string): void {
    this.note(name, 'pause', '')
    this.host(name).pause()
  }

  resume(name: string): void {
    const host = this.host(name)
    if (host.state !== 'paused') return
    this.note(name, 'resume', '')
    host.resume()
  }

  leave(name: string): void {
    const host = this.host(name)
    this.note(name, 'leave', '')
    host.leaving = true
    host.input((node, now) => node.leave(now))
  }

  connect(name: string, handlers: ConnectionHandlers): Connection | undefined {
    const host = this.#hosts.get(name)
    if (host?.node === undefined) return undefined
    return new Connection({
      session: ++this.#sessions,
      host,
      queue: this.queue,
      random: this.#clientRandom,
      handlers
    })
  }

  runFor(ms: number): void {
    this.runUntil(this.now + ms)
  }

  runUntil(time: number): void {
    let second = Math.floor(this.now / 1000)
    let events = 0
    while (this.queue.step(time)) {
      if (++events < EVENTS_PER_SECOND_MAX) continue
      const current = Math.floor(this.now / 1000)
      if (current === second) throw new RunawayError(`${events} events in one second`)
      second = current
      events = 0
    }
    this.queue.advance(time)
  }

  /** Runs in steps until the condition holds, and says whether it did in time. */
  runWhile(pending: () => boolean, options: { stepMs: number; limitMs: number }): boolean {
    const limit = this.now + options.limitMs
    while (pending()) {
      if (this.now >= limit) return false
      this.runUntil(Math.min(limit, this.now + options.stepMs))
    }
    return true
  }

  view(): ClusterView {
    const nodes: Inspection[] = []
    for (const host of this.#hosts.values()) {
      if (host.node !== undefined) nodes.push(host.node.inspect())
    }
    return { now: this.now, copies: this.options.config.copies, nodes, staying: this.staying }
  }

  #createHost(name: string): Host {
    const host = new Host({
      name,
      queue: this.queue,
      clock: new DriftingClock(this.options.clock, this.#clockRandom),
      random: this.#nodeRandom.fork(),
      longTurns: this.options.longTurns
    })
    this.#hosts.set(name, host)
    return host
  }

  #remove(host: Host, state: 'down' | 'left'): void {
    host.stop(state)
    const connections = [...host.connections.values()]
    host.connections.clear()
    for (const connection of connections) connection.sever()
  }

  #outboxOf(host: Host): Outbox {
    const { life } = host
    return {
      send: (address, envelope) =>
        this.network.send(host.name, address, this.#memory.copy(envelope)),
      output: (session, bytes) => host.connections.get(session)?.output(bytes),
      hangUp: (session) => host.connections.get(session)?.hangUp(),
      event: (event) => {
        this.note(host.name, event.kind, describeEvent(event))
        if (event.kind === 'mayGo') this.queue.after(0, () => this.#retire(host, life))
        for (const listener of this.#listeners) listener(host.name, event)
      }
    }
  }

  /** The node has nothing any more that others need: its clients go elsewhere, and then it stops. */
  #retire(host: Host, life: number): void {
    const deadline = this.now + RETIRE_MS_MAX
    for (const connection of host.connections.values()) connection.retire()
    const look = (): void => {
      if (host.life !== life || host.node === undefined) return
      if (host.connections.size > 0 && this.now < deadline) {
        this.queue.after(LINGER_MS, look)
        return
      }
      this.note(host.name, 'stop', '')
      this.#remove(host, 'left')
    }
    this.queue.after(LINGER_MS, look)
  }

  #deliver(from: string, to: string, envelope: Uint8Array): void {
    const host = this.#hosts.get(to)
    if (host?.node === undefined) return
    this.trace.add(this.now, to, `< ${from}`, envelope)
    host.input((node, now) => {
      node.receive(envelope, now)
      // A real driver uses the memory again: whatever was kept of it would be seen to change.
      envelope.fill(POISON)
      this.#memory.release(envelope)
    })
  }
}

/** The run makes events faster than time passes. */
export class RunawayError extends Error {
  override readonly name = 'RunawayError'
}

function describeEvent(event: NodeEvent): string {
  switch (event.kind) {
    case 'row': {
      const holders = [event.primary ?? 'nobody', ...event.backups].join(',')
      return `${event.bucket}@${event.epoch}=${holders}  (${event.reason})`
    }
    case 'stage': {
      const { bucket, role, from, to, stage, sent, reason } = event
      return `${stage}: ${role} of ${bucket} ${from} > ${to}, ${sent} sent  (${reason})`
    }
    case 'split':
      return `mask ${event.mask}  (${event.reason})`
    case 'voters': {
      const { version, settled, voters, reason } = event
      return `${version}=${voters.join(',')}${settled ? '' : ' unsettled'}  (${reason})`
    }
    case 'promoted':
      return `${event.bucket}@${event.epoch} instead of ${event.instead}`
    case 'conflict':
      return `${event.bucket} ${event.key}: ${event.keptVersion} over ${event.droppedVersion}`
    case 'lost':
      return `${event.bucket}@${event.epoch}`
    case 'peerError':
      return `${event.node}: ${event.reason}`
    case 'mayGo':
      return ''
    default:
      return event.node
  }
}
