/** What the page knows, as signals. Everything shown follows from these. */
import { computed, signal } from '@preact/signals'
import type { JournalEntry } from '../../src/runtime/journal.js'
import type { Sample } from '../../src/runtime/sample.js'
import type { LiveEvents, LiveRow, LiveState } from '../../src/server/live/protocol.js'
import { drawPicture, findFlights, type Flight, type Holders, type Picture } from './cells.js'

export type Connection = 'connecting' | 'live' | 'searching'

/** Copies that flew at once; more is a blur. */
const FLIGHTS_MAX = 96
const SAMPLES_MAX = 300
const ENTRIES_MAX = 300

export const connection = signal<Connection>('connecting')
/** Where the picture comes from: the origin of a node's door. */
export const origin = signal(location.origin)
/** What its actions need, and whether they are allowed. */
export const token = signal<string | null>(null)
export const state = signal<LiveState | undefined>(undefined)
export const rows = signal<readonly Holders[]>([])
export const samples = signal<ReadonlyMap<string, readonly Sample[]>>(new Map())
export const entries = signal<readonly JournalEntry[]>([])
/** The bucket that is looked at, in any column. */
export const looked = signal<number | undefined>(undefined)
/** A bucket that a key look-up found. */
export const found = signal<number | undefined>(undefined)

export const nodes = computed(() => state.value?.nodes ?? [])
export const moves = computed(() => state.value?.moves ?? [])

let drawn: Picture | undefined

export const picture = computed(() => {
  const copies = state.value?.copies ?? 1
  drawn = drawPicture({ rows: rows.value, nodes: nodes.value, moves: moves.value, copies }, drawn)
  return drawn
})

/** Set by whoever shows flights. */
export const onFlights: { current: (flights: readonly Flight[]) => void } = {
  current: () => undefined
}

export function apply<K extends keyof LiveEvents>(kind: K, data: LiveEvents[K]): void {
  APPLY[kind](data)
}

const APPLY: { readonly [K in keyof LiveEvents]: (data: LiveEvents[K]) => void } = {
  table: ({ rows: all }) => {
    const size = all.length
    const next: Holders[] = Array.from({ length: size }, () => [])
    for (const row of all) next[row[0]] = holdersOf(row)
    if (rows.value.length === size) fly(all)
    rows.value = next
  },
  rows: (changed) => {
    fly(changed)
    const next = [...rows.value]
    for (const row of changed) if (row[0] < next.length) next[row[0]] = holdersOf(row)
    rows.value = next
  },
  state: (value) => {
    state.value = value
  },
  samples: (news) => {
    const next = new Map(samples.value)
    for (const [name, list] of Object.entries(news)) {
      const known = next.get(name) ?? []
      const last = known.at(-1)?.timeMs ?? 0
      const newer = list.filter(({ timeMs }) => timeMs > last)
      next.set(name, [...known, ...newer].slice(-SAMPLES_MAX))
    }
    samples.value = next
  },
  entries: (news) => {
    const all = new Map(entries.value.map((entry) => [keyOf(entry), entry]))
    for (const entry of news) all.set(keyOf(entry), entry)
    entries.value = [...all.values()].sort((a, b) => b.timeMs - a.timeMs).slice(0, ENTRIES_MAX)
  }
}

const keyOf = ({ node, key }: JournalEntry): string => `${node}/${key}`

function holdersOf([, primary, ...backups]: LiveRow): Holders {
  return [primary ?? '', ...backups]
}

function fly(changed: readonly LiveRow[]): void {
  const flights: Flight[] = []
  for (const row of changed) {
    const before = rows.value.at(row[0])
    if (before === undefined || flights.length >= FLIGHTS_MAX) continue
    flights.push(...findFlights(before, holdersOf(row), row[0]))
  }
  if (flights.length > 0) onFlights.current(flights)
}
