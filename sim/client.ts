/**
 * A client of the cluster: it speaks RESP to one node at a time, has one or a few requests under way, waits
 * between them, and looks for another node when its connection ends or an answer does not come. What it does not know
 * the outcome of, it never sends again: that is the caller's decision.
 */
import { latin1Bytes } from '../src/core/bytes.js'
import type { Random } from '../src/core/random.js'
import { ReplyParser } from '../src/wire/resp/reply-parser.js'
import { RespError, type ReplyValue } from '../src/wire/resp/reply-value.js'
import type { Connection } from './connection.js'
import type { QueuedEvent } from './event-queue.js'
import { type Action, type Operation, type Outcome, type Value } from './operation.js'
import type { Simulation } from './simulator.js'

/** An operation that is not sent yet. */
export interface Draft {
  readonly family: string
  readonly key: string
  readonly place: string
  readonly action: Action
  readonly args: readonly string[]
  /** What the reply means; anything that it cannot mean is `undefined`. */
  readonly read: (reply: ReplyValue) => Value | undefined
}

export interface ClientOptions {
  readonly id: number
  readonly simulation: Simulation
  readonly random: Random
  /** Between two requests, on the average. */
  readonly thinkMs: number
  /** Requests sent at once, at the most. */
  readonly pipeline: number
  readonly timeoutMs: number
  /** Sent first on every connection. */
  readonly greeting: Draft | undefined
  readonly nextId: () => number
  /** What to do next; undefined: nothing. */
  readonly draw: (client: Client) => Draft | undefined
  readonly onInvoke: (operation: Operation) => void
  readonly onComplete: (operation: Operation) => void
  /** What it was told without asking. */
  readonly onPush?: (client: number, push: readonly ReplyValue[]) => void
  /** Its connection has ended, by whomever. */
  readonly onEnd?: (client: number) => void
}

interface Sent {
  readonly operation: Operation
  readonly draft: Draft
  readonly timer: QueuedEvent
}

/** Between an end and a new connection. */
const RECONNECT_MS_MAX = 50
/** Errors that say that the outcome is not known. */
const DOUBTS = new Set(['OC_UNKNOWN', 'OC_TIMEOUT'])
/** One request in so many arrives in two pieces. */
const PIECES_CHANCE = 0.05
const WANDER_CHANCE = 0.003

export class Client {
  readonly id: number
  /** Between two requests, on the average. */
  thinkMs: number
  readonly #options: ClientOptions
  readonly #name: string
  #connection: Connection | undefined
  #parser = this.#createParser()
  #sent: Sent[] = []
  #retiring = false
  #active = true
  #timer: QueuedEvent | undefined

  constructor(options: ClientOptions) {
    this.id = options.id
    this.thinkMs = options.thinkMs
    this.#options = options
    this.#name = `client ${options.id}`
    this.#think()
  }

  get busy(): boolean {
    return this.#sent.length > 0
  }

  /** Begins nothing new. */
  rest(): void {
    this.#active = false
  }

  /** Goes on after a rest. */
  wake(): void {
    this.#active = true
    this.#think(0)
  }

  /** Its connection is cut by somebody. */
  cut(): void {
    this.#connection?.cut()
  }

  /** Where it is connected to, if it is. */
  get nodeName(): string | undefined {
    return this.#connection?.hostName
  }

