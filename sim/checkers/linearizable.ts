/**
 * Histories with several writers are linearizable: there is one order of all operations on a place that respects
 * real time and in which each returns what it returned. Where there is none, the history is cut at the first reply that
 * no order explains, and what is shown is that reply behind an order of everything before it.
 *
 * The search is exponential in how many operations overlap, so places are left after some dozens of operations
 * (see the family that makes them) and the steps are bounded; a history that is not decided within the bound is counted.
 */
import { describeOperation, type Operation } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'
import { OrderSearch, type Verdict } from './order-search.js'

const SHOWN_MAX = 40

export class LinearizabilityChecker implements Checker {
  readonly name = 'histories of each key are linearizable'
  /** Histories whose search was given up. */
  undecided = 0
  readonly #family: string
  readonly #histories = new Map<string, Operation[]>()

  constructor(family: string) {
    this.#family = family
  }

  onInvoke(operation: Operation): void {
    if (operation.family !== this.#family) return
    const history = this.#histories.get(operation.place)
    if (history === undefined) this.#histories.set(operation.place, [operation])
    else history.push(operation)
  }

  /** The history of this place is broken, and nobody is to blame. */
  forget(place: string): void {
    this.#histories.delete(place)
  }

  onEnd(): void {
    for (const [place, history] of this.#histories) {
      const verdict = judgeHistory(history)
      if (verdict === 'undecided') this.undecided++
      if (verdict !== 'wrong') continue
      throw new BrokenPromise(this.name, `${place}: ${describeBreak(findBreak(history))}`)
    }
    this.#histories.clear()
  }
}

export function judgeHistory(history: readonly Operation[]): Verdict {
  return new OrderSearch(history).run()
}

interface Break {
  /** The first reply that no order explains. */
  readonly reply: Operation
  /** An order that explains everything that was answered before. */
  readonly before: readonly Operation[]
}

/**
 * Of a history that is wrong. What is wrong up to some moment is wrong up to each later one, so the moment is searched by
 * halves.
 */
export function findBreak(history: readonly Operation[]): Break {
  const replies = history
    .filter(({ outcome }) => outcome.kind === 'ok')
    .sort((a, b) => a.completedMs - b.completedMs)
  let [right, wrong] = [-1, replies.length - 1]
  while (wrong - right > 1) {
    const middle = Math.floor((right + wrong) / 2)
    const verdict = judgeHistory(until(history, replies[middle].completedMs))
    if (verdict === 'wrong') wrong = middle
    else right = middle
  }
  const search = new OrderSearch(right < 0 ? [] : until(history, replies[right].completedMs))
  search.run()
  return { reply: replies[wrong], before: search.order }
}

/** What was known at that moment: whatever had not been answered may have happened or not. */
function until(history: readonly Operation[], ms: number): Operation[] {
  return history
    .filter(({ invokedMs }) => invokedMs <= ms)
    .map((operation) =>
      operation.completedMs <= ms
        ? operation
        : { ...operation, completedMs: Infinity, outcome: { kind: 'pending' } }
    )
}

function describeBreak({ reply, before }: Break): string {
  const shown = before.slice(-SHOWN_MAX).map((operation) => `\n  ${describeOperation(operation)}`)
  const more = before.length > shown.length ? ` (the last ${shown.length})` : ''
  const order = `this order explains all that was answered before${more}:${shown.join('')}`
  return `no order explains\n  ${describeOperation(reply)}\n${order}`
}
