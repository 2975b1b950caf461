import { expect, test } from 'vitest'
import { nodeName } from '../../src/core/ids.js'
import { createRuleSet } from '../../src/core/placement/rule-sets.js'
import { Table } from '../../src/core/table.js'
import { BalanceCluster } from './cluster.js'
import { drawCluster, drawTable, isDrawable } from './picture.js'

test('a table is drawn as in document 000', () => {
  const table = new Table(0x000f)
  const nodes = ['NODE-A', 'NODE-B', 'NODE-C'].map((name) => table.intern(nodeName(name)))
  for (let bucket = 0; bucket < 16; bucket++) {
    const holders = bucket < 8 ? [nodes[1], nodes[0]] : [nodes[0], nodes[1]]
    table.replace(bucket, 1, bucket === 0 ? [nodes[1], nodes[2]] : holders)
  }
  const picture = drawTable(table, { nodes, starOf: (node) => (node === nodes[2] ? 0 : -1) })
  expect(picture).toEqual([
    ' +--------+ +--------+ +--------+',
    ' | NODE-A | | NODE-B | | NODE-C |',
    ' | #0 -   | | #0 - P | | #0 - S*|',
    ' | #1 - S | | #1 - P | | #1 -   |',
    ' | #2 - S | | #2 - P | | #2 -   |',
    ' | #3 - S | | #3 - P | | #3 -   |',
    ' | #4 - S | | #4 - P | | #4 -   |',
    ' | #5 - S | | #5 - P | | #5 -   |',
    ' | #6 - S | | #6 - P | | #6 -   |',
    ' | #7 - S | | #7 - P | | #7 -   |',
    ' | #8 - P | | #8 - S | | #8 -   |',
    ' | #9 - P | | #9 - S | | #9 -   |',
    ' | #A - P | | #A - S | | #A -   |',
    ' | #B - P | | #B - S | | #B -   |',
    ' | #C - P | | #C - S | | #C -   |',
    ' | #D - P | | #D - S | | #D -   |',
    ' | #E - P | | #E - S | | #E -   |',
    ' | #F - P | | #F - S | | #F -   |',
    ' +--------+ +--------+ +--------+',
    '   8+7=15     8+8=16     0+1=1'
  ])
})

test('a long name widens all columns alike', () => {
  const table = new Table(0x000f)
  const nodes = ['NODE-A', 'the-second'].map((name) => table.intern(nodeName(name)))
  const widths = drawTable(table, { nodes }).map((line) => line.length)
  expect(new Set(widths.slice(0, -1))).toEqual(new Set([1 + 14 + 1 + 14]))
})

test.each([
  ['2014', 'the receiver', ' | #0 - P | | #0 - S*|'],
  ['2012', 'the sender', ' | #0 - P*| | #0 - S |']
] as const)('under the rules of %s the star is on %s', (name, _where, line) => {
  const rules = createRuleSet(name)
  const cluster = new BalanceCluster({ buckets: 16, copies: 2, rules, seed: 1 })
  const [a, b] = [cluster.join('NODE-A'), cluster.join('NODE-B')]
  cluster.ask(a, b)
  expect(drawCluster(cluster, rules)[2]).toBe(line)
})

test('only small tables are drawn', () => {
  expect(isDrawable(new Table(0x000f), 12)).toBe(true)
  expect(isDrawable(new Table(0x000f), 13)).toBe(false)
  expect(isDrawable(new Table(0x00ff), 2)).toBe(false)
})
