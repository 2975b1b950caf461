/** Clients of a ring: each asks some node for one thing at a time, with the quorums of the key. */
import { latin1Bytes, latin1String } from '../../src/core/bytes.js'
import type { Random } from '../../src/core/random.js'
import type { Connection } from '../connection.js'
import type { Simulation } from '../simulator.js'
import type { RingCall, RingReply } from './driven-ring.js'

/** What has a time limit is gone this long after it at the latest: clocks differ. */
export const TTL_SLACK_MS = 1500

export interface Quorum {
  readonly from: number
  readonly write: number
  readonly read: number
}

export interface RingOperation {
  readonly client: number
  readonly call: RingCall
  readonly invokedMs: number
  completedMs: number
  /** Undefined: nobody knows. */
  reply: RingReply | undefined
}

export interface RingWorkloadOptions {
  readonly clients: number
  readonly keys: number
  readonly thinkMs: number
  /** The share of requests that read. */
  readonly reads: number
  readonly timeoutMs: number
  readonly quorums: readonly Quorum[]
  /** Whether a node takes clients: one that is not part of the ring yet does not. */
  readonly isServing: (name: string) => boolean
  readonly onInvoke: (operation: RingOperation) => void
  readonly onComplete: (operation: RingOperation) => void
}

/** Every pair of quorums that must intersect, and writes that must intersect each other: for two and three copies. */
/** One copy: not lost while nobody crashes. */
export const LONE_QUORUM: Quorum = { from: 1, write: 1, read: 1 }

export const QUORUMS: readonly Quorum[] = [
  { from: 2, write: 2, read: 1 },
  { from: 2, write: 2, read: 2 },
  { from: 3, write: 2, read: 2 },
  { from: 3, write: 2, read: 2 },
  { from: 3, write: 2, read: 3 },
  { from: 3, write: 3, read: 1 }
]

export class RingWorkload {
  readonly keys: readonly string[]
  operations = 0
  unknown = 0
  refused = 0
  readonly #simulation: Simulation
  readonly #options: RingWorkloadOptions
  readonly #quorums = new Map<string, Quorum>()
  readonly #clients: Client[] = []
  #stopped = false

  constructor(simulation: Simulation, options: RingWorkloadOptions) {
    this.#simulation = simulation
    this.#options = options
    this.keys = Array.from({ length: options.keys }, (_, i) => `key${i}`)
    const random = simulation.random.workload
    for (const key of this.keys) this.#quorums.set(key, random.pick(options.quorums))
    for (let i = 0; i < options.clients; i++) {
      this.#clients.push(new Client(i, this, simulation, random.fork()))
    }
  }

  get idle(): boolean {
    return this.#clients.every((client) => client.idle)
  }

