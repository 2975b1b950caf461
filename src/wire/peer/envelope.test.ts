import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteReader, ByteWriter, FormatError } from '../../core/bytes.js'
import { nodeName } from '../../core/ids.js'
import {
  decodeEnvelopeHead,
  encodeEnvelopeHead,
  PEER_PROTOCOL,
  type EnvelopeHead
} from './envelope.js'

const LETTERS = Array.from('abcABC019')
const head: fc.Arbitrary<EnvelopeHead> = fc.record({
  cluster: fc.integer({ min: 0, max: 0xffff_ffff }),
  from: fc
    .string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 6 })
    .map((text) => nodeName(text)),
  address: fc
    .array(fc.integer({ min: 0, max: 255 }), { maxLength: 12 })
    .map((codes) => String.fromCharCode(...codes)),
  fromLife: fc.double({ min: 1, max: 2 ** 52, noNaN: true }),
  toLife: fc.double({ min: 0, max: 2 ** 52, noNaN: true }),
  sent: fc.maxSafeNat(),
  total: fc.maxSafeNat(),
  acked: fc.maxSafeNat()
})

const EXAMPLE: EnvelopeHead = {
  cluster: 7,
  from: nodeName('a'),
  address: 'a:1',
  fromLife: 1000,
  toLife: 0,
  sent: 1,
  total: 2,
  acked: 3
}

function encode(known: EnvelopeHead): Uint8Array {
  const writer = new ByteWriter()
  encodeEnvelopeHead(known, writer)
  return writer.copy()
}

function decode(bytes: Uint8Array): EnvelopeHead {
  return decodeEnvelopeHead(ByteReader.over(bytes))
}

function tryDecode(bytes: Uint8Array): EnvelopeHead | undefined {
  try {
    return decode(bytes)
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}

describe('the head of an envelope', () => {
  it('is the same after encoding and decoding, and leaves the reader at the frames', () => {
    fc.assert(
      fc.property(head, fc.uint8Array({ maxLength: 9 }), (known, frames) => {
        const reader = ByteReader.over(new Uint8Array([...encode(known), ...frames]))
        expect(decodeEnvelopeHead(reader)).toEqual(known)
        expect(reader.copy(reader.remaining)).toEqual(frames)
      })
    )
  })

  it('is refused when it is cut anywhere', () => {
    for (const known of fc.sample(head, { seed: 1, numRuns: 50 })) {
      const bytes = encode(known)
      for (let length = 0; length < bytes.length; length++) {
        expect(() => decode(bytes.slice(0, length))).toThrow(FormatError)
      }
    }
  })

  it('is a head or a FormatError when any byte has any other value', () => {
    for (const known of fc.sample(head, { seed: 2, numRuns: 20 })) {
      const bytes = encode(known)
      for (let at = 0; at < bytes.length; at++) {
        const right = bytes[at]
        for (let wrong = 1; wrong < 256; wrong++) {
          bytes[at] = right ^ wrong
          const other = tryDecode(bytes)
          if (other !== undefined && wrong % 37 === 0) expect(decode(encode(other))).toEqual(other)
        }
        bytes[at] = right
      }
    }
  })

  it('decodes random bytes to a head or a FormatError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        tryDecode(bytes)
        tryDecode(new Uint8Array([PEER_PROTOCOL, ...bytes]))
      }),
      { numRuns: 2000 }
    )
  })

  it('says which protocol it does not understand, and which it does', () => {
    const bytes = encode(EXAMPLE)
    bytes[0] = PEER_PROTOCOL + 1
    expect(() => decode(bytes)).toThrow(
      new FormatError(`peer protocol ${PEER_PROTOCOL + 1} is not understood, only ${PEER_PROTOCOL}`)
    )
  })

  it('refuses names, addresses and lives that are none', () => {
    const bad: Partial<Record<keyof EnvelopeHead, unknown>>[] = [
      { from: '' },
      { from: 'two words' },
      { from: 'x'.repeat(64) },
      { address: 'x'.repeat(301) },
      { fromLife: 0 },
      { fromLife: -1 },
      { fromLife: NaN },
      { toLife: -1 },
      { toLife: NaN }
    ]
    for (const fields of bad) {
      expect(() => decode(encode({ ...EXAMPLE, ...fields } as EnvelopeHead))).toThrow(FormatError)
    }
  })

  it('refuses a life without end, which no later life could replace', () => {
    expect(() => decode(encode({ ...EXAMPLE, fromLife: Infinity }))).toThrow(FormatError)
  })

  it('refuses an address of 2^50 letters without looking for them', () => {
    const writer = new ByteWriter()
    writer.u8(PEER_PROTOCOL)
    writer.u32(1)
    writer.latin1Text('a')
    writer.varint(2 ** 50)
    expect(() => decode(writer.copy())).toThrow(/bytes wanted/)
  })
})
