/**
 * Exactly what lost all its copies is told as lost, once in the whole cluster, and not before it
 * may be. Which buckets these are is for the one to say who took the copies away (`doom`). Their
 * keys may read as missing from then on: what other checkers know of them counts no more
 * (`isForgiven`). But a bucket that started empty is a bucket like all others: it serves, and what
 * is acknowledged from then on is kept, which is looked at here.
 */
import { latin1Bytes } from '../../src/core/bytes.js'
import { bucketOf, redisHash } from '../../src/core/hash/placement-hash.js'
import type { NodeEvent } from '../../src/node/outbox.js'
import type { Operation } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'
import { RegisterChecker } from './register.js'

/** When a loss may be told, and when it must have been. */
export interface Term {
  readonly earliestMs: number
  readonly latestMs: number
}

export class ToldLossesChecker implements Checker {
  readonly name = 'exactly what lost all its copies is told as lost, once'
  /** When each was told. */
  readonly told = new Map<number, number>()
  readonly #mask: number
  readonly #doomed = new Map<number, Term>()
  readonly #written = new Set<number>()
  readonly #served = new Set<number>()
  /**
   * Of the writes since a bucket started empty; of those before they know only that they were
   * issued.
   */
  readonly #after = ['register', 'field', 'bulk'].map(
    (family) => new RegisterChecker(family, { durable: true })
  )

  constructor(mask: number) {
    this.#mask = mask
  }

  /** The last copies of these buckets are gone. */
  doom(buckets: readonly number[], term: Term): void {
    for (const bucket of buckets) this.#doomed.set(bucket, term)
  }

  isForgiven(key: string): boolean {
    return this.told.has(this.#bucketOf(key))
  }

  onEvent(node: string, event: NodeEvent, now: number): void {
    if (event.kind !== 'lost') return
    const { bucket } = event
    const term = this.#doomed.get(bucket)
    if (term === undefined) this.#fail(bucket, `${node} tells that it is lost, but it has a copy`)
    if (this.told.has(bucket)) this.#fail(bucket, `${node} tells once more that it is lost`)
    if (now < term.earliestMs || now > term.latestMs) {
      const [from, to] = [seconds(term.earliestMs), seconds(term.latestMs)]
      this.#fail(bucket, `told at ${seconds(now)}, which should be from ${from} to ${to}`)
    }
    this.told.set(bucket, now)
  }

  onInvoke(operation: Operation): void {
    for (const checker of this.#after) checker.onInvoke(operation)
  }

  onComplete(operation: Operation): void {
    const { key, action, outcome } = operation
    const bucket = this.#bucketOf(key)
    if (!this.told.has(bucket)) {
      if (outcome.kind === 'ok' && action.kind !== 'session') this.#written.add(bucket)
      return
    }
    if (outcome.kind === 'ok') this.#served.add(bucket)
    for (const checker of this.#after) checker.onComplete(operation)
  }

  onRest(): void {
    for (const bucket of this.#doomed.keys()) {
      if (!this.told.has(bucket)) this.#fail(bucket, 'all its copies are gone, and nobody tells')
    }
  }

  onEnd(): void {
    for (const bucket of this.told.keys()) {
      // Everything is read back, so whatever has keys was asked for.
      if (this.#written.has(bucket) && !this.#served.has(bucket)) {
        this.#fail(bucket, 'it was lost, and nothing of it was served ever since')
      }
    }
  }

  #bucketOf(key: string): number {
    const bytes = latin1Bytes(key)
    return bucketOf(redisHash.hash(bytes, 0, bytes.length), this.#mask)
  }

  #fail(bucket: number, what: string): never {
    throw new BrokenPromise(this.name, `bucket ${bucket}: ${what}`)
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
