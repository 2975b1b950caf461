import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameReader, frameHead } from './frames.js'

test('envelopes come out whole, in order, however they were cut, and are not overwritten', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 50 }),
      (envelopes, step) => {
        const bytes = Buffer.concat(envelopes.flatMap((one) => [frameHead(one.length), one]))
        const received: Uint8Array[] = []
        const reader = new FrameReader((envelope) => received.push(envelope))
        const shared = Buffer.alloc(step)
        for (let at = 0; at < bytes.length; at += step) {
          const length = bytes.copy(shared, 0, at, at + step)
          reader.push(shared.subarray(0, length))
        }
        shared.fill(0xff)
        expect(received.map((one) => [...one])).toEqual(envelopes.map((one) => [...one]))
      }
    )
  )
})

test('a length beyond the limit is refused before anything is gathered', () => {
  const reader = new FrameReader(() => undefined)
  expect(() => reader.push(frameHead(0xffff_ffff))).toThrow('an envelope of 4294967295 bytes')
})
