import { describe, expect, it } from 'vitest'
import { latin1Bytes } from '../../src/core/bytes.js'
import { redisHash } from '../../src/core/hash/placement-hash.js'
import { drawPing, drawWatch } from '../families/watchers.js'
import type { Draft } from '../client.js'
import type { Action, Operation, Outcome } from '../operation.js'
import { BrokenPromise } from './checker.js'
import { SubscriptionsChecker } from './subscriptions.js'

const WATCHER = 9
/** One writer's key. */
const KEY = 'register0.0'
const BUCKET = redisHash.hash(latin1Bytes(KEY), 0, KEY.length) & 0xf
const OK: Outcome = { kind: 'ok', value: true }
const UNKNOWN: Outcome = { kind: 'unknown', why: 'timeout', text: '' }

/** A history in which time goes on by one with each step. */
class History {
  now = 0
  readonly checker = new SubscriptionsChecker(0, this)
  #ids = 0
  #numbers = 0

  watch(): this {
    return this.#session(drawWatch(0))
  }

  view(): { nodes: { held: { bucket: number; seq: number }[] }[] } {
    return { nodes: [{ held: [{ bucket: BUCKET, seq: this.#numbers }] }] }
  }

  put(outcome: Outcome = OK, ttlMs?: number): this {
    const number = ++this.#numbers
    return this.#write({ kind: 'put', number, ...(ttlMs === undefined ? {} : { ttlMs }) }, outcome)
  }

  remove(outcome: Outcome = { kind: 'ok', value: 1 }): this {
    return this.#write({ kind: 'remove', number: ++this.#numbers }, outcome)
  }

  told(seq: number, change = 'set', key = KEY, bucket = BUCKET): this {
    this.now++
    this.checker.onPush(WATCHER, ['oc.event', bucket, seq, change, key])
    return this
  }

  gap(): this {
    this.checker.onPush(WATCHER, ['oc.gap'])
    return this
  }

  pass(ms: number): this {
    this.now += ms
    return this
  }

  /** At rest the watcher is seen to be connected, and everything is judged. */
  end(): SubscriptionsChecker {
    this.checker.onRest()
    this.#session(drawPing(0))
    this.checker.onEnd()
    return this.checker
  }

  #session(draft: Draft): this {
    return this.#complete({ ...draft, client: WATCHER }, OK)
  }

  #write(action: Action, outcome: Outcome): this {
    const about = { family: 'register', key: KEY, place: KEY, args: [action.kind] }
    return this.#complete({ ...about, client: 0, action }, outcome)
  }

  #complete(
    about: Pick<Operation, 'client' | 'family' | 'key' | 'place' | 'action' | 'args'>,
    outcome: Outcome
  ): this {
    const { client, family, key, place, action, args } = about
    const operation: Operation = {
      ...{ client, family, key, place, action, args },
      id: ++this.#ids,
      invokedMs: ++this.now,
      completedMs: Infinity,
      outcome: { kind: 'pending' }
    }
    this.checker.onInvoke(operation)
    operation.completedMs = ++this.now
    operation.outcome = outcome
    this.checker.onComplete(operation)
    return this
  }
}

describe('is content', () => {
  it('when everything was told in order', () => {
    const history = new History().watch().put().told(1).remove().told(2, 'deleted').put().told(3)
    expect(history.end().owed).toBe(3)
  })

  it('whether or not a write of unknown outcome was told', () => {
    expect(new History().watch().put().told(1).put(UNKNOWN).told(2).end().owed).toBe(1)
    expect(new History().watch().put().told(1).put(UNKNOWN).end().owed).toBe(1)
  })

  it('when a removal of nothing was not told', () => {
    new History().watch().remove({ kind: 'ok', value: 0 }).end()
  })

  it('with what happened before the watch, told or not', () => {
    new History().put().remove().watch().put().told(3).end()
  })

  it('after a gap, and after a new watch', () => {
    expect(new History().watch().put().gap().end().owed).toBe(0)
    expect(new History().watch().put().watch().put().told(2).end().owed).toBe(1)
  })

  it('when what expired was told', () => {
    new History().watch().put(OK, 10).told(1).told(2, 'expired').pass(60_000).end()
  })
})

describe('sees', () => {
  const watched = (): History => new History().watch()
  it.each([
    ['a write that was not told', () => watched().put().end(), '1 times set, and it was told of 0'],
    [
      'one of many',
      () => watched().put().told(1).put().told(3),
      '3 (register0.0) comes right after 1'
    ],
    [
      'an event twice',
      () => watched().put().put().told(1).told(1),
      '1 (register0.0) comes after 1'
    ],
    [
      'an older event',
      () => watched().put().put().put().told(1).told(2).told(1),
      '1 (register0.0) comes after 2'
    ],
    ['an event of no write', () => watched().put().told(1).told(2), '2 times set, but only 1'],
    ['another kind', () => watched().put().told(1, 'deleted'), '1 times deleted, but only 0'],
    [
      'another bucket',
      () =>
        watched()
          .put()
          .told(1, 'set', KEY, BUCKET ^ 1),
      'is not in bucket'
    ],
    [
      'the wrong order',
      () => watched().put().remove().told(1, 'deleted').told(2).end(),
      'was told deleted set, and what was done is set deleted'
    ],
    ['what expired', () => watched().put(OK, 10).told(1).pass(60_000).end(), 'that it expired'],
    ['nonsense', () => watched().told(1, 'eaten'), 'this is no event']
  ])('%s', (_, run, text) => {
    expect(run).toThrow(BrokenPromise)
    expect(run).toThrow(text)
  })
})
