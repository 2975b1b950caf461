/**
 * Histories with several writers are linearizable: there is one order of all operations on a place that respects
 * real time and in which each returns what it returned. The search is Wing and Gong's with a memory of
 * what was tried (Lowe): an operation can be next if no other one that is still to be placed had ended before it
 * began. Operations of unknown outcome may be placed anywhere after their beginning, or nowhere.
 *
 * The search is exponential in how many operations overlap, so places are left after some dozens of operations
 * (see the family that makes them) and the steps are bounded; a history that is not decided within the bound is counted.
 */
import { describeOperation, type Action, type Operation, type Value } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'

const STEPS_MAX = 200_000
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

  onEnd(): void {
    for (const [place, history] of this.#histories) {
      const verdict = judgeHistory(history)
      if (verdict === 'undecided') this.undecided++
      if (verdict !== 'wrong') continue
      const lines = history.slice(-SHOWN_MAX).map((operation) => describeOperation(operation))
      const text = `${place}: no order of these explains their results:\n  ${lines.join('\n  ')}`
      throw new BrokenPromise(this.name, text)
    }
    this.#histories.clear()
  }
}

type State = string | null

export function judgeHistory(history: readonly Operation[]): 'right' | 'wrong' | 'undecided' {
  const operations = history.filter(
    ({ outcome, action }) =>
      outcome.kind === 'ok' || (outcome.kind !== 'error' && action.kind !== 'read')
  )
  return new Search(operations).run()
}

class Search {
  readonly #operations: readonly Operation[]
  readonly #ends: readonly number[]
  /** How many must be placed: those that are known to have happened. */
  readonly #needed: number
  readonly #placed: boolean[]
  readonly #tried = new Set<string>()
  #steps = 0

  constructor(operations: readonly Operation[]) {
    this.#operations = [...operations].sort((a, b) => a.invokedMs - b.invokedMs)
    this.#ends = this.#operations.map((it) =>
      it.outcome.kind === 'ok' ? it.completedMs : Infinity
    )
    this.#needed = this.#operations.filter((it) => it.outcome.kind === 'ok').length
    this.#placed = this.#operations.map(() => false)
  }

  run(): 'right' | 'wrong' | 'undecided' {
    const found = this.#place(null, 0)
    if (found) return 'right'
    return this.#steps >= STEPS_MAX ? 'undecided' : 'wrong'
  }

  #place(state: State, done: number): boolean {
    if (done === this.#needed) return true
    if (++this.#steps >= STEPS_MAX) return false
    const memory = `${this.#placed.map(Number).join('')}|${state ?? ''}`
    if (this.#tried.has(memory)) return false
    this.#tried.add(memory)
    const limit = this.#earliestEnd()
    for (let i = 0; i < this.#operations.length; i++) {
      if (this.#placed[i]) continue
      const operation = this.#operations[i]
      if (operation.invokedMs > limit) break
      const next = apply(operation, state)
      if (next === undefined) continue
      const isKnown = operation.outcome.kind === 'ok'
      // An unknown operation that changes nothing need not be placed.
      if (!isKnown && next === state) continue
      this.#placed[i] = true
      if (this.#place(next, done + (isKnown ? 1 : 0))) return true
      this.#placed[i] = false
    }
    return false
  }

  #earliestEnd(): number {
    let earliest = Infinity
    for (let i = 0; i < this.#ends.length; i++) {
      if (!this.#placed[i] && this.#ends[i] < earliest) earliest = this.#ends[i]
    }
    return earliest
  }
}

/** The state after the operation, or undefined where it cannot have returned what it returned. */
function apply({ action, outcome }: Operation, state: State): State | undefined {
  const [next, value] = execute(action, state)
  if (outcome.kind === 'ok' && outcome.value !== value) return undefined
  return next
}

function execute(action: Action, state: State): [State, Value] {
  switch (action.kind) {
    case 'read':
      return [state, state]
    case 'assign':
      return [action.value, true]
    case 'create':
      return state === null ? [action.value, true] : [state, false]
    case 'swap':
      return state === action.expected ? [action.value, true] : [state, false]
    case 'erase':
      return [null, state !== null]
    default:
      return [state, null]
  }
}
