/**
 * An acknowledged write is kept, and reads are never older than the last acknowledged write before the read
 * began, nor newer than the last one issued. Every place has one writer with at most one write under way, and
 * its writes are numbered, so that this is exact and costs a comparison a read: what a read returns must lie between
 * the highest number known to be in force when it began and the highest issued when it ended. A number that a read
 * has returned is in force from then on, which makes reads that go back in time visible too.
 *
 * A write of unknown outcome may take effect at any later time. Its writer leaves the place alone from then on,
 * so it is the last one, and either it or the one before is in force.
 */
import { describeOperation, type Operation } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'

const PROMISE = 'an acknowledged write is kept, and reads see the newest'

interface Place {
  /** The highest number in force for sure. */
  floor: number
  /** Which operation says so. */
  witness: Operation | undefined
  issued: number
  /** Removals, by number: what a read of nothing can have seen. */
  readonly removals: number[]
  /** Refused writes never take effect. */
  readonly refused: Set<number>
}

export class RegisterChecker implements Checker {
  readonly name = PROMISE
  readonly #family: string
  readonly #durable: boolean
  readonly #places = new Map<string, Place>()
  /** By operation id: the floor and its witness when the read began. */
  readonly #floors = new Map<number, { floor: number; witness: Operation | undefined }>()

  /** Without `durable`, acknowledged writes may be lost, but nothing is invented. */
  constructor(family: string, options: { readonly durable: boolean }) {
    this.#family = family
    this.#durable = options.durable
  }

  onInvoke(operation: Operation): void {
    if (operation.family !== this.#family) return
    const place = this.#place(operation.place)
    const { action } = operation
    if (action.kind === 'put' || action.kind === 'remove') {
      place.issued = action.number
      if (action.kind === 'remove') place.removals.push(action.number)
    } else if (action.kind === 'read') {
      this.#floors.set(operation.id, { floor: place.floor, witness: place.witness })
    }
  }

  onComplete(operation: Operation): void {
    if (operation.family !== this.#family) return
    const { action, outcome } = operation
    const place = this.#place(operation.place)
    if (action.kind === 'read') {
      const began = this.#floors.get(operation.id)
      this.#floors.delete(operation.id)
      if (outcome.kind === 'ok' && began !== undefined) this.#judge(operation, place, began)
      return
    }
    if (action.kind !== 'put' && action.kind !== 'remove') return
    if (outcome.kind === 'ok') this.#raise(place, action.number, operation)
    else if (outcome.kind === 'error') place.refused.add(action.number)
  }

  #judge(
    operation: Operation,
    place: Place,
    began: { floor: number; witness: Operation | undefined }
  ): void {
    if (operation.outcome.kind !== 'ok') return
    const { value } = operation.outcome
    const floor = this.#durable ? began.floor : 0
    if (value === null) {
      const seen = floor === 0 ? 0 : earliestRemoval(place, floor)
      if (seen === undefined) {
        this.#fail(operation, `nothing is there, but ${floor} was written`, began.witness)
      }
      this.#raise(place, seen, operation)
      return
    }
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      this.#fail(operation, 'this value was never written there', undefined)
    }
    if (value < floor) {
      this.#fail(operation, `${value} is older than ${floor}`, began.witness)
    }
    if (value > place.issued) {
      this.#fail(operation, `${value} was not issued yet, only ${place.issued}`, undefined)
    }
    if (place.refused.has(value)) {
      this.#fail(operation, `${value} was refused, but is there`, undefined)
    }
    this.#raise(place, value, operation)
  }

  #raise(place: Place, number: number, witness: Operation): void {
    if (number <= place.floor) return
    place.floor = number
    place.witness = witness
  }

  #fail(operation: Operation, what: string, witness: Operation | undefined): never {
    const because = witness === undefined ? '' : `; see ${describeOperation(witness)}`
    const text = `${operation.place}: ${what}: ${describeOperation(operation)}${because}`
    throw new BrokenPromise(this.name, text)
  }

  #place(name: string): Place {
    let place = this.#places.get(name)
    if (place === undefined) {
      place = { floor: 0, witness: undefined, issued: 0, removals: [], refused: new Set() }
      this.#places.set(name, place)
    }
    return place
  }
}

/** The first removal from that number on: what a read of nothing has seen at the least. */
function earliestRemoval({ removals, refused }: Place, floor: number): number | undefined {
  let earliest: number | undefined
  for (let i = removals.length - 1; i >= 0 && removals[i] >= floor; i--) {
    if (!refused.has(removals[i])) earliest = removals[i]
  }
  return earliest
}