  start(): void {
    for (const client of this.#clients) client.think()
  }

  stop(): void {
    this.#stopped = true
  }

  cutSomebody(random: Random): void {
    random.pick(this.#clients).cut()
  }

  get stopped(): boolean {
    return this.#stopped
  }

  get options(): RingWorkloadOptions {
    return this.#options
  }

  quorumOf(key: string): Quorum {
    return this.#quorums.get(key) ?? this.#options.quorums[0]
  }

  draw(client: number, random: Random, serial: number): RingCall {
    const key = random.pick(this.keys)
    const { from, write, read } = this.quorumOf(key)
    const kind = random.chance(this.#options.reads) ? 'get' : random.chance(0.2) ? 'delete' : 'put'
    const isTimed = kind === 'put' && random.chance(0.15)
    const ttlMs = isTimed ? random.pick([200, 1000, 5000]) : 0
    const ack = kind === 'get' ? read : write
    return { kind, key, value: `${client}.${serial}`, from, ack, ttlMs }
  }

  /** Reads every key once, through some node, until it is answered. */
  readBack(onRead: (operation: RingOperation) => void): void {
    this.#stopped = false
    const rest = [...this.keys]
    for (const client of this.#clients) client.readAll(rest, onRead)
  }

  invoked(operation: RingOperation): void {
    this.operations++
    this.#simulation.note(`client ${operation.client}`, 'ask', JSON.stringify(operation.call))
    this.#options.onInvoke(operation)
  }

  completed(operation: RingOperation): void {
    const { reply } = operation
    if (reply === undefined) this.unknown++
    else if (reply.status >= 400 && reply.status !== 404) this.refused++
    this.#simulation.note(`client ${operation.client}`, 'got', JSON.stringify(reply ?? 'nothing'))
    this.#options.onComplete(operation)
  }
}

class Client {
  readonly #number: number
  readonly #workload: RingWorkload
  readonly #simulation: Simulation
  readonly #random: Random
  #connection: Connection | undefined
  #operation: RingOperation | undefined
  #serial = 0
  #reading: { rest: string[]; onRead: (operation: RingOperation) => void } | undefined

  constructor(number: number, workload: RingWorkload, simulation: Simulation, random: Random) {
    this.#number = number
    this.#workload = workload
    this.#simulation = simulation
    this.#random = random
  }

  get idle(): boolean {
    return this.#operation === undefined
  }

  cut(): void {
    this.#connection?.cut()
  }

  think(): void {
    const { thinkMs } = this.#workload.options
    this.#simulation.queue.after(this.#random.fraction() * 2 * thinkMs, () => this.#act())
  }

  readAll(rest: string[], onRead: (operation: RingOperation) => void): void {
    this.#reading = { rest, onRead }
    this.#act()
  }

  #act(): void {
    const workload = this.#workload
    if (workload.stopped || this.#operation !== undefined) return
    const { addresses } = this.#simulation
    if (this.#connection === undefined || this.#connection.closed || this.#random.chance(0.1)) {
      this.#connection?.close()
      this.#connection = this.#connect(addresses)
    }
    if (this.#connection === undefined) {
      this.think()
      return
    }
    const call = this.#drawCall()
    if (call === undefined) return
    const invokedMs = this.#simulation.now
    const operation = {
      client: this.#number,
      call,
      invokedMs,
      completedMs: Infinity,
      reply: undefined
    }
    this.#operation = operation
    workload.invoked(operation)
    this.#connection.send(latin1Bytes(JSON.stringify(call)))
    this.#simulation.queue.after(workload.options.timeoutMs, () => this.#end(operation, undefined))
  }

  #drawCall(): RingCall | undefined {
    if (this.#reading === undefined) {
      return this.#workload.draw(this.#number, this.#random, ++this.#serial)
    }
    const key = this.#reading.rest.pop()
    if (key === undefined) return undefined
    const { from, read } = this.#workload.quorumOf(key)
    return { kind: 'get', key, value: '', from, ack: read, ttlMs: 0 }
  }

  #connect(addresses: readonly string[]): Connection | undefined {
    if (addresses.length === 0) return undefined
    const address = this.#random.pick(addresses)
    if (!this.#workload.options.isServing(address)) return undefined
    const connection = this.#simulation.connect(address, {
      onBytes: (bytes) => {
        const reply = JSON.parse(latin1String(bytes, 0, bytes.length)) as RingReply
        if (this.#connection === connection && this.#operation !== undefined) {
          this.#end(this.#operation, reply)
        }
      },
      onClosed: () => {
        if (this.#connection === connection && this.#operation !== undefined) {
          this.#end(this.#operation, undefined)
        }
      },
      onRetire: () => {
        if (this.#operation === undefined) connection?.close()
      }
    })
    return connection
  }

  #end(operation: RingOperation, reply: RingReply | undefined): void {
    if (this.#operation !== operation) return
    this.#operation = undefined
    operation.completedMs = this.#simulation.now
    operation.reply = reply
    if (reply === undefined) {
      this.#connection?.close()
      this.#connection = undefined
    }
    this.#workload.completed(operation)
    const reading = this.#reading
    if (reading !== undefined) {
      const isRead = reply?.status === 200 || reply?.status === 404
      if (isRead) reading.onRead(operation)
      else reading.rest.push(operation.call.key)
    }
    this.think()
  }
}
