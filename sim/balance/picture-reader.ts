/**
 * Reads a picture of the documents back into a cluster, so that a walk can go on from the very state a
 * document shows. Columns are found by their bars; what is behind the last bar is not looked at.
 */
import { assert } from '../../src/core/assert.js'
import type { NodeIndex } from '../../src/core/ids.js'
import type { RuleSet } from '../../src/core/placement/rule.js'
import { Rules2012 } from '../../src/core/placement/rules-2012.js'
import type { BalanceCluster } from './cluster.js'

const CELL = /\| *([^|]*?) *\|/g
const BUCKET = /^#([0-9A-F]+) *- *([PSB]?) ?(\*?)$/

interface Rows {
  readonly primary: Map<number, NodeIndex>
  readonly backups: Map<number, NodeIndex[]>
  readonly stars: Map<NodeIndex, number>
}

/** Joins the nodes that are missing and replaces every row by what the picture shows. */
export function loadPicture(cluster: BalanceCluster, rules: RuleSet, picture: string): void {
  const lines = picture.split('\n').map((line) => [...line.matchAll(CELL)].map((cell) => cell[1]))
  const [names, ...buckets] = lines.filter((cells) => cells.length > 0)
  assert(buckets.length === cluster.table.size, `a picture of ${buckets.length} buckets`)
  const known = new Set(cluster.nodes.map((node) => cluster.table.nameOf(node)))
  const nodes = names.map((name) =>
    known.has(name as never) ? cluster.table.indexOf(name) : cluster.join(name)
  )
  const rows: Rows = { primary: new Map(), backups: new Map(), stars: new Map() }
  for (const cells of buckets) readLine(cells, nodes, rows)
  for (let bucket = 0; bucket <= cluster.table.mask; bucket++) {
    const primary = rows.primary.get(bucket)
    assert(primary !== undefined, `no primary of bucket ${bucket} in the picture`)
    const holders = [primary, ...(rows.backups.get(bucket) ?? [])]
    cluster.table.replace(bucket, cluster.table.epochOf(bucket) + 1, holders)
  }
  for (const node of nodes) {
    const [view, star] = [cluster.viewOf(node), rows.stars.get(node) ?? -1]
    view.lastTransfer = star
    if (rules instanceof Rules2012) rules.markLastMoved(view, star)
  }
}

function readLine(cells: readonly string[], nodes: readonly NodeIndex[], rows: Rows): void {
  assert(cells.length === nodes.length, `a line with ${cells.length} columns: ${cells.join('|')}`)
  for (const [place, cell] of cells.entries()) {
    const match = BUCKET.exec(cell)
    assert(match !== null, `not a bucket: ${cell}`)
    const bucket = Number.parseInt(match[1], 16)
    const node = nodes[place]
    if (match[2] === 'P') rows.primary.set(bucket, node)
    else if (match[2] !== '') {
      rows.backups.set(bucket, [...(rows.backups.get(bucket) ?? []), node])
    }
    if (match[3] === '*') rows.stars.set(node, bucket)
  }
}
