/**
 * The map: a column a node, a cell a bucket, always at the same place in every column, so that a copy that moves flies
 * straight across. Up to 256 buckets a cell has its letter; beyond that a cell is a few pixels, and what is under the
 * pointer or the cursor keys is spelled out below.
 */
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { LiveNode } from '../../src/server/live/protocol.js'
import { CELL, CELL_KINDS, NO_COLUMN, type Column } from './cells.js'
import { formatBucket, formatBytes, formatCount, plural } from './format.js'
import { found, looked, moves, nodes, picture, rows } from './model.js'
import { openNode } from './node-dialog.js'
import { nodeColour } from './node-colour.js'
import { colour, theme } from './theme.js'

/** Beyond this many buckets a cell has no letter. */
const LETTERS_MAX = 256
/** Canvas pixels a cell where it has one. */
const CELL_PIXELS = 44

const LETTERS = new Map<number, string>(CELL_KINDS.map(({ cell, letter }) => [cell, letter]))
const NAMES = new Map<number, string>(CELL_KINDS.map(({ cell, name }) => [cell, name]))
const COLOURS: Readonly<Record<number, string>> = {
  [CELL.none]: 'cell-none',
  [CELL.primary]: 'cell-primary',
  [CELL.backup]: 'cell-backup',
  [CELL.alone]: 'cell-alone',
  [CELL.moving]: 'cell-moving',
  [CELL.arriving]: 'cell-arriving',
  [CELL.pending]: 'cell-pending',
  [CELL.lost]: 'cell-lost'
}

export function sideOf(size: number): number {
  return Math.max(1, Math.ceil(Math.sqrt(size)))
}

export function BucketMap() {
  const count = nodes.value.length
  const width = count <= 5 ? 'wide' : count <= 10 ? 'middle' : 'narrow'
  const perRow = count <= 5 ? count : count <= 10 ? Math.ceil(count / 2) : count <= 18 ? 6 : 8
  return (
    <section class="panel map" aria-label="Buckets by node">
      <div class={`columns ${width}`} style={{ '--per-row': String(perRow) }}>
        {nodes.value.map((node) => (
          <NodeColumn key={node.name} node={node} />
        ))}
      </div>
      <Legend />
      <Inspector />
    </section>
  )
}

function NodeColumn({ node }: { node: LiveNode }) {
  const { columns } = picture.value
  const column = columns.get(node.name) ?? NO_COLUMN
  const { primaries, backups } = column
  let most = 1
  for (const other of columns.values()) most = Math.max(most, other.primaries + other.backups)
  return (
    <article class={`column ${node.state}`} data-node={node.name}>
      <header>
        <button class="node-name" onClick={() => openNode(node.name)} title="Details and actions">
          <i class="swatch" style={{ background: nodeColour(node.name) }} />
          <b>{node.name}</b>
          {node.state !== 'alive' && <em class={`state ${node.state}`}>{node.state}</em>}
        </button>
        <span class="numbers" title="primaries + backups">
          <b>{primaries}</b> + {backups}
        </span>
      </header>
      <div class="level" title={`${primaries} primaries, ${backups} backups`}>
        <i class="p" style={{ width: `${(100 * primaries) / most}%` }} />
        <i class="b" style={{ width: `${(100 * backups) / most}%` }} />
      </div>
      <Cells node={node} column={column} />
      <footer>
        <span>{node.items === null ? '–' : `${formatCount(node.items)} items`}</span>
        <span>{node.bytes === null ? '–' : formatBytes(node.bytes)}</span>
      </footer>
    </article>
  )
}

function Cells({ node, column }: { node: LiveNode; column: Column }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { cells } = column
  const size = cells.length
  const side = sideOf(size)
  const colours = theme.value
  useLayoutEffect(() => {
    if (canvas.current !== null) draw(canvas.current, cells)
  }, [cells, colours])
  const bucketAt = (event: PointerEvent): number | undefined => {
    const box = canvas.current?.getBoundingClientRect()
    if (box === undefined) return undefined
    const x = Math.floor(((event.clientX - box.left) / box.width) * side)
    const y = Math.floor(((event.clientY - box.top) / box.height) * side)
    const bucket = y * side + x
    return x >= 0 && x < side && bucket >= 0 && bucket < size ? bucket : undefined
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -side, ArrowDown: side }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = (looked.value ?? 0) + step
    if (next >= 0 && next < size) looked.value = next
  }
  return (
    <div
      class="cells"
      tabIndex={0}
      role="img"
      aria-label={describeColumn(node, column)}
      onKeyDown={onKey}
      onFocus={() => (looked.value ??= 0)}
      onPointerMove={(event) => (looked.value = bucketAt(event))}
      onPointerLeave={() => (looked.value = undefined)}
    >
      <canvas ref={canvas} class={size > LETTERS_MAX ? 'dense' : ''} />
      <Marker bucket={looked} side={side} kind="looked" />
      <Marker bucket={found} side={side} kind="found" />
    </div>
  )
}

