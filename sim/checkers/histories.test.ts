/** Each checker of histories on hand-written ones: the right one passes, and each wrong one is seen. */
import { describe, expect, it } from 'vitest'
import type { Action, Operation, Outcome, Value } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'
import { CounterChecker } from './counter.js'
import { ExpiryChecker } from './expiry.js'
import { findBreak, judgeHistory, LinearizabilityChecker } from './linearizable.js'
import { LogChecker } from './log.js'
import { NoRefusalChecker } from './no-refusal.js'
import { RegisterChecker } from './register.js'

const UNKNOWN: Outcome = { kind: 'unknown', why: 'timeout', text: '' }
const REFUSED: Outcome = { kind: 'error', text: 'ERR no' }
const ok = (value: Value): Outcome => ({ kind: 'ok', value })

type Line = readonly [from: number, to: number, action: Action, outcome: Outcome]

let ids = 0
function operation([invokedMs, completedMs, action, outcome]: Line): Operation {
  const id = ++ids
  return {
    id,
    client: id,
    family: 'it',
    key: 'k',
    place: 'k',
    action,
    args: [action.kind],
    invokedMs,
    completedMs,
    outcome
  }
}

/** Plays invocations and completions by time. */
function play(checker: Checker, lines: readonly Line[]): void {
  const moments: { time: number; act: () => void }[] = []
  for (const line of lines) {
    const done = operation(line)
    const running: Operation = { ...done, completedMs: Infinity, outcome: { kind: 'pending' } }
    moments.push({ time: done.invokedMs, act: () => checker.onInvoke?.(running) })
    moments.push({
      time: done.completedMs,
      act: () => {
        running.completedMs = done.completedMs
        running.outcome = done.outcome
        checker.onComplete?.(running)
      }
    })
  }
  moments.sort((a, b) => a.time - b.time)
  for (const { act } of moments) act()
  checker.onEnd?.({ now: Infinity, copies: 2, nodes: [], staying: [] })
}

const put = (number: number, ttlMs?: number): Action =>
  ttlMs === undefined ? { kind: 'put', number } : { kind: 'put', number, ttlMs }
const remove = (number: number): Action => ({ kind: 'remove', number })
const read: Action = { kind: 'read' }
const increment: Action = { kind: 'increment' }
const append = (piece: string): Action => ({ kind: 'append', piece })

describe('registers', () => {
  const judge = (lines: readonly Line[], durable = true): void =>
    play(new RegisterChecker('it', { durable }), lines)

  it('accepts old or new during a write, and the new one afterwards', () => {
    judge([
      [0, 1, put(1), ok(true)],
      [2, 9, put(2), ok(true)],
      [3, 4, read, ok(1)],
      [5, 6, read, ok(2)],
      [7, 8, read, ok(2)],
      [10, 11, read, ok(2)]
    ])
  })

  it('accepts nothing before the first write and after a removal', () => {
    judge([
      [0, 1, read, ok(null)],
      [2, 3, put(1), ok(true)],
      [4, 5, remove(2), ok(1)],
      [6, 7, read, ok(null)],
      [8, 9, put(3), UNKNOWN],
      [10, 11, read, ok(null)],
      [12, 13, read, ok(3)]
    ])
  })

  it('accepts a late read of nothing while a newer write is seen by others', () => {
    judge([
      [0, 1, put(1), ok(true)],
      [2, 3, remove(2), ok(1)],
      [4, 20, read, ok(null)],
      [5, 6, put(3), ok(true)],
      [7, 8, read, ok(3)]
    ])
  })

  const wrong: Record<string, readonly Line[]> = {
    'an acknowledged write is lost': [
      [0, 1, put(1), ok(true)],
      [2, 3, put(2), ok(true)],
      [4, 5, read, ok(1)]
    ],
    'an acknowledged write is gone': [
      [0, 1, put(1), ok(true)],
      [2, 3, read, ok(null)]
    ],
    'a removed value is back': [
      [0, 1, put(1), ok(true)],
      [2, 3, remove(2), ok(1)],
      [4, 5, read, ok(1)]
    ],
    'a read goes back in time': [
      [0, 1, put(1), ok(true)],
      [2, 9, put(2), ok(true)],
      [3, 4, read, ok(2)],
      [5, 6, read, ok(1)]
    ],
    'a value from the future': [
      [0, 1, put(1), ok(true)],
      [2, 3, read, ok(2)]
    ],
    'a value that was never written': [[0, 1, read, ok(NaN)]],
    'a refused write is there': [
      [0, 1, put(1), REFUSED],
      [2, 3, read, ok(1)]
    ]
  }
  it.each(Object.entries(wrong))('sees that %s', (_, lines) => {
    expect(() => judge(lines)).toThrow(BrokenPromise)
  })

  it('lets writes be lost where they are not durable, but nothing be invented', () => {
    judge(wrong['an acknowledged write is lost'], false)
    expect(() => judge(wrong['a value from the future'], false)).toThrow(BrokenPromise)
  })
})

