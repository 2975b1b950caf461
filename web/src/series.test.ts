import { describe, expect, test } from 'vitest'
import type { Sample } from '../../src/runtime/sample.js'
import { arrange } from './series.js'

const sample = (second: number, operations: number, p99 = 0): Sample =>
  ({ timeMs: second * 1000 + 500, operations, p50: operations, p99 }) as unknown as Sample

describe('series', () => {
  const samples = new Map([
    ['a', [sample(1000, 5, 1), sample(1001, 6, 9), sample(1003, 8, 2)]],
    ['b', [sample(1001, 10, 3), sample(1003, 1, 1)]]
  ])

  test('put all nodes on one axis and fill single holes', () => {
    const { times, total, byNode } = arrange(samples, {
      read: ({ operations }) => operations,
      join: 'sum'
    })
    expect(times).toHaveLength(45)
    expect(times.slice(-4)).toEqual([1000, 1001, 1002, 1003])
    expect(byNode.get('a')?.slice(-4)).toEqual([5, 6, 6, 8])
    expect(byNode.get('b')?.slice(-4)).toEqual([null, 10, 10, 1])
    expect(total.slice(-4)).toEqual([5, 16, 16, 9])
    expect(total[0]).toBeNull()
  })

  test('a node that is only late is where it was, one that is gone is not', () => {
    const late = new Map([
      ['a', [sample(1000, 5), sample(1001, 5), sample(1002, 5), sample(1003, 5)]],
      ['b', [sample(1000, 7), sample(1001, 7), sample(1002, 7)]],
      ['c', [sample(1000, 9)]]
    ])
    const { total } = arrange(late, { read: ({ operations }) => operations, join: 'sum' })
    expect(total.slice(-4)).toEqual([21, 12, 12, 12])
  })

  test('the upper line is the worst node', () => {
    const { total, upper } = arrange(samples, {
      read: ({ p50 }) => p50,
      upper: ({ p99 }) => p99,
      join: 'mean'
    })
    expect(total.slice(-1)).toEqual([4.5])
    expect(upper?.slice(-4)).toEqual([1, 9, 9, 2])
  })
})
