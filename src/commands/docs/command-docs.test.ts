import { describe, expect, it } from 'vitest'
import { COMMAND_SPECS, findSpec } from '../command-specs.js'
import { commandDocs } from './command-docs.js'
import type { SyntaxArgument } from './syntax.js'

/** The fewest words that such arguments can be. */
function fewest(items: readonly SyntaxArgument[]): number {
  let count = 0
  for (const { type, token, flags, parts } of items) {
    if (flags.includes('optional')) continue
    if (type === 'oneof') count += Math.min(...parts.map((part) => fewest([part])))
    else if (type === 'block') count += fewest(parts)
    else count += 1
    if (token !== undefined && type !== 'pure-token') count += 1
  }
  return count
}

/** As in the table of COMMAND, the name included. */
function arityOf(items: readonly SyntaxArgument[]): number {
  const isOpen = items.some(({ flags }) => flags.includes('optional') || flags.includes('multiple'))
  return isOpen ? -1 - fewest(items) : 1 + fewest(items)
}

describe('the docs of commands', () => {
  const docs = [...commandDocs().values()]
  const whole = docs.filter(({ name }) => !name.includes('|'))

  it('are about every command, and nothing else', () => {
    expect(whole.map(({ name }) => name).sort()).toEqual(COMMAND_SPECS.map(({ name }) => name))
  })

  it('say it in one line', () => {
    for (const { name, summary, since, complexity } of docs) {
      expect(summary, name).toMatch(/^[A-Z].{8,88}[^.]$/)
      expect(since, name).toMatch(/^\d+\.\d+\.\d+$/)
      expect(complexity, name).toMatch(/^(?:varies|O\(.+\))$/)
    }
  })

  it('name as many arguments as the commands take', () => {
    // QUIT takes words and forgets them; what containers take is their parts' business.
    const counted = whole.filter(
      ({ name }) => name !== 'quit' && !docs.some((doc) => doc.name.startsWith(`${name}|`))
    )
    expect(counted.length).toBeGreaterThan(150)
    expect(counted.map(({ name, arguments: items }) => [name, arityOf(items)])).toEqual(
      counted.map(({ name }) => [name, findSpec(name)?.arity])
    )
  })

  it('say where the keys are', () => {
    for (const { name, arguments: items } of whole) {
      const spec = findSpec(name)
      if (spec === undefined || spec.first === 0 || spec.categories.includes('@pubsub')) continue
      const place = items[spec.first - 1]
      expect([name, (place.type === 'block' ? place.parts[0] : place).type]).toEqual([name, 'key'])
    }
  })
})
