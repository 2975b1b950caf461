import { describe, expect, test } from 'vitest'
import { NOBODY, nodeName, type NodeIndex } from '../../ids.js'
import { Table } from '../../table.js'
import type { Action } from '../action.js'
import { Arrangement } from '../arrangement.js'
import { Roster } from '../roster.js'
import type { Candidate, Rule } from '../rule.js'
import { View } from '../view.js'
import { lacksBackup } from './lacks-backup.js'
import { largerKind } from './larger-kind.js'
import { lastMovedStays } from './last-moved-stays.js'
import { oldBackupHasMore } from './old-backup-has-more.js'
import { primaryAsBackup } from './primary-as-backup.js'
import { primarySurplus } from './primary-surplus.js'
import { ratioNotReversed } from './ratio-not-reversed.js'
import { sourceAtIdeal } from './source-at-ideal.js'
import { sourceKeepsMajority } from './source-keeps-majority.js'
import { targetBelowIdeal } from './target-below-ideal.js'
import { targetHasLess } from './target-has-less.js'
import { targetLacksPrimaries } from './target-lacks-primaries.js'

const [A, B, C] = [0, 1, 2]

/** Three nodes, 16 buckets, an ideal of 10; A is primary and B backup of every bucket unless told. */
function view(rows: Record<number, NodeIndex[]> = {}): View {
  const table = new Table(0x000f)
  for (const name of ['NODE-A', 'NODE-B', 'NODE-C']) table.intern(nodeName(name))
  for (let bucket = 0; bucket < 16; bucket++) table.replace(bucket, 1, rows[bucket] ?? [A, B])
  const members = [A, B, C].map((node) => ({ node, weight: 1, zone: '', leaving: false }))
  return new View({ arrangement: new Arrangement(table, new Roster(members), 2), self: A })
}

interface Levels {
  readonly action: Action
  readonly source?: [number, number]
  readonly target?: [number, number]
  readonly rows?: Record<number, NodeIndex[]>
}

function ask(rule: Rule, { action, source = [8, 8], target = [0, 0], rows }: Levels) {
  const level = (node: NodeIndex, [primaries, backups]: [number, number]) => ({
    node,
    primaries,
    backups,
    transferring: false
  })
  const candidate: Candidate = {
    view: view(rows),
    action,
    source: level(A, source),
    target: level(C, target)
  }
  return rule(candidate)
}

const SWITCH: Action = { kind: 'switch', bucket: 0, to: C }
const COPY: Action = { kind: 'copy', bucket: 0, to: C, replaces: NOBODY }
const INSTEAD: Action = { kind: 'copy', bucket: 0, to: C, replaces: B }
const PRIMARY: Action = { kind: 'move', bucket: 0, to: C, copy: 'primary' }
const BACKUP: Action = { kind: 'move', bucket: 0, to: C, copy: 'backup' }

describe('the eight rules of document 000', () => {
  test.each([
    ['1', sourceKeepsMajority, { action: SWITCH, source: [9, 7] }, true],
    ['1', sourceKeepsMajority, { action: SWITCH, source: [8, 7] }, false],
    ['1', sourceKeepsMajority, { action: BACKUP, source: [0, 8] }, true],
    ['2', targetLacksPrimaries, { action: SWITCH, target: [0, 1] }, true],
    ['2', targetLacksPrimaries, { action: SWITCH, target: [1, 1] }, false],
    ['4', lacksBackup, { action: COPY, target: [7, 8] }, true],
    ['4', lacksBackup, { action: COPY, target: [8, 8] }, false],
    ['5', largerKind, { action: PRIMARY, source: [8, 7] }, true],
    ['5', largerKind, { action: PRIMARY, source: [8, 8] }, false],
    ['5', largerKind, { action: BACKUP, source: [8, 8] }, true],
    ['5', largerKind, { action: BACKUP, source: [8, 7] }, false],
    ['6', targetBelowIdeal, { action: BACKUP, target: [4, 5] }, true],
    ['6', targetBelowIdeal, { action: BACKUP, target: [5, 5] }, false],
    ['7', primarySurplus, { action: PRIMARY, source: [5, 4], target: [4, 0] }, true],
    ['7', primarySurplus, { action: PRIMARY, source: [5, 4], target: [5, 0] }, false],
    ['7', primarySurplus, { action: BACKUP, source: [5, 5], target: [9, 0] }, true],
    ['8', sourceAtIdeal, { action: BACKUP, source: [5, 6] }, true],
    ['8', sourceAtIdeal, { action: BACKUP, source: [5, 5] }, false]
  ] as [string, Rule, Levels, boolean][])(
    'rule %s: %o %o is %s',
    (_number, rule, levels, allowed) => {
      expect(ask(rule, levels).allow).toBe(allowed)
    }
  )

  test('each answer has a reason with the figures in it', () => {
    expect(ask(sourceKeepsMajority, { action: SWITCH, source: [8, 7] }).reason).toBe(
      'a switch would leave NODE-A with 7+8'
    )
    expect(ask(targetBelowIdeal, { action: BACKUP, target: [4, 5] }).reason).toBe(
      'NODE-C has 9, below the ideal of 10'
    )
  })
})

describe('the five rules of document 001', () => {
  test.each([
    ['1', ratioNotReversed, { action: SWITCH, target: [0, 2] }, true],
    ['1', ratioNotReversed, { action: SWITCH, target: [0, 1] }, false],
    ['2', targetHasLess, { action: INSTEAD, source: [6, 5], target: [4, 5] }, true],
    ['2', targetHasLess, { action: INSTEAD, source: [6, 5], target: [5, 5] }, false],
    ['2', targetHasLess, { action: COPY, source: [6, 5], target: [5, 6] }, true],
    ['3', primaryAsBackup, { action: INSTEAD }, true],
    ['3', primaryAsBackup, { action: INSTEAD, rows: { 0: [B, A] } }, false],
    ['3', primaryAsBackup, { action: BACKUP }, false],
    ['5', oldBackupHasMore, { action: INSTEAD, target: [0, 15] }, true],
    ['5', oldBackupHasMore, { action: INSTEAD, target: [0, 16] }, false],
    ['5', oldBackupHasMore, { action: COPY, target: [0, 16] }, true]
  ] as [string, Rule, Levels, boolean][])(
    'rule %s: %o %o is %s',
    (_number, rule, levels, allowed) => {
      expect(ask(rule, levels).allow).toBe(allowed)
    }
  )

  test('rule 4: the bucket that moved last neither moves nor is switched', () => {
    const stays = lastMovedStays(() => 0)
    for (const action of [SWITCH, INSTEAD, BACKUP]) expect(ask(stays, { action }).allow).toBe(false)
    expect(ask(stays, { action: { ...INSTEAD, bucket: 1 } }).allow).toBe(true)
  })
})
