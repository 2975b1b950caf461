/** Each checker of clusters on hand-written views: a right one has no problem, and each wrong one has. */
import { describe, expect, it } from 'vitest'
import { nodeName } from '../../src/core/ids.js'
import type { NodeEvent } from '../../src/node/outbox.js'
import { hasAllCopies, newestRows, type ClusterView } from '../cluster-view.js'
import type { InspectedCopy, InspectedRow, Inspection } from '../driven-node.js'
import { AllCopiesChecker } from './all-copies.js'
import { BalanceChecker } from './balance.js'
import { BoundedQueuesChecker } from './bounded-queues.js'
import { BrokenPromise } from './checker.js'
import { DecisionsEndChecker } from './decisions-end.js'
import { EqualCopiesChecker } from './equal-copies.js'
import { EqualTablesChecker } from './equal-tables.js'
import { MovesEndChecker } from './moves-end.js'
import { OnePrimaryChecker } from './one-primary.js'
import { ShipsNothingChecker } from './ships-nothing.js'

const NAMES = ['a', 'b', 'c', 'd'] as const
const BUCKETS = 16

/** Four nodes, 16 buckets, everything as it should be. */
function rightRows(): InspectedRow[] {
  return Array.from({ length: BUCKETS }, (_, bucket) => {
    const [primary, backup] = [NAMES[bucket % 4], NAMES[(bucket + 1) % 4]]
    return { bucket, epoch: 3, primary, backups: [backup] }
  })
}

function node(name: string, rows: readonly InspectedRow[]): Inspection {
  const held: InspectedCopy[] = []
  for (const { bucket, primary, backups, epoch } of rows) {
    const role = primary === name ? 'primary' : backups.includes(name) ? 'backup' : undefined
    if (role === undefined) continue
    held.push({ bucket, role, epoch, seq: 5, items: 2, digest: `d${bucket}` })
  }
  return {
    name,
    mask: BUCKETS - 1,
    digest: 7,
    members: NAMES.map((it) => ({ name: it, state: 'alive', dead: false })),
    rows,
    held,
    moves: [],
    queuedBytes: 10,
    shipped: 4
  }
}

function view(change: (nodes: Inspection[]) => Inspection[] = (it) => it): ClusterView {
  const nodes = change(NAMES.map((name) => node(name, rightRows())))
  return { now: 1000, copies: 2, nodes, staying: [...NAMES] }
}

function withRows(change: (rows: InspectedRow[]) => InspectedRow[]): ClusterView {
  return view(() => NAMES.map((name) => node(name, change(rightRows()))))
}

const changeFirst =
  (change: Partial<Inspection>) =>
  (nodes: Inspection[]): Inspection[] =>
    nodes.map((it, i) => (i === 0 ? { ...it, ...change } : it))

