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

export interface Picture {
  /** By name of the node, then by bucket. */
  readonly cells: ReadonlyMap<string, Uint8Array>
  /** How many cells of each kind there are, by kind. */
  readonly counts: Readonly<Record<number, number>>
}

export interface PictureInput {
  readonly rows: readonly Holders[]
  readonly nodes: readonly Pick<LiveNode, 'name' | 'state'>[]
  readonly moves: readonly Pick<MoveStatus, 'bucket' | 'from' | 'to' | 'kind'>[]
  readonly copies: number
}

export function drawPicture({ rows, nodes, moves, copies }: PictureInput): Picture {
  const cells = new Map(nodes.map(({ name }) => [name, new Uint8Array(rows.length)]))
  const living = new Set<string>()
  for (const { name, state } of nodes)
    if (state === 'alive' || state === 'leaving') living.add(name)
  rows.forEach((holders, bucket) => {
    let alive = 0
    for (const name of holders) if (living.has(name)) alive++
    holders.forEach((name, place) => {
      const column = cells.get(name)
      if (column !== undefined) {
        column[bucket] = judge({ alive, lives: living.has(name), first: place === 0, copies })
      }
    })
  })
  for (const { bucket, from, to, kind } of moves) {
    if (kind === 'role' || bucket >= rows.length) continue
    const [source, target] = [cells.get(from), cells.get(to)]
    if (source !== undefined && kind === 'primary') source[bucket] = CELL.moving
    if (target?.[bucket] === CELL.none) target[bucket] = CELL.arriving
  }
  return { cells, counts: countCells(cells) }
}

function judge(copy: { alive: number; lives: boolean; first: boolean; copies: number }): Cell {
  if (copy.alive === 0) return CELL.lost
  if (!copy.lives) return CELL.pending
  if (copy.alive === 1 && copy.copies > 1) return CELL.alone
  return copy.first ? CELL.primary : CELL.backup
}

function countCells(cells: ReadonlyMap<string, Uint8Array>): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { cell } of CELL_KINDS) counts[cell] = 0
  for (const column of cells.values()) {
    for (const cell of column) if (cell !== CELL.none) counts[cell]++
  }
  return counts
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
