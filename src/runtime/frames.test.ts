import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameReader, frameHead } from './frames.js'

test('envelopes come out whole, in order, however they were cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 120 }),
      (envelopes, step) => {
        const bytes = Buffer.concat(envelopes.flatMap((one) => [frameHead(one.length), one]))
        const received: Uint8Array[] = []
        const reader = new FrameReader((envelope) => received.push(envelope.slice()))
        const shared = Buffer.alloc(step)
        for (let at = 0; at < bytes.length; at += step) {
          const length = bytes.copy(shared, 0, at, at + step)
          reader.push(shared.subarray(0, length))
        }
        expect(received.map((one) => [...one])).toEqual(envelopes.map((one) => [...one]))
      }
    )
  )
})

test('a length beyond the limit is refused before anything is gathered', () => {
  const reader = new FrameReader(() => undefined)
  expect(() => reader.push(frameHead(0xffff_ffff))).toThrow('an envelope of 4294967295 bytes')
})

test('an envelope of a few reads is put together, and one longer than memory is kept for', () => {
  const long = new Uint8Array(700_000).map((_, i) => i % 251)
  const envelopes = [long.subarray(0, 90_000), long, long.subarray(5, 200_005)]
  const bytes = Buffer.concat(envelopes.flatMap((one) => [frameHead(one.length), one]))
  const received: Uint8Array[] = []
  const reader = new FrameReader((envelope) => received.push(envelope.slice()))
  for (let at = 0; at < bytes.length; at += 65_536) {
    reader.push(bytes.subarray(at, at + 65_536))
    expect(reader.isPartial).toBe(at + 65_536 < bytes.length)
  }
  expect(received.map((one) => Buffer.compare(one, envelopes.shift()!))).toEqual([0, 0, 0])
})
