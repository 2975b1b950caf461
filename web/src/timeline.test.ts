import { describe, expect, test } from 'vitest'
import type { JournalEntry } from '../../src/runtime/journal.js'
import { tell } from './timeline.js'

let key = 0
const entry = (
  timeMs: number,
  node: string,
  kind: JournalEntry['kind'],
  about: string
): JournalEntry => {
  key++
  return { id: key, key, timeMs, node, kind, about, count: 1, reason: 'r' }
}
const texts = (...all: JournalEntry[]): string[] => tell(all, 256).map(({ text }) => text)

describe('the timeline', () => {
  test('says once what every node says', () => {
    expect(texts(entry(9, 'a', 'died', 'c'), entry(8, 'b', 'died', 'c'))).toEqual(['c died'])
    expect(texts(entry(90_000, 'a', 'died', 'c'), entry(8, 'b', 'died', 'c'))).toHaveLength(2)
  })

  test('a newcomer is the one that joined, not those it hears of', () => {
    const all = [
      entry(50, 'c', 'joined', 'c'),
      entry(49, 'c', 'joined', 'a'),
      entry(48, 'a', 'joined', 'c')
    ]
    expect(texts(...all)).toEqual(['c joined'])
  })

  test('moves in a row are one line, with the last of them', () => {
    const moved = (timeMs: number) => entry(timeMs, 'a', 'moved', 'backup 26 b')
    const lines = tell([moved(9), moved(8), entry(7, 'a', 'died', 'c'), moved(6)], 256)
    expect(lines.map(({ text }) => text)).toEqual([
      '2 moves and switches of roles',
      'c died',
      'backup of #1A from a to b'
    ])
    expect(lines[0].reason).toBe('last: backup of #1A from a to b: r')
  })
})
