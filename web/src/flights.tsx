/** Copies that fly from column to column when a row has changed, and lines for the moves that are under way. */
import { useEffect, useRef } from 'preact/hooks'
import type { Flight } from './cells.js'
import { formatBucket } from './format.js'
import { sideOf } from './bucket-map.js'
import { moves, onFlights, rows } from './model.js'

const FLIGHT_MS = 750
const SPREAD_MS = 260
const FLYING_MAX = 160

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
      if (calm.matches || document.hidden || layer.current === null) return
      for (const flight of flights) launch(layer.current, flight)
    }
    return () => {
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

function launch(layer: HTMLElement, { bucket, from, to, primary }: Flight): void {
  const [a, b] = [placeOf(layer, from, bucket), placeOf(layer, to, bucket)]
  if (a === undefined || b === undefined || layer.childElementCount > FLYING_MAX) return
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

/** The middle of a bucket's cell in a node's column, seen from the layer. */
function placeOf(layer: HTMLElement | null, node: string, bucket: number): Place | undefined {
  const column = document.querySelector(`[data-node="${CSS.escape(node)}"] .cells`)
  if (layer === null || column === null) return undefined
  const [own, box] = [layer.getBoundingClientRect(), column.getBoundingClientRect()]
  const side = sideOf(rows.value.length)
  const size = box.width / side
  const x = box.left - own.left + ((bucket % side) + 0.5) * size
  return { x, y: box.top - own.top + (Math.floor(bucket / side) + 0.5) * size, size }
}
