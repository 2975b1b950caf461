import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MASKS } from '../mask.js'
import { crc16 } from './crc16.js'
import { md5Hex, md5Low16 } from './md5.js'
import { RING_SEED, murmur3, murmur3OfText } from './murmur3.js'
import {
  bucketOf,
  bucketOfSlot,
  md5Hash,
  placementHash,
  redisHash,
  slotsOfBucket
} from './placement-hash.js'
import { SLOTS, keySlot, reverse14 } from './slot.js'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The same bytes in the middle of others: what lies around a key must not matter. */
const embed = (bytes: Uint8Array, before: number): Uint8Array => {
  const around = new Uint8Array(before + bytes.length + 9).fill(0x7b)
  around.set(bytes, before)
  return around
}

const slotOf = (key: string): number => keySlot(bytesOf(key), 0, bytesOf(key).length)

const crcByBits = (bytes: Uint8Array): number => {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) {
      crc = ((crc << 1) ^ ((crc & 0x8000) !== 0 ? 0x1021 : 0)) & 0xffff
    }
  }
  return crc
}

describe('crc16', () => {
  it('gives the check value of CRC16-XMODEM', () => {
    expect(crc16(bytesOf('123456789'), 0, 9)).toBe(0x31c3)
    expect(crc16(bytesOf(''), 0, 0)).toBe(0)
  })

  it('equals the definition by bits, anywhere in a buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.nat(9), (bytes, before) => {
        expect(crc16(embed(bytes, before), before, bytes.length)).toBe(crcByBits(bytes))
      })
    )
  })
})

