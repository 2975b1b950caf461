/**
 * The search for an order that explains a history: Wing and Gong's with a memory of what was tried (Lowe). An operation can
 * be next if no other one that is still to be placed had ended before it began. Operations of unknown outcome may be
 * placed anywhere after their beginning, or nowhere.
 */
import type { Action, Operation, Value } from '../operation.js'

const STEPS_MAX = 200_000

type State = string | null

export type Verdict = 'right' | 'wrong' | 'undecided'

export class OrderSearch {
  readonly #operations: readonly Operation[]
  readonly #ends: readonly number[]
  /** How many must be placed: those that are known to have happened. */
  readonly #needed: number
  readonly #placed: boolean[]
  readonly #tried = new Set<string>()
  /** As far as it is explained. */
  readonly order: Operation[] = []
  #steps = 0

  constructor(history: readonly Operation[]) {
    const operations = history.filter(
      ({ outcome, action }) =>
        outcome.kind === 'ok' || (outcome.kind !== 'error' && action.kind !== 'read')
    )
    this.#operations = operations.sort((a, b) => a.invokedMs - b.invokedMs)
    this.#ends = this.#operations.map((it) =>
      it.outcome.kind === 'ok' ? it.completedMs : Infinity
    )
    this.#needed = this.#operations.filter((it) => it.outcome.kind === 'ok').length
    this.#placed = this.#operations.map(() => false)
  }

  run(): Verdict {
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
      this.order.push(operation)
      if (this.#place(next, done + (isKnown ? 1 : 0))) return true
      this.order.pop()
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
