import { expect, it } from 'vitest'
import { run } from './store.js'

it('measures a small store with sane results', () => {
  const results = new Map(run({ keys: 20_000 }).map(({ name, value }) => [name, value]))
  const value = (name: string): number => {
    expect(results.has(name), name).toBe(true)
    return results.get(name)!
  }
  expect(value('items')).toBe(20_000)
  for (const name of ['fill', 'GET random', 'SET random', 'GET in turn']) {
    expect(value(name)).toBeGreaterThan(10_000)
  }
  expect(value('memory a key by the store')).toBeGreaterThan(112)
  expect(value('memory a key by the store')).toBeLessThan(140)
  expect(value('holes after deleting half')).toBeGreaterThan(5)
  expect(value('holes after other sizes')).toBeLessThan(40)
  expect(value('SET while growing, longest')).toBeLessThan(50_000)
})
