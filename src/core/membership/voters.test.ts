import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { nodeName } from '../ids.js'
import { Grant, leaseEnd, waitOf } from './lease.js'
import {
  chosenByAtLeast,
  decidesByMajority,
  isQuorum,
  majorityOf,
  planVoters,
  VOTERS_MAX,
  type Candidate,
  type Policy,
  type VoterSet
} from './voters.js'

const DROP_MS = 1000
const voter = (name: string, life = 1): VoterSet['voters'][number] => ({
  name: nodeName(name),
  life
})
const setOf = (names: string, policy: Policy = 'majority'): VoterSet => ({
  version: 1,
  policy,
  settled: true,
  strict: false,
  voters: Array.from(names, (name) => voter(name))
})
const candidate = (name: string, given: Partial<Candidate> = {}): Candidate => ({
  name: nodeName(name),
  life: 1,
  state: 'alive',
  deadMs: 0,
  ...given
})
const plan = (set: VoterSet, candidates: Candidate[]): string | undefined => {
  const next = planVoters(set, candidates, DROP_MS)
  const strict = next?.strict === true ? ', strict' : ''
  return next && `${next.voters.map(({ name }) => name).join('')}: ${next.reason}${strict}`
}

describe('who decides', () => {
  it('is a majority from three on where that is left open', () => {
    expect(decidesByMajority(setOf('ab', 'auto'))).toBe(false)
    expect(decidesByMajority(setOf('abc', 'auto'))).toBe(true)
    expect(decidesByMajority(setOf('a', 'majority'))).toBe(true)
    expect(decidesByMajority(setOf('abcde', 'available'))).toBe(false)
  })

  it('is more than half, or everyone who can be heard', () => {
    const has = (names: string) => ({
      has: ({ name }: { name: string }) => names.includes(name),
      isLive: ({ name }: { name: string }) => name !== 'c'
    })
    expect(isQuorum(setOf('abcd'), has('ab'))).toBe(false)
    expect(isQuorum(setOf('abcd'), has('abd'))).toBe(true)
    expect(isQuorum(setOf('abc', 'available'), has('a'))).toBe(false)
    expect(isQuorum(setOf('abc', 'available'), has('ab'))).toBe(true)
  })
})

describe('the next voters', () => {
  it.each([
    ['nothing to do', setOf('abc'), [candidate('a'), candidate('b'), candidate('c')], undefined],
    ['a newcomer', setOf('a'), [candidate('a'), candidate('b')], 'ab: b votes too'],
    [
      'a newcomer that is not heard',
      setOf('a'),
      [candidate('a'), candidate('b', { deadMs: 5 })],
      undefined
    ],
    [
      'a former life goes first',
      setOf('abc'),
      [candidate('a', { state: 'leaving' }), candidate('b'), candidate('c', { life: 2 })],
      'ab: c began a new life'
    ],
    [
      'nobody goes whose going leaves no majority',
      setOf('abc'),
      [candidate('a', { life: 2 }), candidate('b'), candidate('c', { deadMs: 5 })],
      undefined
    ],
    [
      'a silent one goes while three are heard',
      setOf('abcd'),
      [candidate('a'), candidate('b'), candidate('c'), candidate('d', { deadMs: DROP_MS })],
      'abc: d is silent'
    ],
    [
      'and stays when they are two',
      setOf('abc'),
      [candidate('a'), candidate('b'), candidate('c', { deadMs: DROP_MS })],
      undefined
    ],
    [
      'one that leaves',
      setOf('ab'),
      [candidate('a', { state: 'leaving' }), candidate('b')],
      'b: a leaves'
    ],
    [
      'two that are left decide together while a third is there to come in',
      setOf('abc', 'auto'),
      [candidate('a', { state: 'leaving' }), candidate('b'), candidate('c'), candidate('d')],
      'bc: a leaves, strict'
    ],
    [
      'also if it is the one that went, in a new life',
      setOf('abc', 'auto'),
      [candidate('a'), candidate('b'), candidate('c', { life: 2 })],
      'ab: c began a new life, strict'
    ],
    [
      'and it comes in next',
      { ...setOf('ab', 'auto'), strict: true },
      [candidate('a'), candidate('b'), candidate('c', { life: 2 })],
      'abc: c votes too'
    ],
    [
      'where none stays, two go on as two do',
      setOf('abc', 'auto'),
      [candidate('a', { state: 'leaving' }), candidate('b'), candidate('c')],
      'bc: a leaves'
    ],
    [
      'also if the third has left meanwhile',
      { ...setOf('ab', 'auto'), strict: true },
      [candidate('a'), candidate('b'), candidate('c', { state: 'left' })],
      'ab: no third node stays'
    ],
    [
      'nobody goes if one of the two that would have to agree is silent',
      setOf('abc', 'auto'),
      [
        candidate('a', { state: 'leaving' }),
        candidate('b'),
        candidate('c', { deadMs: 5 }),
        candidate('d')
      ],
      'abcd: d votes too'
    ],
    ['the last one stays', setOf('a'), [candidate('a', { state: 'leaving' })], undefined]
  ])('%s', (_, set, candidates, expected) => {
    expect(plan(set, candidates)).toBe(expected)
  })

  it('waits until the last change is settled', () => {
    expect(
      plan({ ...setOf('a'), settled: false }, [candidate('a'), candidate('b')])
    ).toBeUndefined()
  })

  it('differ by one, keep a majority that is heard, and never are too many', () => {
    const drawn = fc.record({
      life: fc.integer({ min: 1, max: 2 }),
      state: fc.constantFrom('alive', 'leaving', 'left'),
      deadMs: fc.constantFrom(0, 0, 5, DROP_MS)
    } as const)
    fc.assert(
      fc.property(
        fc.array(drawn, { minLength: 1, maxLength: 14 }),
        fc.integer({ min: 1, max: VOTERS_MAX }),
        fc.constantFrom<Policy>('auto', 'majority', 'available'),
        (facts, size, policy) => {
          const names = Array.from('abcdefghijklmn').slice(0, facts.length)
          const set = setOf(names.slice(0, size).join(''), policy)
          const candidates = names.map((name, i) => candidate(name, facts[i]))
          const next = planVoters(set, candidates, DROP_MS)
          if (next === undefined) return
          expect(Math.abs(next.voters.length - set.voters.length)).toBe(1)
          expect(next.voters.length).toBeLessThanOrEqual(VOTERS_MAX)
          if (next.voters.length > set.voters.length) return
          const staying = candidates.filter(({ state }) => state === 'alive').length
          const after = { ...set, ...next }
          if (decidesByMajority(set) && staying >= 3) expect(decidesByMajority(after)).toBe(true)
          const heard = next.voters.filter(({ name, life }) => {
            return candidates.some((c) => c.name === name && c.life === life && c.deadMs === 0)
          })
          const needed = decidesByMajority(after) ? majorityOf(after) : 1
          expect(heard.length).toBeGreaterThanOrEqual(needed)
        }
      )
    )
  })
})

