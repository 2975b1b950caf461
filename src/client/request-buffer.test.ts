import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8Bytes } from '../core/bytes.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import type { Argument } from './argument.js'
import { RequestBuffer } from './request-buffer.js'

const argument = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 120 }),
  fc.integer(),
  fc.bigInt(),
  fc.uint8Array({ maxLength: 300 })
)

function bytesOf(value: Argument): Uint8Array {
  return value instanceof Uint8Array ? value : utf8Bytes(String(value))
}

describe('a request', () => {
  const request = new RequestBuffer()

  it('has the bytes of the plain encoder, and says where its key lies', () => {
    fc.assert(
      fc.property(fc.array(argument, { minLength: 1, maxLength: 12 }), fc.nat(), (args, n) => {
        const place = n % args.length
        request.encode(args, place)
        const bytes = request.bytes.slice(0, request.length)
        expect(bytes).toEqual(encodeArguments(args.map(bytesOf)))
        const { keyOffset, keyLength } = request
        expect(bytes.slice(keyOffset, keyOffset + keyLength)).toEqual(bytesOf(args[place]))
      })
    )
  })

  it('may be large, and does not keep its memory', () => {
    request.encode(['SET', 'k', 'ü'.repeat(2_000_000)], 1)
    expect(request.length).toBeGreaterThan(4_000_000)
    request.encode(['GET', 'k'], 1)
    expect(request.bytes.length).toBeLessThan(10_000)
  })

  it('refuses what is no argument', () => {
    const nothing = undefined as unknown as string
    expect(() => request.encode(['GET', nothing], 1)).toThrow('argument 1 is neither')
  })
})
