/** What the nodes' journals say together, as lines for people. */
import type { EntryKind, JournalEntry } from '../../src/runtime/journal.js'
import { formatBucket, plural } from './format.js'

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
const NEWCOMER_MS = 3000

interface Line {
  readonly id: string
  readonly kind: EntryKind
  readonly timeMs: number
  readonly text: string
  readonly reason: string
}

/** Newest first. Moves in a row are one line, and what every node says is said once. */
export function tell(all: readonly JournalEntry[], size: number): Line[] {
  const lines: Line[] = []
  let burst: { entry: JournalEntry; oldest: JournalEntry; count: number } | undefined
  const seen: JournalEntry[] = []
  const joins = new Map<string, number>()
  for (const { kind, node, about, timeMs } of all) {
    if (kind === 'joined' && about === node) joins.set(node, timeMs)
  }
  const close = (): void => {
    if (burst === undefined) return
    const { entry, oldest, count } = burst
    const text = count === 1 ? describeMove(entry, size) : `${count} moves and switches of roles`
    const reason =
      count === 1 ? entry.reason : `last: ${describeMove(entry, size)}: ${entry.reason}`
    const { timeMs } = entry
    lines.push({ ...common(oldest), timeMs, kind: 'moved', text, reason })
    burst = undefined
  }
  for (const entry of all) {
    if (entry.kind === 'cancelled' || isNewsToNewcomer(entry, joins)) continue
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

/** A node that has just joined hears of all the others; they have not joined for that. */
function isNewsToNewcomer(
  { kind, node, about, timeMs }: JournalEntry,
  joins: ReadonlyMap<string, number>
): boolean {
  const joinedMs = joins.get(node)
  if (kind !== 'joined' || about === node || joinedMs === undefined) return false
  return Math.abs(timeMs - joinedMs) < NEWCOMER_MS
}

/** Whoever was only told does not know why. */
function reasonOf({ reason }: JournalEntry): string {
  return reason === 'told' ? '' : reason
}

function common({ node, key, timeMs }: JournalEntry): Pick<Line, 'id' | 'timeMs'> {
  return { id: `${node}/${key}`, timeMs }
}

/** `about` is what moved, its bucket and where to. */
function describeMove({ node, about }: JournalEntry, size: number): string {
  const [what, bucket, to] = about.split(' ')
  return `${what} of #${formatBucket(Number(bucket), size)} from ${node} to ${to}`
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
    case 'isolated':
      return `${about} is cut off`
    case 'serving':
      return `${about} serves again`
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
