/**
 * What happened, as a short list that people read: the last few hundred entries, each with its reason. What comes in
 * hundreds at a time (every bucket of a dead node is promoted) is one entry that counts. Moves are kept apart, so
 * that a long rebalancing does not push out the death it follows from.
 */
import type { NodeEvent } from '../node/outbox.js'
import type { RingEvent } from '../node/ring/outbox.js'

export type EntryKind =
  | 'joined'
  | 'leaving'
  | 'left'
  | 'died'
  | 'returned'
  | 'isolated'
  | 'serving'
  | 'promoted'
  | 'split'
  | 'lost'
  | 'conflict'
  | 'voters'
  | 'moved'
  | 'cancelled'

export interface JournalEntry {
  /** Grows with every change of the list; an entry that counts on gets a new one. */
  readonly id: number
  /** The same for an entry that counts on. */
  readonly key: number
  readonly timeMs: number
  /** Which node says so. */
  readonly node: string
  readonly kind: EntryKind
  /** The node or the bucket it is about. */
  readonly about: string
  readonly count: number
  readonly reason: string
}

const ENTRIES_MAX = 300
const MOVES_MAX = 200
/** What is the same and comes within this time is one entry. */
const SAME_MS = 2000

type Draft = Pick<JournalEntry, 'kind' | 'about' | 'reason'>

export class Journal {
  readonly #node: () => string
  #entries: JournalEntry[] = []
  #moves: JournalEntry[] = []
  #lastId = 0
  #lastKey = 0

  constructor(node: () => string) {
    this.#node = node
  }

  note(event: NodeEvent | RingEvent, timeMs: number): void {
    const draft = describe(event)
    if (draft === undefined) return
    const isMove = draft.kind === 'moved' || draft.kind === 'cancelled'
    const list = isMove ? this.#moves : this.#entries
    const same = isMove ? -1 : list.findLastIndex((entry) => isSame(entry, draft, timeMs))
    const before = same < 0 ? undefined : list.splice(same, 1)[0]
    list.push({
      ...draft,
      id: ++this.#lastId,
      key: before?.key ?? ++this.#lastKey,
      timeMs,
      node: this.#node(),
      count: (before?.count ?? 0) + 1
    })
    if (list.length > (isMove ? MOVES_MAX : ENTRIES_MAX)) list.shift()
  }

  /** What is newer than an entry, oldest first. */
  after(id: number): JournalEntry[] {
    const isNewer = (entry: JournalEntry): boolean => entry.id > id
    return [...this.#entries.filter(isNewer), ...this.#moves.filter(isNewer)].sort(
      (a, b) => a.id - b.id
    )
  }
}

function isSame(entry: JournalEntry, draft: Draft, timeMs: number): boolean {
  return entry.kind === draft.kind && entry.about === draft.about && timeMs - entry.timeMs < SAME_MS
}

function describe(event: NodeEvent | RingEvent): Draft | undefined {
  switch (event.kind) {
    case 'joined':
    case 'leaving':
    case 'left':
    case 'died':
    case 'returned':
    case 'isolated':
    case 'serving':
      return { kind: event.kind, about: event.node, reason: REASONS[event.kind] }
    case 'promoted':
      return { kind: 'promoted', about: event.instead, reason: 'its backups here took over' }
    case 'split': {
      const about = `${event.mask + 1} buckets`
      return { kind: 'split', about, reason: event.reason }
    }
    case 'lost':
      return { kind: 'lost', about: '', reason: 'all copies are gone; it starts empty' }
    case 'conflict': {
      const { bucket, key, keptVersion, droppedVersion } = event
      const versions = `${keptVersion} was kept, ${droppedVersion} was not`
      const reason = `both sides of a cut wrote it, ${JSON.stringify(key)} last: ${versions}`
      return { kind: 'conflict', about: `#${bucket}`, reason }
    }
    case 'voters':
      return { kind: 'voters', about: event.voters.join(', '), reason: event.reason }
    case 'stage': {
      if (event.stage !== 'done' && event.stage !== 'cancelled') return undefined
      const kind = event.stage === 'done' ? 'moved' : 'cancelled'
      const what = event.isSwitch ? 'role' : event.role
      return { kind, about: `${what} ${event.bucket} ${event.to}`, reason: event.reason }
    }
    default:
      return undefined
  }
}

const REASONS = {
  joined: 'it asked to be let in',
  leaving: 'it was asked to go and hands its copies over',
  left: 'everything it held is elsewhere, or it was struck',
  died: 'nothing was heard of it for too long',
  returned: 'it can be heard again',
  isolated: 'it hears no majority and serves nothing',
  serving: 'it hears a majority again'
} as const
