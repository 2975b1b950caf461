import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeName } from '../ids.js'
import { Members, type MemberRecord } from './members.js'

function record(
  fields: Partial<Omit<MemberRecord, 'name'>> & { name?: string } = {}
): MemberRecord {
  const known = {
    address: 'a:1',
    life: 1,
    version: 1,
    state: 'alive',
    weight: 1,
    zone: ''
  } as const
  return { ...known, ...fields, name: nodeName(fields.name ?? 'a') }
}

describe('members', () => {
  it('takes a new name, a newer version and a later life, and says so', () => {
    const members = new Members()
    expect(members.offer(record())).toBe(true)
    expect(members.offer(record({ version: 2, state: 'leaving' }))).toBe(true)
    expect(members.get(nodeName('a'))?.state).toBe('leaving')
    expect(members.offer(record({ life: 2, version: 1 }))).toBe(true)
    expect(members.get(nodeName('a'))).toMatchObject({ life: 2, version: 1, state: 'alive' })
  })

  it('refuses what it knows already and what is older', () => {
    const members = new Members()
    members.offer(record({ life: 2, version: 2 }))
    expect(members.offer(record({ life: 2, version: 2, state: 'left' }))).toBe(false)
    expect(members.offer(record({ life: 2, version: 1 }))).toBe(false)
    expect(members.offer(record({ life: 1, version: 9 }))).toBe(false)
    expect(members.get(nodeName('a'))).toMatchObject({ life: 2, version: 2, state: 'alive' })
  })

  it('lists them by name', () => {
    const members = new Members()
    for (const name of ['c', 'a', 'B', 'b']) members.offer(record({ name }))
    expect(members.all().map(({ name }) => name)).toEqual(['B', 'a', 'b', 'c'])
  })

  it('is the same whatever order the news comes in', () => {
    const news = fc.array(
      fc
        .record({
          name: fc.constantFrom('a', 'b', 'c'),
          life: fc.integer({ min: 1, max: 3 }),
          version: fc.integer({ min: 1, max: 3 })
        })
        // The owner of a record gives each version once: its contents follow from its number.
        .map((known) => record({ ...known, address: `${known.life}.${known.version}` })),
      { maxLength: 20 }
    )
    fc.assert(
      fc.property(
        news.chain((records) =>
          fc.tuple(
            fc.constant(records),
            fc.shuffledSubarray(records, { minLength: records.length })
          )
        ),
        ([records, shuffled]) => {
          const [one, other] = [new Members(), new Members()]
          for (const known of records) one.offer(known)
          for (const known of shuffled) other.offer(known)
          expect(other.all()).toEqual(one.all())
        }
      )
    )
  })
})
