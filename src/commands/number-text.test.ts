import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { latin1Bytes } from '../core/bytes.js'
import { parseDigits, parseFiniteOrInfinite } from './number-text.js'

function digitsOf(text: string): number {
  const bytes = latin1Bytes(`<${text}>`)
  return parseDigits(bytes, 1, text.length)
}

describe('parseDigits', () => {
  it('agrees with the parser of all numbers wherever it answers', () => {
    const text = fc.oneof(
      fc.integer().map(String),
      fc.string({ unit: fc.constantFrom('0', '1', '9', '-', '+', '.', 'e'), maxLength: 18 })
    )
    fc.assert(
      fc.property(text, (written) => {
        const digits = digitsOf(written)
        if (!Number.isNaN(digits)) expect(digits).toBe(parseFiniteOrInfinite(written))
      })
    )
  })

  it('takes digits with or without a minus, and nothing else', () => {
    expect(['0', '007', '-12', '123456789012345'].map(digitsOf)).toEqual([
      0, 7, -12, 123456789012345
    ])
    for (const text of ['', '-', '+1', '1.5', '1e3', 'inf', '1234567890123456']) {
      expect(digitsOf(text), text).toBeNaN()
    }
  })
})
