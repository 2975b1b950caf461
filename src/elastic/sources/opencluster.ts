/**
 * The data cluster itself as a source, so that it grows and shrinks by itself. What it holds and does is cut into as
 * many loads as there should be nodes, each load one job of one slot: those that have a node run there, those beyond the last node
 * wait, and a node without one is idle. The rules for jobs and hosts then say what is to be done. While copies move or
 * lack a backup nothing is idle, because a node that leaves would add to it.
 */
import type { HostFacts, JobFacts } from '../../core/scaling/facts.js'
import { describeExit } from '../external-command.js'
import type { Place } from '../place.js'
import { FactsError } from './facts-error.js'
import { parseJsonObject, toCount, toObjects, toText } from './json-reading.js'
import { OperationRate } from './operation-rate.js'
import type { Reading, ReadOptions, Source } from './source.js'

export interface OpenClusterOptions {
  readonly place: Place
  /** Prints the JSON of `opencluster status --json`. */
  readonly argv: readonly string[]
  readonly timeoutMs: number
  /** What one node is to hold, as `status` counts it, and to do in a second; at least one of the three. */
  readonly bytesPerNode?: number | undefined
  readonly itemsPerNode?: number | undefined
  readonly operationsPerNode?: number | undefined
}

const NODES_MAX = 1024

interface NodeLine {
  readonly name: string
  readonly isAlive: boolean
  /** It hands its copies over and goes. */
  readonly isLeaving: boolean
  readonly items: number
  readonly bytes: number
  readonly copies: number
  readonly http: string | null
}

export class OpenClusterSource implements Source {
  readonly label = 'OpenCluster'
  readonly #options: OpenClusterOptions
  /** Since when so many nodes are too few. */
  #shortSince: number | undefined
  readonly #rate: OperationRate

  constructor(options: OpenClusterOptions) {
    this.#options = options
    this.#rate = new OperationRate(options.timeoutMs)
  }

  async read({ now, signal }: ReadOptions): Promise<Reading> {
    const { place, argv, timeoutMs } = this.#options
    const result = await place.run(argv, { timeoutMs, signal })
    if (result.code !== 0) throw describeExit(argv, result)
    const { nodes, isAtRest, copies } = parseStatus(result.stdout)
    const alive = nodes.filter(({ isAlive }) => isAlive)
    const busy = await this.#countBusy(alive, now)
    const needed = Math.max(copies, this.#countNeeded(nodes), busy)
    this.#shortSince = needed > alive.length ? (this.#shortSince ?? now) : undefined
    const { hosts, jobs } = expressLoad(nodes, { needed, isAtRest, since: this.#shortSince ?? now })
    return { facts: { at: now, hosts, jobs, finished: [] }, notes: [] }
  }

  /** For what they do; as many as there are while that is not known. */
  async #countBusy(alive: readonly NodeLine[], now: number): Promise<number> {
    const { operationsPerNode } = this.#options
    if (operationsPerNode === undefined) return 0
    const rate = await this.#rate.read(alive, now)
    return rate === undefined ? alive.length : Math.ceil(rate / operationsPerNode)
  }

  #countNeeded(nodes: readonly NodeLine[]): number {
    const { bytesPerNode = Infinity, itemsPerNode = Infinity } = this.#options
    const bytes = nodes.reduce((sum, node) => sum + node.bytes, 0)
    const items = nodes.reduce((sum, node) => sum + node.items, 0)
    return Math.max(1, Math.ceil(bytes / bytesPerNode), Math.ceil(items / itemsPerNode))
  }
}

export function expressLoad(
  nodes: readonly NodeLine[],
  load: { readonly needed: number; readonly isAtRest: boolean; readonly since: number }
): { hosts: HostFacts[]; jobs: JobFacts[] } {
  // The fullest keep their load, so that the emptiest has the least to hand over.
  const alive = nodes
    .filter(({ isAlive }) => isAlive)
    .sort((a, b) => b.copies - a.copies || a.name.localeCompare(b.name))
  const busyCount = load.isAtRest ? load.needed : Math.max(load.needed, alive.length)
  const busy = new Set(alive.slice(0, busyCount).map(({ name }) => name))
  const hosts = nodes.map(({ name, isAlive, isLeaving }): HostFacts => {
    const used = busy.has(name) ? 1 : 0
    const queues = [{ queue: 'data', slots: 1, used }]
    const state = isAlive ? 'ready' : isLeaving ? 'disabled' : 'unreachable'
    return { name, role: 'worker', state, slots: 1, used, queues }
  })
  const job = { submittedAt: load.since, slots: 1, tasks: 1 }
  const jobs = [...busy].map((name): JobFacts => {
    const place = { hosts: [{ host: name, slots: 1 }], startedAt: load.since }
    return { ...job, ...place, id: `data on ${name}`, state: 'running' }
  })
  const missing = load.needed - alive.length
  if (missing > 0) {
    jobs.push({ ...job, id: 'data without a node', state: 'queued', tasks: missing })
  }
  return { hosts, jobs }
}

export function parseStatus(text: string): {
  nodes: NodeLine[]
  isAtRest: boolean
  copies: number
} {
  const status = parseJsonObject(text, 'status')
  const nodes = toObjects(status['nodes'], 'status.nodes', NODES_MAX).flatMap((node, index) => {
    const what = `status.nodes[${index}]`
    const name = toText(node['name'], `${what}.name`)
    if (node['state'] === 'left') return []
    const isAlive = node['state'] === 'alive'
    const count = (key: string): number => {
      const value = node[key] ?? (isAlive ? null : 0)
      // Half of what a cluster holds looks like a cluster that is half empty.
      if (value === null) throw new FactsError(`status: ${name} did not say how much it holds`)
      return toCount(value, `${what}.${key}`, Number.MAX_SAFE_INTEGER)
    }
    return {
      name,
      isAlive,
      isLeaving: node['state'] === 'leaving',
      items: count('items'),
      bytes: count('bytes'),
      copies: count('primaries') + count('backups'),
      http: typeof node['http'] === 'string' ? node['http'] : null
    }
  })
  if (nodes.length === 0) throw new FactsError('status: a cluster without nodes')
  const moves = Array.isArray(status['moves']) ? status['moves'].length : 0
  const lacking = toCount(status['withoutBackup'] ?? 0, 'status.withoutBackup')
  const isAtRest =
    status['balanced'] === true && moves === 0 && (lacking === 0 || nodes.length === 1)
  return { nodes, isAtRest, copies: toCount(status['copies'] ?? 1, 'status.copies') }
}
