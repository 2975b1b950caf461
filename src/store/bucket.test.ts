import { describe, expect, it } from 'vitest'
import { latin1Bytes, Span } from '../core/bytes.js'
import type { Key } from './key.js'
import { StoreLimitError } from './slab.js'
import { Store } from './store.js'
import { SetValue } from './values/set-value.js'

function named(store: Store): (name: string, placement?: number) => Key {
  const key = store.createKey()
  return (name, placement = 0) => key.setBytes(latin1Bytes(name), placement)
}

describe('a large bucket', () => {
  const KEYS = 30_000

  it('splits in bounded steps, usable at once, exact in the end', () => {
    const store = new Store({ seed: 1 })
    const key = named(store)
    const value = Span.ofLatin1('v')
    const parent = store.open(5)
    const placement = (i: number): number => 5 + 16 * (i % 1024)
    for (let i = 0; i < KEYS; i++) {
      parent.setString(key(`k${i}`, placement(i)), value, i + 1, i % 10 === 0 ? 9e6 : 0)
    }
    for (let i = 0; i < KEYS; i += 100) parent.buryKey(key(`k${i}`, placement(i)), KEYS + i)
    const { items, tombstones, expiring, bytes } = parent
    const children = store.split(5, 15, 255)
    expect(children.map(({ id }) => id)).toEqual(Array.from({ length: 16 }, (_, i) => 5 + 16 * i))
    expect(store.get(5)).toBe(parent)
    for (let i = 0; i < KEYS; i += 1777) {
      const child = store.get(placement(i) & 255)!
      expect(child.findAny(key(`k${i}`, placement(i)))).not.toBe(0)
      child.setString(key(`new${i}`, placement(i)), value, 1, 0)
      child.remove(child.find(key(`new${i}`, placement(i)), 0))
    }
    expect(children[1].settled).toBe(false)
    let steps = 0
    while (store.maintain(1000)) steps++
    expect(steps).toBeGreaterThan(3)
    expect(children.every(({ settled }) => settled)).toBe(true)
    const sum = (of: (child: (typeof children)[0]) => number): number =>
      children.reduce((total, child) => total + of(child), 0)
    expect(sum((child) => child.items)).toBe(items)
    expect(sum((child) => child.tombstones)).toBe(tombstones)
    expect(sum((child) => child.expiring)).toBe(expiring)
    expect(sum((child) => child.bytes)).toBe(bytes)
    for (const child of children) {
      child.walk(0, (ref) => {
        expect(child.placementHash(ref) & 255).toBe(child.id)
        return true
      })
    }
    store.check()
    let gone = 0
    for (const child of children) {
      child.expired(1e7, 1e9, (ref) => {
        child.remove(ref)
        gone++
      })
    }
    expect(gone).toBe(expiring)
  })

  it('is dropped at once and freed in steps', () => {
    const store = new Store({ seed: 1 })
    const key = named(store)
    for (let i = 0; i < KEYS; i++) {
      store.open(0).setString(key(`k${i}`), Span.ofLatin1('v'), 1, 0)
      if (i % 1000 === 0) store.open(0).setHeap(key(`s${i}`), new SetValue(), 1, 0)
    }
    store.open(1).setString(key('other'), Span.ofLatin1('v'), 1, 0)
    store.drop(0)
    expect([store.get(0), store.items]).toEqual([undefined, 1])
    store.open(0).setString(key('again'), Span.ofLatin1('v'), 1, 0)
    let steps = 0
    while (store.maintain(1000)) steps++
    expect(steps).toBeGreaterThan(10)
    expect(store.items).toBe(2)
    store.check()
    const memory = store.memory()
    expect(memory.usedBytes + memory.indexBytes).toBeLessThan(1000)
    expect(memory.heapValueBytes).toBe(0)
  })

  it('shrinks when it is emptied', () => {
    const store = new Store({ seed: 1 })
    const key = named(store)
    const bucket = store.open(0)
    for (let i = 0; i < KEYS; i++) bucket.setString(key(`k${i}`), Span.ofLatin1('v'), 1, 0)
    const full = store.memory().indexBytes
    for (let i = 10; i < KEYS; i++) bucket.remove(bucket.find(key(`k${i}`), 0))
    expect(store.memory().indexBytes).toBeLessThan(full / 100)
    expect(store.memory().bytesPerKey).toBeLessThan(100)
    store.check()
  })
})