describe('keySlot', () => {
  it.each([
    ['k0', 8579],
    ['k1', 12706],
    ['k2', 449],
    ['{a}b', 15495],
    ['a', 15495],
    ['123456789', 0x31c3 & 0x3fff]
  ])('puts %s into slot %i', (key, slot) => {
    expect(slotOf(key)).toBe(slot)
  })

  it('hashes the first tag only, and the whole key where there is none', () => {
    const whole = (key: string): number => crcByBits(bytesOf(key)) & 0x3fff
    expect(slotOf('foo{}{bar}')).toBe(whole('foo{}{bar}'))
    expect(slotOf('foo{{bar}}zap')).toBe(whole('{bar'))
    expect(slotOf('foo{bar}{zap}')).toBe(whole('bar'))
    expect(slotOf('foo}{bar')).toBe(whole('foo}{bar'))
    expect(slotOf('{')).toBe(whole('{'))
    expect(slotOf('')).toBe(0)
    expect(slotOf('a-rather-long-prefix:{user1000}.following')).toBe(whole('user1000'))
  })

  it('finds a tag wherever it begins', () => {
    for (let before = 0; before < 20; before++) {
      for (let after = 0; after < 9; after++) {
        const key = `${'x'.repeat(before)}{tag}${'y'.repeat(after)}`
        expect(slotOf(key)).toBe(slotOf('tag'))
      }
    }
  })

  it('equals the rule as a regular expression, anywhere in a buffer', () => {
    const key = fc
      .array(fc.constantFrom('{', '}', 'a', 'b', 'cdefgh'), { maxLength: 20 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(key, fc.nat(9), (text, before) => {
        const tag = /^[^{]*\{([^}]+)\}/.exec(text)?.[1] ?? text
        const bytes = bytesOf(text)
        const slot = keySlot(embed(bytes, before), before, bytes.length)
        expect(slot).toBe(crcByBits(bytesOf(tag)) & 0x3fff)
      })
    )
  })
})

describe('reverse14', () => {
  it('reverses, and is its own inverse', () => {
    expect(reverse14(0)).toBe(0)
    expect(reverse14(1)).toBe(0x2000)
    expect(reverse14(0x3fff)).toBe(0x3fff)
    for (let slot = 0; slot < SLOTS; slot++) {
      const text = slot.toString(2).padStart(14, '0')
      expect(reverse14(slot)).toBe(Number.parseInt(Array.from(text).reverse().join(''), 2))
      expect(reverse14(reverse14(slot))).toBe(slot)
    }
  })
})

describe('md5', () => {
  it.each([
    ['CustomerDetails:45543', '0a0bec73c71375329404fe632c7679c9', 9],
    ['InvoiceMarkup:45543', '10b31df6183b032f53f5dbbc07c2c976', 6]
  ])('gives the documents’ digest and bucket of %s', (key, hex, bucket) => {
    const bytes = bytesOf(key)
    expect(md5Hex(bytesOf(`${key}\n`), 0, bytes.length + 1)).toBe(hex)
    expect(md5Hex(bytes, 0, bytes.length, 0x0a)).toBe(hex)
    expect(bucketOf(md5Hash.hash(bytes, 0, bytes.length), 0x000f)).toBe(bucket)
  })

  it('equals node:crypto at every length around the block borders, with and without a suffix', () => {
    const all = Uint8Array.from({ length: 200 }, (_, i) => (i * 37 + 11) & 0xff)
    for (let length = 0; length <= 195; length++) {
      const bytes = all.subarray(3, 3 + length)
      const hex = createHash('md5').update(bytes).digest('hex')
      expect(md5Hex(all, 3, length)).toBe(hex)
      expect(md5Low16(all, 3, length)).toBe(Number.parseInt(hex.slice(-4), 16))
      const suffixed = createHash('md5').update(bytes).update('\n').digest('hex')
      expect(md5Hex(all, 3, length, 0x0a)).toBe(suffixed)
    }
  })
})

describe('murmur3', () => {
  const vectors: [string, number][] = [
    ['4123140', 1669446702],
    ['http://localhost:19234|1', -511636176],
    ['http://localhost:19234|2', 286163921],
    ['http://localhost:19234|3', 1894906372],
    ['http://localhost:19234|4', -1217789564],
    ['http://localhost:19666|1', -898821511],
    ['http://localhost:19666|2', 1244601444],
    ['http://localhost:19666|3', -2112654767],
    ['http://localhost:19666|4', -204944282],
    ['', 1483403061],
    ['a', -1098176197],
    ['key', 386015913],
    ['ключ', 1114908798]
  ]
  it.each(vectors)('gives the ring’s position of %j', (text, position) => {
    expect(murmur3OfText(text, RING_SEED)).toBe(position)
    const bytes = new Uint8Array(Buffer.from(text, 'utf16le'))
    expect(murmur3(embed(bytes, 5), 5, bytes.length, RING_SEED)).toBe(position)
  })

  it('takes odd lengths, as the published vectors do', () => {
    const unsigned = (text: string, seed: number): number =>
      murmur3(bytesOf(text), 0, bytesOf(text).length, seed) >>> 0
    expect(unsigned('', 1)).toBe(0x514e28b7)
    expect(unsigned('a', 0x9747b28c)).toBe(0x7fa09ea6)
    expect(unsigned('abc', 0x9747b28c)).toBe(0xc84a62dd)
    expect(unsigned('Hello, world!', 0x9747b28c)).toBe(0x24884cba)
  })
})

describe('placement hash', () => {
  it('is found by its name', () => {
    expect(placementHash('redis')).toBe(redisHash)
    expect(placementHash('md5')).toBe(md5Hash)
    expect(redisHash.bits).toBe(14)
    expect(md5Hash.bits).toBe(16)
  })

  it.each(MASKS)('makes every bucket one range of slots at mask %i', (mask) => {
    let covered = 0
    for (let bucket = 0; bucket <= mask; bucket++) {
      const { first, last } = slotsOfBucket(bucket, mask)
      for (let slot = first; slot <= last; slot++) {
        expect(bucketOfSlot(slot, mask)).toBe(bucket)
        covered++
      }
    }
    expect(covered).toBe(SLOTS)
  })

  it('cuts each range in parts that stay inside it at a split', () => {
    fc.assert(
      fc.property(fc.nat(0x0fff), (bucket) => {
        const inner = slotsOfBucket(bucket, 0x0fff)
        const outer = slotsOfBucket(bucket & 0x00ff, 0x00ff)
        expect(inner.first).toBeGreaterThanOrEqual(outer.first)
        expect(inner.last).toBeLessThanOrEqual(outer.last)
      })
    )
  })

  it('puts a key into the bucket that holds its slot', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...MASKS), (key, mask) => {
        const bytes = bytesOf(key)
        const bucket = bucketOf(redisHash.hash(bytes, 0, bytes.length), mask)
        const { first, last } = slotsOfBucket(bucket, mask)
        expect(slotOf(key)).toBeGreaterThanOrEqual(first)
        expect(slotOf(key)).toBeLessThanOrEqual(last)
      })
    )
  })

  it('refuses a bucket that the mask does not have', () => {
    expect(() => slotsOfBucket(16, 0x000f)).toThrow('no bucket 16')
    expect(() => slotsOfBucket(0, 0xffff)).toThrow('no bucket')
  })
})
