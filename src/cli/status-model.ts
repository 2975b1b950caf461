/** The table and the roster behind a status, so that what the nodes decide by can be computed from what they say. */
import { NOBODY, nodeName } from '../core/ids.js'
import { Arrangement } from '../core/placement/arrangement.js'
import { Roster } from '../core/placement/roster.js'
import { View, type LoadLevel } from '../core/placement/view.js'
import { Table } from '../core/table.js'
import type { NodeStatus, Status } from '../runtime/status.js'

export function tableOf(status: Status): Table {
  const table = new Table(status.buckets.length - 1)
  for (const { name } of status.nodes) table.intern(nodeName(name))
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

/** As the nodes see it: the dead have no share, and a witness holds nothing. */
export function arrangementOf(status: Status): Arrangement {
  const table = tableOf(status)
  const members = status.nodes
    .filter(({ state, weight }) => (state === 'alive' || state === 'leaving') && weight > 0)
    .map(({ name, weight, zone, state }) => ({
      node: table.indexOf(nodeName(name)),
      weight,
      zone,
      leaving: state === 'leaving'
    }))
  return new Arrangement(table, new Roster(members), status.copies)
}

/** What each node of the roster would decide by, and what it would answer others. */
export function viewsOf(
  status: Status,
  arrangement: Arrangement
): { view: View; level: LoadLevel }[] {
  const busy = new Set(
    status.moves.flatMap(({ from, to, kind }) => (kind === 'role' ? [] : [from, to]))
  )
  return arrangement.roster.members.map(({ node }) => {
    const view = new View({ arrangement, self: node, splitAt: status.splitAt })
    view.transferring = busy.has(view.nameOf(node))
    return { view, level: { ...view.own, transferring: view.transferring } }
  })
}

export interface Remaining {
  /** Copies that are not where they should be, and copies that are not there at all. */
  readonly copies: number
  /** Primary roles that have to change their node. */
  readonly roles: number
}

export function countRemaining(arrangement: Arrangement): Remaining {
  const { table, roster, shares } = arrangement
  let [copies, roles] = [0, 0]
  for (const { node } of roster.staying) {
    copies += Math.max(0, arrangement.quotaOf(node) - table.totalOf(node))
    roles += Math.max(0, shares.primaryLow[node] - table.primariesOf(node))
  }
  return { copies, roles }
}

/** What a node should hold in the end; undefined for one that counts no more. */
export function quotaOf(arrangement: Arrangement, { name }: NodeStatus): number | undefined {
  const node = arrangement.table.indexOf(nodeName(name))
  return node === NOBODY || arrangement.roster.get(node) === undefined
    ? undefined
    : arrangement.quotaOf(node)
}
