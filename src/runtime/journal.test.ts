import { describe, expect, test } from 'vitest'
import { nodeName } from '../core/ids.js'
import { Journal } from './journal.js'

const [a, b] = [nodeName('a'), nodeName('b')]

describe('the journal', () => {
  test('counts what comes in hundreds as one entry, with a new number each time', () => {
    const journal = new Journal(() => 'a')
    journal.note({ kind: 'died', node: b }, 1000)
    for (let bucket = 0; bucket < 85; bucket++) {
      journal.note({ kind: 'promoted', bucket, epoch: 2, instead: b }, 1001 + bucket)
    }
    const all = journal.after(0)
    expect(all.map(({ kind, about, count }) => [kind, about, count])).toEqual([
      ['died', 'b', 1],
      ['promoted', 'b', 85]
    ])
    const [, promoted] = all
    journal.note({ kind: 'promoted', bucket: 99, epoch: 2, instead: b }, 1100)
    expect(journal.after(promoted.id)).toMatchObject([{ key: promoted.key, count: 86 }])
    journal.note({ kind: 'promoted', bucket: 99, epoch: 2, instead: b }, 9000)
    expect(journal.after(promoted.id + 1)).toMatchObject([{ count: 1 }])
  })

  test('keeps a death through a long rebalancing, and no more than it can hold', () => {
    const journal = new Journal(() => 'a')
    journal.note({ kind: 'died', node: b }, 0)
    for (let bucket = 0; bucket < 5000; bucket++) {
      const move = { bucket, from: a, to: b, role: 'backup', sent: 0, isSwitch: false } as const
      journal.note({ kind: 'stage', stage: 'copy', reason: 'r', ...move }, bucket)
      journal.note({ kind: 'stage', stage: 'done', reason: 'r', ...move }, bucket)
    }
    const all = journal.after(0)
    expect(all[0].kind).toBe('died')
    expect(all).toHaveLength(201)
    expect(all.at(-1)).toMatchObject({ kind: 'moved', about: 'backup 4999 b', reason: 'r' })
  })

  test('names the last key of a conflict, and who was cut off', () => {
    const journal = new Journal(() => 'a')
    const versions = { keptVersion: 9, droppedVersion: 7 }
    journal.note({ kind: 'conflict', bucket: 3, key: 'k', ...versions }, 0)
    journal.note({ kind: 'isolated', node: a }, 1)
    journal.note({ kind: 'serving', node: a }, 2)
    const [conflict, ...rest] = journal.after(0)
    expect(conflict).toMatchObject({ kind: 'conflict', about: '#3' })
    expect(conflict.reason).toContain('"k" last: 9 was kept, 7 was not')
    expect(rest.map(({ kind, about }) => [kind, about])).toEqual([
      ['isolated', 'a'],
      ['serving', 'a']
    ])
  })
})