/** It reads the signal itself: pointing at a cell must not draw the columns again. */
function Marker(props: { bucket: typeof looked; side: number; kind: string }) {
  const bucket = props.bucket.value
  const { side, kind } = props
  if (bucket === undefined) return null
  const part = 100 / side
  const place = { left: `${(bucket % side) * part}%`, top: `${Math.floor(bucket / side) * part}%` }
  return <i class={`marker ${kind}`} style={{ ...place, width: `${part}%`, height: `${part}%` }} />
}

function draw(canvas: HTMLCanvasElement, cells: Uint8Array): void {
  const context = canvas.getContext('2d')
  if (context === null) return
  if (cells.length > LETTERS_MAX) drawDots(canvas, context, cells)
  else drawLetters(canvas, context, cells)
}

/** A pixel a cell, which the style sheet makes larger. */
function drawDots(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  cells: Uint8Array
): void {
  const side = sideOf(cells.length)
  // Setting it, be it to the same, makes the browser lay the page out.
  if (canvas.width !== side) canvas.width = canvas.height = side
  const colours = Object.values(COLOURS).map((name) => parseColour(colour(name)))
  const image = context.createImageData(side, side)
  const pixels = new Uint32Array(image.data.buffer)
  for (let bucket = 0; bucket < cells.length; bucket++) pixels[bucket] = colours[cells[bucket]]
  context.putImageData(image, 0, 0)
}

/** `#rrggbb`, as the style sheet has all of them, in the order in which machines keep a pixel. */
function parseColour(text: string): number {
  const value = Number.parseInt(text.slice(1), 16)
  const [red, green, blue] = [value >> 16, (value >> 8) & 0xff, value & 0xff]
  return ((0xff << 24) | (blue << 16) | (green << 8) | red) >>> 0
}

function drawLetters(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  cells: Uint8Array
): void {
  const side = sideOf(cells.length)
  const scale = CELL_PIXELS
  canvas.width = side * scale
  canvas.height = side * scale
  const colours = Object.values(COLOURS).map(colour)
  const gap = scale / 11
  const ink = { strong: colour('cell-ink-strong'), weak: colour('cell-ink-weak') }
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.font = `600 ${scale * 0.5}px ui-sans-serif, system-ui, sans-serif`
  cells.forEach((cell, bucket) => {
    const x = (bucket % side) * scale
    const y = Math.floor(bucket / side) * scale
    context.fillStyle = colours[cell]
    context.beginPath()
    context.roundRect(x + gap / 2, y + gap / 2, scale - gap, scale - gap, scale / 8)
    context.fill()
    const letter = LETTERS.get(cell)
    if (letter === undefined) return
    context.fillStyle = cell === CELL.backup || cell === CELL.arriving ? ink.weak : ink.strong
    context.fillText(letter, x + scale / 2, y + scale / 2 + scale * 0.03)
  })
}

function Legend() {
  const { counts } = picture.value
  return (
    <ul class="legend" aria-label="What the cells mean">
      {CELL_KINDS.map(({ cell, name, letter, meaning }) => (
        <li key={name} class={counts[cell] === 0 ? 'absent' : ''} title={meaning}>
          <i class={`key ${COLOURS[cell]}`}>{letter}</i>
          {name} <b>{counts[cell]}</b>
        </li>
      ))}
    </ul>
  )
}

/** What is under the pointer or the cursor, in words. */
function Inspector() {
  const bucket = looked.value ?? found.value
  const holders = bucket === undefined ? undefined : rows.value.at(bucket)
  if (bucket === undefined || holders === undefined) {
    return (
      <p class="inspector idle" aria-live="polite">
        {plural(rows.value.length, 'bucket')}. Point at one, or use the arrow keys in a column.
      </p>
    )
  }
  const [primary, ...backups] = holders
  const kinds = nodes.value.flatMap(({ name }) => {
    const cell = picture.value.columns.get(name)?.cells[bucket] ?? CELL.none
    return cell === CELL.none ? [] : [`${name}: ${NAMES.get(cell) ?? ''}`]
  })
  const move = moves.value.find((one) => one.bucket === bucket)
  return (
    <p class="inspector" aria-live="polite">
      <b>#{formatBucket(bucket, rows.value.length)}</b>
      <span>primary {primary === '' ? 'nobody' : primary}</span>
      <span>{backups.length === 0 ? 'no backup' : `backup ${backups.join(', ')}`}</span>
      {move !== undefined && <span>{`to ${move.to}, ${move.stage}: ${move.reason}`}</span>}
      <span class="sr-only">{kinds.join(', ')}</span>
    </p>
  )
}

function describeColumn(node: LiveNode, { counts }: Column): string {
  const parts = CELL_KINDS.flatMap(({ cell, name }) =>
    counts[cell] === 0 ? [] : [`${counts[cell]} ${name}`]
  )
  return `${node.name}, ${node.state}: ${parts.join(', ') || 'no buckets'}. Arrow keys go from bucket to bucket.`
}