describe('at rest', () => {
  const checkers = [
    new EqualTablesChecker(),
    new DecisionsEndChecker(),
    new AllCopiesChecker(),
    new BalanceChecker(),
    new EqualCopiesChecker(),
    new MovesEndChecker(1000),
    new BoundedQueuesChecker(1000, 100)
  ]
  it.each(checkers.map((checker) => [checker.name, checker] as const))('%s', (_, checker) => {
    expect(checker.problem(view())).toBeUndefined()
  })

  it('sees tables that differ, in rows, mask or members', () => {
    const checker = new EqualTablesChecker()
    expect(checker.problem(view(changeFirst({ digest: 8 })))).toContain('differ')
    expect(checker.problem(view(changeFirst({ mask: 255 })))).toContain('mask')
    const members = [{ name: 'a', state: 'alive', dead: true }]
    expect(checker.problem(view(changeFirst({ members })))).toContain('dead')
  })

  it('sees a node that is still deciding', () => {
    const checker = new DecisionsEndChecker()
    expect(checker.problem(view(changeFirst({ deciding: 2 })))).toContain('deciding 2 registers')
  })

  it('sees a missing copy, a copy too many, and one on a node that is gone', () => {
    const checker = new AllCopiesChecker()
    const lacking = withRows((rows) => rows.with(3, { ...rows[3], backups: [] }))
    expect(checker.problem(lacking)).toContain('bucket 3 has 1 copies of 2')
    const many = withRows((rows) => rows.with(3, { ...rows[3], backups: ['a', 'b'] }))
    expect(checker.problem(many)).toContain('3 copies')
    const gone = withRows((rows) => rows.with(3, { ...rows[3], backups: ['x'] }))
    expect(checker.problem(gone)).toContain('x, which is gone')
    expect(checker.problem({ ...lacking, copies: 1, staying: ['a'] })).toContain('gone')
  })

  it('sees totals and primaries that differ by more than 1', () => {
    const checker = new BalanceChecker()
    const switched = withRows((rows) =>
      rows.map((it) => (it.primary === 'b' ? { ...it, primary: 'c', backups: ['b'] } : it))
    )
    expect(checker.problem(switched)).toContain('primaries differ')
    const heavy = withRows((rows) =>
      rows.map((it) => (it.backups[0] === 'b' ? { ...it, backups: ['c'] } : it))
    )
    expect(checker.problem(heavy)).toContain('totals differ')
  })

  it('sees copies that differ, are missing, or should not be there', () => {
    const checker = new EqualCopiesChecker()
    const [first] = view().nodes
    const held = first.held
    const other = held.map((it) => ({ ...it, digest: 'x' }))
    expect(checker.problem(view(changeFirst({ held: other })))).toContain('copies differ')
    expect(checker.problem(view(changeFirst({ held: held.slice(1) })))).toContain('holds nothing')
    const extra = [...held, { ...held[0], bucket: 1, role: 'incoming' as const }]
    expect(checker.problem(view(changeFirst({ held: extra })))).toContain('not in the row')
  })

  it('sees a move that goes on, and one that never ends', () => {
    const checker = new MovesEndChecker(1000)
    const moving = view(changeFirst({ moves: [{ bucket: 1, to: 'b', stage: 'copy' }] }))
    expect(checker.problem(moving)).toContain('copy')
    checker.onSample(moving)
    checker.onSample({ ...moving, now: 1900 })
    expect(() => checker.onSample({ ...moving, now: 2100 })).toThrow(BrokenPromise)
    const ending = new MovesEndChecker(1000)
    ending.onSample(moving)
    ending.onSample({ ...view(), now: 1500 })
    ending.onSample({ ...moving, now: 2100 })
  })

  it('sees queues that grow', () => {
    const checker = new BoundedQueuesChecker(1000, 100)
    checker.onSample(view(changeFirst({ queuedBytes: 900 })))
    expect(checker.problem(view(changeFirst({ queuedBytes: 900 })))).toContain('at rest')
    expect(() => checker.onSample(view(changeFirst({ queuedBytes: 1001 })))).toThrow(BrokenPromise)
  })
})

describe('over time', () => {
  const rowEvent = (epoch: number, primary: string): NodeEvent => ({
    kind: 'row',
    bucket: 3,
    epoch,
    primary: nodeName(primary),
    backups: [],
    reason: ''
  })

  it('sees two primaries of one epoch', () => {
    const checker = new OnePrimaryChecker()
    checker.onEvent('a', rowEvent(1, 'a'), 0)
    checker.onEvent('b', rowEvent(1, 'a'), 1)
    checker.onEvent('b', rowEvent(2, 'b'), 2)
    expect(() => checker.onEvent('c', rowEvent(1, 'c'), 3)).toThrow(BrokenPromise)
  })

  it('forgets a row that died with the only node that had it', () => {
    const checker = new OnePrimaryChecker()
    checker.onEvent('a', rowEvent(1, 'a'), 0)
    checker.onEvent('a', rowEvent(2, 'c'), 0)
    checker.onEvent('b', rowEvent(1, 'a'), 1)
    checker.onCrash('a')
    checker.onEvent('b', rowEvent(2, 'b'), 2)
    expect(() => checker.onEvent('b', rowEvent(1, 'b'), 3)).toThrow(BrokenPromise)
  })

  it('sees a cluster that ships or changes rows at rest', () => {
    const checker = new ShipsNothingChecker()
    checker.onEvent('a', rowEvent(1, 'a'), 0)
    checker.onRest(view())
    checker.onEnd(view())
    expect(() => checker.onEnd(view(changeFirst({ shipped: 5 })))).toThrow(BrokenPromise)
    expect(() => checker.onEvent('a', rowEvent(2, 'b'), 2000)).toThrow(BrokenPromise)
  })
})

describe('a view', () => {
  it('takes the newest row of every bucket, over different masks', () => {
    const old = node('a', rightRows())
    const split: Inspection = {
      ...node('b', []),
      mask: 255,
      rows: Array.from({ length: 256 }, (_, bucket) => ({
        bucket,
        epoch: bucket === 19 ? 9 : 2,
        primary: 'b',
        backups: []
      }))
    }
    const rows = newestRows([old, split])
    expect(rows.length).toBe(256)
    expect(rows[19].primary).toBe('b')
    expect(rows[35].primary).toBe(rightRows()[3].primary)
  })

  it('knows whether losing one node is safe', () => {
    expect(hasAllCopies(view())).toBe(true)
    expect(hasAllCopies(withRows((rows) => rows.with(0, { ...rows[0], backups: [] })))).toBe(false)
    expect(hasAllCopies(view(changeFirst({ held: [] })))).toBe(false)
  })
})
