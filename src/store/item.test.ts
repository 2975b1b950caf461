import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteReader, ByteWriter, FormatError, latin1Bytes, Span } from '../core/bytes.js'
import type { Bucket } from './bucket.js'
import { decodeItem, Item } from './item.js'
import { Store } from './store.js'
import { HashValue } from './values/hash-value.js'
import { ListValue } from './values/list-value.js'
import { SetValue } from './values/set-value.js'
import { ZsetValue } from './values/zset-value.js'

/** A bucket with one item of every type. */
function filled(seed: number): Bucket {
  const store = new Store({ seed })
  const bucket = store.open(3)
  const key = store.createKey()
  const at = (name: string): typeof key => key.setBytes(latin1Bytes(name), name.length)
  bucket.setString(at('plain'), Span.ofLatin1('value\0\xff'), 10, 0)
  bucket.setString(at('brief'), Span.ofLatin1(''), 11, 5000)
  bucket.buryKey(at('gone'), 12)
  const hash = new HashValue()
  hash.set('a', '1')
  hash.set('b', '2')
  bucket.setHeap(at('hash'), hash, 13, 0)
  const list = new ListValue()
  list.pushBack('x')
  bucket.setHeap(at('list'), list, 14, 6000)
  const set = new SetValue()
  set.add('m')
  bucket.setHeap(at('set'), set, 15, 0)
  const zset = new ZsetValue()
  zset.set('m', -Infinity)
  bucket.setHeap(at('zset'), zset, 16, 0)
  return bucket
}

function encodeAll(bucket: Bucket): Uint8Array {
  const writer = new ByteWriter()
  bucket.walk(0, (ref) => {
    bucket.encodeItem(ref, writer)
    return true
  })
  return writer.copy()
}

function applyAll(bytes: Uint8Array, store: Store, bucket: Bucket): number {
  const reader = ByteReader.over(bytes)
  const key = store.createKey()
  const item = new Item()
  let applied = 0
  while (reader.remaining > 0) {
    decodeItem(reader, item)
    key.set(item.key.bytes, item.key.view, item.key.offset, item.key.length, item.placementHash)
    if (bucket.applyItem(key, item)) applied++
  }
  return applied
}

describe('items as bytes', () => {
  it('of every type arrive as they were, once', () => {
    const source = filled(1)
    const store = new Store({ seed: 2 })
    const target = store.open(3)
    expect(applyAll(encodeAll(source), store, target)).toBe(7)
    expect(target.digest().toString()).toBe(source.digest().toString())
    expect([target.items, target.tombstones, target.expiring]).toEqual([6, 1, 2])
    expect(applyAll(encodeAll(source), store, target)).toBe(0)
    store.check()
  })

  it('win or lose by version, then by type, expiry and value, on every node alike', () => {
    const value = fc.record({
      kind: fc.constantFrom('string', 'hash', 'tombstone'),
      text: fc.string({ maxLength: 2 }),
      version: fc.integer({ min: 1, max: 2 }),
      expiry: fc.constantFrom(0, 7, 8)
    })
    fc.assert(
      fc.property(fc.array(value, { minLength: 2, maxLength: 6 }), fc.nat(), (values, turn) => {
        const encoded = values.map(({ kind, text, version, expiry }) => {
          const store = new Store({ seed: 4 })
          const key = store.createKey().setBytes(latin1Bytes('k'), 1)
          const bucket = store.open(0)
          const hash = new HashValue()
          hash.set(text, text)
          if (kind === 'string') bucket.setString(key, Span.ofLatin1(text), version, expiry)
          else if (kind === 'hash') bucket.setHeap(key, hash, version, expiry)
          else bucket.buryKey(key, version)
          return encodeAll(bucket)
        })
        const merge = (order: Uint8Array[]): string => {
          const store = new Store({ seed: 5 })
          const bucket = store.open(0)
          for (const bytes of order) applyAll(bytes, store, bucket)
          store.check()
          return bucket.digest().toString()
        }
        const cut = turn % encoded.length
        const turned = [...encoded.slice(cut), ...encoded.slice(0, cut)]
        expect(merge(turned)).toBe(merge(encoded))
        expect(merge(encoded.toReversed())).toBe(merge(encoded))
      })
    )
  })

  it('that are damaged are refused or understood, never half applied', () => {
    const bytes = encodeAll(filled(1))
    for (let end = 0; end < bytes.length; end++) {
      const store = new Store({ seed: 3 })
      try {
        applyAll(bytes.subarray(0, end), store, store.open(3))
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError)
      }
      store.check()
    }
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, byte) => {
        const damaged = bytes.slice()
        damaged[at] = byte
        const store = new Store({ seed: 3 })
        try {
          applyAll(damaged, store, store.open(3))
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError)
        }
        store.check()
      }),
      { numRuns: 500 }
    )
  })
})

describe('digests', () => {
  it('tell any difference, and not the order in which things were written', () => {
    const one = filled(1)
    const other = filled(9)
    expect(one.digest().equals(other.digest())).toBe(true)
    const store = new Store({ seed: 8 })
    const key = store.createKey()
    const bucket = store.open(3)
    applyAll(encodeAll(one), store, bucket)
    key.setBytes(latin1Bytes('hash'), 4)
    const change = (version: number, act: (hash: HashValue) => void): void => {
      const ref = bucket.find(key, 0)
      const hash = bucket.heapValue(ref) as HashValue
      act(hash)
      bucket.updated(key, ref, hash, version)
    }
    change(13, (hash) => {
      hash.delete('a')
      hash.set('a', '1')
    })
    expect(bucket.digest().equals(one.digest())).toBe(true)
    change(13, (hash) => hash.set('a', '2'))
    expect(bucket.digest().equals(one.digest())).toBe(false)
    change(99, (hash) => hash.set('a', '1'))
    expect(bucket.digest().equals(one.digest())).toBe(false)
    bucket.touchVersion(bucket.find(key, 0), 13)
    expect(bucket.digest().equals(one.digest())).toBe(true)
    bucket.remove(bucket.findAny(key.setBytes(latin1Bytes('gone'), 4)))
    expect(bucket.digest().equals(one.digest())).toBe(false)
    expect(bucket.digest(false).equals(one.digest(false))).toBe(true)
  })
})
