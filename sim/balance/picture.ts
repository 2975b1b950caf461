/**
 * The documents' picture of a table: a column for each node, a line for each bucket with P, S or
 * nothing, a star at the bucket that moved last, and the load level below. Columns are as wide as in
 * the documents, so that a picture can be laid beside theirs. Lines do not end in spaces.
 */
import { formatBucket } from '../../src/core/placement/action.js'
import { NOBODY, type NodeIndex } from '../../src/core/ids.js'
import type { RuleSet } from '../../src/core/placement/rule.js'
import { Rules2012 } from '../../src/core/placement/rules-2012.js'
import type { Table } from '../../src/core/table.js'
import type { BalanceCluster } from './cluster.js'

/** `#F - P`, and `NODE-F`, the longest names of the documents. */
const CELL_WIDTH = 6
const PICTURE_BUCKETS_MAX = 16
const PICTURE_NODES_MAX = 12

export interface PictureOptions {
  readonly nodes: readonly NodeIndex[]
  /** The bucket with the star in a node's column, or -1. */
  readonly starOf?: (node: NodeIndex) => number
}

/** Whether a table is small enough to be drawn bucket by bucket. */
export function isDrawable(table: Table, nodes: number): boolean {
  return table.size <= PICTURE_BUCKETS_MAX && nodes <= PICTURE_NODES_MAX
}

export function drawTable(table: Table, { nodes, starOf = () => -1 }: PictureOptions): string[] {
  const longest = Math.max(CELL_WIDTH, ...nodes.map((node) => table.nameOf(node).length))
  const line = (cells: string[]): string => ` ${cells.join(' ')}`.trimEnd()
  const border = line(nodes.map(() => `+${'-'.repeat(longest + 2)}+`))
  const lines = [border, line(nodes.map((node) => `| ${table.nameOf(node).padEnd(longest)} |`))]
  for (let bucket = 0; bucket <= table.mask; bucket++) {
    const cells = nodes.map((node) => {
      const star = starOf(node) === bucket ? '*' : ' '
      const text = `${formatBucket(bucket)} - ${letterOf(table, bucket, node)}${star}`
      return `| ${text.padEnd(longest + 1)}|`
    })
    lines.push(line(cells))
  }
  const levels = nodes.map((node) => `  ${formatLevel(table, node)}`.padEnd(longest + 4))
  return [...lines, border, line(levels)]
}

/** The picture of a cluster, with the stars where its rules put them. */
export function drawCluster(cluster: BalanceCluster, rules: RuleSet): string[] {
  const starOf = (node: NodeIndex): number => {
    const view = cluster.viewOf(node)
    return rules instanceof Rules2012 ? rules.lastMovedOf(view) : view.lastTransfer
  }
  return drawTable(cluster.table, { nodes: cluster.nodes, starOf })
}

/** Primaries, backups and their sum: `8+7=15`. */
export function formatLevel(table: Table, node: NodeIndex): string {
  const [primaries, total] = [table.primariesOf(node), table.totalOf(node)]
  return `${primaries}+${total - primaries}=${total}`
}

function letterOf(table: Table, bucket: number, node: NodeIndex): string {
  if (node === NOBODY || !table.isHolder(bucket, node)) return ' '
  return table.primaryOf(bucket) === node ? 'P' : 'S'
}
