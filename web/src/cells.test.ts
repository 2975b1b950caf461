import { describe, expect, test } from 'vitest'
import { CELL, drawPicture, findFlights } from './cells.js'

const nodes = [
  { name: 'a', state: 'alive' },
  { name: 'b', state: 'alive' },
  { name: 'c', state: 'dead' }
] as const

const column = (
  name: string,
  rows: string[][],
  moves: Parameters<typeof drawPicture>[0]['moves'] = []
) => [...drawPicture({ rows, nodes, moves, copies: 2 }).columns.get(name)!.cells]

describe('the picture', () => {
  test('shows roles, single copies, and what a dead node held', () => {
    const rows = [['a', 'b'], ['b', 'a'], ['a'], ['c', 'a'], ['c'], ['']]
    expect(column('a', rows)).toEqual([CELL.primary, CELL.backup, CELL.alone, CELL.alone, 0, 0])
    expect(column('b', rows)).toEqual([CELL.backup, CELL.primary, 0, 0, 0, 0])
    expect(column('c', rows)).toEqual([0, 0, 0, CELL.pending, CELL.lost, 0])
  })

  test('one copy is enough where one is wanted', () => {
    const { columns, counts } = drawPicture({ rows: [['a']], nodes, moves: [], copies: 1 })
    expect([...columns.get('a')!.cells]).toEqual([CELL.primary])
    expect(counts[CELL.alone]).toBe(0)
  })

  test('shows a move at both ends, and a change of roles at none', () => {
    const rows = [
      ['a', 'b'],
      ['a', 'b']
    ]
    const move = { bucket: 0, from: 'a', to: 'c', kind: 'primary' } as const
    expect(column('a', rows, [move])).toEqual([CELL.moving, CELL.primary])
    expect(column('c', rows, [move])).toEqual([CELL.arriving, 0])
    expect(column('c', rows, [{ ...move, kind: 'role' }])).toEqual([0, 0])
  })
})

test('a column that has not changed is the same object', () => {
  const rows = [
    ['a', 'b'],
    ['a', 'b']
  ]
  const before = drawPicture({ rows, nodes, moves: [], copies: 2 })
  const after = drawPicture({ rows: [['a', 'b'], ['a']], nodes, moves: [], copies: 2 }, before)
  expect(after.columns.get('c')).toBe(before.columns.get('c'))
  expect(after.columns.get('b')).not.toBe(before.columns.get('b'))
  expect(after.columns.get('a')).toMatchObject({ primaries: 2, backups: 0 })
  expect(after.counts).toEqual([3, 1, 1, 1, 0, 0, 0, 0])
})

describe('flights', () => {
  test('come from whoever gave the copy up, or from the primary', () => {
    const flight = { bucket: 3, primary: false }
    expect(findFlights(['a', 'b'], ['a', 'c'], 3)).toEqual([{ ...flight, from: 'b', to: 'c' }])
    expect(findFlights(['a'], ['a', 'c'], 3)).toEqual([{ ...flight, from: 'a', to: 'c' }])
    expect(findFlights(['a', 'b'], ['c', 'b'], 3)).toEqual([
      { bucket: 3, from: 'a', to: 'c', primary: true }
    ])
    expect(findFlights(['a', 'b'], ['b', 'a'], 3)).toEqual([])
    expect(findFlights([''], ['a'], 3)).toEqual([])
  })
})
