/** How a run of the balancing rules is shown: pictures, lines of figures, and actions with their reasons. */
import type { NodeIndex } from '../core/ids.js'
import { formatBucket, type Action } from '../core/placement/action.js'
import type { Table } from '../core/table.js'
import type { ActionEvent } from '../../sim/balance/cluster.js'
import type { Size } from '../../sim/balance/growth.js'

export type SizeEvent = 'join' | 'leave'

const COLUMNS = [
  ['nodes', (size) => size.nodes],
  ['buckets', (size) => size.buckets],
  ['totals apart', (size) => size.totalsSpread],
  ['primaries apart', (size) => size.primariesSpread],
  ['shipped', (size) => size.shipped],
  ['minimum', (size) => size.minimum],
  ['switches', (size) => size.switches],
  ['rounds', (size) => size.rounds]
] as const satisfies readonly (readonly [string, (size: Size) => number])[]

/** Only where weights or zones make the shares different. */
const SHARE_COLUMN = 'within share'

const NEVER = 'does not come to rest'

export interface ReportStyle {
  /** Nodes have weights or zones, so that being apart says little and the shares say more. */
  readonly shares: boolean
}

export function formatSizeHeader({ shares }: ReportStyle = { shares: false }): string {
  const titles: string[] = COLUMNS.map(([title]) => title)
  if (shares) titles.push(SHARE_COLUMN)
  return titles.map((title) => title.padStart(columnWidth(title))).join('  ')
}

export function formatSizeLine(size: Size, { shares }: ReportStyle = { shares: false }): string {
  const cells = COLUMNS.map(([title, get]) => String(get(size)).padStart(columnWidth(title)))
  if (shares) cells.push((size.withinShare ? 'yes' : 'no').padStart(columnWidth(SHARE_COLUMN)))
  return `${cells.join('  ')}${size.settled ? '' : `  ${NEVER}`}`
}

/** Wide enough for 256 nodes with 16384 buckets. */
function columnWidth(title: string): number {
  return Math.max(6, title.length)
}

/** The caption of a picture. */
export function formatSizeCaption(size: Size, { shares }: ReportStyle = { shares: false }): string {
  const figures = [
    `${size.shipped} shipped, ${size.minimum} needed`,
    count(size.switches, 'switch', 'switches'),
    `totals ${size.totalsSpread} apart`,
    `primaries ${size.primariesSpread} apart`
  ]
  if (shares) figures.push(`${size.withinShare ? 'all' : 'not all'} within their shares`)
  const rest = size.settled ? `at rest after ${count(size.rounds, 'round', 'rounds')}` : NEVER
  return `${count(size.nodes, 'node', 'nodes')}: ${figures.join('; ')}; ${rest}`
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`
}

/** One line an action: `round 12 NODE-A -> NODE-C move backup #8: NODE-A is above its share`. */
export function formatAction(event: ActionEvent, table: Table): string {
  const { action, reason } = event.plan
  const source = table.nameOf(event.node)
  const target =
    action === undefined || action.kind === 'split' ? '' : ` -> ${table.nameOf(action.to)}`
  return `round ${event.round} ${source}${target} ${describeAction(action, table)}: ${reason}`
}

export function describeAction(action: Action | undefined, table: Table): string {
  switch (action?.kind) {
    case undefined:
      return 'nothing'
    case 'split':
      return 'split'
    case 'move':
      return `move ${action.copy} ${formatBucket(action.bucket)}`
    case 'copy':
      return `copy ${formatBucket(action.bucket)}${formatInstead(action.replaces, table)}`
    case 'switch':
    case 'release':
      return `${action.kind} ${formatBucket(action.bucket)}`
  }
}

function formatInstead(replaces: NodeIndex, table: Table): string {
  return replaces < 0 ? '' : ` instead of ${table.nameOf(replaces)}`
}

/** The stable form for programs; `event` only where there are leaves, `withinShare` where shares differ. */
export function describeSize(
  size: Size,
  { event, shares }: ReportStyle & { event: SizeEvent | undefined }
): Record<string, unknown> {
  return {
    ...(event === undefined ? {} : { event }),
    nodes: size.nodes,
    totalsSpread: size.totalsSpread,
    primariesSpread: size.primariesSpread,
    shipped: size.shipped,
    minimum: size.minimum,
    switches: size.switches,
    rounds: size.rounds,
    settled: size.settled,
    buckets: size.buckets,
    ...(shares ? { withinShare: size.withinShare } : {})
  }
}