describe('counters', () => {
  const judge = (lines: readonly Line[]): void => play(new CounterChecker('it'), lines)

  it('accepts increments with unknown ones among them', () => {
    judge([
      [0, 1, increment, ok(1)],
      [2, 3, increment, UNKNOWN],
      [4, 5, increment, ok(3)],
      [6, 7, read, ok(3)]
    ])
  })

  const wrong: Record<string, readonly Line[]> = {
    'an increment is lost': [
      [0, 1, increment, ok(1)],
      [2, 3, increment, ok(1)]
    ],
    'an increment counts twice': [
      [0, 1, increment, ok(2)],
      [2, 3, read, ok(2)]
    ],
    'a read is short': [
      [0, 1, increment, ok(1)],
      [2, 3, increment, ok(2)],
      [4, 5, read, ok(1)]
    ],
    'two made the same number': [
      [0, 9, increment, ok(1)],
      [1, 8, increment, ok(1)]
    ],
    'a refused one counts': [
      [0, 1, increment, REFUSED],
      [2, 3, read, ok(1)]
    ]
  }
  it.each(Object.entries(wrong))('sees that %s', (_, lines) => {
    expect(() => judge(lines)).toThrow(BrokenPromise)
  })
})

describe('logs', () => {
  const judge = (lines: readonly Line[]): void => play(new LogChecker('it'), lines)

  it('accepts pieces in any order while they overlap, and late ones of unknown outcome', () => {
    judge([
      [0, 5, append('a'), ok(1)],
      [1, 4, append('b'), ok(2)],
      [6, 7, append('c'), UNKNOWN],
      [8, 9, read, ok(['b', 'a'])],
      [10, 11, append('d'), ok(3)],
      [12, 13, read, ok(['b', 'a', 'd', 'c'])]
    ])
  })

  const wrong: Record<string, readonly Line[]> = {
    'a piece is missing': [
      [0, 1, append('a'), ok(1)],
      [2, 3, append('b'), ok(2)],
      [4, 5, read, ok(['a'])]
    ],
    'a piece is there twice': [
      [0, 1, append('a'), ok(1)],
      [4, 5, read, ok(['a', 'a'])]
    ],
    'pieces are out of order': [
      [0, 1, append('a'), ok(1)],
      [2, 3, append('b'), ok(2)],
      [4, 5, read, ok(['b', 'a'])]
    ],
    'what was read has changed': [
      [0, 20, append('a'), ok(1)],
      [0, 20, append('b'), ok(1)],
      [1, 2, read, ok(['a'])],
      [3, 4, read, ok(['b', 'a'])]
    ],
    'a piece nobody appended is there': [[0, 1, read, ok(['z'])]]
  }
  it.each(Object.entries(wrong))('sees that %s', (_, lines) => {
    expect(() => judge(lines)).toThrow(BrokenPromise)
  })
})

describe('expiry', () => {
  const judge = (lines: readonly Line[]): void => play(new ExpiryChecker('it', 5), lines)

  it('accepts both answers around the time of expiry', () => {
    judge([
      [0, 10, put(1, 100), ok(true)],
      [20, 21, read, ok(1)],
      [97, 98, read, ok(1)],
      [97, 98, read, ok(null)],
      [112, 113, read, ok(1)],
      [116, 117, read, ok(null)]
    ])
  })

  const wrong: Record<string, readonly Line[]> = {
    'it is gone too early': [
      [0, 10, put(1, 100), ok(true)],
      [80, 81, read, ok(null)]
    ],
    'it is there too late': [
      [0, 10, put(1, 100), ok(true)],
      [116, 117, read, ok(1)]
    ],
    'an older one is back': [
      [0, 10, put(1, 100), ok(true)],
      [20, 30, put(2, 10), ok(true)],
      [60, 61, read, ok(1)]
    ]
  }
  it.each(Object.entries(wrong))('sees that %s', (_, lines) => {
    expect(() => judge(lines)).toThrow(BrokenPromise)
  })
})

