/** How the status of a ring is shown: whose the circle is, arc by arc, and how far a change of it has come. */
import type { RingStatus } from '../runtime/ring-status.js'
import type { Status } from '../runtime/status.js'
import { drawBar, paint, type Colour, type Style } from './status-style.js'

const SHARE_WIDTH = 20
const POSITIONS_SHOWN = 4
const CIRCLE = 2 ** 32
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const COLOURS: readonly Colour[] = ['green', 'cyan', 'yellow', 'magenta', 'red']

export function isRing(status: Status): status is RingStatus {
  return (status as Partial<RingStatus>).placement === 'ring'
}

const STAGES: Readonly<Record<string, string>> = {
  rest: 'at rest',
  filling: 'changing: nodes fetch what the new ring gives them, writes go to both rings',
  switched: 'changing: reads go by the new ring, writes still to both'
}

export function formatRing(status: RingStatus, style: Style): string[] {
  const { ring, nodes } = status
  const lines = [
    [
      `ring ${paint(status.cluster, 'bold', style)}`,
      `version ${ring.version}`,
      `${status.buckets.length} arcs`,
      `${status.copies} copies`,
      paint(STAGES[ring.stage] ?? ring.stage, ring.stage === 'rest' ? 'green' : 'yellow', style)
    ].join(', '),
    '',
    ...formatMembers(status, style),
    '',
    ...drawCircle(status, style)
  ]
  const counts = [
    ...(ring.hints > 0 ? [`${ring.hints} writes kept for nodes that are away`] : []),
    ...(ring.pending > 0 ? [`${ring.pending} requests under way`] : []),
    ...(ring.received > 0 ? [`${ring.received} records came while filling up`] : [])
  ]
  if (counts.length > 0) lines.push('', counts.join(', '))
  const dead = nodes.filter(({ state }) => state === 'dead').map(({ name }) => name)
  if (ring.underReplicated) {
    lines.push(
      '',
      paint(`fewer nodes than the ${status.copies} copies of a record`, 'magenta', style)
    )
  }
  if (ring.underReplicatedRecords > 0) {
    const text = `${ring.underReplicatedRecords} records are to have more copies than there are nodes`
    lines.push('', paint(text, 'magenta', style))
  }
  if (status.lost > 0) {
    lines.push('', paint(`${status.lost} arcs have no living replica`, 'alarm', style))
  }
  if (dead.length > 0) {
    lines.push(
      '',
      `${paint('dead', 'red', style)} ${dead.join(', ')}: restart, or strike with: opencluster forget NAME`
    )
  }
  return lines
}

function formatMembers({ ring, nodes }: RingStatus, style: Style): string[] {
  const names = Math.max(4, ...nodes.map(({ name }) => name.length))
  const urls = Math.max(3, ...ring.nodes.map(({ url }) => url.length))
  const head = `   ${'node'.padEnd(names)}  ${'url'.padEnd(urls)}  state    ${'share'.padEnd(SHARE_WIDTH + 8)} records  positions`
  return [
    paint(head, 'dim', style),
    ...ring.nodes.map(({ name, url, share, records, positions }, index) => {
      const state = nodes.find((node) => node.name === name)?.state ?? 'left'
      const colour: Colour = state === 'alive' ? 'green' : state === 'dead' ? 'red' : 'yellow'
      const bar = drawBar([{ share, colour: colourOf(index) }], SHARE_WIDTH, style)
      const percent = `${(share * 100).toFixed(1)} %`.padStart(7)
      const some = positions.slice(0, POSITIONS_SHOWN).join(' ')
      const more =
        positions.length > POSITIONS_SHOWN ? ` and ${positions.length - POSITIONS_SHOWN} more` : ''
      return [
        `${paint(letterOf(index), colourOf(index), style)} `,
        ` ${name.padEnd(names)}  ${url.padEnd(urls)}  `,
        `${paint(state, colour, style)}${' '.repeat(Math.max(1, 9 - state.length))}`,
        `${bar} ${percent} ${String(records).padStart(7)}  ${some}${more}`
      ].join('')
    })
  ]
}

/** The circle as a line, from the lowest position to the highest: the first replica of each part. */
function drawCircle({ ring }: RingStatus, style: Style): string[] {
  const owners = ring.nodes
    .flatMap(({ positions }, index) => positions.map((position) => ({ position, index })))
    .sort((a, b) => a.position - b.position)
  if (owners.length === 0) return []
  const width = style.columns
  let line = ''
  for (let i = 0; i < width; i++) {
    const middle = -CIRCLE / 2 + ((i + 0.5) / width) * CIRCLE
    const { index } = owners.find(({ position }) => position >= middle) ?? owners[0]
    line += paint(letterOf(index), colourOf(index), style)
  }
  const [low, high] = ['-2^31', '2^31']
  const scale = `${low}${'0'.padStart(Math.floor(width / 2) - low.length + 1)}`
  return [line, paint(`${scale}${high.padStart(width - scale.length)}`, 'dim', style)]
}

function letterOf(index: number): string {
  return LETTERS[index % LETTERS.length]
}

function colourOf(index: number): Colour {
  return COLOURS[index % COLOURS.length]
}
