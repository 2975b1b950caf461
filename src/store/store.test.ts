import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteReader, ByteWriter, latin1Bytes, latin1String, Span } from '../core/bytes.js'
import type { Bucket } from './bucket.js'
import { decodeItem, Item } from './item.js'
import type { Key } from './key.js'
import { KeyHasher } from './key.js'
import { Store } from './store.js'
import { TYPE_HASH, TYPE_STRING, TYPE_TOMBSTONE } from './value-type.js'
import { HashValue } from './values/hash-value.js'

/** Eight hashes for everything: each probe meets strangers, and no segment can divide its way out. */
class CrowdedHasher extends KeyHasher {
  override hash(view: DataView, offset: number, length: number): number {
    return super.hash(view, offset, length) & 0x7000_0000
  }
}

interface Held {
  type: number
  value: string
  version: number
  expiry: number
}

function placementOf(name: string): number {
  let hash = 7
  for (let i = 0; i < name.length; i++) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) | 0
  return (hash ^ (hash >>> 14)) & 0x3fff
}

/** A store and the simplest thing that should behave like it. */
class Pair {
  readonly store: Store
  readonly model = new Map<string, Held>()
  readonly key: Key
  mask = 0
  now = 1_000_000
  version = 0
  readonly #item = new Item()

  constructor(hasher: KeyHasher) {
    this.store = new Store({ seed: 1, hasher })
    this.key = this.store.createKey()
    this.store.open(0)
  }

  bucketOf(name: string): Bucket {
    const placement = placementOf(name)
    this.key.setBytes(latin1Bytes(name), placement)
    return this.store.get(placement & this.mask)!
  }

  setString(name: string, value: string, expiry: number): void {
    this.bucketOf(name).setString(this.key, Span.ofLatin1(value), ++this.version, expiry)
    this.model.set(name, { type: TYPE_STRING, value, version: this.version, expiry })
  }

  setHash(name: string, value: string, expiry: number): void {
    const hash = new HashValue()
    hash.set('field', value)
    this.bucketOf(name).setHeap(this.key, hash, ++this.version, expiry)
    this.model.set(name, { type: TYPE_HASH, value, version: this.version, expiry })
  }

  change(name: string, value: string): void {
    const bucket = this.bucketOf(name)
    const ref = bucket.find(this.key, this.now)
    const held = this.model.get(name)
    if (ref === 0 || held === undefined) return
    held.version = ++this.version
    if (held.type === TYPE_STRING) {
      bucket.append(ref, Span.ofLatin1(value), this.version)
      held.value += value
    } else {
      const hash = bucket.heapValue(ref) as HashValue
      hash.set('field', value)
      bucket.updated(this.key, ref, hash, this.version)
      held.value = value
    }
  }

  overwrite(name: string, at: number, part: string): void {
    const bucket = this.bucketOf(name)
    const ref = bucket.find(this.key, this.now)
    const held = this.model.get(name)
    if (ref === 0 || held?.type !== TYPE_STRING) return
    held.version = ++this.version
    bucket.overwriteRange(ref, at, Span.ofLatin1(part), this.version)
    const padded = held.value.padEnd(at, '\0')
    held.value = padded.slice(0, at) + part + padded.slice(at + part.length)
  }

  delete(name: string, bury: boolean): void {
    const bucket = this.bucketOf(name)
    const ref = bucket.findAny(this.key)
    if (ref === 0) return
    if (bury) {
      bucket.bury(ref, ++this.version)
      const { version } = this
      this.model.set(name, { type: TYPE_TOMBSTONE, value: '', version, expiry: 0 })
    } else {
      bucket.remove(ref)
      this.model.delete(name)
    }
  }

  expire(name: string, expiry: number): void {
    const bucket = this.bucketOf(name)
    const ref = bucket.find(this.key, this.now)
    const held = this.model.get(name)
    if (ref === 0 || held === undefined) return
    bucket.setExpiry(ref, expiry)
    held.expiry = expiry
  }

