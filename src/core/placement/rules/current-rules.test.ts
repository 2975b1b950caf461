import { describe, expect, test } from 'vitest'
import { NOBODY, nodeName, type NodeIndex } from '../../ids.js'
import { Table } from '../../table.js'
import type { Action, Verdict } from '../action.js'
import { Arrangement } from '../arrangement.js'
import { Roster } from '../roster.js'
import type { Rule } from '../rule.js'
import { View, type LoadLevel } from '../view.js'
import { missingCopiesFirst } from './missing-copies-first.js'
import { oneCopyANode } from './one-copy-a-node.js'
import { oneTransfer } from './one-transfer.js'
import { primaryShares } from './primary-shares.js'
import { sourceAboveQuota } from './source-above-quota.js'
import { targetBelowQuota } from './target-below-quota.js'
import { zonesApart } from './zones-apart.js'

const [A, B, C] = [0, 1, 2]

interface Given {
  readonly action: Action
  /** Primaries and backups as the two nodes say; the table's own unless given. */
  readonly source?: readonly [number, number]
  readonly target?: readonly [number, number]
  readonly busy?: 'source' | 'target'
  /** Rows that differ from A as primary and B as backup. */
  readonly rows?: Readonly<Record<number, readonly NodeIndex[]>>
  readonly zones?: readonly [string, string, string]
  readonly leaving?: NodeIndex
}

/** Asks the rule about something A would do with C. 16 buckets and 2 copies on three nodes: 10 or 11 each. */
function ask(rule: Rule, given: Given): Verdict {
  const { action, source, target, busy, rows = {}, zones = ['', '', ''], leaving } = given
  const table = new Table(0x000f)
  for (const name of ['NODE-A', 'NODE-B', 'NODE-C']) table.intern(nodeName(name))
  for (let bucket = 0; bucket < 16; bucket++) table.replace(bucket, 1, rows[bucket] ?? [A, B])
  const members = [A, B, C].map((node) => ({
    node,
    weight: 1,
    zone: zones[node],
    leaving: node === leaving
  }))
  const view = new View({ arrangement: new Arrangement(table, new Roster(members), 2), self: A })
  const level = (node: NodeIndex, counts: readonly [number, number] | undefined): LoadLevel => ({
    ...view.levelOf(node),
    ...(counts === undefined ? {} : { primaries: counts[0], backups: counts[1] }),
    transferring: busy === (node === A ? 'source' : 'target')
  })
  return rule({ view, action, source: level(A, source), target: level(C, target) })
}

const SWITCH: Action = { kind: 'switch', bucket: 0, to: C }
const COPY: Action = { kind: 'copy', bucket: 0, to: C, replaces: NOBODY }
const MOVE: Action = { kind: 'move', bucket: 0, to: C, copy: 'backup' }
const RELEASE: Action = { kind: 'release', bucket: 0, to: C }

describe('missing-copies-first', () => {
  const rows = { 5: [A], 6: [A] }

  test('denies what only balances while a bucket lacks a copy', () => {
    for (const action of [MOVE, SWITCH]) {
      expect(ask(missingCopiesFirst, { action, rows })).toMatchObject({
        allow: false,
        reason: '2 buckets lack a copy; they come first'
      })
      expect(ask(missingCopiesFirst, { action }).allow).toBe(true)
    }
  })

  test('allows making the copy, and striking one too many', () => {
    for (const action of [COPY, RELEASE]) {
      expect(ask(missingCopiesFirst, { action, rows }).allow).toBe(true)
    }
  })
})

describe('one-copy-a-node', () => {
  test('denies a second copy of a bucket', () => {
    const rows = { 0: [A, C] }
    for (const action of [COPY, MOVE]) {
      expect(ask(oneCopyANode, { action }).allow).toBe(true)
      expect(ask(oneCopyANode, { action, rows })).toMatchObject({
        allow: false,
        reason: 'NODE-C already holds #0'
      })
    }
    expect(ask(oneCopyANode, { action: SWITCH, rows }).allow).toBe(true)
  })
})

describe('one-transfer', () => {
  test('denies a transfer when either node is in one', () => {
    for (const action of [COPY, MOVE]) {
      expect(ask(oneTransfer, { action }).allow).toBe(true)
      expect(ask(oneTransfer, { action, busy: 'source' })).toMatchObject({
        allow: false,
        reason: 'NODE-A is already in a transfer'
      })
      expect(ask(oneTransfer, { action, busy: 'target' })).toMatchObject({
        allow: false,
        reason: 'NODE-C is already in a transfer'
      })
    }
  })

  test('a switch ships nothing and needs only this node to be free', () => {
    expect(ask(oneTransfer, { action: SWITCH, busy: 'target' }).allow).toBe(true)
    expect(ask(oneTransfer, { action: SWITCH, busy: 'source' }).allow).toBe(false)
  })
})

