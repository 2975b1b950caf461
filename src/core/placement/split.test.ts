import { describe, expect, test } from 'vitest'
import { nodeName } from '../ids.js'
import { Table } from '../table.js'
import { Arrangement } from './arrangement.js'
import { Roster } from './roster.js'
import { judgeOversize, judgeSplit } from './split.js'
import { View } from './view.js'

interface Given {
  readonly nodes: number
  readonly splitAt: number
  readonly mask?: number
  readonly copies?: number
  readonly splitMaskMax?: number
  readonly leaving?: number
}

function view({ nodes, mask = 0x000f, copies = 2, leaving = 0, ...options }: Given): View {
  const table = new Table(mask)
  const members = Array.from({ length: nodes }, (_, place) => {
    const node = table.intern(nodeName(`n${place}`))
    return { node, weight: 1, zone: '', leaving: place < leaving }
  })
  const arrangement = new Arrangement(table, new Roster(members), copies)
  return new View({ arrangement, self: 0, ...options })
}

const splits = (given: Given): boolean => judgeSplit(view(given)).allow

describe('the ideal falling to the threshold', () => {
  test.each([
    // 32 copies: the ideal is 8 on four nodes, 6 on five, 5 on six, 4 on seven and eight.
    [6, [false, false, false, false, true, true, true, true]],
    [4, [false, false, false, false, false, false, true, true]]
  ])('at %i, on one node to eight', (splitAt, wanted) => {
    expect(wanted.map((_, at) => splits({ nodes: at + 1, splitAt }))).toEqual(wanted)
  })

  test('counts copies that are possible, and members that stay', () => {
    expect(splits({ nodes: 5, splitAt: 6, copies: 3 })).toBe(false)
    expect(splits({ nodes: 5, splitAt: 3, copies: 1 })).toBe(true)
    expect(splits({ nodes: 5, splitAt: 6, leaving: 1 })).toBe(false)
    // Three copies on two nodes are two: the ideal is 16 there, not 24.
    expect(splits({ nodes: 2, splitAt: 16, copies: 3 })).toBe(true)
  })

  test('cuts a larger table only on many more nodes', () => {
    expect(splits({ nodes: 73, splitAt: 6, mask: 0x00ff })).toBe(false)
    expect(splits({ nodes: 74, splitAt: 6, mask: 0x00ff })).toBe(true)
  })

  test('does not cut a table that nobody balances or that is the largest', () => {
    expect(splits({ nodes: 1, splitAt: 100 })).toBe(false)
    expect(splits({ nodes: 8, splitAt: 0 })).toBe(false)
    expect(splits({ nodes: 8, splitAt: 100_000, mask: 0x0fff })).toBe(false)
    expect(splits({ nodes: 8, splitAt: 100_000, mask: 0x3fff, splitMaskMax: 0x3fff })).toBe(false)
    expect(splits({ nodes: 8, splitAt: 100_000, mask: 0x0fff, splitMaskMax: 0x3fff })).toBe(true)
    expect(splits({ nodes: 8, splitAt: 6, splitMaskMax: 0x000f })).toBe(false)
  })

  test('says why, and why not', () => {
    expect(judgeSplit(view({ nodes: 5, splitAt: 6 })).reason).toBe(
      'the ideal has fallen to 6; the mask becomes 0x00FF'
    )
    expect(judgeSplit(view({ nodes: 4, splitAt: 6 })).reason).toBe('the ideal of 8 is above 6')
  })
})

describe('one bucket far larger than the rest', () => {
  const sizes = (...bytes: number[]) => bytes.map((each, bucket) => ({ bucket, bytes: each }))
  const options = { factor: 8, bytesMin: 1000, mask: 0x00ff }
  const cut = (
    bytes: number[],
    changes: Partial<typeof options> & { splitMaskMax?: number } = {}
  ) => judgeOversize(sizes(...bytes), { ...options, ...changes }).allow

  test('is cut above the factor, compared with the mean of the others', () => {
    expect(cut([1000, 8000, 1000])).toBe(false)
    expect(cut([1000, 8001, 1000])).toBe(true)
    expect(cut([1000, 8001, 3000])).toBe(false)
    expect(cut([1000, 4001, 1000], { factor: 4 })).toBe(true)
    expect(cut([1000, 8001, 1000], { factor: 16 })).toBe(false)
  })

  test('is left alone while it is small, alone, or when it cannot be cut', () => {
    expect(cut([1, 999, 1])).toBe(false)
    expect(cut([1, 1000, 1])).toBe(true)
    expect(cut([100_000])).toBe(false)
    expect(cut([])).toBe(false)
    expect(cut([1, 100_000, 1], { factor: 0 })).toBe(false)
    expect(cut([1, 100_000, 1], { mask: 0x0fff })).toBe(false)
    expect(cut([1, 100_000, 1], { mask: 0x0fff, splitMaskMax: 0x3fff })).toBe(true)
  })

  test('is cut when the others are empty, and not when all are', () => {
    expect(judgeOversize(sizes(0, 0, 5000), options)).toMatchObject({
      allow: true,
      reason: 'bucket 2 has 5000 bytes, all others together'
    })
    expect(cut([0, 0, 0], { bytesMin: 0 })).toBe(false)
  })

  test('is named with its size', () => {
    expect(judgeOversize(sizes(1000, 20_000, 1000), options).reason).toBe(
      'bucket 1 has 20000 bytes, 20 times the mean'
    )
  })

  test('cannot be cut at the largest mask of all', () => {
    expect(cut([1, 100_000, 1], { mask: 0x3fff, splitMaskMax: 0x3fff })).toBe(false)
  })
})
