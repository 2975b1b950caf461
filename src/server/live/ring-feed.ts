/**
 * A ring as one of its nodes can show it. All nodes know the whole configuration, so the picture is this node's own;
 * the others are asked, while somebody looks, for their figures of the last minutes and for what they saw happen. A
 * picture a second also tells the page that this node lives.
 */
import type { JournalEntry } from '../../runtime/journal.js'
import type { Report } from '../../runtime/report.js'
import type { RingAccess } from '../../runtime/ring-node.js'
import type { RingStatus } from '../../runtime/ring-status.js'
import type { Sample } from '../../runtime/sample.js'
import type { LiveListener } from './cluster-feed.js'
import { PeerReports } from './peer-reports.js'
import type { LiveEvents, LiveRow, LiveState } from './protocol.js'

const PICTURE_MS = 1000
const SAMPLES_MAX = 300
const ENTRIES_MAX = 500

export class RingFeed {
  readonly #node: RingAccess
  readonly #peers: PeerReports
  readonly #listeners = new Set<LiveListener>()
  readonly #samples = new Map<string, readonly Sample[]>()
  #entries: readonly JournalEntry[] = []
  #own = { sample: 0, entry: 0 }
  #rowsText = ''
  #timer: NodeJS.Timeout | undefined

  constructor(node: RingAccess) {
    this.#node = node
    this.#peers = new PeerReports((report) => this.#onReport(report))
  }

  /** Tells everything once, then what changes, until the returned function is called. */
  listen(listener: LiveListener): () => void {
    if (this.#listeners.size === 0) this.#begin()
    const status = this.#node.status()
    listener('table', { rows: describeArcs(status) })
    listener('state', describeState(status))
    listener('samples', Object.fromEntries(this.#samples))
    listener('entries', this.#entries)
    this.#listeners.add(listener)
    this.#refresh()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) clearInterval(this.#timer)
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#listeners.clear()
    this.#peers.close()
  }

  /** Nobody has looked for a while: the minutes before are asked for as well. */
  #begin(): void {
    this.#peers.forgetSince()
    this.#own = { sample: 0, entry: 0 }
    this.#samples.clear()
    this.#entries = []
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#refresh(), PICTURE_MS)
    this.#timer.unref()
  }

  #refresh(): void {
    const status = this.#node.status()
    const rows = describeArcs(status)
    const text = JSON.stringify(rows)
    if (text !== this.#rowsText) this.#tell('table', { rows })
    this.#rowsText = text
    this.#tell('state', describeState(status))
    const report = this.#node.report(this.#own)
    this.#own = {
      sample: report.samples.at(-1)?.id ?? this.#own.sample,
      entry: report.entries.at(-1)?.id ?? this.#own.entry
    }
    this.#onReport(report)
    const others = status.nodes.filter(
      ({ name, state }) => name !== status.node && state !== 'dead'
    )
    this.#peers.ask(others, true)
  }

  #onReport({ node, samples, entries }: Report): void {
    if (this.#listeners.size === 0) return
    if (samples.length > 0) {
      const known = this.#samples.get(node) ?? []
      this.#samples.set(node, [...known, ...samples].slice(-SAMPLES_MAX))
      this.#tell('samples', { [node]: samples })
    }
    if (entries.length > 0) {
      this.#entries = [...this.#entries, ...entries].slice(-ENTRIES_MAX)
      this.#tell('entries', entries)
    }
  }

  #tell<K extends keyof LiveEvents>(kind: K, data: LiveEvents[K]): void {
    for (const listener of this.#listeners) listener(kind, data)
  }
}

function describeArcs({ buckets }: RingStatus): LiveRow[] {
  return buckets.map(({ id, primary, backups }) => [id, primary, ...backups])
}

function describeState(status: RingStatus): LiveState {
  const { node, version, cluster, copies, policy, balanced, lost, ring } = status
  const nodes = status.nodes.map((one) => ({ ...one, plan: '' }))
  return { node, version, cluster, copies, policy, balanced, lost, nodes, moves: [], ring }
}
