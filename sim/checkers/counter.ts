/**
 * Counters count every acknowledged increment once. Each increment says the number it made: no two say the
 * same, one that began after another had ended says a larger one, and none says more than there were increments
 * issued. What is read lies between the numbers known before the read and those issued by its end, and at least as
 * many increments as were acknowledged are in it.
 */
import { describeOperation, type Operation } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'

interface Counter {
  issued: number
  acknowledged: number
  refused: number
  /** The highest number any completed operation has shown. */
  floor: number
  readonly seen: Set<number>
}

export class CounterChecker implements Checker {
  readonly name = 'counters count every acknowledged increment once'
  readonly #family: string
  readonly #counters = new Map<string, Counter>()
  readonly #floors = new Map<number, number>()

  constructor(family: string) {
    this.#family = family
  }

  onInvoke(operation: Operation): void {
    if (operation.family !== this.#family) return
    const counter = this.#counter(operation.place)
    if (operation.action.kind === 'increment') counter.issued++
    this.#floors.set(operation.id, Math.max(counter.floor, counter.acknowledged))
  }

  onComplete(operation: Operation): void {
    if (operation.family !== this.#family) return
    const floor = this.#floors.get(operation.id) ?? 0
    this.#floors.delete(operation.id)
    const counter = this.#counter(operation.place)
    const { outcome, action } = operation
    if (outcome.kind === 'error' && action.kind === 'increment') counter.refused++
    if (outcome.kind !== 'ok') return
    const value = outcome.value ?? 0
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      this.#fail(operation, 'this is no number')
    }
    const most = counter.issued - counter.refused
    if (value > most) this.#fail(operation, `${value}, but only ${most} increments were issued`)
    if (action.kind === 'increment') {
      counter.acknowledged++
      if (value <= floor) this.#fail(operation, `made ${value}, but ${floor} was there before`)
      if (counter.seen.has(value)) this.#fail(operation, `${value} was made twice`)
      counter.seen.add(value)
    } else if (value < floor) {
      this.#fail(operation, `${value} is less than the ${floor} known before`)
    }
    counter.floor = Math.max(counter.floor, value)
  }

  #fail(operation: Operation, what: string): never {
    const text = `${operation.place}: ${what}: ${describeOperation(operation)}`
    throw new BrokenPromise(this.name, text)
  }

  #counter(name: string): Counter {
    let counter = this.#counters.get(name)
    if (counter === undefined) {
      counter = { issued: 0, acknowledged: 0, refused: 0, floor: 0, seen: new Set() }
      this.#counters.set(name, counter)
    }
    return counter
  }
}
