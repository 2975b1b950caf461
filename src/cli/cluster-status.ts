/** How the status of a cluster is shown to people. */
import { nodeName } from '../core/ids.js'
import type { Arrangement } from '../core/placement/arrangement.js'
import { countLost, type MoveStatus, type NodeStatus, type Status } from '../runtime/status.js'
import { drawTable, isDrawable } from '../../sim/balance/picture.js'
import { drawLegend, drawMap } from './status-map.js'
import { arrangementOf, quotaOf } from './status-model.js'
import { formatRing, isRing } from './status-ring.js'
import { drawBar, paint, PLAIN, widthOf, type Colour, type Style } from './status-style.js'

export { fetchClusterStatus, fetchStatus } from '../runtime/cluster-status.js'

const BAR_WIDTH = 24
const LOAD_WIDTH = 18
const MOVES_SHOWN = 12

/** Lines for people: a line a node, then the table: the documents' picture of a small one, a map of a larger one. */
export function formatStatus(status: Status, style: Style = PLAIN): string[] {
  if (isRing(status)) return formatRing(status, style)
  const members = status.nodes.filter(({ state }) => state !== 'left')
  const arrangement = arrangementOf(status)
  const { table } = arrangement
  const lines = [formatSummary(status, style), '', ...formatNodes(members, arrangement, style), '']
  if (isDrawable(table, members.length)) {
    const picture = drawTable(table, {
      nodes: members.map(({ name }) => table.indexOf(nodeName(name)))
    })
    lines.push(...picture.map((line) => paintPicture(line, style)))
  } else {
    lines.push(...drawMap(status, members, style), '', drawLegend(status, members, style))
  }
  const moves = formatMoves(status.moves, style)
  const problems = formatProblems(status, style)
  if (moves.length > 0) lines.push('', ...moves)
  if (problems.length > 0) lines.push('', ...problems)
  return lines
}

export function formatSummary(status: Status, style: Style = PLAIN): string {
  const parts = [
    `cluster ${paint(status.cluster, 'bold', style)}`,
    `${status.buckets.length} buckets`,
    `${status.copies} copies`,
    status.balanced ? paint('balanced', 'green', style) : paint('balancing', 'yellow', style)
  ]
  if (status.withoutBackup > 0) {
    parts.push(paint(`${status.withoutBackup} buckets without a backup`, 'magenta', style))
  }
  if (!status.serving) parts.push(paint(`${status.node} SERVES NOTHING`, 'alarm', style))
  if (status.lost > 0) parts.push(paint(`${status.lost} BUCKETS LOST`, 'alarm', style))
  const dead = status.nodes.filter(({ state }) => state === 'dead').map(({ name }) => name)
  if (dead.length > 0) parts.push(paint(`dead: ${dead.join(', ')}`, 'red', style))
  return parts.join(', ')
}

const STATE_COLOURS: Readonly<Record<NodeStatus['state'], Colour>> = {
  alive: 'green',
  leaving: 'yellow',
  left: 'dim',
  dead: 'red'
}

interface TableColumn {
  readonly title: string
  readonly cells: readonly string[]
  /** Numbers stand at the right. */
  readonly right?: boolean
}

function formatNodes(
  nodes: readonly NodeStatus[],
  arrangement: Arrangement,
  style: Style
): string[] {
  const quotas = nodes.map((node) => quotaOf(arrangement, node))
  const most = Math.max(1, ...quotas.map((quota) => quota ?? 0), ...nodes.map(totalOf))
  const column = (
    title: string,
    text: (node: NodeStatus, at: number) => string,
    right = false
  ): TableColumn => ({ title, cells: nodes.map(text), right })
  const columns = [
    column('node', ({ name }) => paint(name, 'bold', style)),
    column('address', ({ resp }) => resp),
    column('state', ({ state }) => paint(state, STATE_COLOURS[state], style))
  ]
  if (nodes.some(({ zone }) => zone !== '')) columns.push(column('zone', ({ zone }) => zone))
  if (nodes.some(({ weight }) => weight !== 1)) {
    columns.push(column('weight', ({ weight }) => String(weight), true))
  }
  columns.push(
    column('primaries', ({ primaries }) => String(primaries), true),
    column('backups', ({ backups }) => String(backups), true),
    column('total', (node) => String(totalOf(node)), true),
    column('share', (_node, at) => String(quotas[at] ?? '-'), true),
    column('items', ({ items }) => (items === null ? '?' : String(items)), true),
    column('bytes', ({ bytes }) => (bytes === null ? '?' : formatBytes(bytes)), true)
  )
  const load = column('load', ({ primaries, backups }) =>
    drawBar(
      [
        { share: primaries / most, colour: 'green' },
        { share: backups / most, colour: 'cyan' }
      ],
      LOAD_WIDTH,
      style
    )
  )
  const narrow = layOut(columns, style)
  return widthOf(narrow[0]) + 2 + LOAD_WIDTH <= style.columns
    ? layOut([...columns, load], style)
    : narrow
}

