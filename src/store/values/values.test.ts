import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteReader, ByteWriter, FormatError } from '../../core/bytes.js'
import type { HeapValue } from '../value-type.js'
import { decodeValue } from './codec.js'
import { HashValue } from './hash-value.js'
import { ListValue } from './list-value.js'
import { SetValue } from './set-value.js'
import { ZsetValue } from './zset-value.js'

function encoded(value: HeapValue, sorted = false): Uint8Array {
  const writer = new ByteWriter()
  value.encode(writer, sorted)
  return writer.copy()
}

/** Decoding gives an equal value with an equal estimate, and every cut is refused. */
function roundTrip<T extends HeapValue>(value: T): T {
  const bytes = encoded(value)
  const again = decodeValue(value.kind, ByteReader.over(bytes))
  expect(encoded(again)).toEqual(bytes)
  expect(again.bytes).toBe(value.bytes)
  const cut = bytes.subarray(0, bytes.length - 1)
  expect(() => decodeValue(value.kind, ByteReader.over(cut))).toThrow(FormatError)
  return again as T
}

const member = fc.constantFrom('', 'a', 'b', 'ab', '\xff', '\0', 'zz', 'c', 'd', 'e')

describe('SetValue', () => {
  it('behaves as a Set', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), member)), (steps) => {
        const value = new SetValue()
        const model = new Set<string>()
        for (const [add, m] of steps) {
          if (add) {
            expect(value.add(m)).toBe(!model.has(m))
            model.add(m)
          } else expect(value.delete(m)).toBe(model.delete(m))
          expect(value.has(m)).toBe(model.has(m))
        }
        expect(value.size).toBe(model.size)
        expect(new Set(value.members())).toEqual(model)
        for (let i = 0; i < value.size; i++) expect(model.has(value.at(i))).toBe(true)
        roundTrip(value)
        const other = new SetValue()
        for (const m of [...model].reverse()) other.add(m)
        expect(encoded(other, true)).toEqual(encoded(value, true))
      })
    )
  })

  it('is scanned without missing what stays', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(99)), fc.integer({ min: 1, max: 9 }), (removed, count) => {
        const value = new SetValue()
        for (let i = 0; i < 100; i++) value.add(`${i}`)
        const pending = [...removed]
        const seen = new Set<string>()
        let cursor = 0
        do {
          cursor = value.scan(cursor, count, (m) => seen.add(m))
          const next = pending.shift()
          if (next !== undefined) value.delete(`${next}`)
        } while (cursor !== 0)
        for (const m of value.members()) expect(seen.has(m)).toBe(true)
      })
    )
  })
})

describe('HashValue', () => {
  it('behaves as a Map', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), member, member))
    fc.assert(
      fc.property(steps, (list) => {
        const value = new HashValue()
        const model = new Map<string, string>()
        for (const [set, field, text] of list) {
          if (set) {
            expect(value.set(field, text)).toBe(!model.has(field))
            model.set(field, text)
          } else expect(value.delete(field)).toBe(model.delete(field))
          expect(value.get(field)).toBe(model.get(field))
          expect(value.has(field)).toBe(model.has(field))
        }
        const scanned = new Map<string, string>()
        expect(value.scan(0, 1000, (field, text) => scanned.set(field, text))).toBe(0)
        expect(scanned).toEqual(model)
        for (let i = 0; i < value.size; i++) {
          expect(model.get(value.fieldAt(i))).toBe(value.valueAt(i))
        }
        roundTrip(value)
        const other = new HashValue()
        for (const [field, text] of [...model].reverse()) other.set(field, text)
        expect(encoded(other, true)).toEqual(encoded(value, true))
        expect(other.bytes).toBe(value.bytes)
      })
    )
  })
})

