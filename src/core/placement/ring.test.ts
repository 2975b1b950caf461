import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8Bytes } from '../bytes.js'
import {
  diffRings,
  isInArc,
  lengthOf,
  positionOfKey,
  Ring,
  virtualPositions,
  type RingMember
} from './ring.js'

const FIRST = 'http://localhost:19234'
const SECOND = 'http://localhost:19666'

const member = (name: string, positions: readonly number[], zone = ''): RingMember => ({
  name,
  zone,
  positions
})

/** Up to eight nodes with a few positions each, some of them in zones, on a small part of the circle so that positions collide. */
const drawnMembers = fc
  .array(
    fc.record({
      positions: fc.uniqueArray(fc.integer({ min: -40, max: 40 }), { minLength: 1, maxLength: 5 }),
      zone: fc.constantFrom('', '', 'x', 'y')
    }),
    { minLength: 1, maxLength: 8 }
  )
  .map((nodes) => nodes.map(({ positions, zone }, i) => member(`n${i}`, positions, zone)))

const drawnPosition = fc.integer({ min: -50, max: 50 })

describe('positions', () => {
  it("are the eight numbers of document 003's own JSON", () => {
    expect(virtualPositions(FIRST, 4)).toEqual([-511636176, 286163921, 1894906372, -1217789564])
    expect(virtualPositions(SECOND, 4)).toEqual([-898821511, 1244601444, -2112654767, -204944282])
  })

  it('of keys are those of their text', () => {
    const vectors: [string, number][] = [
      ['4123140', 1669446702],
      ['', 1483403061],
      ['a', -1098176197],
      ['key', 386015913],
      ['ключ', 1114908798]
    ]
    for (const [key, position] of vectors) expect(positionOfKey(utf8Bytes(key))).toBe(position)
  })

  it('of keys that are no text exist, too', () => {
    expect(positionOfKey(new Uint8Array([0xff, 0x00, 0xfe]))).toBe(
      positionOfKey(utf8Bytes('\u00ff\u0000\u00fe'))
    )
  })
})

describe('a ring', () => {
  it("shares document 003's two nodes as it says", () => {
    const ring = new Ring([
      member('a', virtualPositions(FIRST, 4)),
      member('b', virtualPositions(SECOND, 4))
    ])
    expect([ring.shareOf('a'), ring.shareOf('b')].map((share) => share.toFixed(3))).toEqual([
      '0.564',
      '0.436'
    ])
  })

  it('owns arcs from the previous position, exclusive, to its own, inclusive', () => {
    const ring = new Ring([member('a', [0]), member('b', [1000])])
    const owner = (position: number): string => ring.replicas(position, 1)[0]
    expect([0, 1, 1000, 1001, 0x7fff_ffff, -0x8000_0000, -1].map(owner)).toEqual([
      ...['a', 'b', 'b'],
      ...['a', 'a', 'a', 'a']
    ])
    expect(isInArc(0, { after: 1000, upTo: 0 })).toBe(true)
    expect(isInArc(1000, { after: 1000, upTo: 0 })).toBe(false)
    expect(lengthOf({ after: 1000, upTo: 0 }) + lengthOf({ after: 0, upTo: 1000 })).toBe(2 ** 32)
  })

  it('gives the whole circle to a single position', () => {
    const ring = new Ring([member('a', [7])])
    expect(ring.shareOf('a')).toBe(1)
    for (const position of [7, 8, -3]) {
      expect(ring.replicas(position, 3)).toEqual(['a'])
      expect(isInArc(position, ring.arc(0))).toBe(true)
    }
  })

  it('skips the virtual nodes of nodes already taken', () => {
    const ring = new Ring([member('a', [10, 20]), member('b', [30]), member('c', [40])])
    expect(ring.replicas(5, 2)).toEqual(['a', 'b'])
    expect(ring.replicas(35, 3)).toEqual(['c', 'a', 'b'])
  })

  it('takes one node of each zone before a second of any', () => {
    const ring = new Ring([
      member('a', [10], 'x'),
      member('b', [20], 'x'),
      member('c', [30], 'y'),
      member('d', [40])
    ])
    expect(ring.replicas(0, 4)).toEqual(['a', 'c', 'd', 'b'])
  })

  it('gives a position that two nodes have to the first by name', () => {
    const ring = new Ring([member('b', [5]), member('a', [5])])
    expect(ring.positions).toEqual([5])
    expect(ring.nodes).toEqual(['a'])
  })

  it('is the same whatever the order of its members', () => {
    fc.assert(
      fc.property(drawnMembers, drawnPosition, (members, position) => {
        const [one, other] = [new Ring(members), new Ring([...members].reverse())]
        expect(one.replicas(position, 8)).toEqual(other.replicas(position, 8))
      })
    )
  })

  it('has the replicas of a smaller `from` among those of a larger, none of them twice', () => {
    fc.assert(
      fc.property(drawnMembers, drawnPosition, (members, position) => {
        const ring = new Ring(members)
        const all = ring.replicas(position, members.length)
        expect(new Set(all).size).toBe(ring.size)
        for (let from = 1; from <= members.length; from++) {
          const replicas = ring.replicas(position, from)
          expect(replicas).toEqual(all.slice(0, from))
          for (const name of ring.nodes) {
            expect(ring.isReplica(name, position, from)).toBe(replicas.includes(name))
          }
        }
      })
    )
  })

  it('is shared completely', () => {
    fc.assert(
      fc.property(drawnMembers, (members) => {
        const ring = new Ring(members)
        const sum = ring.nodes.reduce((total, name) => total + ring.shareOf(name), 0)
        expect(sum).toBeCloseTo(1, 12)
      })
    )
  })
})

describe('a change of the ring', () => {
  it('moves exactly what the sets of replicas say, and nothing twice', () => {
    fc.assert(
      fc.property(drawnMembers, drawnMembers, drawnPosition, (before, after, position) => {
        const [old, now] = [new Ring(before), new Ring(after)]
        const changes = diffRings(old, now, 4)
        for (let from = 1; from <= 4; from++) {
          const here = changes.filter((it) => it.from === from && isInArc(position, it))
          expect(here.length).toBeLessThanOrEqual(1)
          const [was, is] = [old.replicas(position, from), now.replicas(position, from)]
          const gains = here.flatMap((it) => it.gains)
          const losses = here.flatMap((it) => it.losses)
          expect(gains).toEqual(is.filter((name) => !was.includes(name)))
          expect(losses).toEqual(was.filter((name) => !is.includes(name)))
        }
      })
    )
  })

  it('gives to nobody but the newcomer, and each of its gains costs at most one other its copy', () => {
    fc.assert(
      fc.property(drawnMembers, (members) => {
        const plain = members.map(({ name, positions }) => member(name, positions))
        const [newcomer, ...rest] = plain
        const changes = diffRings(new Ring(rest), new Ring(plain), 3)
        // A newcomer that takes another's very position is two changes in one.
        const positions = plain.flatMap((it) => it.positions)
        if (new Set(positions).size !== positions.length) return
        for (const { gains, losses } of changes) {
          expect(gains).toEqual([newcomer.name])
          expect(losses.length).toBeLessThanOrEqual(1)
        }
      })
    )
  })

  it('of one position touches only the arc that it cuts', () => {
    const before = new Ring([member('a', [0]), member('b', [100])])
    const after = new Ring([member('a', [0, 50]), member('b', [100])])
    expect(diffRings(before, after, 1)).toEqual([
      { after: 0, upTo: 50, from: 1, gains: ['a'], losses: ['b'] }
    ])
  })
})
