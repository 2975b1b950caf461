import { expect, test } from 'vitest'
import { Rules2012 } from '../../src/core/placement/rules-2012.js'
import { BalanceCluster } from './cluster.js'
import { formatLevel } from './picture.js'
import { loadPicture } from './picture-reader.js'

function start(): { cluster: BalanceCluster; rules: Rules2012; a: number; b: number } {
  const rules = new Rules2012()
  const cluster = new BalanceCluster({ buckets: 16, copies: 2, rules, seed: 1 })
  return { cluster, rules, a: cluster.join('NODE-A'), b: cluster.join('NODE-B') }
}

const levels = (cluster: BalanceCluster): string =>
  cluster.nodes.map((node) => formatLevel(cluster.table, node)).join(' ')

test('two nodes: two sent, then one switched for each further two', () => {
  const { cluster, a, b } = start()
  const seen = Array.from({ length: 5 }, () => {
    const { action } = cluster.ask(a, b)
    return action?.kind === 'split' ? '' : `${action?.kind} ${action?.bucket}`
  })
  expect(seen).toEqual(['copy 0', 'copy 1', 'switch 0', 'copy 2', 'copy 3'])
  expect(cluster.settle(1000)).toBe(true)
  expect(levels(cluster)).toBe('8+8=16 8+8=16')
})

test('a primary is sent as a backup, and the old backup is discarded', () => {
  const { cluster, a, b } = start()
  cluster.settle(1000)
  const c = cluster.join('NODE-C')
  const plan = cluster.ask(a, c)
  expect(plan.action).toMatchObject({ kind: 'copy', to: c, replaces: b })
  expect(levels(cluster)).toBe('8+8=16 8+7=15 0+1=1')
})

test('the bucket a node sent last is neither sent nor switched', () => {
  const { cluster, rules, a } = start()
  cluster.settle(1000)
  const c = cluster.join('NODE-C')
  const first = cluster.ask(a, c).action
  const second = cluster.ask(a, c).action
  expect(first).toMatchObject({ kind: 'copy' })
  // NODE-C has 0+1 and then 0+2; the only bucket that could be switched is the one just sent.
  expect(second).toMatchObject({ kind: 'copy' })
  expect(rules.lastMovedOf(cluster.viewOf(a))).toBe(second?.kind === 'copy' ? second.bucket : NaN)
})

const FOUR_NODES = `
 +--------+ +--------+ +--------+ +--------+
 | NODE-A | | NODE-B | | NODE-C | | NODE-D |
 | #0 -   | | #0 -   | | #0 - P | | #0 - S |
 | #1 -   | | #1 -   | | #1 - P | | #1 - S |
 | #2 -   | | #2 - S | | #2 -   | | #2 - P |
 | #3 -   | | #3 - P*| | #3 - S | | #3 -   |
 | #4 -   | | #4 - P | | #4 - S | | #4 -   |
 | #5 -   | | #5 - P | | #5 - S | | #5 -   |
 | #6 -   | | #6 - P | | #6 - S | | #6 -   |
 | #7 - S | | #7 - P | | #7 -   | | #7 -   |
 | #8 -   | | #8 -   | | #8 - P*| | #8 - S |
 | #9 - S | | #9 -   | | #9 - P | | #9 -   |
 | #A - S | | #A -   | | #A -   | | #A - P |
 | #B - S | | #B -   | | #B -   | | #B - P |
 | #C - P*| | #C -   | | #C -   | | #C - S |
 | #D - P | | #D - S | | #D -   | | #D -   |
 | #E - P | | #E - S | | #E -   | | #E -   |
 | #F - P | | #F - S | | #F -   | | #F -   |
 +--------+ +--------+ +--------+ +--------+`

test("from the document's four nodes the rules never come to rest", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const rules = new Rules2012()
    const cluster = new BalanceCluster({ buckets: 16, copies: 2, rules, seed })
    loadPicture(cluster, rules, FOUR_NODES)
    expect(levels(cluster)).toBe('4+4=8 5+4=9 4+4=8 3+4=7')
    expect(cluster.settle(2000)).toBe(false)
    expect(cluster.tally.shipped).toBeGreaterThan(500)
    const totals = cluster.nodes.map((node) => cluster.table.totalOf(node)).sort()
    expect(totals).toEqual([7, 8, 8, 9])
  }
})

test('a leaving node is gone with nothing lost', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const rules = new Rules2012()
    const cluster = new BalanceCluster({ buckets: 16, copies: 2, rules, seed })
    for (const name of ['a', 'b', 'c', 'd']) {
      cluster.join(name)
      cluster.settle(500)
    }
    for (let left = 3; left >= 1; left--) {
      cluster.leave(cluster.nodes[0])
      cluster.settle(500)
      expect(cluster.nodes).toHaveLength(left)
      expect(cluster.table.rowsBelow(Math.min(left, 2))).toBe(0)
    }
  }
})
