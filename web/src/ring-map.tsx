/**
 * A ring: the circle of positions with the arc of each, in the colour of its first replica, and inside it that of the second.
 * Beside it the members with their shares, which is also what a screen reader reads.
 */
import { signal } from '@preact/signals'
import type { LiveState } from '../../src/server/live/protocol.js'
import { plural } from './format.js'
import { found, nodes, rows } from './model.js'
import { nodeColour } from './node-colour.js'
import { openNode } from './node-dialog.js'

export type RingState = NonNullable<LiveState['ring']>

const CIRCLE = 2 ** 32
const CENTRE = 200
const OUTER = { from: 160, to: 192 }
const INNER = { from: 138, to: 156 }
const STAGES: Readonly<Record<string, string>> = {
  rest: 'At rest: reads and writes go by these positions.',
  filling: 'Changing: nodes fetch what the new ring gives them; writes go to both rings.',
  switched: 'Changing: reads go by the new ring, writes still to both.'
}

/** The arc that is looked at. */
const pointed = signal<number | undefined>(undefined)

export function RingMap({ ring }: { ring: RingState }) {
  const arcs = arcsOf(ring)
  return (
    <section class="panel map ring" aria-label="The ring">
      <p class="stage-name">
        <b>Version {ring.version}.</b> {STAGES[ring.stage] ?? ring.stage}
      </p>
      <div class="circle">
        <svg
          viewBox="0 0 400 400"
          tabIndex={0}
          role="img"
          aria-label={`A circle of ${plural(arcs.length, 'arc')}; arrow keys go from one to the next`}
          onKeyDown={(event) => goOn(event, arcs.length)}
          onFocus={() => (pointed.value ??= 0)}
          onBlur={() => (pointed.value = undefined)}
          onPointerLeave={() => (pointed.value = undefined)}
        >
          {arcs.map((arc) => (
            <Arc key={arc.id} arc={arc} />
          ))}
          <Outline arcs={arcs} />
          <text x={CENTRE} y={CENTRE - 6} class="large">
            {nodes.value.length}
          </text>
          <text x={CENTRE} y={CENTRE + 18}>
            {nodes.value.length === 1 ? 'node' : 'nodes'}
          </text>
        </svg>
        <Members ring={ring} />
      </div>
      <Pointed arcs={arcs} />
      <dl class="figures">
        <Figure name="writes kept for nodes that are away" value={ring.hints} />
        <Figure name="requests under way" value={ring.pending} />
        <Figure name="records that came in changes" value={ring.received} />
        <Figure name="surplus copies deleted" value={ring.removed} />
      </dl>
    </section>
  )
}

const STEPS: Readonly<Partial<Record<string, number>>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1
}

/** The arrows go round, clockwise and back. */
function goOn(event: KeyboardEvent, arcs: number): void {
  const step = STEPS[event.key]
  if (step === undefined || arcs === 0) return
  event.preventDefault()
  pointed.value = ((pointed.value ?? 0) + step + arcs) % arcs
}

function Figure({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

interface ArcOf {
  readonly id: number
  /** Of the circle, from the top, clockwise. */
  readonly start: number
  readonly end: number
  readonly position: number
}

export function arcsOf(ring: RingState): ArcOf[] {
  const positions = ring.nodes.flatMap((node) => node.positions).sort((a, b) => a - b)
  const part = (position: number): number => position / CIRCLE + 0.5
  return positions.map((position, id) => {
    const end = part(position)
    const start = id === 0 ? part(positions[positions.length - 1]) - 1 : part(positions[id - 1])
    return { id, start, end, position }
  })
}

function Arc({ arc }: { arc: ArcOf }) {
  const holders = rows.value.at(arc.id) ?? []
  const [primary, backup] = [holders.at(0) ?? '', holders.at(1)]
  const point = (): void => {
    pointed.value = arc.id
  }
  return (
    <g class={found.value === arc.id ? 'arc found' : 'arc'} onPointerEnter={point}>
      <path d={drawArc(arc, OUTER)} fill={nodeColour(primary)} />
      {backup !== undefined && (
        <path class="second" d={drawArc(arc, INNER)} fill={nodeColour(backup)} />
      )}
    </g>
  )
}

/** It reads the signal itself: pointing at an arc must not draw the others again. */
function Outline({ arcs }: { arcs: readonly ArcOf[] }) {
  const arc = arcs.find(({ id }) => id === pointed.value)
  if (arc === undefined) return null
  return <path class="looked" d={drawArc(arc, { from: INNER.from, to: OUTER.to })} />
}

export function drawArc(
  { start, end }: Pick<ArcOf, 'start' | 'end'>,
  { from, to }: { readonly from: number; readonly to: number }
): string {
  // A whole circle would begin where it ends and be nothing.
  const stop = Math.min(end, start + 0.9999)
  const at = (part: number, radius: number): string => {
    const angle = part * 2 * Math.PI - Math.PI / 2
    const x = CENTRE + radius * Math.cos(angle)
    const y = CENTRE + radius * Math.sin(angle)
    return `${x.toFixed(2)} ${y.toFixed(2)}`
  }
  const large = stop - start > 0.5 ? 1 : 0
  return [
    `M ${at(start, to)}`,
    `A ${to} ${to} 0 ${large} 1 ${at(stop, to)}`,
    `L ${at(stop, from)}`,
    `A ${from} ${from} 0 ${large} 0 ${at(start, from)} Z`
  ].join(' ')
}

function Members({ ring }: { ring: RingState }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">node</th>
          <th scope="col">share</th>
          <th scope="col">records</th>
          <th scope="col">positions</th>
        </tr>
      </thead>
      <tbody>
        {ring.nodes.map(({ name, url, share, records, positions }) => {
          const state = nodes.value.find((node) => node.name === name)?.state ?? 'left'
          return (
            <tr key={name} class={state} data-node={name}>
              <th scope="row" title={url}>
                <i class="swatch" style={{ background: nodeColour(name) }} />{' '}
                <button class="node-name" onClick={() => openNode(name)}>
                  {name}
                </button>{' '}
                {state !== 'alive' && <em class={`state ${state}`}>{state}</em>}
              </th>
              <td>{(share * 100).toFixed(1)} %</td>
              <td>{records.toLocaleString('en-US')}</td>
              <td title={positions.join(' ')}>{positions.length}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function Pointed({ arcs }: { arcs: readonly ArcOf[] }) {
  const looked = pointed.value ?? found.value
  const arc = arcs.find(({ id }) => id === looked)
  if (arc === undefined) {
    return (
      <p class="inspector idle" aria-live="polite">
        {plural(arcs.length, 'arc')}. Point at one.
      </p>
    )
  }
  const from = arcs.at(arc.id - 1)?.position ?? arc.position
  return (
    <p class="inspector" aria-live="polite">
      <b>
        {from} … {arc.position}
      </b>
      <span>{((arc.end - arc.start) * 100).toFixed(2)} % of the circle</span>
      <span>{(rows.value.at(arc.id) ?? []).join(', then ')}</span>
    </p>
  )
}
