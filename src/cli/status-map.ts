/**
 * Which node has which bucket, as letters: the same ones as on the dashboard. Up to a few hundred buckets each has its own,
 * in bands of a line a node; more are drawn several to a character, where trouble wins over everything else.
 */
import type { BucketStatus, NodeStatus, Status } from '../runtime/status.js'
import { paint, type Colour, type Style } from './status-style.js'

export type Letter = 'P' | 'B' | 'M' | 'A' | 'W' | '?' | 'X' | '.'

export const LETTERS: Readonly<Record<Letter, { readonly colour: Colour; readonly name: string }>> =
  {
    P: { colour: 'green', name: 'primary' },
    B: { colour: 'cyan', name: 'backup' },
    M: { colour: 'yellow', name: 'moving' },
    A: { colour: 'yellow', name: 'arriving' },
    W: { colour: 'magenta', name: 'without backup' },
    '?': { colour: 'red', name: 'pending' },
    X: { colour: 'alarm', name: 'lost' },
    '.': { colour: 'dim', name: '' }
  }

/** The more serious first. */
const TROUBLE: readonly Letter[] = ['X', '?', 'W', 'A', 'M']
const LINES_MAX = 48
const CELLS_A_GROUP = 16

export type LetterOf = (node: string, bucket: BucketStatus) => Letter

export function lettersOf(status: Status): LetterOf {
  const living = new Set(
    status.nodes
      .filter(({ state }) => state === 'alive' || state === 'leaving')
      .map(({ name }) => name)
  )
  const moves = new Map<string, Letter>()
  for (const { bucket, from, to, kind } of status.moves) {
    if (kind === 'role') continue
    moves.set(`${bucket} ${from}`, 'M')
    moves.set(`${bucket} ${to}`, 'A')
  }
  return (node, bucket) => {
    const { id, primary, backups, state } = bucket
    const held = primary === node || backups.includes(node)
    if (!held) return moves.get(`${id} ${node}`) ?? '.'
    if (state === 'lost') return 'X'
    if (!living.has(node) || (state === 'pending' && primary === node)) return '?'
    const moving = moves.get(`${id} ${node}`)
    if (moving !== undefined) return moving
    if (state === 'without-backup' && status.copies > 1) return 'W'
    return primary === node ? 'P' : 'B'
  }
}

export function drawMap(status: Status, nodes: readonly NodeStatus[], style: Style): string[] {
  const letterOf = lettersOf(status)
  const names = Math.max(...nodes.map(({ name }) => name.length))
  const width = style.columns - names - 2
  const { buckets } = status
  const groups = Math.max(1, Math.floor((width + 1) / (CELLS_A_GROUP + 1)))
  // A power of two, so that all bands are of one length.
  const perLine = CELLS_A_GROUP * 2 ** Math.floor(Math.log2(groups))
  const bands = Math.ceil(buckets.length / perLine)
  if (bands * (nodes.length + 2) > LINES_MAX)
    return drawDense(status, nodes, { style, names, width })
  const lines: string[] = []
  for (let from = 0; from < buckets.length; from += perLine) {
    const shown = buckets.slice(from, from + perLine)
    lines.push(
      paint(`${' '.repeat(names)}  ${ruler(from, shown.length, buckets.length)}`, 'dim', style)
    )
    for (const { name } of nodes) {
      const parts = Array.from({ length: Math.ceil(shown.length / CELLS_A_GROUP) }, (_, group) =>
        shown
          .slice(group * CELLS_A_GROUP, (group + 1) * CELLS_A_GROUP)
          .map((bucket) => cell(letterOf(name, bucket), style))
          .join('')
      )
      lines.push(`${name.padEnd(names)}  ${parts.join(' ')}`)
    }
    lines.push('')
  }
  lines.pop()
  return lines
}

/** The first bucket of each group, in the documents' hexadecimal. */
function ruler(from: number, count: number, size: number): string {
  const digits = (size - 1).toString(16).length
  const marks = Array.from({ length: Math.ceil(count / CELLS_A_GROUP) }, (_, group) =>
    `#${(from + group * CELLS_A_GROUP).toString(16).toUpperCase().padStart(digits, '0')}`.padEnd(
      CELLS_A_GROUP
    )
  )
  return marks.join(' ').trimEnd()
}

function cell(letter: Letter, style: Style): string {
  const shown = letter === '.' && style.fine ? '·' : letter
  return paint(shown, LETTERS[letter].colour, style)
}

interface DenseOptions {
  readonly style: Style
  readonly names: number
  readonly width: number
}

/** Several buckets a character: the worst that is among them, or how many of them the node has. */
function drawDense(
  status: Status,
  nodes: readonly NodeStatus[],
  { style, names, width }: DenseOptions
): string[] {
  const letterOf = lettersOf(status)
  const { buckets } = status
  const each = Math.ceil(buckets.length / Math.max(1, width))
  const shades = style.fine ? ['·', '░', '▒', '▓', '█'] : ['.', ':', '+', '%', '#']
  const lines = nodes.map(({ name }) => {
    let line = ''
    for (let from = 0; from < buckets.length; from += each) {
      const letters = buckets.slice(from, from + each).map((bucket) => letterOf(name, bucket))
      const worst = TROUBLE.find((letter) => letters.includes(letter))
      if (worst !== undefined) {
        line += cell(worst, style)
        continue
      }
      const primaries = letters.filter((letter) => letter === 'P').length
      const held = primaries + letters.filter((letter) => letter === 'B').length
      const shade = shades[Math.ceil((held / letters.length) * (shades.length - 1))]
      const colour = held === 0 ? 'dim' : primaries * 2 >= held ? 'green' : 'cyan'
      line += paint(shade, colour, style)
    }
    return `${name.padEnd(names)}  ${line}`
  })
  const scale = `${shades[0]} none, ${shades[shades.length - 1]} all`
  return [
    ...lines,
    paint(`${' '.repeat(names)}  a character is ${each} buckets: ${scale}`, 'dim', style)
  ]
}

/** What the letters that occur mean. */
export function drawLegend(status: Status, nodes: readonly NodeStatus[], style: Style): string {
  const letterOf = lettersOf(status)
  const seen = new Set<Letter>()
  for (const bucket of status.buckets)
    for (const { name } of nodes) seen.add(letterOf(name, bucket))
  return (Object.keys(LETTERS) as Letter[])
    .filter((letter) => letter !== '.' && seen.has(letter))
    .map((letter) => `${cell(letter, style)} ${LETTERS[letter].name}`)
    .join('  ')
}
