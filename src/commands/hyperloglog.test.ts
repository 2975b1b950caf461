import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { latin1Bytes } from '../core/bytes.js'
import { OneBucket } from '../../test/conformance/one-bucket.js'
import {
  addElement,
  count,
  estimate,
  isDense,
  knownCardinality,
  pack,
  REGISTERS,
  unpack
} from './hyperloglog.js'

describe('HyperLogLog', () => {
  it('estimates within two percent, sparse and dense', () => {
    const registers = new Uint8Array(REGISTERS)
    for (let i = 1; i <= 100_000; i++) {
      addElement(registers, latin1Bytes(`ele:${i}`))
      if (i === 10 || i === 100 || i === 1000 || i % 20_000 === 0) {
        expect(Math.abs(estimate(registers) - i) / i).toBeLessThan(0.02)
        const packed = pack(registers, false)
        expect(isDense(packed)).toBe(i > 1000)
        expect(unpack(packed)).toEqual(registers)
      }
    }
  })

  it('is refused when it is corrupt', () => {
    const packed = pack(new Uint8Array(REGISTERS), false)
    expect(unpack(packed)).toBeDefined()
    expect(unpack(Uint8Array.of(...packed, 0))).toBeUndefined()
    expect(unpack(packed.subarray(0, packed.length - 1))).toBeUndefined()
  })

  it('keeps its expiry when something is added', () => {
    const bucket = new OneBucket()
    expect(bucket.all('pfadd h a', 'expire h 100', 'pfadd h b', 'ttl h')).toEqual([1, 1, 1, 100])
  })

  it('counts to a 64-bit integer whatever bytes a client made up', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 12_288, maxLength: 12_288 }), (dense) => {
        const bytes = pack(new Uint8Array(REGISTERS), true)
        bytes.set(dense, 16)
        const registers = unpack(bytes)
        expect(registers && BigInt.asIntN(64, count(registers))).toBe(registers && count(registers))
      }),
      { numRuns: 50 }
    )
    for (const value of [50, 51, 52, 63]) {
      const counted = count(new Uint8Array(REGISTERS).fill(value))
      expect(BigInt.asIntN(64, counted)).toBe(counted)
    }
    const bytes = pack(new Uint8Array(REGISTERS), true)
    bytes.fill(0x77, 8, 16)
    expect(knownCardinality(bytes)).toBe(0x7777777777777777n)
  })
})
