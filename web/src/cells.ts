/**
 * What each cell of the map shows: one a node and bucket. A cell is a small number, so that 64 nodes by 4096 buckets
 * are arrays of bytes and comparing two pictures is comparing bytes.
 */
import type { MoveStatus } from '../../src/runtime/status.js'
import type { LiveNode } from '../../src/server/live/protocol.js'

export const CELL = {
  none: 0,
  primary: 1,
  backup: 2,
  /** The only living copy although more are wanted. */
  alone: 3,
  /** On its way from here, or to here. */
  moving: 4,
  arriving: 5,
  /** Its node is dead, and another copy takes over. */
  pending: 6,
  lost: 7
} as const

export type Cell = (typeof CELL)[keyof typeof CELL]

export interface CellKind {
  readonly cell: Cell
  readonly name: string
  readonly letter: string
  readonly meaning: string
}

/** In the order of the legend. */
export const CELL_KINDS: readonly CellKind[] = [
  { cell: CELL.primary, name: 'primary', letter: 'P', meaning: 'serves the bucket' },
  { cell: CELL.backup, name: 'backup', letter: 'B', meaning: 'has every acknowledged write' },
  { cell: CELL.moving, name: 'moving', letter: 'M', meaning: 'is being shipped from here' },
  { cell: CELL.arriving, name: 'arriving', letter: 'A', meaning: 'is being filled' },
  { cell: CELL.alone, name: 'without backup', letter: 'W', meaning: 'is the only copy' },
  {
    cell: CELL.pending,
    name: 'pending',
    letter: '?',
    meaning: 'its node is gone, another takes over'
  },
  { cell: CELL.lost, name: 'lost', letter: 'X', meaning: 'no copy lives' }
]

/** Holders of a bucket, the primary first; an empty name for nobody. */
export type Holders = readonly string[]

/** A node's column. The same object as before where nothing has changed, so that nothing is drawn again. */
export interface Column {
  /** By bucket. */
  readonly cells: Uint8Array
  /** How many there are of each kind, by kind. */
  readonly counts: readonly number[]
  /** By the rows, whether the node lives or not. */
  readonly primaries: number
  readonly backups: number
}

export interface Picture {
  readonly columns: ReadonlyMap<string, Column>
  readonly counts: readonly number[]
}

export const NO_COLUMN: Column = {
  cells: new Uint8Array(0),
  counts: Object.values(CELL).map(() => 0),
  primaries: 0,
  backups: 0
}

export interface PictureInput {
  readonly rows: readonly Holders[]
  readonly nodes: readonly Pick<LiveNode, 'name' | 'state'>[]
  readonly moves: readonly Pick<MoveStatus, 'bucket' | 'from' | 'to' | 'kind'>[]
  readonly copies: number
}

export function drawPicture(input: PictureInput, before?: Picture): Picture {
  const { rows, nodes, moves, copies } = input
  const drafts = new Map(
    nodes.map(({ name, state }) => {
      const lives = state === 'alive' || state === 'leaving'
      return [name, { cells: new Uint8Array(rows.length), lives, primaries: 0, backups: 0 }]
    })
  )
  for (let bucket = 0; bucket < rows.length; bucket++) {
    const holders = rows[bucket]
    let alive = 0
    for (const name of holders) if (drafts.get(name)?.lives === true) alive++
    for (let place = 0; place < holders.length; place++) {
      const draft = drafts.get(holders[place])
      if (draft === undefined) continue
      if (place === 0) draft.primaries++
      else draft.backups++
      draft.cells[bucket] = judge({ alive, lives: draft.lives, first: place === 0, copies })
    }
  }
  for (const { bucket, from, to, kind } of moves) {
    if (kind === 'role' || bucket >= rows.length) continue
    const [source, target] = [drafts.get(from)?.cells, drafts.get(to)?.cells]
    if (source !== undefined && kind === 'primary') source[bucket] = CELL.moving
    if (target?.[bucket] === CELL.none) target[bucket] = CELL.arriving
  }
  const columns = new Map<string, Column>()
  const counts = [...NO_COLUMN.counts]
  for (const [name, draft] of drafts) {
    const column = finish(draft, before?.columns.get(name))
    columns.set(name, column)
    column.counts.forEach((count, cell) => (counts[cell] += count))
  }
  return { columns, counts }
}

function finish(draft: Omit<Column, 'counts'>, before: Column | undefined): Column {
  const { cells, primaries, backups } = draft
  const same = before?.primaries === primaries && before.backups === backups
  if (same && isSame(before.cells, cells)) return before
  const counts = [...NO_COLUMN.counts]
  for (const cell of cells) counts[cell]++
  return { cells, counts, primaries, backups }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((cell, place) => cell === b[place])
}

function judge(copy: { alive: number; lives: boolean; first: boolean; copies: number }): Cell {
  if (copy.alive === 0) return CELL.lost
  if (!copy.lives) return CELL.pending
  if (copy.alive === 1 && copy.copies > 1) return CELL.alone
  return copy.first ? CELL.primary : CELL.backup
}

export interface Flight {
  readonly bucket: number
  readonly from: string
  readonly to: string
  readonly primary: boolean
}

/** Copies that turned up on a node, and from where: the holder that gave it up, or the primary, which ships all. */
export function findFlights(before: Holders, after: Holders, bucket: number): Flight[] {
  const gone = before.filter((name) => !after.includes(name))
  return after.flatMap((to, place) => {
    if (to === '' || before.includes(to)) return []
    const from = gone.shift() ?? before.at(0)
    return from === undefined || from === '' ? [] : [{ bucket, from, to, primary: place === 0 }]
  })
}
