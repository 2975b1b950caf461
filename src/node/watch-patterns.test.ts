import { expect, it } from 'vitest'
import { PatternSet } from './watch-patterns.js'

it.each([
  [[], 'k', false],
  [['k'], 'k', true],
  [['k'], 'kk', false],
  [['a', 'k?'], 'kk', true],
  [['k*'], 'k', true],
  [['[ab]'], 'b', true],
  [['\\*'], '*', true],
  [['\\*'], 'x', false]
])('%j and %s: %s', (patterns, key, matches) => {
  const set = new PatternSet()
  for (const pattern of patterns) set.add(pattern)
  expect(set.matches(key)).toBe(matches)
})
