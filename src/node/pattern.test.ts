import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { matchesGlob } from '../commands/glob.js'
import { matchesPattern } from './pattern.js'

/** The definition, read as it is written: tries everything, in any time. */
function matchesSlowly(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  if (pattern[0] === '*') {
    for (let at = 0; at <= text.length; at++) {
      if (matchesSlowly(pattern.slice(1), text.slice(at))) return true
    }
    return false
  }
  if (text === '') return false
  if (pattern[0] === '?') return matchesSlowly(pattern.slice(1), text.slice(1))
  if (pattern[0] === '[') {
    const { letters, negated, rest } = readSet(pattern.slice(1))
    const inside = letters.some(([low, high]) => low <= text[0] && text[0] <= high)
    return inside !== negated && matchesSlowly(rest, text.slice(1))
  }
  const escaped = pattern[0] === '\\' && pattern.length > 1
  const letter = escaped ? pattern[1] : pattern[0]
  return letter === text[0] && matchesSlowly(pattern.slice(escaped ? 2 : 1), text.slice(1))
}

/** As Redis reads a set: an escaped letter begins no range, and one not closed ends with the pattern. */
function readSet(body: string): { letters: string[][]; negated: boolean; rest: string } {
  const negated = body.startsWith('^')
  let rest = negated ? body.slice(1) : body
  const letters: string[][] = []
  while (rest !== '' && !rest.startsWith(']')) {
    if (rest[0] === '\\' && rest.length > 1) {
      letters.push([rest[1], rest[1]])
      rest = rest.slice(2)
    } else if (rest.length > 2 && rest[1] === '-') {
      letters.push([rest[0], rest[2]].sort())
      rest = rest.slice(3)
    } else {
      letters.push([rest[0], rest[0]])
      rest = rest.slice(1)
    }
  }
  return { letters, negated, rest: rest.slice(1) }
}

const plain = fc.string({ unit: fc.constantFrom(...Array.from('ab*?')), maxLength: 8 })
const wild = fc
  .array(fc.constantFrom(...Array.from('abc*?[]^-\\'), '[^', '[a', 'a-c', '[\\a-', '-]'), {
    maxLength: 6
  })
  .map((pieces) => pieces.join(''))
const text = fc.string({ unit: fc.constantFrom(...Array.from('abc]-\\^')), maxLength: 8 })

describe('a pattern', () => {
  test.each([
    ['*', '', true],
    ['', '', true],
    ['', 'a', false],
    ['?', '', false],
    ['user:*', 'user:1', true],
    ['user:*', 'use', false],
    ['*:name', 'user:name', true],
    ['h[ae]llo', 'hallo', true],
    ['h[^ae]llo', 'hallo', false],
    ['[a-c]x', 'bx', true],
    ['[c-a]x', 'bx', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['a\\', 'a\\', true],
    ['[abc', 'c', true]
  ])('%s on %s: %s', (pattern, key, matches) => {
    expect(matchesPattern(pattern, key)).toBe(matches)
  })

  it('with stars and question marks is what the definition says', () => {
    fc.assert(
      fc.property(plain, text, (pattern, key) => {
        expect(matchesPattern(pattern, key)).toBe(matchesSlowly(pattern, key))
      }),
      { numRuns: 3000, seed: 1 }
    )
  })

  it('of any kind is what the definition says', () => {
    fc.assert(
      fc.property(wild, text, (pattern, key) => {
        expect(matchesPattern(pattern, key)).toBe(matchesSlowly(pattern, key))
      }),
      { numRuns: 5000, seed: 2 }
    )
  })

  it('of any kind is what KEYS and SCAN make of it', () => {
    fc.assert(
      fc.property(wild, text, (pattern, key) => {
        expect(matchesPattern(pattern, key)).toBe(matchesGlob(pattern, key))
      }),
      { numRuns: 5000, seed: 3 }
    )
  })

  it('takes no exponential time', () => {
    const pattern = `${'a*'.repeat(40)}b`
    const startMs = performance.now()
    expect(matchesPattern(pattern, 'a'.repeat(10_000))).toBe(false)
    // A hundred steps a letter and star are 40 million; trying every star again would outlast the sun.
    expect(performance.now() - startMs).toBeLessThan(2000)
  })
})
