/** Copies that fly from column to column when a row has changed, and lines for the moves that are under way. */
import { useEffect, useRef } from 'preact/hooks'
import { formatBucket } from './format.js'
import { sideOf } from './bucket-map.js'
import { moves, nodes, onFlights, rows } from './model.js'

const FLIGHT_MS = 750
const SPREAD_MS = 260
const FLYING_MAX = 100
const BOXES_MS = 2000

const calm = matchMedia('(prefers-reduced-motion: reduce)')

interface Place {
  readonly x: number
  readonly y: number
  readonly size: number
}

export function Flights() {
  const layer = useRef<HTMLDivElement>(null)
  useEffect(() => {
    onFlights.current = (flights) => {
      const host = layer.current
      if (calm.matches || document.hidden || host === null) return
      // All places first: putting something into the page between two looks makes the browser lay it out each time.
      const ways = flights.slice(0, FLYING_MAX - host.childElementCount).map((flight) => ({
        ...flight,
        start: placeOf(host, flight.from, flight.bucket),
        end: placeOf(host, flight.to, flight.bucket)
      }))
      for (const { start, end, primary } of ways) {
        if (start !== undefined && end !== undefined) launch(host, { start, end, primary })
      }
    }
    const resize = new ResizeObserver(() => boxes.clear())
    if (layer.current !== null) resize.observe(layer.current)
    // A column that has just come is still moving into its place.
    const look = setInterval(() => boxes.clear(), BOXES_MS)
    return () => {
      clearInterval(look)
      resize.disconnect()
      onFlights.current = () => undefined
    }
  }, [])
  return (
    <div class="flights" ref={layer} aria-hidden="true">
      <svg>
        {moves.value.map((move) => (
          <MoveLine key={`${move.from}/${move.bucket}`} layer={layer.current} {...move} />
        ))}
      </svg>
    </div>
  )
}

function MoveLine(props: {
  layer: HTMLElement | null
  bucket: number
  from: string
  to: string
  sent: number
  total: number
  kind: string
}) {
  const { layer, bucket, from, to, sent, total, kind } = props
  const [a, b] = [placeOf(layer, from, bucket), placeOf(layer, to, bucket)]
  if (a === undefined || b === undefined || kind === 'role') return null
  const part = total === 0 ? 0.5 : Math.min(1, sent / total)
  const lift = Math.min(60, Math.abs(b.x - a.x) / 6 + 14)
  const middle = { x: (a.x + b.x) / 2, y: Math.min(a.y, b.y) - lift }
  const at = (t: number): [number, number] => [
    (1 - t) ** 2 * a.x + 2 * (1 - t) * t * middle.x + t ** 2 * b.x,
    (1 - t) ** 2 * a.y + 2 * (1 - t) * t * middle.y + t ** 2 * b.y
  ]
  const [x, y] = at(part)
  return (
    <g class="move-line">
      <path d={`M${a.x} ${a.y} Q${middle.x} ${middle.y} ${b.x} ${b.y}`} />
      <circle cx={x} cy={y} r="4" />
      <text x={middle.x} y={(a.y + middle.y) / 2 - 4}>
        #{formatBucket(bucket, rows.value.length)}
      </text>
    </g>
  )
}

function launch(layer: HTMLElement, way: { start: Place; end: Place; primary: boolean }): void {
  const { start: a, end: b, primary } = way
  const size = Math.max(6, Math.min(a.size, b.size))
  const body = document.createElement('i')
  body.className = primary ? 'flight primary' : 'flight backup'
  body.style.width = body.style.height = `${size}px`
  layer.append(body)
  const move = (place: Place): string =>
    `translate(${place.x - size / 2}px, ${place.y - size / 2}px)`
  const lift = `translate(${(a.x + b.x) / 2 - size / 2}px, ${Math.min(a.y, b.y) - size / 2 - 24}px) scale(1.35)`
  const animation = body.animate(
    [
      { transform: move(a), opacity: 0.2 },
      { transform: lift, opacity: 1, offset: 0.5 },
      { transform: move(b), opacity: 0.9 }
    ],
    {
      duration: FLIGHT_MS,
      delay: Math.random() * SPREAD_MS,
      easing: 'cubic-bezier(.45,.05,.3,1)',
      fill: 'backwards'
    }
  )
  const end = (): void => body.remove()
  animation.addEventListener('finish', end)
  animation.addEventListener('cancel', end)
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
}

/** Where the columns are, seen from the layer. Looking makes the browser lay the page out, so it is done once a layout. */
const boxes = new Map<string, Box | undefined>()
let boxesFor = ''

function boxOf(layer: HTMLElement, node: string): Box | undefined {
  const layout = nodes.value.map(({ name }) => name).join('/')
  if (layout !== boxesFor) boxes.clear()
  boxesFor = layout
  if (boxes.has(node)) return boxes.get(node)
  const column = document.querySelector(`[data-node="${CSS.escape(node)}"] .cells`)
  const [own, found] = [layer.getBoundingClientRect(), column?.getBoundingClientRect()]
  const box =
    found === undefined
      ? undefined
      : { x: found.left - own.left, y: found.top - own.top, width: found.width }
  boxes.set(node, box)
  return box
}

/** The middle of a bucket's cell in a node's column. */
function placeOf(layer: HTMLElement | null, node: string, bucket: number): Place | undefined {
  const box = layer === null ? undefined : boxOf(layer, node)
  if (box === undefined) return undefined
  const side = sideOf(rows.value.length)
  const size = box.width / side
  const x = box.x + ((bucket % side) + 0.5) * size
  return { x, y: box.y + (Math.floor(bucket / side) + 0.5) * size, size }
}