describe('an empty store', () => {
  it('with 4096 buckets costs no slab and no index', () => {
    const store = new Store({ seed: 1 })
    for (let id = 0; id < 4096; id++) store.open(id)
    expect(store.memory()).toMatchObject({ usedBytes: 0, reservedBytes: 0, indexBytes: 0 })
  })
})

describe('strings', () => {
  it('built piece by piece are not copied each time', () => {
    const store = new Store({ seed: 1 })
    const key = named(store)
    const bucket = store.open(0)
    let ref = bucket.setString(key('log'), Span.ofLatin1(''), 1, 0)
    bucket.setString(key('neighbour'), Span.ofLatin1('n'), 1, 0)
    let moves = 0
    for (let i = 0; i < 10_000; i++) {
      const moved = bucket.append(ref, Span.ofLatin1('0123456789'), i + 2)
      if (moved !== ref) moves++
      ref = moved
    }
    expect(bucket.valueLength(ref)).toBe(100_000)
    expect(moves).toBeLessThan(30)
    bucket.setString(key('log'), Span.ofLatin1('short'), 1, 0)
    expect(bucket.bytes).toBeLessThan(200)
  })

  it('fill a gap with zeros, whatever lay there before', () => {
    const store = new Store({ seed: 1 })
    const key = named(store)
    const bucket = store.open(0)
    const dirty = bucket.setString(key('dirty'), Span.of(new Uint8Array(9000).fill(0xee)), 1, 0)
    bucket.setString(key('wall'), Span.ofLatin1(''), 1, 0)
    bucket.remove(dirty)
    const ref = bucket.setString(key('holey'), Span.ofLatin1('ab'), 1, 0)
    const moved = bucket.overwriteRange(ref, 4000, Span.ofLatin1('z'), 2)
    const text = bucket.pointValue(moved, new Span()).latin1()
    expect(text).toBe(`ab${'\0'.repeat(3998)}z`)
  })

  it('take a number of as many digits where they lie, and no other', () => {
    const store = new Store({ seed: 1 })
    const key = named(store)
    const bucket = store.open(0)
    const numbers = [0, 1, 9, 10, 99, 100, 4095, 123_456_789_012, 999_999_999_999_999, 10 ** 15, -1]
    for (const from of numbers) {
      for (const to of numbers) {
        const ref = bucket.setString(key('n'), Span.ofLatin1(String(from)), 1, 5000)
        const fits = bucket.overwriteDigits(ref, to, 2)
        const isPlain = to >= 0 && to < 10 ** 15
        expect(fits).toBe(isPlain && String(from).length === String(to).length)
        expect(bucket.pointValue(ref, new Span()).latin1()).toBe(String(fits ? to : from))
        expect(bucket.versionOf(ref)).toBe(fits ? 2 : 1)
        expect(bucket.expiryOf(ref)).toBe(5000)
      }
    }
    store.check()
  })

  it('keep their expiry when they grow', () => {
    const store = new Store({ seed: 1 })
    const key = named(store)
    const bucket = store.open(0)
    const names: string[] = []
    for (const name of ['one', 'two', 'three']) {
      const ref = bucket.setString(key(name), Span.ofLatin1('x'), 1, 5000)
      const moved = bucket.append(ref, Span.ofLatin1('y'.repeat(500)), 2)
      expect([bucket.expiryOf(moved), bucket.valueLength(moved)]).toEqual([5000, 501])
    }
    expect(bucket.expiring).toBe(3)
    bucket.expired(6000, 1000, (ref) => {
      names.push(bucket.pointKey(ref, new Span()).latin1())
      bucket.remove(ref)
    })
    expect(names.sort()).toEqual(['one', 'three', 'two'])
    store.check()
  })

  it('larger than a chunk live in one of their own, which they give back', () => {
    const store = new Store({ seed: 1 })
    const key = named(store)
    const bucket = store.open(0)
    const large = Span.of(new Uint8Array(70 * 1024 * 1024))
    large.bytes[large.length - 1] = 7
    const ref = bucket.setString(key('large'), large, 1, 0)
    expect(bucket.valueBytes(ref)[bucket.valueOffset(ref) + large.length - 1]).toBe(7)
    const moved = bucket.setExpiry(ref, 5000)
    expect([bucket.expiryOf(moved), bucket.valueLength(moved)]).toEqual([5000, large.length])
    expect(bucket.valueBytes(moved)[bucket.valueOffset(moved) + large.length - 1]).toBe(7)
    bucket.bury(moved, 2)
    expect(store.memory().reservedBytes).toBeLessThan(1024 * 1024)
    store.check()
  })
})

