/**
 * The checker of told losses on hand-written events: the right course passes, and each wrong one
 * is seen.
 */
import { describe, expect, it } from 'vitest'
import type { Action, Operation, Value } from '../operation.js'
import { BrokenPromise } from './checker.js'
import { ToldLossesChecker } from './told-losses.js'

const MASK = 15
/** The one `k` is in. */
const BUCKET = 14
const TERM = { earliestMs: 5000, latestMs: 9000 }
const LOST = { kind: 'lost', bucket: BUCKET, epoch: 4 } as const

function doomed(): ToldLossesChecker {
  const checker = new ToldLossesChecker(MASK)
  checker.doom([BUCKET], TERM)
  return checker
}

let ids = 0
function act(checker: ToldLossesChecker, action: Action, value: Value): void {
  const operation: Operation = {
    id: ++ids,
    client: 1,
    family: 'register',
    ...{ key: 'k', place: 'k', action, args: [action.kind] },
    invokedMs: ids,
    completedMs: ids,
    outcome: { kind: 'ok', value }
  }
  checker.onInvoke(operation)
  checker.onComplete(operation)
}

describe('told losses', () => {
  it('are told once, in time, and forgiven from then on', () => {
    const checker = doomed()
    act(checker, { kind: 'put', number: 1 }, true)
    expect(checker.isForgiven('k')).toBe(false)
    checker.onEvent('a', LOST, 6000)
    expect(checker.isForgiven('k')).toBe(true)
    act(checker, { kind: 'read' }, null)
    checker.onRest()
    checker.onEnd()
    expect([...checker.told.keys()]).toEqual([BUCKET])
  })

  it.each<[string, (checker: ToldLossesChecker) => void]>([
    ['nobody tells', (checker) => checker.onRest()],
    ['too early', (checker) => checker.onEvent('a', LOST, 4999)],
    ['too late', (checker) => checker.onEvent('a', LOST, 9001)],
    ['another bucket', (checker) => checker.onEvent('a', { ...LOST, bucket: 3 }, 6000)],
    [
      'two tell',
      (checker) => {
        checker.onEvent('a', LOST, 6000)
        checker.onEvent('b', LOST, 6001)
      }
    ],
    [
      'it is never served again',
      (checker) => {
        act(checker, { kind: 'put', number: 1 }, true)
        checker.onEvent('a', LOST, 6000)
        checker.onEnd()
      }
    ],
    [
      'a write since then is gone too',
      (checker) => {
        checker.onEvent('a', LOST, 6000)
        act(checker, { kind: 'put', number: 2 }, true)
        act(checker, { kind: 'read' }, null)
      }
    ]
  ])('are seen to be wrong: %s', (_, course) => {
    expect(() => course(doomed())).toThrow(BrokenPromise)
  })
})
