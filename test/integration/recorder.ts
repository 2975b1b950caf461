/**
 * Clients that work through real nodes and write down what they did, when, and what came of it,
 * in the words of the simulator's histories. What they do is drawn by the simulator's own
 * families (cells that everybody writes, with compare-and-set, and counters), and what came of
 * it is judged by its checkers: whether one order of all of it explains every result of a cell,
 * and whether every acknowledged increment was counted once. A command that is not answered in
 * time has an unknown outcome, and its connection is given up.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { RespConnection } from '../../src/cli/resp-connection.js'
import { Random } from '../../src/core/random.js'
import { BrokenPromise, type Checker } from '../../sim/checkers/checker.js'
import { CounterChecker } from '../../sim/checkers/counter.js'
import { judgeHistory } from '../../sim/checkers/linearizable.js'
import { NoRefusalChecker } from '../../sim/checkers/no-refusal.js'
import type { Draft } from '../../sim/client.js'
import { CellFamily } from '../../sim/families/cells.js'
import { CounterFamily } from '../../sim/families/counters.js'
import type { Family } from '../../sim/families/family.js'
import { describeOperation, type Operation, type Outcome } from '../../sim/operation.js'

const TIMEOUT_MS = 4000
const RECONNECT_MS = 100
const THINK_MS = 15
const CELLS = 2
const COUNTERS = 2
const COUNTER_CHANCE = 0.4
/** Replies that say that the outcome is not known; any other error says that nothing was done. */
const DOUBT = /^OC_(UNKNOWN|TIMEOUT)\b/
/** Everything is read back once more at the end; whoever cannot answer now is asked again. */
const READ_BACK_TRIES = 20

export class Recorder {
  readonly operations: Operation[] = []
  readonly #random = new Random(1)
  readonly #cells = new CellFamily(CELLS)
  readonly #counters = new CounterFamily(COUNTERS)
  readonly #checkers: readonly Checker[] = [
    new CounterChecker('counter'),
    // Nodes are stopped and cut off under these clients, so an outcome may be unknown; but nothing
    // is refused.
    new NoRefusalChecker(() => true)
  ]
  readonly #broken: string[] = []
  readonly #working: Promise<void>[] = []
  #stopped = false

  /** One client that works through this node until `stop`. */
  work(address: string): void {
    this.#working.push(this.#run(address, this.#working.length))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#working)
  }

  /** Reads everything that was ever written through this node, so that what is missing shows. */
  async readBack(address: string): Promise<void> {
    const client = this.#working.length
    const connection = await RespConnection.open(address)
    try {
      for (const draft of [...this.#cells.drawFinalReads(), ...this.#counters.drawFinalReads()]) {
        await this.#insist(connection, client, draft)
      }
    } finally {
      connection.close()
    }
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

  /** What was not answered, or not with what was asked for, in words. */
  unanswered(): string[] {
    return this.operations.filter(({ outcome }) => outcome.kind !== 'ok').map(describeOperation)
  }

  /**
   * In words: the histories that no order explains, the counters that do not count, whatever was
   * refused, and the histories of which the search could not say whether an order explains them,
   * since these show nothing.
   */
  contradictions(): string[] {
    const histories = new Map<string, Operation[]>()
    for (const operation of this.operations) {
      if (operation.family !== this.#cells.name) continue
      const history = histories.get(operation.place) ?? []
      histories.set(operation.place, history)
      history.push(operation)
    }
    const judged = [...histories.values()].flatMap((history) => {
      const verdict = judgeHistory(history)
      return verdict === 'right' ? [] : [[verdict, ...history.map(describeOperation)].join('\n')]
    })
    return [...this.#broken, ...judged]
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
      const { kind } = await this.#act(connection, client, this.#draw(client))
      if (kind !== 'ok') {
        connection.close()
        connection = undefined
      }
      await think()
    }
    connection?.close()
  }

  #draw(client: number): Draft {
    const family = this.#random.chance(COUNTER_CHANCE) ? this.#counters : this.#cells
    return family.draw(client, this.#random)
  }

  async #insist(connection: RespConnection, client: number, draft: Draft): Promise<void> {
    for (let tried = 0; tried < READ_BACK_TRIES; tried++) {
      if ((await this.#act(connection, client, draft)).kind === 'ok') return
    }
    throw new Error(`${draft.args.join(' ')} was not answered`)
  }

  async #act(connection: RespConnection, client: number, draft: Draft): Promise<Outcome> {
    const { family, key, place, action, args } = draft
    const operation: Operation = {
      ...{ id: this.operations.length, client, family, key, place, action, args },
      invokedMs: performance.now(),
      completedMs: Infinity,
      outcome: { kind: 'pending' }
    }
    this.operations.push(operation)
    this.#tell((checker) => checker.onInvoke?.(operation))
    operation.outcome = await perform(connection, draft)
    operation.completedMs = performance.now()
    this.#familyOf(operation).onComplete(operation)
    this.#tell((checker) => checker.onComplete?.(operation))
    return operation.outcome
  }

  #familyOf({ family }: Operation): Family {
    return family === this.#cells.name ? this.#cells : this.#counters
  }

  /** A checker throws where a promise is broken; the clients go on, and the end tells. */
  #tell(act: (checker: Checker) => void): void {
    for (const checker of this.#checkers) {
      try {
        act(checker)
      } catch (error) {
        if (!(error instanceof BrokenPromise)) throw error
        this.#broken.push(`${error.promise}: ${error.message}`)
      }
    }
  }
}

/** Until the next moment at which all act: only what overlaps can come out wrong. */
function think(): Promise<void> {
  return pause(Math.ceil(THINK_MS - (performance.now() % THINK_MS)))
}

async function perform(connection: RespConnection, { args, read }: Draft): Promise<Outcome> {
  const timer = new AbortController()
  const late = pause(TIMEOUT_MS, undefined, { signal: timer.signal }).then(
    () => ({ kind: 'unknown', why: 'timeout', text: '' }) as const,
    () => ({ kind: 'pending' }) as const
  )
  const answered = connection.call(...args).then(
    (reply): Outcome => {
      const value = read(reply)
      if (value !== undefined) return { kind: 'ok', value }
      return { kind: 'error', text: `a reply of the wrong kind: ${typeof reply}` }
    },
    (error: unknown): Outcome => outcomeOf(error, connection)
  )
  try {
    return await Promise.race([answered, late])
  } finally {
    timer.abort()
  }
}

/** What a connection that ended says begins with its address; all else is the node's answer. */
function outcomeOf(error: unknown, { address }: RespConnection): Outcome {
  const text = error instanceof Error ? error.message : String(error)
  if (text.startsWith(`${address}: `)) return { kind: 'unknown', why: 'cut', text }
  return DOUBT.test(text) ? { kind: 'unknown', why: 'reply', text } : { kind: 'error', text }
}