describe('ListValue', () => {
  type Step = (value: ListValue, model: string[]) => void
  const index = fc.nat(12)
  const step: fc.Arbitrary<Step> = fc.oneof(
    member.map(
      (m): Step =>
        (v, a) => (v.pushFront(m), a.unshift(m))
    ),
    member.map(
      (m): Step =>
        (v, a) => (v.pushBack(m), a.push(m))
    ),
    fc.constant<Step>((v, a) => expect(v.popFront()).toBe(a.shift())),
    fc.constant<Step>((v, a) => expect(v.popBack()).toBe(a.pop())),
    fc.tuple(index, member).map(([i, m]): Step => (v, a) => {
      expect(v.set(i, m)).toBe(i < a.length)
      if (i < a.length) a[i] = m
    }),
    fc.tuple(index, member).map(([i, m]): Step => (v, a) => {
      if (i > a.length) return
      v.insertAt(i, m)
      a.splice(i, 0, m)
    }),
    index.map((i): Step => (v, a) => {
      if (i < a.length) expect(v.removeAt(i)).toBe(a.splice(i, 1)[0])
    }),
    fc.tuple(member, fc.integer({ min: -2, max: 2 })).map(([m, count]): Step => (v, a) => {
      const places = [...a.keys()].filter((i) => a[i] === m)
      const gone = count === 0 ? places : count > 0 ? places.slice(0, count) : places.slice(count)
      expect(v.removeEqual(m, count)).toBe(gone.length)
      for (const i of gone.reverse()) a.splice(i, 1)
    }),
    fc.tuple(index, index).map(([from, to]): Step => (v, a) => {
      v.keep(from, to)
      a.splice(0, a.length, ...a.slice(from, to))
    })
  )

  it('behaves as an array', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const value = new ListValue()
        const model: string[] = []
        for (const run of steps) {
          run(value, model)
          expect(value.length).toBe(model.length)
          expect(value.slice(0, value.length)).toEqual(model)
        }
        expect(value.at(0)).toBe(model[0])
        expect(value.at(-1)).toBeUndefined()
        expect(value.slice(1, 3)).toEqual(model.slice(1, 3))
        expect(value.indexOf('a', 1)).toBe(model.indexOf('a', 1))
        roundTrip(value)
      }),
      { numRuns: 300 }
    )
  })
})

describe('ZsetValue', () => {
  const score = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.constantFrom(Infinity, -Infinity, 0.5, -0)
  )

  it('behaves as a sorted array', () => {
    const name = fc.oneof(member, fc.nat(700).map(String))
    const steps = fc.array(fc.tuple(fc.constantFrom('set', 'set', 'delete'), name, score), {
      size: 'large',
      maxLength: 900
    })
    fc.assert(
      fc.property(steps, fc.boolean(), (list, crowd) => {
        const value = new ZsetValue()
        const model = new Map<string, number>()
        if (crowd) {
          for (let i = 0; i < 1500; i++) {
            value.set(`${i}`, i % 5)
            model.set(`${i}`, i % 5)
          }
          for (let i = 0; i < 1500; i += i % 7 === 0 ? 7 : 1) {
            expect(value.delete(`${i}`)).toBe(model.delete(`${i}`))
          }
        }
        for (const [what, m, s] of list) {
          if (what === 'set') {
            expect(value.set(m, s)).toBe(!model.has(m))
            model.set(m, s + 0)
          } else expect(value.delete(m)).toBe(model.delete(m))
        }
        const order = [...model].sort(
          ([a, x], [b, y]) => x - y || (a < b ? -1 : a > b ? 1 : 0) || 0
        )
        const sorted = order.every(([, s]) => Number.isFinite(s))
          ? order
          : [...model].sort(([a, x], [b, y]) => (x < y ? -1 : x > y ? 1 : a < b ? -1 : 1))
        const members = sorted.map(([m]) => m)
        expect(value.size).toBe(members.length)
        expect(value.membersInRange(0, Infinity)).toEqual(members)
        expect(value.membersInRange(2, 9, true)).toEqual(members.slice(2, 9).reverse())
        members.forEach((m, i) => {
          if (i % 17 === 0) expect(value.rank(m)).toBe(i)
        })
        expect(value.rank('absent')).toBe(-1)
        for (const s of [-Infinity, -2, 0, 0.25, 3, Infinity]) {
          expect(value.rankOfScore(s, false)).toBe(sorted.filter(([, x]) => x < s).length)
          expect(value.rankOfScore(s, true)).toBe(sorted.filter(([, x]) => x <= s).length)
        }
        for (const m of members.slice(0, 9)) expect(value.score(m)).toBe(model.get(m))
        expect(new Set(value.members())).toEqual(new Set(members))
        if (value.size > 0) roundTrip(value)
      }),
      { numRuns: 60 }
    )
  })

  it('has ranges by member where all scores are equal', () => {
    const value = new ZsetValue()
    const members = ['', 'a', 'aa', 'b', 'c', '\xff']
    for (const m of members) value.set(m, 7)
    for (const m of ['', 'a', 'ab', 'c', '\xfe', '\xff']) {
      expect(value.rankOfMember(m, false)).toBe(members.filter((x) => x < m).length)
      expect(value.rankOfMember(m, true)).toBe(members.filter((x) => x <= m).length)
    }
    expect(new ZsetValue().rankOfMember('a', true)).toBe(0)
  })

  it('gives up its memory estimate with its members', () => {
    const value = new ZsetValue()
    const empty = value.bytes
    for (let i = 0; i < 1000; i++) value.set(`m${i}`, i)
    expect(value.bytes).toBeGreaterThan(50_000)
    for (const m of value.membersInRange(0, 1000)) value.delete(m)
    expect([value.size, value.bytes]).toEqual([0, empty])
  })
})