describe('limits', () => {
  it('leave the store as it was', () => {
    const store = new Store({ seed: 1, slabLimitBytes: 300_000, maxValueBytes: 100_000 })
    const key = named(store)
    const bucket = store.open(0)
    const limitOf = (attempt: () => unknown): string => {
      try {
        attempt()
      } catch (error) {
        if (error instanceof StoreLimitError) return error.limit
        throw error
      }
      return 'none'
    }
    const value = (length: number): Span => Span.of(new Uint8Array(length))
    expect(limitOf(() => bucket.setString(key('x'), value(100_001), 1, 0))).toBe('value-too-long')
    expect(limitOf(() => bucket.setString(key('x'.repeat(65_536)), value(1), 1, 0))).toBe(
      'key-too-long'
    )
    bucket.setString(key('x'.repeat(65_535)), value(1), 1, 0)
    bucket.setString(key('a'), value(90_000), 2, 0)
    const ref = bucket.setString(key('b'), value(90_000), 3, 0)
    const before = bucket.digest().toString()
    expect(limitOf(() => bucket.setString(key('c'), value(90_000), 4, 0))).toBe('slab-full')
    expect(limitOf(() => bucket.append(ref, value(10_001), 4))).toBe('value-too-long')
    const small = bucket.setString(key('d'), value(10), 4, 0)
    expect(limitOf(() => bucket.append(small, value(95_000), 5))).toBe('slab-full')
    expect(limitOf(() => bucket.setString(key('d'), value(95_000), 5, 9))).toBe('slab-full')
    bucket.remove(small)
    expect(bucket.digest().toString()).toBe(before)
    store.check()
    bucket.bury(bucket.find(key('a'), 0), 9)
    expect(limitOf(() => bucket.setString(key('c'), value(80_000), 4, 0))).toBe('none')
    store.check()
  })
})

describe('tombstones and samples', () => {
  it('are not seen by commands, and go when all have seen them', () => {
    const store = new Store({ seed: 1 })
    const key = named(store)
    const bucket = store.open(0)
    for (let i = 0; i < 100; i++) {
      const ref = bucket.setString(key(`k${i}`), Span.ofLatin1('v'), i, 0)
      if (i > 0) bucket.bury(ref, 1000 + i)
    }
    expect([bucket.items, bucket.tombstones]).toEqual([1, 99])
    expect(bucket.find(key('k5'), 0)).toBe(0)
    expect(bucket.versionOf(bucket.findAny(key('k5')))).toBe(1005)
    expect(bucket.purge(1050, 20)).toBe(20)
    expect(bucket.purge(1050, 1000)).toBe(30)
    expect(bucket.purge(1050, 1000)).toBe(0)
    expect(bucket.tombstones).toBe(49)
    bucket.setString(key('k99'), Span.ofLatin1('back'), 2000, 0)
    expect([bucket.items, bucket.tombstones]).toEqual([2, 48])
    expect(bucket.purge(Infinity, 1000)).toBe(48)
    for (const position of [0, 1e9, 4e9]) {
      const ref = bucket.sample(position, 0)
      expect(['k0', 'k99']).toContain(bucket.pointKey(ref, new Span()).latin1())
    }
    store.check()
  })
})

describe('the cursor of a copy', () => {
  it('that was closed before does not end the next one', () => {
    const bucket = new Store({ seed: 1 }).open(0)
    const first = bucket.openCopy()
    first.close()
    const second = bucket.openCopy()
    first.close()
    expect(bucket.copying).toBe(true)
    second.close()
    expect(bucket.copying).toBe(false)
  })
})
