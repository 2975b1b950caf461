import { describe, expect, test } from 'vitest'
import { NOBODY } from '../ids.js'
import { Roster, type Member } from './roster.js'

function member(node: number, given: Partial<Member> = {}): Member {
  return { node, weight: 1, zone: '', leaving: false, ...given }
}

describe('members', () => {
  test('are in the order of the table, whatever order they came in', () => {
    const roster = new Roster([member(5), member(0), member(2)])
    expect(roster.members.map(({ node }) => node)).toEqual([0, 2, 5])
  })

  test('stay, leave, or are not there at all', () => {
    const roster = new Roster([member(0), member(2, { leaving: true })])
    expect(roster.staying.map(({ node }) => node)).toEqual([0])
    const of = (node: number) => [roster.isStaying(node), roster.isLeaving(node)]
    expect(of(0)).toEqual([true, false])
    expect(of(2)).toEqual([false, true])
    for (const stranger of [1, 3, 99, NOBODY]) {
      expect(of(stranger)).toEqual([false, false])
      expect(roster.get(stranger)).toBeUndefined()
    }
    expect(roster.get(2)).toMatchObject({ node: 2, leaving: true })
  })

  test('the list given is not held on to', () => {
    const given = [member(1), member(0)]
    const roster = new Roster(given)
    given.pop()
    expect(roster.members).toHaveLength(2)
    expect(given).toEqual([member(1)])
  })

  test('nobody', () => {
    const roster = new Roster([])
    expect(roster.isStaying(0)).toBe(false)
    expect(roster.copiesPossible(2)).toBe(0)
    expect(roster).toMatchObject({ zones: 0, uniform: true })
  })
})

describe('copies', () => {
  test('are never more than staying members', () => {
    const roster = new Roster([member(0), member(1), member(2, { leaving: true })])
    expect([1, 2, 3].map((copies) => roster.copiesPossible(copies))).toEqual([1, 2, 2])
  })
})

describe('zones', () => {
  test('are counted where somebody stays', () => {
    const roster = new Roster([
      member(0, { zone: 'x' }),
      member(1, { zone: 'y' }),
      member(2, { zone: 'x' }),
      member(3, { zone: 'z', leaving: true })
    ])
    expect(roster.zones).toBe(2)
    expect(roster.zoneOf(0)).toBe(roster.zoneOf(2))
    expect(roster.zoneOf(0)).not.toBe(roster.zoneOf(1))
    expect([3, 4, NOBODY].map((node) => roster.zoneOf(node))).toEqual([-1, -1, -1])
  })
})

describe('uniform', () => {
  test.each([
    ['one zone and equal weights', [member(0), member(1)], true],
    ['another weight', [member(0), member(1, { weight: 2 })], false],
    ['another zone', [member(0), member(1, { zone: 'y' })], false],
    ['all in one named zone', [member(0, { zone: 'y' }), member(1, { zone: 'y' })], true],
    ['a leaving one differs', [member(0), member(1, { weight: 2, zone: 'y', leaving: true })], true]
  ])('%s', (_what, members, uniform) => {
    expect(new Roster(members).uniform).toBe(uniform)
  })
})