  /** An item as another copy would send it, older, newer or of the same version. */
  apply(name: string, value: string, ahead: number): void {
    const bucket = this.bucketOf(name)
    const held = this.model.get(name)
    const version = Math.max(1, (held?.version ?? this.version) + ahead)
    this.version = Math.max(this.version, version)
    const type = value === '' ? TYPE_TOMBSTONE : TYPE_STRING
    this.#item.type = type
    this.#item.version = version
    this.#item.expiry = 0
    this.#item.value.point(...spanOf(value))
    const wins =
      held === undefined ||
      held.version < version ||
      (held.version === version && rankOf(held) < rankOf({ type, value, version, expiry: 0 }))
    expect(bucket.applyItem(this.key, this.#item)).toBe(wins)
    if (wins) this.model.set(name, { type, value, version, expiry: 0 })
  }

  purge(seen: number): void {
    for (const bucket of this.store.buckets()) {
      bucket.settle()
      const before = bucket.tombstones
      const removed = bucket.purge(seen, 1e9)
      expect(bucket.tombstones).toBe(before - removed)
    }
    for (const [name, held] of this.model) {
      if (held.type !== TYPE_TOMBSTONE) continue
      const there = this.bucketOf(name).findAny(this.key) !== 0
      if (held.version > seen) expect(there).toBe(true)
      if (!there) this.model.delete(name)
    }
  }

  takeExpired(): void {
    const gone: string[] = []
    for (const bucket of this.store.buckets()) {
      bucket.settle()
      const left = bucket.expired(this.now, 1e9, (ref) => {
        gone.push(nameAt(bucket, ref))
        bucket.remove(ref)
      })
      expect(left).toBeGreaterThan(0)
    }
    for (const name of gone) {
      expect(this.model.get(name)?.expiry).toBeLessThanOrEqual(this.now)
      this.model.delete(name)
    }
    for (const held of this.model.values()) {
      if (held.expiry > 0) expect(held.expiry).toBeGreaterThan(this.now - 32)
    }
  }

  split(): void {
    if (this.mask > 15) return
    const newMask = this.mask * 16 + 15
    const { items } = this.store
    for (const bucket of this.store.buckets()) this.store.split(bucket.id, this.mask, newMask)
    this.mask = newMask
    expect(this.store.items).toBe(items)
  }

  compare(): void {
    let items = 0
    for (const [name, held] of this.model) {
      const bucket = this.bucketOf(name)
      const ref = bucket.findAny(this.key)
      expect(ref).not.toBe(0)
      expect(bucket.typeOf(ref)).toBe(held.type)
      expect(bucket.versionOf(ref)).toBe(held.version)
      expect(bucket.expiryOf(ref)).toBe(held.expiry)
      const visible = held.type !== TYPE_TOMBSTONE && !(held.expiry > 0 && held.expiry <= this.now)
      expect(bucket.find(this.key, this.now)).toBe(visible ? ref : 0)
      expect(valueAt(bucket, ref)).toBe(held.value)
      if (held.type !== TYPE_TOMBSTONE) items++
    }
    expect(this.store.items).toBe(items)
    expect(this.store.items + this.store.tombstones).toBe(this.model.size)
    this.store.check()
  }
}

function spanOf(text: string): [Uint8Array, DataView, number, number] {
  const { bytes, view, offset, length } = Span.ofLatin1(text)
  return [bytes, view, offset, length]
}

function rankOf(held: Held): string {
  return `${held.type} ${String(held.expiry).padStart(16, '0')} ${held.value}`
}

function nameAt(bucket: Bucket, ref: number): string {
  const bytes = bucket.keyBytes(ref)
  return latin1String(bytes, 0, bytes.length)
}

function valueAt(bucket: Bucket, ref: number): string {
  const type = bucket.typeOf(ref)
  if (type === TYPE_TOMBSTONE) return ''
  if (type === TYPE_HASH) return (bucket.heapValue(ref) as HashValue).get('field') ?? ''
  return bucket.pointValue(ref, new Span()).latin1()
}

const binary = (maxLength: number): fc.Arbitrary<string> =>
  fc.uint8Array({ maxLength }).map((bytes) => latin1String(bytes, 0, bytes.length))

const name = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 30 }).map((n) => `key:${n}`) },
  { weight: 1, arbitrary: binary(40) }
)
const value = fc.oneof(
  { weight: 4, arbitrary: binary(80) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3000 }).map((n) => 'x'.repeat(n)) }
)
const later = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5000 }))

type Step = (pair: Pair) => void
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(name, value, later).map(
    ([n, v, t]): Step =>
      (p) =>
        p.setString(n, v, t && p.now + t)
  ),
  fc.tuple(name, value, later).map(
    ([n, v, t]): Step =>
      (p) =>
        p.setHash(n, v, t && p.now + t)
  ),
  fc.tuple(name, value).map(
    ([n, v]): Step =>
      (p) =>
        p.change(n, v)
  ),
  fc.tuple(name, fc.nat(100), value).map(
    ([n, at, v]): Step =>
      (p) =>
        p.overwrite(n, at, v)
  ),
  fc.tuple(name, fc.boolean()).map(
    ([n, bury]): Step =>
      (p) =>
        p.delete(n, bury)
  ),
  fc.tuple(name, later).map(
    ([n, t]): Step =>
      (p) =>
        p.expire(n, t && p.now + t)
  ),
  fc.tuple(name, value, fc.integer({ min: -2, max: 2 })).map(
    ([n, v, ahead]): Step =>
      (p) =>
        p.apply(n, v, ahead)
  ),
  fc.integer({ min: 0, max: 3000 }).map(
    (ms): Step =>
      (p) =>
        void (p.now += ms)
  ),
  fc.constant<Step>((p) => p.takeExpired()),
  fc.nat(20).map(
    (back): Step =>
      (p) =>
        p.purge(p.version - back)
  ),
  fc.nat(400).map(
    (budget): Step =>
      (p) =>
        void p.store.maintain(budget)
  ),
  fc.tuple(fc.nat(1500), fc.nat(20)).map(([many, size]): Step => (p) => {
    for (let i = 0; i < many; i++) p.setString(`bulk:${i}`, 'y'.repeat(size + (i % 7)), 0)
  }),
  fc.tuple(fc.nat(1500), fc.boolean()).map(([many, bury]): Step => (p) => {
    for (let i = 0; i < many; i++) p.delete(`bulk:${i}`, bury)
  })
)
const splitting = fc.oneof(
  { weight: 12, arbitrary: step },
  { weight: 1, arbitrary: fc.constant<Step>((p) => p.split()) }
)

