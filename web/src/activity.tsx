/** What is under way, and what happened, with the reasons. */
import { signal } from '@preact/signals'
import type { EntryKind } from '../../src/runtime/journal.js'
import type { MoveStatus } from '../../src/runtime/status.js'
import { formatBucket, formatTime } from './format.js'
import { entries, moves, rows } from './model.js'
import { tell } from './timeline.js'

const SHOWN_MAX = 60

const MARKS: Readonly<Record<EntryKind, string>> = {
  joined: '+',
  leaving: '→',
  left: '−',
  died: '×',
  returned: '↺',
  isolated: '⊘',
  serving: '✓',
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

const showsMoves = signal(true)

export function Timeline() {
  const lines = tell(entries.value, rows.value.length).filter(
    ({ kind }) => showsMoves.value || kind !== 'moved'
  )
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
      <ol aria-live="polite" aria-label="Events, the newest first" tabIndex={0}>
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