function layOut(columns: readonly TableColumn[], style: Style): string[] {
  const widths = columns.map(({ title, cells }) => Math.max(title.length, ...cells.map(widthOf)))
  const line = (textOf: (column: TableColumn) => string): string =>
    columns
      .map((column, i) => {
        const text = textOf(column)
        const gap = ' '.repeat(widths[i] - widthOf(text))
        return column.right === true ? `${gap}${text}` : `${text}${gap}`
      })
      .join('  ')
      .trimEnd()
  const count = columns[0].cells.length
  return [
    paint(
      line(({ title }) => title),
      'dim',
      style
    ),
    ...Array.from({ length: count }, (_, row) => line(({ cells }) => cells[row]))
  ]
}

function totalOf({ primaries, backups }: NodeStatus): number {
  return primaries + backups
}

/** `640`, `12.3k`, `4.1M`. */
export function formatBytes(bytes: number): string {
  const units = ['', 'k', 'M', 'G', 'T']
  let [size, unit] = [bytes, 0]
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return unit === 0 ? String(bytes) : `${size.toFixed(1)}${units[unit]}`
}

/** A letter of the documents' picture in its colour. */
function paintPicture(line: string, style: Style): string {
  return line.replace(/(#[0-9A-F]+) - ([PS])/g, (_all, bucket: string, letter: string) => {
    return `${bucket} - ${paint(letter, letter === 'P' ? 'green' : 'cyan', style)}`
  })
}

function formatMoves(moves: readonly MoveStatus[], style: Style): string[] {
  const arrow = style.fine ? '→' : '->'
  const lines = moves.slice(0, MOVES_SHOWN).map((move) => {
    const { bucket, from, to, kind, stage, sent, total, reason } = move
    const what = kind === 'role' ? 'primary role' : kind
    const share = total === 0 ? 0 : Math.min(1, sent / total)
    const bar = drawBar([{ share, colour: 'yellow' }], BAR_WIDTH, style)
    const count = `${Math.min(sent, total)}/${total}`
    return `[${bar}] ${what} ${bucket} ${from} ${arrow} ${to}  ${stage} ${count}  ${paint(reason, 'dim', style)}`
  })
  const more = moves.length - lines.length
  return more > 0 ? [...lines, `and ${more} more moves`] : lines
}

/** What is wrong, and what to do about it. */
function formatProblems(status: Status, style: Style): string[] {
  const { nodes, buckets, withoutBackup } = status
  const lines: string[] = []
  const dead = nodes.filter(({ state }) => state === 'dead').map(({ name }) => name)
  const silent = countLost(buckets)
  const begun = status.lost - silent
  if (!status.serving) {
    lines.push(
      paint('CUT OFF', 'alarm', style) +
        ` ${status.node} hears no majority of the voters, or none yet, and serves nothing until it does; what it holds is kept`
    )
  }
  if (silent > 0) {
    lines.push(
      paint('LOST', 'alarm', style) +
        ` ${silent} buckets have no living copy: bring their nodes back, or forget them; they start empty after --lost-after`
    )
  }
  if (begun > 0) {
    lines.push(
      paint('LOST', 'alarm', style) +
        ` ${begun} buckets started empty, since the nodes with all their copies are gone: what they held has to be written again`
    )
  }
  if (dead.length > 0) {
    lines.push(
      `${paint('dead', 'red', style)} ${dead.join(', ')}: restart, or strike with: opencluster forget NAME`
    )
  }
  const holding = nodes.filter(({ state, weight }) => state === 'alive' && weight > 0)
  if (withoutBackup > 0 && holding.length < 2) {
    lines.push(
      `${paint('alone', 'magenta', style)} one node holds everything: start another with --join ${holding[0]?.resp ?? 'HOST:PORT'}`
    )
  }
  return lines
}
