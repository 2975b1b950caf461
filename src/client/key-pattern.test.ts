import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesGlob } from '../commands/glob.js'
import { compilePattern, escapePattern } from './key-pattern.js'

const letters = fc.constantFrom(...Array.from('ab*?[]^-\\c.+(){}|$\n'))
const text = fc.string({ unit: letters, maxLength: 8 })

describe('a pattern', () => {
  it('matches what the nodes match', () => {
    fc.assert(
      fc.property(text, text, (pattern, key) => {
        expect(compilePattern(pattern).test(key)).toBe(matchesGlob(pattern, key))
      }),
      { numRuns: 20_000 }
    )
  })

  it('can be made to match exactly one key', () => {
    fc.assert(
      fc.property(text, text, (key, other) => {
        const pattern = escapePattern(key)
        expect(matchesGlob(pattern, key)).toBe(true)
        expect(matchesGlob(pattern, other)).toBe(other === key)
      })
    )
  })
})
