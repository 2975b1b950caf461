/** What is under way, and what happened, with the reasons. */
import { signal } from '@preact/signals'
import type { EntryKind, JournalEntry } from '../../src/runtime/journal.js'
import type { MoveStatus } from '../../src/runtime/status.js'
import { formatBucket, formatTime, plural } from './format.js'
import { entries, moves, rows } from './model.js'

/** Every node reports these; one of them is enough. */
const EVERYBODYS: readonly EntryKind[] = [
  'joined',
  'leaving',
  'left',
  'died',
  'returned',
  'split',
  'voters'
]
const SAME_MS = 8000
const SHOWN_MAX = 60

const MARKS: Readonly<Record<EntryKind, string>> = {
  joined: '+',
  leaving: '→',
  left: '−',
  died: '×',
  returned: '↺',
  promoted: '↑',
  split: '÷',
  lost: '!',
  conflict: '≠',
  voters: '◆',
  moved: '⇄',
  cancelled: '⇄'
}

export function Moves() {
  return (
    <section class="panel moves" aria-label="Moves under way">
      <h2>
        Moves <b>{moves.value.length}</b>
      </h2>
      {moves.value.length === 0 ? (
        <p class="idle">Nothing moves.</p>
      ) : (
        <ul>
          {moves.value.map((move) => (
            <Move key={`${move.from}/${move.bucket}`} {...move} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Move({ bucket, from, to, kind, stage, sent, total, reason }: MoveStatus) {
  const part = stage === 'offer' ? 0 : total === 0 ? 1 : Math.min(1, sent / total)
  const percent = Math.round(part * 100)
  return (
    <li>
      <p>
        <b>#{formatBucket(bucket, rows.value.length)}</b> {kind}{' '}
        <span class="way">
          {from} → {to}
        </span>
        <em>{stage}</em>
      </p>
      <progress max={100} value={percent} aria-label={`${percent} percent`} />
      <small>{reason}</small>
    </li>
  )
}

interface Line {
  readonly id: string
  readonly kind: EntryKind
  readonly timeMs: number
  readonly text: string
  readonly reason: string
}

const showsMoves = signal(true)

export function Timeline() {
  const lines = tell(entries.value).filter(({ kind }) => showsMoves.value || kind !== 'moved')
  return (
    <section class="panel timeline" aria-label="What happened">
      <h2>
        Timeline
        <label>
          <input
            type="checkbox"
            checked={showsMoves.value}
            onChange={(event) => (showsMoves.value = event.currentTarget.checked)}
          />
          moves
        </label>
      </h2>
      {lines.length === 0 && <p class="idle">Nothing yet.</p>}
      <ol aria-live="polite" tabIndex={0}>
        {lines.slice(0, SHOWN_MAX).map(({ id, kind, timeMs, text, reason }) => (
          <li key={id} class={kind}>
            <i aria-hidden="true">{MARKS[kind]}</i>
            <p>
              {text}
              <small>{reason}</small>
            </p>
            <time>{formatTime(timeMs)}</time>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Newest first. Moves in a row are one line, and what every node says is said once. */
export function tell(all: readonly JournalEntry[]): Line[] {
  const lines: Line[] = []
  let burst: { entry: JournalEntry; oldest: JournalEntry; count: number } | undefined
  const seen: JournalEntry[] = []
  const close = (): void => {
    if (burst === undefined) return
    const { entry, oldest, count } = burst
    const text = count === 1 ? describeMove(entry) : `${count} moves and switches of roles`
    const reason = count === 1 ? entry.reason : `last: ${describeMove(entry)}: ${entry.reason}`
    const { timeMs } = entry
    lines.push({ ...common(oldest), timeMs, kind: 'moved', text, reason })
    burst = undefined
  }
  for (const entry of all) {
    if (entry.kind === 'cancelled') continue
    if (entry.kind === 'moved') {
      burst = { entry: burst?.entry ?? entry, oldest: entry, count: (burst?.count ?? 0) + 1 }
      continue
    }
    const known = seen.some(
      ({ kind, about, timeMs }) =>
        kind === entry.kind && about === entry.about && timeMs - entry.timeMs < SAME_MS
    )
    if (EVERYBODYS.includes(entry.kind) && known) continue
    // They change one at a time; the last set says it all.
    if (entry.kind === 'voters' && burst === undefined && lines.at(-1)?.kind === 'voters') continue
    seen.push(entry)
    close()
    lines.push({
      ...common(entry),
      kind: entry.kind,
      text: describe(entry),
      reason: reasonOf(entry)
    })
  }
  close()
  return lines
}

/** Whoever was only told does not know why. */
function reasonOf({ reason }: JournalEntry): string {
  return reason === 'told' ? '' : reason
}

function common({ node, key, timeMs }: JournalEntry): Pick<Line, 'id' | 'timeMs'> {
  return { id: `${node}/${key}`, timeMs }
}

/** `about` is what moved, its bucket and where to. */
function describeMove({ node, about }: JournalEntry): string {
  const [what, bucket, to] = about.split(' ')
  return `${what} of #${formatBucket(Number(bucket), rows.value.length)} from ${node} to ${to}`
}

function describe({ kind, node, about, count }: JournalEntry): string {
  switch (kind) {
    case 'joined':
      return `${about} joined`
    case 'leaving':
      return `${about} is leaving`
    case 'left':
      return `${about} left`
    case 'died':
      return `${about} died`
    case 'returned':
      return `${about} is back`
    case 'promoted':
      return `${node} took over ${plural(count, 'bucket')} from ${about}`
    case 'split':
      return `The buckets were split into ${about}`
    case 'lost':
      return `${plural(count, 'bucket')} lost, started empty on ${node}`
    case 'conflict':
      return `${plural(count, 'conflict')} in ${about}`
    case 'voters':
      return `Voters: ${about}`
    default:
      return about
  }
}
