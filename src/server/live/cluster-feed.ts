/**
 * The whole cluster as this node can show it: its own table, and what every other node says of itself. While somebody
 * looks, the others are asked a few times a second for what is new with them; otherwise now and then, so that this
 * node knows where their HTTP doors are when one of them dies and its dashboard goes on here.
 */
import type { Node } from '../../node/node.js'
import type { NodeEvent } from '../../node/outbox.js'
import type { NodeAccess } from '../../runtime/access.js'
import type { JournalEntry } from '../../runtime/journal.js'
import type { Sample } from '../../runtime/sample.js'
import type { Report } from '../../runtime/report.js'
import type { NodeStatus } from '../../runtime/status.js'
import { PeerReports } from './peer-reports.js'
import type { LiveEvents, LiveNode, LiveRow, LiveState } from './protocol.js'

const LOOK_MS = 250
const IDLE_MS = 10_000
/** Changed rows are told together. */
const ROWS_MS = 80
const SAMPLES_MAX = 300
const ENTRIES_MAX = 500

export type LiveListener = <K extends keyof LiveEvents>(kind: K, data: LiveEvents[K]) => void

export class ClusterFeed {
  readonly #node: NodeAccess
  readonly #peers: PeerReports
  readonly #listeners = new Set<LiveListener>()
  readonly #reports = new Map<string, Report>()
  readonly #samples = new Map<string, Sample[]>()
  readonly #changed = new Set<number>()
  readonly #stop: () => void
  #entries: JournalEntry[] = []
  #own = { sample: 0, entry: 0 }
  #rowsTimer: NodeJS.Timeout | undefined
  #timer: NodeJS.Timeout | undefined
  #state: LiveState | undefined
  #stateText = ''
  #resized = false

  constructor(node: NodeAccess) {
    this.#node = node
    this.#peers = new PeerReports((report) => this.#onReport(report))
    this.#stop = node.onEvent((event) => this.#onEvent(event))
    this.#schedule(0)
  }

  /** Tells everything once, then what changes, until the returned function is called. */
  listen(listener: LiveListener): () => void {
    if (this.#listeners.size === 0) this.#begin()
    listener('table', this.#describeTable())
    if (this.#state !== undefined) listener('state', this.#state)
    listener('samples', Object.fromEntries(this.#samples))
    listener('entries', this.#entries)
    this.#listeners.add(listener)
    this.#schedule(0)
    return () => this.#listeners.delete(listener)
  }

  /** Nobody has looked for a while: the minutes before are asked for as well. */
  #begin(): void {
    this.#peers.forgetSince()
    this.#own = { sample: 0, entry: 0 }
    this.#samples.clear()
    this.#entries = []
    this.#state = undefined
    this.#stateText = ''
  }

  /** Where the HTTP doors of the cluster are, as far as they were ever heard of. */
  get doors(): string[] {
    return [...this.#reports.values()].flatMap(({ http }) => (http === null ? [] : [http]))
  }

  close(): void {
    this.#stop()
    clearTimeout(this.#timer)
    clearTimeout(this.#rowsTimer)
    this.#peers.close()
    this.#listeners.clear()
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#refresh()
      this.#schedule(this.#listeners.size > 0 ? LOOK_MS : IDLE_MS)
    }, delayMs)
    this.#timer.unref()
  }

  #refresh(): void {
    const watched = this.#listeners.size > 0
    const report = this.#node.report(watched ? this.#own : { sample: Infinity, entry: Infinity })
    this.#onReport(report)
    this.#own = {
      sample: report.samples.at(-1)?.id ?? this.#own.sample,
      entry: report.entries.at(-1)?.id ?? this.#own.entry
    }
    const members = this.#members()
    this.#peers.ask(
      members.filter(({ name, state }) => name !== this.#node.name && isThere(state)),
      watched
    )
    const names = new Set<string>(members.map(({ name }) => name))
    for (const name of this.#reports.keys()) if (!names.has(name)) this.#reports.delete(name)
    if (watched) this.#tellState()
  }

  #onReport(report: Report): void {
    this.#reports.set(report.node, report)
    if (this.#listeners.size === 0) return
    if (report.samples.length > 0) {
      const known = this.#samples.get(report.node) ?? []
      this.#samples.set(report.node, [...known, ...report.samples].slice(-SAMPLES_MAX))
      this.#tell('samples', { [report.node]: report.samples })
    }
    if (report.entries.length > 0) {
      const keys = new Set(report.entries.map(({ node, key }) => `${node}/${key}`))
      const others = this.#entries.filter(({ node, key }) => !keys.has(`${node}/${key}`))
      this.#entries = [...others, ...report.entries].slice(-ENTRIES_MAX)
      this.#tell('entries', report.entries)
    }
  }

  #onEvent(event: NodeEvent): void {
    if (event.kind === 'joined') this.#schedule(ROWS_MS)
    if (this.#listeners.size === 0) return
    if (event.kind === 'row') this.#changed.add(event.bucket)
    else if (event.kind === 'split') this.#resized = true
    else return
    this.#rowsTimer ??= setTimeout(() => this.#tellRows(), ROWS_MS)
  }

  #tellRows(): void {
    this.#rowsTimer = undefined
    if (this.#resized) this.#tell('table', this.#describeTable())
    else this.#tell('rows', this.#rows([...this.#changed]))
    this.#resized = false
    this.#changed.clear()
  }

  #tellState(): void {
    const state = this.#describeState()
    const text = JSON.stringify(state)
    if (text === this.#stateText) return
    this.#state = state
    this.#stateText = text
    this.#tell('state', state)
  }

  #tell<K extends keyof LiveEvents>(kind: K, data: LiveEvents[K]): void {
    for (const listener of this.#listeners) listener(kind, data)
  }

  #members(): readonly NodeStatus[] {
    return this.#node.brief().nodes
  }

  #describeState(): LiveState {
    const { node, version, cluster, copies, policy, nodes } = this.#node.brief()
    const reports = nodes.flatMap(({ name, state }) => {
      const report = isThere(state) ? this.#reports.get(name) : undefined
      return report === undefined ? [] : [report]
    })
    return {
      ...{ node, version, cluster, copies, policy },
      balanced: reports.every(({ balanced }) => balanced),
      lost: reports.reduce((sum, { lost }) => sum + lost, 0),
      nodes: nodes.filter(({ state }) => state !== 'left').map((one) => this.#describeNode(one)),
      moves: reports.flatMap(({ moves }) => moves)
    }
  }

  #describeNode({ name, resp, state, weight, zone }: NodeStatus): LiveNode {
    const report = this.#reports.get(name)
    return {
      ...{ name, resp, state, weight, zone },
      http: report?.http ?? null,
      items: report?.items ?? null,
      bytes: report?.bytes ?? null,
      plan: report?.plan ?? ''
    }
  }

  #describeTable(): LiveEvents['table'] {
    const size = this.#node.perform((node) => node.table.size) ?? 0
    return { rows: this.#rows(Array.from({ length: size }, (_, id) => id)) }
  }

  #rows(ids: readonly number[]): LiveRow[] {
    const read = ({ table }: Node): LiveRow[] =>
      ids
        .filter((id) => id < table.size)
        .map((id) => {
          const { primary, backups } = table.row(id)
          return [id, primary, ...backups]
        })
    return this.#node.perform(read) ?? []
  }
}

function isThere(state: NodeStatus['state']): boolean {
  return state === 'alive' || state === 'leaving'
}
