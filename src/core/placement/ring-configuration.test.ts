import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeName } from '../ids.js'
import {
  abandon,
  begin,
  findMember,
  finish,
  placementOf,
  renew,
  restore,
  ringOf,
  strike,
  switchOver,
  votersOf,
  type RingConfiguration,
  type RingMemberRecord
} from './ring-configuration.js'

function member(name: string, more: Partial<RingMemberRecord> = {}): RingMemberRecord {
  const positions = [name.charCodeAt(0) * 1000]
  return {
    ...{ name: nodeName(name), life: 1, address: name, url: `http://${name}`, zone: '' },
    ...{ positions, wanted: positions, hollow: false, leaving: false },
    ...more
  }
}

const atRest = (...names: string[]): RingConfiguration => ({
  version: 5,
  stage: 'rest',
  copies: 2,
  members: names.map((name) => member(name))
})

const names = (configuration: RingConfiguration): string[] =>
  configuration.members.map(({ name }) => name)

describe('a change of the ring', () => {
  it('goes through its stages: the newcomer reads nothing and decides nothing before the end', () => {
    const filling = begin(atRest('a', 'c'), [member('b')])
    expect(filling).toMatchObject({ version: 6, stage: 'filling' })
    if (filling === undefined) return
    expect(names(filling)).toEqual(['a', 'b', 'c'])
    expect(ringOf(filling, 'positions').nodes).toEqual(['a', 'c'])
    expect(ringOf(filling, 'wanted').nodes).toEqual(['a', 'b', 'c'])
    const switched = switchOver(filling, [])
    expect(votersOf(switched).map(({ name }) => name)).toEqual(['a', 'c'])
    const done = finish(switched)
    expect(done).toMatchObject({ version: 8, stage: 'rest' })
    expect(votersOf(done).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(begin(done, [member('b')])).toBeUndefined()
  })

  it('takes joins and removals that come together as one, and leaves somebody', () => {
    const both = begin(atRest('a', 'b'), [member('c'), member('a', { leaving: true })])
    expect(both && ringOf(both, 'wanted').nodes).toEqual(['b', 'c'])
    expect(begin(atRest('a'), [member('a', { leaving: true })])).toBeUndefined()
    expect(both && begin(both, [member('d')])).toBeUndefined()
  })

  it('is over without a newcomer that was given up, and goes on with the others', () => {
    const filling = begin(atRest('a'), [member('b'), member('c')])
    if (filling === undefined) throw new Error('nothing began')
    const one = abandon(filling, ['b'])
    expect([one.stage, names(one)]).toEqual(['filling', ['a', 'c']])
    const none = abandon(one, ['c'])
    expect([none.stage, names(none)]).toEqual(['rest', ['a']])
    // Whoever is on the ring is not given up like this.
    expect(names(abandon(filling, ['a']))).toContain('a')
  })

  it('strikes a leaver only when it is on no ring', () => {
    const leaving = begin(atRest('a', 'b'), [member('b', { leaving: true })])
    if (leaving === undefined) throw new Error('nothing began')
    expect(names(strike(leaving, ['b']))).toEqual(['a', 'b'])
    const done = finish(switchOver(leaving, []))
    expect(names(strike(done, ['b']))).toEqual(['a'])
  })
})

describe('a member', () => {
  it('is hollow after a restart if it was read from, and until it is restored', () => {
    const renewed = renew(atRest('a', 'b'), member('b', { life: 2 }))
    expect(findMember(renewed, 'b')).toMatchObject({ life: 2, hollow: true })
    expect(placementOf(renewed)).toBe(placementOf(atRest('a', 'b')))
    expect(findMember(restore(renewed, ['b']), 'b')).toMatchObject({ hollow: false })
    const filling = begin(atRest('a'), [member('b')])
    if (filling === undefined) throw new Error('nothing began')
    expect(findMember(renew(filling, member('b', { life: 2 })), 'b')?.hollow).toBe(false)
    const switched = switchOver(filling, [])
    expect(findMember(renew(switched, member('b', { life: 2 })), 'b')?.hollow).toBe(true)
  })

  it('is hollow if it could not be heard when it was to be given something', () => {
    const filling = begin(atRest('a', 'b'), [member('c')])
    if (filling === undefined) throw new Error('nothing began')
    expect(findMember(switchOver(filling, ['b']), 'b')?.hollow).toBe(true)
  })
})

it('has one more version with every step, and members in the order of their names', () => {
  const step = fc.constantFrom('renew', 'restore', 'switch', 'finish', 'strike', 'abandon')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 10 }), (steps) => {
      let configuration = atRest('b', 'a', 'c')
      for (const kind of steps) {
        const { version } = configuration
        if (kind === 'renew') configuration = renew(configuration, member('a', { life: version }))
        else if (kind === 'restore') configuration = restore(configuration, ['a'])
        else if (kind === 'switch') configuration = switchOver(configuration, ['c'])
        else if (kind === 'finish') configuration = finish(configuration)
        else if (kind === 'strike') configuration = strike(configuration, ['b'])
        else configuration = abandon(configuration, ['c'])
        expect(configuration.version).toBe(version + 1)
        expect(names(configuration)).toEqual(['a', 'b', 'c'])
      }
    })
  )
})
