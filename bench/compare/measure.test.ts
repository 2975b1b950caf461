import { expect, test } from 'vitest'
import { compare, spreadOf, stolenPart, type Side } from './measure.js'
import { parseProcessorTime } from './proc.js'

const FIGURE = { group: 'g', name: 'n', unit: 'op/s', better: 'more' } as const

function createSide(label: string, values: readonly number[], order: string[]): Side {
  const left = [...values]
  return {
    label,
    take: () => {
      order.push(label)
      const value = left.shift()
      return value === undefined ? Promise.reject(new Error('died')) : Promise.resolve({ value })
    }
  }
}

test('rounds go by turns, and a row is made of medians', async () => {
  const order: string[] = []
  const sides = [
    createSide('a', [10, 30, 20], order),
    createSide('b', [10, 10, 10], order)
  ] as const
  const [row] = await compare(FIGURE, sides, 3)
  expect(order.join('')).toBe('ababab')
  expect(row).toMatchObject({ ours: 20, theirs: 10, ratio: 2, spread: 0.5, peer: 'b', rounds: 3 })
})

test('a peer that dies ends its own row, not that of another', async () => {
  const order: string[] = []
  const sides = [
    createSide('a', [1, 1], order),
    createSide('b', [1], order),
    createSide('c', [2, 2], order)
  ] as const
  const [dead, alive] = await compare(FIGURE, sides, 2)
  expect(dead).toMatchObject({ peer: 'b', ratio: null, error: 'b: died' })
  expect(alive).toMatchObject({ peer: 'c', ratio: 0.5 })
  expect(alive.error).toBeUndefined()
})

test('without a peer there is a figure and no ratio', async () => {
  const [row] = await compare(FIGURE, [createSide('a', [5], [])], 1)
  expect(row).toMatchObject({ ours: 5, theirs: null, ratio: null, peer: 'none' })
})

test('one round has no spread', () => {
  expect(spreadOf([1])).toBeNull()
})

test('what the host took is a part of all processors', () => {
  const before = parseProcessorTime('cpu  10 20 30 40 0 0 0 5 7 8\ncpu0 1 1 1 1 1 1 1 1 1 1\n')
  expect(before).toEqual({ all: 105, stolen: 5 })
  expect(stolenPart(before, { all: 205, stolen: 7 })).toBe(0.02)
  expect(stolenPart(before, before)).toBe(0)
})