describe('linearizability', () => {
  const assign = (value: string): Action => ({ kind: 'assign', value })
  const create = (value: string): Action => ({ kind: 'create', value })
  const swap = (expected: string, value: string): Action => ({ kind: 'swap', expected, value })
  const erase: Action = { kind: 'erase' }
  const judge = (lines: readonly Line[]): string => judgeHistory(lines.map(operation))

  it('finds an order where there is one', () => {
    expect(
      judge([
        [0, 10, create('x'), ok(true)],
        [1, 9, create('y'), ok(false)],
        [2, 8, swap('x', 'z'), ok(true)],
        [11, 12, read, ok('z')],
        [13, 14, erase, ok(true)],
        [15, 16, read, ok(null)]
      ])
    ).toBe('right')
  })

  it('lets an unknown write happen late, or never', () => {
    expect(
      judge([
        [0, 1, assign('x'), UNKNOWN],
        [2, 3, assign('y'), ok(true)],
        [4, 5, read, ok('y')],
        [6, 7, read, ok('x')]
      ])
    ).toBe('right')
    expect(
      judge([
        [0, 1, assign('x'), UNKNOWN],
        [2, 3, read, ok(null)]
      ])
    ).toBe('right')
  })

  const wrong: Record<string, readonly Line[]> = {
    'two creates succeed': [
      [0, 10, create('x'), ok(true)],
      [1, 9, create('y'), ok(true)]
    ],
    'two swaps of the same value succeed': [
      [0, 1, assign('x'), ok(true)],
      [2, 9, swap('x', 'y'), ok(true)],
      [3, 8, swap('x', 'z'), ok(true)]
    ],
    'a stale read follows a fresh one': [
      [0, 1, assign('x'), ok(true)],
      [2, 20, assign('y'), ok(true)],
      [3, 4, read, ok('y')],
      [5, 6, read, ok('x')]
    ],
    'a refused write is read': [
      [0, 1, assign('x'), REFUSED],
      [2, 3, read, ok('x')]
    ]
  }
  it.each(Object.entries(wrong))('sees that %s', (_, lines) => {
    expect(judge(lines)).toBe('wrong')
    expect(() => play(new LinearizabilityChecker('it'), lines)).toThrow(BrokenPromise)
  })

  it('names the first reply that nothing explains, behind an order of what came before it', () => {
    const history = (
      [
        [0, 1, create('x'), ok(true)],
        [2, 9, swap('x', 'y'), ok(true)],
        [3, 4, read, ok('x')],
        [5, 12, read, ok('x')],
        [10, 11, read, ok('y')],
        [13, 14, read, ok('x')],
        [15, 16, erase, ok(true)],
        [17, 18, read, ok('x')]
      ] as const
    ).map(operation)
    const { reply, before } = findBreak(history)
    expect(reply).toBe(history[5])
    expect(before.map(({ id }) => id)).toEqual([0, 2, 3, 1, 4].map((i) => history[i].id))
    const lines = history.map(({ invokedMs, completedMs, action, outcome }): Line => {
      return [invokedMs, completedMs, action, outcome]
    })
    expect(() => play(new LinearizabilityChecker('it'), lines)).toThrow(
      /^k: no order explains\n {2}client \d+ read \[0\.013000\.\.0\.014000\] = x\nthis order/
    )
  })

  it('gives up on what overlaps too much', () => {
    const lines: Line[] = []
    for (let i = 0; i < 40; i++) lines.push([0, 100, assign(`v${i}`), ok(true)])
    lines.push([200, 201, read, ok('never')])
    expect(judge(lines)).toBe('undecided')
  })
})

describe('refusals', () => {
  const judge = (outcome: Outcome, doubtAllowed: boolean): void =>
    play(new NoRefusalChecker(() => doubtAllowed), [[0, 1, read, outcome]])

  it('are never right, and doubt only after a fault', () => {
    judge(ok(1), false)
    judge({ kind: 'unknown', why: 'cut', text: '' }, false)
    judge(UNKNOWN, true)
    expect(() => judge(UNKNOWN, false)).toThrow(BrokenPromise)
    expect(() => judge(REFUSED, true)).toThrow(BrokenPromise)
  })
})
