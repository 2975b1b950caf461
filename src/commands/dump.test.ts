import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FormatError, latin1Bytes } from '../core/bytes.js'
import { ByteWriter } from '../core/bytes.js'
import { HashValue } from '../store/values/hash-value.js'
import { ListValue } from '../store/values/list-value.js'
import { SetValue } from '../store/values/set-value.js'
import { ZsetValue } from '../store/values/zset-value.js'
import { crc64 } from './crc64.js'
import { type Dumped, isDump, readDump, writeDump } from './dump-format.js'

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16))
}

function encoded(value: Dumped): Uint8Array {
  if (value instanceof Uint8Array) return value
  const writer = new ByteWriter()
  value.encode(writer, true)
  return writer.copy()
}

const text = fc.uint8Array({ maxLength: 300 }).map((bytes) => String.fromCharCode(...bytes))
const value: fc.Arbitrary<Dumped> = fc.oneof(
  fc.uint8Array({ maxLength: 70_000 }),
  fc.array(text, { minLength: 1 }).map((elements) => {
    const list = new ListValue()
    for (const element of elements) list.pushBack(element)
    return list
  }),
  fc.array(text, { minLength: 1 }).map((members) => {
    const set = new SetValue()
    for (const member of members) set.add(member)
    return set
  }),
  fc.array(fc.tuple(text, text), { minLength: 1 }).map((entries) => {
    const hash = new HashValue()
    for (const [field, content] of entries) hash.set(field, content)
    return hash
  }),
  fc.array(fc.tuple(text, fc.double({ noNaN: true })), { minLength: 1 }).map((entries) => {
    const zset = new ZsetValue()
    for (const [member, score] of entries) zset.set(member, score)
    return zset
  })
)

/** As redis-server 7.0.15 gave them. */
const DUMPS_OF_REDIS: [string, string, unknown][] = [
  ['an integer', '00c1c7cf0a0067eda236b4db26d0', '-12345'],
  [
    'a compressed string',
    '00c310425802616261e0ff01e0ff01e03a010161620a003897a9748ed12c00',
    'ab'.repeat(300)
  ],
  [
    'a list in pieces, compressed',
    '120102c3194100100001000003008161020501e0f06c6f6e67e0e3030201f2ff0a00cadc935102aa4ccb',
    ['a', '5', 'long'.repeat(60)]
  ],
  ['a set of integers', '0b0e020000000300000001000200ff020a00bb1fbf2ba3631b4e', ['1', '2', '767']],
  [
    'a sorted set as a listpack',
    '111c1c000000060081610283312e3504816202020181630283696e6604ff0a0089597f26062da8a1',
    ['a 1.5', 'b 2', 'c Infinity']
  ],
  [
    'a hash as a listpack',
    '1040444400000010008161020101816202c12c02816302dffb02816402f270110104816502f400f2052a0100000009816602f2a0fd7f04816702847465787405816902d00002ff0a00acc60a7b4b37bbfa',
    ['a 1', 'b 300', 'c -5', 'd 70000', 'e 5000000000', 'f 8388000', 'g text', 'i -4096']
  ]
]

function contentOf(value: Dumped): unknown {
  if (value instanceof Uint8Array) return String.fromCharCode(...value)
  if (value instanceof ListValue) return value.slice(0, value.length)
  if (value instanceof SetValue) return value.members()
  if (value instanceof ZsetValue) {
    return value.membersInRange(0, value.size).map((member) => `${member} ${value.score(member)}`)
  }
  const hash = value as HashValue
  return Array.from({ length: hash.size }, (_, i) => `${hash.fieldAt(i)} ${hash.valueAt(i)}`)
}

describe('dumps', () => {
  it('are checked by the CRC-64 of Redis', () => {
    const bytes = latin1Bytes('123456789')
    expect(crc64(bytes, bytes.length)).toEqual([0xc4b8d9ca, 0xe9c6d914])
  })

  it('come back as they were', () => {
    fc.assert(
      fc.property(value, (dumped) => {
        const bytes = writeDump(dumped)
        expect(isDump(bytes)).toBe(true)
        expect(encoded(readDump(bytes))).toEqual(encoded(dumped))
      })
    )
  })

  it('are not understood when a byte has changed', () => {
    const bytes = writeDump(latin1Bytes('a value'))
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice()
      changed[at] ^= 1
      expect(isDump(changed)).toBe(false)
    }
  })

  it('that make no sense are refused, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 25 }),
        fc.uint8Array({ maxLength: 80 }),
        (type, rest) => {
          try {
            readDump(Uint8Array.of(type, ...rest, ...new Uint8Array(10)))
          } catch (error) {
            expect(error).toBeInstanceOf(FormatError)
          }
        }
      ),
      { numRuns: 2000 }
    )
  })

  it.each(DUMPS_OF_REDIS)('of Redis: %s', (_name, dump, content) => {
    const bytes = hex(dump)
    expect(isDump(bytes)).toBe(true)
    expect(contentOf(readDump(bytes))).toEqual(content)
  })
})
