/** Who this is, and whether all is well: one sentence that is right at a glance. */
import { CELL } from './cells.js'
import { formatCount, plural } from './format.js'
import {
  connection,
  entries,
  moves,
  nodes,
  origin,
  picture,
  rows,
  samples,
  state
} from './model.js'
import { theme, toggleTheme } from './theme.js'

type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'off'

interface Verdict {
  readonly tone: Tone
  readonly text: string
}

export function judge(): Verdict {
  const now = state.value
  if (connection.value === 'searching') return { tone: 'off', text: 'Looking for another node' }
  if (now === undefined) return { tone: 'off', text: 'Connecting' }
  const { counts } = picture.value
  const unit = now.ring === undefined ? 'bucket' : 'arc'
  const dead = nodes.value.filter((node) => node.state === 'dead').map(({ name }) => name)
  if (counts[CELL.lost] > 0) {
    return { tone: 'bad', text: `${plural(counts[CELL.lost], unit)} without a living copy` }
  }
  if (counts[CELL.alone] > 0) {
    return { tone: 'warn', text: `${plural(counts[CELL.alone], unit)} without a backup` }
  }
  if (now.ring !== undefined && now.ring.stage !== 'rest') return { tone: 'busy', text: 'Changing' }
  if (now.ring === undefined && (!now.balanced || moves.value.length > 0)) {
    return { tone: 'busy', text: 'Balancing' }
  }
  const rest = now.ring === undefined ? 'Balanced' : 'At rest'
  if (dead.length > 0) return { tone: 'warn', text: `${rest}; ${dead.join(', ')} dead` }
  return { tone: 'good', text: rest }
}

export function Header() {
  const { tone, text } = judge()
  const now = state.value
  const alive = nodes.value.filter((node) => node.state === 'alive').length
  let operations = 0
  for (const [name, list] of samples.value) {
    if (nodes.value.some((node) => node.name === name && node.state !== 'dead')) {
      operations += list.at(-1)?.operations ?? 0
    }
  }
  return (
    <header class="top">
      <h1>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <rect x="1" y="1" width="8" height="8" rx="2" class="p" />
          <rect x="11" y="11" width="8" height="8" rx="2" class="p" />
          <rect x="11" y="1" width="8" height="8" rx="2" class="b" />
          <rect x="1" y="11" width="8" height="8" rx="2" class="b" />
        </svg>
        OpenCluster
      </h1>
      <p class={`verdict ${tone}`} role="status">
        <i aria-hidden="true" />
        {text}
      </p>
      <dl>
        <Figure name={alive === 1 ? 'node' : 'nodes'} value={String(alive)} />
        <Figure
          name={now?.ring === undefined ? 'buckets' : 'arcs'}
          value={rows.value.length.toLocaleString('en-US')}
        />
        <Figure name="copies" value={String(now?.copies ?? '–')} />
        {now?.ring === undefined && <Figure name="operations/s" value={formatCount(operations)} />}
      </dl>
      <p class="source">
        <span>{now === undefined ? '' : `cluster ${now.cluster}, by ${now.policy}`}</span>
        <span>
          {now === undefined ? '' : `seen by ${now.node} at ${origin.value.replace('http://', '')}`}
        </span>
      </p>
      <button
        class="icon"
        onClick={toggleTheme}
        aria-label={`Use ${theme.value === 'dark' ? 'light' : 'dark'} colours`}
      >
        {theme.value === 'dark' ? '☀' : '☾'}
      </button>
      <span class="sr-only" aria-live="polite">
        {entries.value.length > 0 ? `${text}.` : ''}
      </span>
    </header>
  )
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
