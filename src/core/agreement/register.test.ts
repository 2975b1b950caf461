import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { nodeName } from '../ids.js'
import { compareBallots, NO_BALLOT, nextBallot, type Ballot } from './ballot.js'
import { Register } from './register.js'

const ballot = fc.record({
  round: fc.integer({ min: 1, max: 4 }),
  name: fc.constantFrom(nodeName('a'), nodeName('b')),
  life: fc.integer({ min: 1, max: 2 })
})

describe('ballots', () => {
  it('are in one order, and equal only if they are the same', () => {
    fc.assert(
      fc.property(ballot, ballot, ballot, (a, b, c) => {
        expect(Math.sign(compareBallots(a, b))).toBe(-Math.sign(compareBallots(b, a)) + 0)
        if (compareBallots(a, b) <= 0 && compareBallots(b, c) <= 0) {
          expect(compareBallots(a, c)).toBeLessThanOrEqual(0)
        }
        const same = a.round === b.round && a.name === b.name && a.life === b.life
        expect(compareBallots(a, b) === 0).toBe(same)
        expect(compareBallots(a, nextBallot(a))).toBeLessThan(0)
        expect(compareBallots(NO_BALLOT, a)).toBeLessThan(0)
      })
    )
  })
})

describe('a register', () => {
  it('accepts nothing below what it has promised, and promises the next of whom it accepted', () => {
    const of = (round: number, name: string): Ballot => ({ round, name: nodeName(name), life: 1 })
    const register = new Register<string>()
    expect(register.prepare(of(2, 'b'))).toBe(true)
    expect(register.accept(of(1, 'c'), 'late')).toBe(false)
    expect(register.prepare(of(2, 'a'))).toBe(false)
    expect(register.accept(of(2, 'b'), 'first')).toBe(true)
    expect(register.prepare(of(3, 'a'))).toBe(false)
    expect(register.accept(of(3, 'b'), 'second')).toBe(true)
    expect(register.value).toBe('second')
    expect(register.prepare(of(5, 'a'))).toBe(true)
    expect(register.accept(of(4, 'b'), 'third')).toBe(false)
  })

  /**
   * Three acceptors and many attempts, any order of messages: once two acceptors have one value in one ballot, every
   * later proposer that goes on from the newest value it is promised proposes that value.
   */
  it('never has two values decided', () => {
    const step = fc.record({
      // A process never uses a round twice; the delay is between its promises and what it makes of them.
      round: fc.integer({ min: 1, max: 20 }),
      delay: fc.integer({ min: 0, max: 3 }),
      acceptors: fc.constantFrom([0, 1], [1, 2], [0, 2]),
      accepts: fc.constantFrom([0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2])
    })
    const steps = fc.uniqueArray(step, { maxLength: 12, selector: ({ round }) => round })
    fc.assert(
      fc.property(steps, (drawn) => {
        const acceptors = [new Register<string>(), new Register<string>(), new Register<string>()]
        const decided = new Set<string>()
        const due: { at: number; act: () => void }[] = []
        const runDue = (now: number): void => {
          for (const { at, act } of due) if (at === now) act()
        }
        drawn.forEach(({ round, delay, acceptors: asked, accepts }, now) => {
          runDue(now)
          const own = { round, name: nodeName('a'), life: 1 }
          const promises = asked.filter((place) => acceptors[place].prepare(own))
          if (promises.length < 2) return
          const newest = promises
            .map((place) => acceptors[place])
            .reduce((a, b) => (compareBallots(b.accepted, a.accepted) > 0 ? b : a))
          const value = newest.value ?? `value ${round}`
          const act = (): void => {
            const taken = accepts.filter((place) => acceptors[place].accept(own, value))
            if (taken.length >= 2) decided.add(value)
          }
          if (delay === 0) act()
          else due.push({ at: now + delay, act })
        })
        for (let now = drawn.length; now < drawn.length + 4; now++) runDue(now)
        expect(decided.size).toBeLessThan(2)
      }),
      { numRuns: 3000 }
    )
  })
})