describe('primary-shares', () => {
  // The share is 5 or 6 primaries.
  test.each([
    [[6, 5], [5, 5], true, 'NODE-A has 6 primaries, NODE-C 5 and has room'],
    [[6, 5], [6, 5], true, 'NODE-A has 6 primaries, NODE-C 6 and passes one on'],
    [[6, 5], [7, 4], false, 'NODE-C has 7 primaries, too many itself'],
    [[5, 5], [4, 5], false, 'NODE-A has 5 primaries and keeps them']
  ] as const)('from %j to %j: %s', (source, target, allowed, reason) => {
    expect(ask(primaryShares, { action: SWITCH, source, target })).toEqual({
      rule: 'primary-shares',
      allow: allowed,
      reason
    })
  })

  test('a leaving node gives all its primaries away, and moves are not its business', () => {
    const [source, target] = [
      [1, 0],
      [16, 0]
    ] as const
    expect(ask(primaryShares, { action: SWITCH, source, target, leaving: A }).allow).toBe(true)
    expect(ask(primaryShares, { action: MOVE, source, target }).allow).toBe(true)
  })
})

describe('source-above-quota', () => {
  test('denies giving away what is not too much', () => {
    // A and B hold all, so they have the two shares of 11.
    expect(ask(sourceAboveQuota, { action: MOVE, source: [6, 6] }).allow).toBe(true)
    expect(ask(sourceAboveQuota, { action: MOVE, source: [6, 5] })).toMatchObject({
      allow: false,
      reason: 'NODE-A holds 11 of its share of 11 and keeps them'
    })
    expect(ask(sourceAboveQuota, { action: COPY, source: [0, 0] }).allow).toBe(true)
  })
})

describe('target-below-quota', () => {
  test('denies giving to a node that has its share', () => {
    // A and B hold all and have the two shares of 11, so C's is 10.
    expect(ask(targetBelowQuota, { action: MOVE, target: [4, 5] }).allow).toBe(true)
    expect(ask(targetBelowQuota, { action: MOVE, target: [5, 5] })).toMatchObject({
      allow: false,
      reason: 'NODE-C holds 10, its share is 10'
    })
    expect(ask(targetBelowQuota, { action: COPY, target: [9, 9] }).allow).toBe(true)
  })

  test('denies a move between two that are both fair, which would gain nothing', () => {
    // B and C have the two shares of 11; A has heard that C has only 10 by now, and has 11 itself.
    const rows: Record<number, NodeIndex[]> = {}
    for (let bucket = 0; bucket < 16; bucket++) {
      rows[bucket] = bucket < 5 ? [A, B] : bucket < 10 ? [A, C] : [B, C]
    }
    const given = { action: MOVE, rows, target: [5, 5] } as const
    expect(ask(targetBelowQuota, { ...given, source: [6, 5] })).toMatchObject({
      allow: false,
      reason: '11 here and 10 there are both fair; a move would gain nothing'
    })
    expect(ask(targetBelowQuota, { ...given, source: [6, 6] }).allow).toBe(true)
  })
})

describe('zones-apart', () => {
  const zones = ['x', 'y', 'x'] as const

  test('denies a move that puts all copies into one zone', () => {
    // A's copy in y would go to C, in x as B is.
    const rows = { 0: [B, A] }
    expect(ask(zonesApart, { action: MOVE, rows, zones: ['y', 'x', 'x'] })).toMatchObject({
      allow: false,
      reason: 'all copies of #0 would be in one zone'
    })
  })

  test('allows a move that keeps them apart, and any where there is one zone', () => {
    // A's copy goes to C in the same zone; B in y keeps its own.
    expect(ask(zonesApart, { action: MOVE, zones }).allow).toBe(true)
    expect(ask(zonesApart, { action: MOVE, zones: ['x', 'x', 'x'] }).allow).toBe(true)
    expect(ask(zonesApart, { action: SWITCH, zones }).allow).toBe(true)
  })

  test('a copy in the same zone is better than none', () => {
    const rows = { 0: [A] }
    expect(ask(zonesApart, { action: COPY, rows, zones })).toMatchObject({
      allow: true,
      reason: 'no room in another zone'
    })
    expect(ask(zonesApart, { action: COPY, rows, zones: ['x', 'x', 'y'] })).toMatchObject({
      allow: true,
      reason: 'the copies stay in different zones'
    })
  })

  test('copies on a leaving node protect nothing', () => {
    // B leaves, and with it the only other zone.
    expect(ask(zonesApart, { action: COPY, zones, leaving: B })).toMatchObject({
      reason: 'there is one zone'
    })
  })
})