describe('Store against a Map', () => {
  it.each([
    ['with its own hash', () => new KeyHasher(5), 60],
    ['with a crowded hash', () => new CrowdedHasher(5), 25]
  ] as const)('%s', (_, hasher, numRuns) => {
    fc.assert(
      fc.property(fc.array(splitting, { minLength: 5, maxLength: 60 }), (steps) => {
        const pair = new Pair(hasher())
        for (const run of steps) run(pair)
        pair.compare()
      }),
      { numRuns }
    )
  })
})

describe('a copy under writes', () => {
  it.each([
    ['its own hash', () => new KeyHasher(5)],
    ['a crowded hash', () => new CrowdedHasher(5)]
  ] as const)('sends every record once and forwards what was sent, with %s', (_, hasher) => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 60 }),
        (steps, batch) => {
          const pair = new Pair(hasher())
          for (let i = 0; i < 300; i++) pair.setString(`bulk:${i}`, `${i}`, 0)
          const target = new Store({ seed: 2 })
          const targetBucket = target.open(0)
          const key = target.createKey()
          const writer = new ByteWriter()
          const item = new Item()
          const source = pair.store.get(0)!
          const cursor = source.openCopy()
          const sentOnce = new Set<string>()
          const ship = (ref: number): void => {
            writer.reset()
            source.encodeItem(ref, writer)
            decodeItem(ByteReader.over(writer.written()), item)
            key.setBytes(item.key.copy(), item.placementHash)
            targetBucket.applyItem(key, item)
          }
          // Writes are watched by comparing the model before and after each step.
          const forward = (before: Map<string, string>): void => {
            for (const n of new Set([...before.keys(), ...pair.model.keys()])) {
              const held = pair.model.get(n)
              if (before.get(n) === JSON.stringify(held)) continue
              pair.bucketOf(n)
              const ref = source.findAny(pair.key)
              if (!source.isKeySent(pair.key)) continue
              if (ref !== 0) {
                expect(source.isSent(ref)).toBe(true)
                key.setBytes(latin1Bytes(n), 0)
                const there = targetBucket.findAny(key)
                if (there !== 0) targetBucket.remove(there)
                ship(ref)
              } else {
                key.setBytes(latin1Bytes(n), 0)
                const there = targetBucket.findAny(key)
                if (there !== 0) targetBucket.remove(there)
              }
            }
          }
          const snapshot = (): Map<string, string> =>
            new Map([...pair.model].map(([n, held]) => [n, JSON.stringify(held)]))
          const pending = [...steps]
          for (let more = true; more;) {
            more = cursor.next(batch, 10_000, (ref) => {
              const n = nameAt(source, ref)
              expect(sentOnce.has(n)).toBe(false)
              sentOnce.add(n)
              ship(ref)
            })
            const next = pending.shift()
            if (next === undefined) continue
            const before = snapshot()
            next(pair)
            // A key deleted without trace and written again is a new record.
            for (const n of sentOnce) {
              pair.bucketOf(n)
              if (!source.isKeySent(pair.key)) sentOnce.delete(n)
            }
            forward(before)
          }
          cursor.close()
          expect(source.copying).toBe(false)
          expect(targetBucket.digest().toString()).toBe(source.digest().toString())
          expect(targetBucket.digest(false).equals(source.digest(false))).toBe(true)
          target.check()
        }
      ),
      { numRuns: 40 }
    )
  })
})

describe('a scan under writes', () => {
  it('returns at least once what is there all the time', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.integer({ min: 1, max: 200 }),
        (steps, count) => {
          const pair = new Pair(new KeyHasher(9))
          for (let i = 0; i < 500; i++) pair.setString(`stay:${i}`, '', 0)
          const bucket = pair.store.get(0)!
          const seen = new Set<string>()
          const pending = [...steps]
          let cursor = 0
          do {
            let visited = 0
            cursor = bucket.scan(cursor, count, pair.now, (ref) => {
              visited++
              seen.add(nameAt(bucket, ref))
            })
            expect(visited).toBeLessThanOrEqual(count)
            pending.shift()?.(pair)
          } while (cursor !== 0)
          for (let i = 0; i < 500; i++) expect(seen.has(`stay:${i}`)).toBe(true)
        }
      ),
      { numRuns: 40 }
    )
  })
})
