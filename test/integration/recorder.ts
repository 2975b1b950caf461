/**
 * Clients that work on a few cells through real nodes and write down what they did, when, and what came of it, in the
 * words of the simulator's histories: the same checker then says whether one order of all of it explains every result.
 * A command that is not answered in time has an unknown outcome, and its connection is given up.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { RespConnection } from '../../src/cli/resp-connection.js'
import { RespError, type ReplyValue } from '../../src/wire/resp/reply-value.js'
import { judgeHistory } from '../../sim/checkers/linearizable.js'
import { describeOperation, type Action, type Operation, type Value } from '../../sim/operation.js'

const TIMEOUT_MS = 4000
const RECONNECT_MS = 100
const THINK_MS = 15
/** A search for an order grows with the length of the history, so a cell is left for the next one. */
const OPERATIONS_PER_CELL = 40

interface Draft {
  readonly action: Action
  readonly args: readonly string[]
  readonly read: (reply: ReplyValue) => Value
}

export class Recorder {
  readonly operations: Operation[] = []
  readonly #cells: number
  readonly #began = new Map<string, number>()
  readonly #working: Promise<void>[] = []
  #stopped = false
  #values = 0
  #generation = 0

  constructor(cells = 3) {
    this.#cells = cells
  }

  /** One client that works through this node until `stop`. */
  work(address: string): void {
    this.#working.push(this.#run(address, this.#working.length))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#working)
  }

  /** How many were answered, from this time on. */
  answeredSince(ms: number, client?: number): number {
    return this.operations.filter(
      (it) =>
        it.outcome.kind === 'ok' &&
        it.completedMs >= ms &&
        (client === undefined || it.client === client)
    ).length
  }

  /** The histories that no order explains, in words. */
  contradictions(): string[] {
    const histories = new Map<string, Operation[]>()
    for (const operation of this.operations) {
      const history = histories.get(operation.place) ?? []
      histories.set(operation.place, history)
      history.push(operation)
    }
    return [...histories.values()]
      .filter((history) => judgeHistory(history) === 'wrong')
      .map((history) => history.map(describeOperation).join('\n'))
  }

  async #run(address: string, client: number): Promise<void> {
    let connection: RespConnection | undefined
    while (!this.#stopped) {
      try {
        connection ??= await RespConnection.open(address, 1000)
      } catch {
        await pause(RECONNECT_MS)
        continue
      }
      if (!(await this.#act(connection, client))) {
        connection.close()
        connection = undefined
      }
      await pause(THINK_MS)
    }
    connection?.close()
  }

  /** False if the connection is of no use any more. */
  async #act(connection: RespConnection, client: number): Promise<boolean> {
    const place = this.#drawCell()
    const { action, args, read } = this.#draw(place, client)
    const operation: Operation = {
      id: this.operations.length,
      client,
      family: 'cell',
      key: place,
      place,
      action,
      args,
      invokedMs: performance.now(),
      completedMs: Infinity,
      outcome: { kind: 'pending' }
    }
    this.operations.push(operation)
    const timer = new AbortController()
    const late = pause(TIMEOUT_MS, 'late' as const, { signal: timer.signal }).catch(
      () => 'late' as const
    )
    try {
      const reply = await Promise.race([connection.call(...args), late])
      operation.completedMs = performance.now()
      if (reply === 'late') {
        operation.outcome = { kind: 'unknown', why: 'timeout', text: '' }
        return false
      }
      operation.outcome = { kind: 'ok', value: read(reply) }
      return true
    } catch (error) {
      operation.completedMs = performance.now()
      const text = error instanceof Error ? error.message : String(error)
      operation.outcome = { kind: 'unknown', why: 'reply', text }
      return error instanceof RespError
    } finally {
      timer.abort()
    }
  }

  #drawCell(): string {
    const number = this.operations.length % this.#cells
    const name = (): string => `cell:${number}:${this.#generation}`
    const used = this.#began.get(name()) ?? 0
    if (used >= OPERATIONS_PER_CELL) this.#generation++
    this.#began.set(name(), (this.#began.get(name()) ?? 0) + 1)
    return name()
  }

  #draw(key: string, client: number): Draft {
    const value = `v${++this.#values}-${client}`
    const isDone = (reply: ReplyValue): Value => reply === 'OK'
    switch ((this.#values * 7 + client) % 5) {
      case 0:
        return { action: { kind: 'assign', value }, args: ['SET', key, value], read: () => true }
      case 1:
        return { action: { kind: 'create', value }, args: ['SET', key, value, 'NX'], read: isDone }
      case 2:
        return { action: { kind: 'erase' }, args: ['DEL', key], read: (reply) => reply === 1 }
      default:
        return {
          action: { kind: 'read' },
          args: ['GET', key],
          read: (reply) => (typeof reply === 'string' ? reply : null)
        }
    }
  }
}
