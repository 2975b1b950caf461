import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeGlob, matchesGlob } from './glob.js'

describe('patterns', () => {
  it.each([
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['**', 'abc', true],
    ['a*c', 'abbc', true],
    ['a*c', 'abbcd', false],
    ['*a*b*', 'xaxbx', true],
    ['h?llo', 'hello', true],
    ['h?llo', 'hllo', false],
    ['h[ae]llo', 'hallo', true],
    ['h[^e]llo', 'hello', false],
    ['h[^e]llo', 'hallo', true],
    ['h[a-c]llo', 'hbllo', true],
    ['h[c-a]llo', 'hbllo', true],
    ['h[a-c]llo', 'hdllo', false],
    ['h\\?llo', 'h?llo', true],
    ['h\\?llo', 'hello', false],
    ['[\\]]', ']', true],
    ['[a-', '-', true],
    ['[ab', 'b', true],
    ['[', 'a', false],
    ['[^', 'a', true],
    ['[]a', 'a', false],
    ['a\\', 'a\\', true],
    ['a[b-]c', 'a-c', false],
    ['a[b-]c', 'a`', true],
    ['*[0-9]x*', 'ab7xcd', true]
  ])('%j on %j is %s', (pattern, text, matches) => {
    expect(matchesGlob(pattern, text)).toBe(matches)
  })

  it('agree with a regular expression', () => {
    const piece = fc.constantFrom('*', '?', 'a', 'b', '[ab]', '[^a]', '\\*')
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '*'), maxLength: 8 })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), text, (pieces, sample) => {
        const expression = pieces
          .map((part) => (part === '*' ? '.*' : part === '?' ? '.' : part))
          .join('')
        const expected = new RegExp(`^${expression}$`, 's').test(sample)
        expect(matchesGlob(pieces.join(''), sample)).toBe(expected)
      }),
      { numRuns: 2000 }
    )
  })

  it('can be made to match exactly one text', () => {
    const letters = fc.constantFrom(...Array.from('ab*?[]^-\\c.+(){}|$\n'))
    const sample = fc.string({ unit: letters, maxLength: 8 })
    fc.assert(
      fc.property(sample, sample, (one, other) => {
        const pattern = escapeGlob(one)
        expect(matchesGlob(pattern, one)).toBe(true)
        expect(matchesGlob(pattern, other)).toBe(other === one)
      })
    )
  })

  it('take no exponential time', () => {
    expect(matchesGlob('a*'.repeat(50) + 'b', 'a'.repeat(5000))).toBe(false)
  })
})
