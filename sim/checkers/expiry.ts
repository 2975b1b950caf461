/**
 * What was written with a time to live is there until that has passed, and not afterwards. Clocks of nodes differ
 * by a bounded amount and the moment of writing is only known to lie within the write, so there is a time around
 * the expiry in which both answers are right. One writer a place; the next write begins after the one before ended.
 */
import { describeOperation, type Operation } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'

interface Lease {
  readonly number: number
  readonly write: Operation
  readonly ttlMs: number
}

interface Place {
  /** The last one acknowledged. */
  current: Lease | undefined
  /** The one under way, or left with an unknown outcome. */
  pending: Lease | undefined
  issued: number
}

export class ExpiryChecker implements Checker {
  readonly name = 'what expires is there until then, and not afterwards'
  readonly #family: string
  readonly #slackMs: number
  readonly #places = new Map<string, Place>()
  readonly #began = new Map<number, Lease | undefined>()

  /** `slackMs`: how much the clocks of two nodes may differ. */
  constructor(family: string, slackMs: number) {
    this.#family = family
    this.#slackMs = slackMs
  }

  onInvoke(operation: Operation): void {
    if (operation.family !== this.#family) return
    const place = this.#place(operation.place)
    const { action } = operation
    if (action.kind === 'put' && action.ttlMs !== undefined) {
      place.pending = { number: action.number, write: operation, ttlMs: action.ttlMs }
      place.issued = action.number
    } else {
      this.#began.set(operation.id, place.current)
    }
  }

  onComplete(operation: Operation): void {
    if (operation.family !== this.#family) return
    const place = this.#place(operation.place)
    const { action, outcome } = operation
    if (action.kind === 'put') {
      if (outcome.kind === 'ok') place.current = place.pending
      if (outcome.kind !== 'unknown') place.pending = undefined
      return
    }
    const lease = this.#began.get(operation.id)
    this.#began.delete(operation.id)
    if (outcome.kind !== 'ok') return
    const { value } = outcome
    if (value === null) this.#judgeAbsence(operation, place, lease)
    else if (typeof value === 'number') this.#judgePresence(operation, place, lease, value)
    else this.#fail(operation, 'this value was never written there', lease)
  }

  #judgeAbsence(operation: Operation, place: Place, lease: Lease | undefined): void {
    if (lease === undefined) return
    // While another write was under way, either one can be what expired.
    if (place.pending !== undefined || place.current !== lease) return
    const earliest = lease.write.invokedMs + lease.ttlMs - this.#slackMs
    if (operation.completedMs < earliest) this.#fail(operation, 'gone before its time', lease)
  }

  #judgePresence(
    operation: Operation,
    place: Place,
    lease: Lease | undefined,
    value: number
  ): void {
    if (value > place.issued) this.#fail(operation, `${value} was not issued yet`, lease)
    if (lease === undefined) return
    if (value < lease.number) {
      this.#fail(operation, `${value} is older than ${lease.number}`, lease)
    }
    if (value > lease.number) return
    const latest = lease.write.completedMs + lease.ttlMs + this.#slackMs
    if (operation.invokedMs > latest) this.#fail(operation, 'still there after its time', lease)
  }

  #fail(operation: Operation, what: string, lease: Lease | undefined): never {
    const because = lease === undefined ? '' : `; see ${describeOperation(lease.write)}`
    const text = `${operation.place}: ${what}: ${describeOperation(operation)}${because}`
    throw new BrokenPromise(this.name, text)
  }

  #place(name: string): Place {
    let place = this.#places.get(name)
    if (place === undefined) {
      place = { current: undefined, pending: undefined, issued: 0 }
      this.#places.set(name, place)
    }
    return place
  }
}
