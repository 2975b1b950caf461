import { describe, expect, it } from 'vitest'
import { NO_BALLOT, type Ballot } from '../core/agreement/ballot.js'
import { nodeName } from '../core/ids.js'
import type { VoterSet } from '../core/membership/voters.js'
import { VOTERS_REGISTER, type RegisterValue, type RowValue } from '../wire/peer/agreement.js'
import { giftOf, highestOf, newestOf, type Answer, type Answers } from './promises.js'

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((name) => nodeName(name))

function votersOf(policy: VoterSet['policy'], ...names: (typeof A)[]): VoterSet {
  const voters = names.map((name) => ({ name, life: 1 }))
  return { version: 1, policy, settled: true, strict: false, voters }
}

function ballot(round: number): Ballot {
  return { round, name: A, life: 1 }
}

function row(epoch: number, primary: typeof A): RowValue {
  return { kind: 'row', row: { epoch, primary, backups: [] }, deposes: '' }
}

/** What each voter says that it accepted, and in which round; 0: nothing. */
function answersOf(...said: [name: string, round: number, value?: RegisterValue][]): Answers {
  return new Map(
    said.map(([name, round, value]): [typeof A, Answer] => {
      const accepted = round === 0 ? NO_BALLOT : ballot(round)
      const promise = { register: 7, round: 9, ok: true, highest: 9, accepted, value }
      return [nodeName(name), { life: 1, promise }]
    })
  )
}

describe('the ballot by which the bucket is given away', () => {
  const voters = votersOf('majority', A, B, C)
  // All ballots here are a's.
  const giftOfNewest = (answers: Answers, known: RowValue): Ballot | undefined => {
    const newest = newestOf({ register: 7, answers, voters, known })
    return newest === undefined ? undefined : giftOf(answers, known, newest)
  }

  it('is that of the primary that is known, if it proposed it', () => {
    const answers = answersOf(['a', 3, row(5, B)], ['b', 2, row(4, A)])
    expect(giftOfNewest(answers, row(4, A))).toEqual(ballot(3))
  })

  it.each([
    ['somebody else proposed it', row(5, A), row(4, B)],
    ['it stays where it is', row(5, A), row(4, A)],
    ['it is known to be decided', row(5, B), row(5, A)]
  ])('is none if %s', (_, newest, known) => {
    expect(giftOfNewest(answersOf(['a', 3, newest], ['b', 3, newest]), known)).toBeUndefined()
  })

  it('is none if nothing was accepted', () => {
    expect(giftOfNewest(answersOf(['a', 0], ['b', 0]), row(4, B))).toBeUndefined()
  })
})

describe('the value to go on from', () => {
  const voters = votersOf('majority', A, B, C)

  it('is that of the highest ballot that may have been decided', () => {
    // c is not heard and may have accepted it too.
    const answers = answersOf(['a', 3, row(5, A)], ['b', 2, row(4, B)])
    expect(newestOf({ register: 7, answers, voters, known: row(4, B) })).toEqual(row(5, A))
  })

  it('is not what too few can have accepted', () => {
    const answers = answersOf(['a', 3, row(5, A)], ['b', 2, row(4, B)], ['c', 2, row(4, B)])
    expect(newestOf({ register: 7, answers, voters, known: row(4, B) })).toEqual(row(4, B))
    expect(highestOf(answers, row(4, B))).toBe(5)
  })

  it('of the voters is completed however few have accepted it', () => {
    const answers = answersOf(['a', 3, row(5, A)], ['b', 0], ['c', 0])
    const known = row(1, B)
    expect(newestOf({ register: VOTERS_REGISTER, answers, voters, known })).toEqual(row(5, A))
    expect(newestOf({ register: 7, answers, voters, known })).toEqual(known)
  })

  it('may be that of the set before, as long as the present one is not settled', () => {
    // Three of the former four have decided; one of them is the voter that went.
    const unsettled = { ...votersOf('majority', A, B, C, D), settled: false }
    const answers = answersOf(['a', 3, row(5, A)], ['b', 3, row(5, A)], ['c', 2, row(4, B)])
    const asked = { register: 7, answers, known: row(4, B) }
    expect(newestOf({ ...asked, voters: unsettled })).toEqual(row(5, A))
  })

  it('may have been accepted by a process that has ended, whatever the next one of its name says', () => {
    const former = votersOf('auto', A, B, C)
    const voters = { ...former, voters: [...former.voters, { name: C, life: 2 }] }
    const answers = new Map(answersOf(['a', 3, row(5, A)], ['b', 3, row(5, A)], ['c', 0]))
    answers.set(C, { ...answers.get(C), life: 2 })
    expect(newestOf({ register: 7, answers, voters, known: row(4, B) })).toEqual(row(5, A))
  })

  it('has the highest number where those who can be heard decide alone', () => {
    const answers = answersOf(['a', 3, row(5, A)], ['b', 2, row(8, B)])
    const asked = { register: 7, answers, voters: votersOf('available', A, B) }
    expect(newestOf({ ...asked, known: row(4, B) })).toEqual(row(8, B))
    expect(newestOf({ ...asked, known: row(9, C) })).toEqual(row(9, C))
  })

  it('is what is known here if no voter has accepted anything, and unknown if that is nothing', () => {
    const answers = answersOf(['a', 0], ['b', 0])
    expect(newestOf({ register: 7, answers, voters, known: row(1, B) })).toEqual(row(1, B))
    expect(newestOf({ register: 7, answers, voters, known: undefined })).toBe(undefined)
  })
})
