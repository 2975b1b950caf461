/** The status of a cluster: asked of one node, completed by the others, and how it is shown to people. */
import { nodeName } from '../core/ids.js'
import { Table } from '../core/table.js'
import type { BucketStatus, NodeStatus, Status } from '../runtime/status.js'
import { drawTable, isDrawable } from '../../sim/balance/picture.js'
import { RespConnection, withConnection } from './resp-connection.js'

/** How long a node other than the one that was named may take. */
const OTHERS_MS_MAX = 1000

export async function fetchStatus(address: string): Promise<Status> {
  return withConnection(address, readStatus)
}

/** The same with the items, bytes and moves that each node knows of itself. */
export async function fetchClusterStatus(address: string): Promise<Status> {
  const status = await fetchStatus(address)
  const others = status.nodes.filter(
    ({ name, state }) => name !== status.node && (state === 'alive' || state === 'leaving')
  )
  const answers = await Promise.all(others.map(({ resp }) => fetchOther(resp)))
  return mergeStatus(
    status,
    answers.filter((answer) => answer !== undefined)
  )
}

async function readStatus(connection: RespConnection): Promise<Status> {
  const reply = await connection.call('OC.STATUS')
  if (typeof reply !== 'string') throw new Error(`${connection.address}: not a node`)
  return JSON.parse(reply) as Status
}

async function fetchOther(address: string): Promise<Status | undefined> {
  let connection: RespConnection | undefined
  const timer = setTimeout(() => connection?.close(), OTHERS_MS_MAX)
  try {
    connection = await RespConnection.open(address, OTHERS_MS_MAX)
    return await readStatus(connection)
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
    connection?.close()
  }
}

export function mergeStatus(status: Status, others: readonly Status[]): Status {
  const byNode = new Map(others.map((other) => [other.node, other]))
  const nodes = status.nodes.map((node): NodeStatus => {
    const own = byNode.get(node.name)?.nodes.find(({ name }) => name === node.name)
    return own === undefined ? node : { ...node, items: own.items, bytes: own.bytes }
  })
  const buckets = status.buckets.map((bucket): BucketStatus => {
    const items = byNode.get(bucket.primary ?? '')?.buckets.at(bucket.id)?.items
    return items === undefined || items === null ? bucket : { ...bucket, items }
  })
  return {
    ...status,
    balanced: status.balanced && others.every(({ balanced }) => balanced),
    lost: Math.max(status.lost, ...others.map(({ lost }) => lost)),
    nodes,
    buckets,
    moves: [...status.moves, ...others.flatMap(({ moves }) => moves)]
  }
}

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
    lines.push(
      `moving ${kind ?? 'copy'} ${bucket} from ${from} to ${to}: ${stage}, ${sent} of ${total}`
    )
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
