/** How the status of a cluster is shown to people. */
import { nodeName } from '../core/ids.js'
import { Table } from '../core/table.js'
import type { NodeStatus, Status } from '../runtime/status.js'
import { drawTable, isDrawable } from '../../sim/balance/picture.js'

export { fetchClusterStatus, fetchStatus } from '../runtime/cluster-status.js'

/** Lines for people: the documents' picture of a small table, otherwise a line a node. */
export function formatStatus(status: Status): string[] {
  const lines = [formatSummary(status), '']
  const members = status.nodes.filter(({ state }) => state !== 'left')
  const table = tableOf(status)
  if (isDrawable(table, members.length)) {
    lines.push(
      ...drawTable(table, { nodes: members.map(({ name }) => table.intern(nodeName(name))) })
    )
  } else lines.push(...formatNodes(members))
  for (const { bucket, from, to, kind, stage, sent, total } of status.moves) {
    lines.push(`moving ${kind} ${bucket} from ${from} to ${to}: ${stage}, ${sent} of ${total}`)
  }
  return lines
}

export function formatSummary(status: Status): string {
  const parts = [
    `cluster ${status.cluster}`,
    `${status.buckets.length} buckets`,
    `${status.copies} copies`,
    status.balanced ? 'balanced' : 'balancing'
  ]
  if (status.withoutBackup > 0) parts.push(`${status.withoutBackup} buckets without a backup`)
  if (status.lost > 0) parts.push(`${status.lost} BUCKETS LOST`)
  const dead = status.nodes.filter(({ state }) => state === 'dead').map(({ name }) => name)
  if (dead.length > 0) parts.push(`dead: ${dead.join(', ')}`)
  return parts.join(', ')
}

function formatNodes(nodes: readonly NodeStatus[]): string[] {
  const rows = [
    ['node', 'address', 'state', 'primaries', 'backups', 'items'],
    ...nodes.map(({ name, resp, state, primaries, backups, items }) => [
      name,
      resp,
      state,
      String(primaries),
      String(backups),
      items === null ? '?' : String(items)
    ])
  ]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column < 3 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])
      )
      .join('  ')
  )
}

function tableOf(status: Status): Table {
  const table = new Table(status.buckets.length - 1)
  for (const { id, epoch, primary, backups } of status.buckets) {
    if (epoch === 0) continue
    table.offer(id, {
      epoch,
      primary: primary === null ? null : nodeName(primary),
      backups: backups.map(nodeName)
    })
  }
  return table
}