  #think(ms = -Math.log(1 - this.#options.random.fraction()) * this.thinkMs): void {
    const { queue } = this.#options.simulation
    if (this.#timer !== undefined) queue.cancel(this.#timer)
    this.#timer = queue.after(ms, () => {
      this.#timer = undefined
      this.#act()
    })
  }

  #act(): void {
    if (!this.#active || this.busy) return
    const { random, pipeline } = this.#options
    if (this.#connection !== undefined && random.chance(WANDER_CHANCE)) this.#disconnect()
    if (this.#connection === undefined) {
      this.#connect()
      return
    }
    if (this.#retiring) return
    const count = random.between(1, pipeline)
    const drafts: Draft[] = []
    for (let i = 0; i < count; i++) {
      const draft = this.#options.draw(this)
      if (draft === undefined) break
      this.#invoke(draft)
      drafts.push(draft)
    }
    if (drafts.length === 0) this.#think()
    else this.#transmit(drafts)
  }

  #connect(): void {
    const { simulation, random, greeting } = this.#options
    const addresses = simulation.addresses
    const name = addresses.length === 0 ? undefined : random.pick(addresses)
    this.#parser = this.#createParser()
    this.#retiring = false
    let connection: Connection | undefined = undefined
    const isCurrent = (): boolean => connection !== undefined && connection === this.#connection
    connection =
      name === undefined
        ? undefined
        : simulation.connect(name, {
            onBytes: (bytes) => isCurrent() && this.#parser.push(bytes),
            onClosed: () => isCurrent() && this.#lose('cut'),
            onRetire: () => isCurrent() && this.#retire()
          })
    this.#connection = connection
    if (connection === undefined) {
      this.#think(random.fraction() * RECONNECT_MS_MAX)
      return
    }
    if (greeting !== undefined) {
      this.#invoke(greeting)
      this.#transmit([greeting])
    } else {
      this.#think(0)
    }
  }

  #invoke(draft: Draft): void {
    const { simulation, nextId, timeoutMs, onInvoke } = this.#options
    const operation: Operation = {
      id: nextId(),
      client: this.id,
      family: draft.family,
      key: draft.key,
      place: draft.place,
      action: draft.action,
      args: draft.args,
      invokedMs: simulation.now,
      completedMs: Infinity,
      outcome: { kind: 'pending' }
    }
    const timer = simulation.queue.after(timeoutMs, () => this.#lose('timeout'))
    this.#sent.push({ operation, draft, timer })
    onInvoke(operation)
  }

  #transmit(drafts: readonly Draft[]): void {
    const bytes = encodeRequests(drafts)
    const { random } = this.#options
    if (random.chance(PIECES_CHANCE)) {
      const middle = random.below(bytes.length)
      this.#connection?.send(bytes.subarray(0, middle))
      this.#connection?.send(bytes.subarray(middle))
    } else {
      this.#connection?.send(bytes)
    }
  }

  #createParser(): ReplyParser {
    return new ReplyParser({
      onReply: (reply) => this.#receive(reply),
      onPush: (push) => this.#options.onPush?.(this.id, push)
    })
  }

  #receive(reply: ReplyValue): void {
    const sent = this.#sent.shift()
    if (sent === undefined)
      throw new UnaskedReply(`client ${this.id} got a reply it did not ask for`)
    this.#options.simulation.queue.cancel(sent.timer)
    this.#complete(sent.operation, outcomeOf(reply, sent.draft))
    if (this.busy) return
    if (this.#retiring) {
      this.#disconnect()
      this.#think(0)
    } else {
      this.#think()
    }
  }

  #complete(operation: Operation, outcome: Outcome): void {
    const { simulation, onComplete } = this.#options
    operation.completedMs = simulation.now
    operation.outcome = outcome
    simulation.note(this.#name, 'did', operation)
    onComplete(operation)
  }

  /** Nothing more is to be expected of this connection. */
  #lose(why: 'timeout' | 'cut'): void {
    const text = this.#connection?.hostName ?? ''
    this.#disconnect()
    const lost = this.#sent
    this.#sent = []
    for (const { timer } of lost) this.#options.simulation.queue.cancel(timer)
    for (const { operation } of lost) this.#complete(operation, { kind: 'unknown', why, text })
    this.#think(this.#options.random.fraction() * RECONNECT_MS_MAX)
  }

  #retire(): void {
    this.#retiring = true
    if (this.busy) return
    this.#disconnect()
    this.#think(0)
  }

  #disconnect(): void {
    const connection = this.#connection
    this.#connection = undefined
    connection?.close()
    this.#options.onEnd?.(this.id)
  }
}

/** A node answered more than it was asked. */
export class UnaskedReply extends Error {
  override readonly name = 'UnaskedReply'
}

function outcomeOf(reply: ReplyValue, draft: Draft): Outcome {
  if (reply instanceof RespError) {
    if (DOUBTS.has(reply.code)) return { kind: 'unknown', why: 'reply', text: reply.text }
    return { kind: 'error', text: reply.text }
  }
  const value = draft.read(reply)
  if (value === undefined)
    return { kind: 'error', text: `a reply of the wrong kind: ${typeof reply}` }
  return { kind: 'ok', value }
}

export function encodeRequests(
  drafts: readonly { readonly args: readonly string[] }[]
): Uint8Array {
  let text = ''
  for (const { args } of drafts) {
    text += `*${args.length}\r\n`
    for (const arg of args) text += `$${arg.length}\r\n${arg}\r\n`
  }
  return latin1Bytes(text)
}
