/**
 * `/metrics` for Prometheus. Nothing is kept up to date in between: a scrape reads the node's plain counters and sets
 * every metric anew. Only the two histograms are told as things happen, and those things are rare or sampled.
 */
import { countByFamily } from '../../runtime/command-family.js'
import type { NodeAccess } from '../../runtime/access.js'
import type { Node } from '../../node/node.js'
import type { Status } from '../../runtime/status.js'
import type { RouteGroup } from './context.js'
import { MetricSet } from './metric-set.js'

export class NodeMetrics {
  readonly #set = new MetricSet()
  readonly #node: NodeAccess

  constructor(node: NodeAccess) {
    this.#node = node
    const { latency, totals } = node.observation
    latency.onTimed = (ms) => this.#set.observe('opencluster_request_duration_seconds', ms / 1000)
    totals.onFailover = (ms) =>
      this.#set.observe('opencluster_failover_duration_seconds', ms / 1000)
  }

  get contentType(): string {
    return this.#set.registry.contentType
  }

  async format(): Promise<string> {
    this.#set.reset()
    const status = this.#node.status()
    this.#describeCluster(status)
    this.#node.perform((node, now) => {
      this.#describeNode(node, now)
      this.#describeBalancing(node, status)
    })
    this.#describeProcess()
    return this.#set.registry.metrics()
  }

  /** So that nobody is told once the door is closed. */
  close(): void {
    const { latency, totals } = this.#node.observation
    latency.onTimed = undefined
    totals.onFailover = undefined
    this.#set.registry.clear()
  }

  #describeCluster(status: Status): void {
    const { node, version, cluster, policy, nodes, buckets } = status
    this.#set.set('opencluster_info', 1, { node, version, cluster, policy })
    this.#set.set('opencluster_serving', this.#node.health().serving ? 1 : 0)
    this.#set.set('opencluster_balanced', status.balanced ? 1 : 0)
    for (const state of ['alive', 'leaving', 'dead', 'left'] as const) {
      const count = nodes.filter((other) => other.state === state).length
      this.#set.set('opencluster_nodes', count, { state })
    }
    const lost = buckets.filter(({ state }) => state === 'lost').length
    this.#set.set('opencluster_buckets_lost', lost)
    this.#set.set('opencluster_buckets_without_backup', status.withoutBackup)
    this.#set.set('opencluster_moves_active', status.moves.length)
  }

  #describeNode(node: Node, now: number): void {
    const { door, held } = node.counters
    for (const [family, count] of countByFamily(door)) {
      this.#set.set('opencluster_operations_total', count, { family })
    }
    this.#set.set('opencluster_connections_total', door.connections)
    this.#set.set('opencluster_held_clients', held)
    const roles = { primary: [0, 0, 0], backup: [0, 0, 0], incoming: [0, 0, 0], merging: [0, 0, 0] }
    for (const state of node.buckets) {
      if (state === undefined) continue
      const sums = roles[state.role]
      sums[0]++
      sums[1] += state.items.items
      sums[2] += state.items.bytes
    }
    for (const [role, [buckets, items, bytes]] of Object.entries(roles)) {
      this.#set.set('opencluster_buckets', buckets, { role })
      this.#set.set('opencluster_items', items, { role })
      this.#set.set('opencluster_item_bytes', bytes, { role })
    }
    for (const { name: peer, stream, isOpen, left } of node.peers.all()) {
      if (!isOpen || left) continue
      this.#set.set('opencluster_replication_unacknowledged_bytes', stream.unackedBytes, { peer })
      this.#set.set('opencluster_replication_lag_seconds', stream.stalledMs(now) / 1000, { peer })
    }
    const { usedBytes, reservedBytes, indexBytes, heapValueBytes } = node.store.memory()
    this.#set.set('opencluster_memory_bytes', reservedBytes, { kind: 'slabs' })
    this.#set.set('opencluster_memory_bytes', usedBytes, { kind: 'records' })
    this.#set.set('opencluster_memory_bytes', indexBytes, { kind: 'index' })
    this.#set.set('opencluster_memory_bytes', heapValueBytes, { kind: 'values' })
    const inUse = usedBytes + indexBytes
    const ratio = inUse === 0 ? 1 : Math.max(1, reservedBytes / inUse)
    this.#set.set('opencluster_memory_fragmentation_ratio', ratio)
    this.#set.set('opencluster_uptime_seconds', Math.max(0, now - node.config.life) / 1000)
  }

  #describeBalancing(node: Node, status: Status): void {
    const { moves, items, switches, splits, failovers, lost } = this.#node.observation.totals
    for (const copy of ['primary', 'backup'] as const) {
      for (const outcome of ['done', 'cancelled'] as const) {
        this.#set.set('opencluster_moves_total', moves[copy][outcome], { copy, outcome })
      }
    }
    const { conflicts, verdicts } = node.counters
    this.#set.set('opencluster_shipped_items_total', items)
    this.#set.set('opencluster_switches_total', switches)
    this.#set.set('opencluster_splits_total', splits)
    this.#set.set('opencluster_failovers_total', failovers)
    this.#set.set('opencluster_buckets_lost_total', lost)
    this.#set.set('opencluster_conflicts_total', conflicts)
    for (const [rule, { allowed, denied }] of verdicts) {
      this.#set.set('opencluster_balancer_decisions_total', allowed, { rule, verdict: 'allow' })
      this.#set.set('opencluster_balancer_decisions_total', denied, { rule, verdict: 'deny' })
    }
    this.#set.set('opencluster_moves_active', status.moves.length)
  }

  #describeProcess(): void {
    const { latency, recorder, connections } = this.#node.observation
    this.#set.set('opencluster_requests_total', latency.requests)
    for (const [kind, count] of Object.entries(connections())) {
      this.#set.set('opencluster_connections', count, { kind })
    }
    this.#set.set('opencluster_event_loop_delay_seconds', recorder.loopDelayMs / 1000)
    this.#set.setProcess()
  }
}

export const metrics: RouteGroup = (app, context) => {
  const found = new NodeMetrics(context.node)
  context.onClose(() => found.close())
  app.get('/metrics', async (_request, reply) => {
    const text = await found.format()
    return reply.type(found.contentType).send(text)
  })
}
