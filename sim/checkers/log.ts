/**
 * Logs only grow: every acknowledged piece is there exactly once, and whatever a completed read has shown is the
 * beginning of what every later one shows. A piece acknowledged before another was issued stands before it. Pieces
 * of unknown outcome are there once or not at all, and may come late.
 */
import { describeOperation, type Operation } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'

interface Log {
  /** What the longest completed read has shown. */
  shown: readonly string[]
  readonly appends: Map<string, Operation>
  /** Acknowledged, in the order of acknowledgement. */
  readonly acknowledged: Operation[]
}

interface Began {
  readonly shown: readonly string[]
  readonly acknowledged: number
}

export class LogChecker implements Checker {
  readonly name = 'logs hold every acknowledged piece once and in order'
  readonly #family: string
  readonly #logs = new Map<string, Log>()
  readonly #began = new Map<number, Began>()

  constructor(family: string) {
    this.#family = family
  }

  onInvoke(operation: Operation): void {
    if (operation.family !== this.#family) return
    const log = this.#log(operation.place)
    const { action } = operation
    if (action.kind === 'append') log.appends.set(action.piece, operation)
    else {
      this.#began.set(operation.id, { shown: log.shown, acknowledged: log.acknowledged.length })
    }
  }

  onComplete(operation: Operation): void {
    if (operation.family !== this.#family) return
    const log = this.#log(operation.place)
    const { action, outcome } = operation
    if (action.kind === 'append') {
      if (outcome.kind === 'ok') log.acknowledged.push(operation)
      return
    }
    const began = this.#began.get(operation.id)
    this.#began.delete(operation.id)
    if (outcome.kind !== 'ok' || began === undefined) return
    const pieces = outcome.value ?? []
    if (typeof pieces !== 'object') this.#fail(operation, 'this is no log')
    this.#judge(operation, log, pieces, began)
    if (pieces.length > log.shown.length) log.shown = pieces
  }

  #judge(operation: Operation, log: Log, pieces: readonly string[], began: Began): void {
    for (let i = 0; i < began.shown.length; i++) {
      if (pieces[i] !== began.shown[i]) {
        const is = pieces[i] ?? 'nothing'
        this.#fail(operation, `piece ${i} was ${began.shown[i]} before and is ${is} now`)
      }
    }
    const placeOf = new Map<string, number>()
    pieces.forEach((piece, i) => {
      const append = log.appends.get(piece)
      if (append === undefined) this.#fail(operation, `${piece} was never appended`)
      if (append.outcome.kind === 'error') this.#fail(operation, `${piece} was refused`)
      if (placeOf.has(piece)) this.#fail(operation, `${piece} is there twice`)
      placeOf.set(piece, i)
    })
    for (let i = 0; i < began.acknowledged; i++) {
      const piece = pieceOf(log.acknowledged[i])
      if (!placeOf.has(piece)) {
        const append = describeOperation(log.acknowledged[i])
        this.#fail(operation, `${piece} is missing: ${append}`)
      }
    }
    this.#judgeOrder(operation, log, pieces)
  }

  /** From the end to the start: nobody may stand after one that was issued after its acknowledgement. */
  #judgeOrder(operation: Operation, log: Log, pieces: readonly string[]): void {
    let earliest = Infinity
    let earliestPiece = ''
    for (let i = pieces.length - 1; i >= 0; i--) {
      const append = log.appends.get(pieces[i])
      if (append === undefined) continue
      if (append.invokedMs > earliest) {
        this.#fail(operation, `${pieces[i]} stands before ${earliestPiece}, which was done first`)
      }
      if (append.outcome.kind === 'ok' && append.completedMs < earliest) {
        earliest = append.completedMs
        earliestPiece = pieces[i]
      }
    }
  }

  #fail(operation: Operation, what: string): never {
    const text = `${operation.place}: ${what}: ${describeOperation(operation)}`
    throw new BrokenPromise(this.name, text)
  }

  #log(name: string): Log {
    let log = this.#logs.get(name)
    if (log === undefined) {
      log = { shown: [], appends: new Map(), acknowledged: [] }
      this.#logs.set(name, log)
    }
    return log
  }
}

function pieceOf(operation: Operation): string {
  return operation.action.kind === 'append' ? operation.action.piece : ''
}