describe('a lease', () => {
  it('counts from when the beat was sent that a majority has processed', () => {
    const sent = new Map([
      ['a', Infinity],
      ['b', 100],
      ['c', 300]
    ])
    const end = leaseEnd(setOf('abc'), 50, ({ name }) => sent.get(name) ?? -Infinity)
    expect(end).toBe(350)
    expect(leaseEnd(setOf('abcd'), 50, ({ name }) => sent.get(name) ?? -Infinity)).toBe(150)
  })

  it('is only extended by beats that count, and forgotten with the process that gave it', () => {
    const grant = new Grant()
    grant.sent(1, 10)
    grant.sent(3, 20)
    expect(grant.acked(2, true)).toBe(true)
    expect(grant.sentMs).toBe(10)
    expect(grant.acked(3, false)).toBe(true)
    expect(grant.sentMs).toBe(10)
    expect(grant.acked(9, true)).toBe(false)
    grant.clear()
    expect(grant.sentMs).toBe(-Infinity)
  })

  it('ends at its holder before it ends at the voter, whatever their clocks do within the bound', () => {
    const rate = fc.double({ min: -1, max: 1, noNaN: true })
    fc.assert(
      fc.property(rate, rate, fc.double({ min: 0, max: 0.1, noNaN: true }), (a, b, driftMax) => {
        const leaseMs = 700
        const holder = leaseMs / (1 + a * driftMax)
        const granter = waitOf(leaseMs, driftMax) / (1 + b * driftMax)
        expect(granter).toBeGreaterThanOrEqual(holder - 1e-9)
      })
    )
  })
})

describe('a decision', () => {
  const voters = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ name: nodeName(`n${i}`), life: 1 }))

  it('was accepted by so many of the present voters, whichever set made it', () => {
    for (let count = 1; count <= 9; count++) {
      const set = {
        version: 2,
        policy: 'majority',
        settled: true,
        strict: false,
        voters: voters(count)
      } as const
      expect(chosenByAtLeast(set)).toBe(majorityOf(set))
      const unsettled = chosenByAtLeast({ ...set, settled: false })
      // One voter came: the majority of the others. One went: the majority with it, less itself.
      const before = majorityOf({ ...set, voters: voters(count - 1) })
      const after = majorityOf({ ...set, voters: voters(count + 1) }) - 1
      expect(unsettled).toBeLessThanOrEqual(Math.min(before, after))
    }
  })

  it('may have been made by one where two decided alone before', () => {
    const set = {
      version: 2,
      policy: 'auto',
      settled: false,
      strict: false,
      voters: voters(3)
    } as const
    expect(chosenByAtLeast(set)).toBe(0)
  })
})
