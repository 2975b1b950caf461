import { describe, expect, test } from 'vitest'
import { nodeName, type NodeIndex } from '../ids.js'
import { Table } from '../table.js'
import { Arrangement } from './arrangement.js'
import { isDispensable } from './release.js'
import { Roster } from './roster.js'
import { View } from './view.js'

/** One bucket with two copies wanted, held by these of four nodes, primary first; `leaving` are on their way out. */
function judge(holders: string, leaving: string, node: string, staying = 'abcd'): boolean {
  const table = new Table(15)
  const indexOf = (name: string): NodeIndex => table.intern(nodeName(name))
  const members = [...new Set(staying + leaving)].map((name) => {
    return { node: indexOf(name), weight: 1, zone: '', leaving: leaving.includes(name) }
  })
  table.replace(0, 1, Array.from(holders, indexOf))
  const arrangement = new Arrangement(table, new Roster(members), 2)
  return isDispensable(new View({ arrangement, self: indexOf(holders[0]) }), 0, indexOf(node))
}

describe('a backup may be struck', () => {
  test('on a leaving node when there are enough on others, and not before', () => {
    expect(judge('abc', 'c', 'c')).toBe(true)
    expect(judge('ac', 'c', 'c')).toBe(false)
    expect(judge('abc', 'a', 'a')).toBe(false)
  })

  test('on a node that stays when there is one too many', () => {
    expect(judge('abc', '', 'c')).toBe(true)
    expect(judge('ab', '', 'b')).toBe(false)
    expect(judge('ab', '', 'c')).toBe(false)
  })

  test('where one node stays when that one has it', () => {
    expect(judge('ab', 'b', 'b', 'a')).toBe(true)
    expect(judge('bc', 'bc', 'c', 'a')).toBe(false)
  })

  test('nowhere while nobody stays', () => {
    expect(judge('ab', 'ab', 'b', '')).toBe(false)
  })
})
