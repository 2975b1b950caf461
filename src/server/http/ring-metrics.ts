/** `/metrics` of a node of a ring: those of the list that a ring has, with the arcs of the circle as its buckets. */
import type { FastifyInstance } from 'fastify'
import type { RingAccess } from '../../runtime/ring-node.js'
import { MetricSet } from './metric-set.js'

export function addRingMetrics(app: FastifyInstance, node: RingAccess): () => void {
  const set = new MetricSet()
  node.latency.onTimed = (ms) => set.observe('opencluster_request_duration_seconds', ms / 1000)
  app.get('/metrics', async (_request, reply) => {
    set.reset()
    describe(set, node)
    return reply.type(set.registry.contentType).send(await set.registry.metrics())
  })
  return () => {
    node.latency.onTimed = undefined
    set.registry.clear()
  }
}

function describe(set: MetricSet, node: RingAccess): void {
  const status = node.status()
  const inspection = node.inspect()
  const { version, cluster, policy, nodes, buckets } = status
  set.set('opencluster_info', 1, { node: node.name, version, cluster, policy })
  set.set('opencluster_serving', node.health().serving ? 1 : 0)
  set.set('opencluster_balanced', status.balanced ? 1 : 0)
  for (const state of ['alive', 'leaving', 'dead', 'left'] as const) {
    set.set('opencluster_nodes', nodes.filter((other) => other.state === state).length, { state })
  }
  const own = nodes.find(({ name }) => name === node.name)
  set.set('opencluster_buckets', own?.primaries ?? 0, { role: 'primary' })
  set.set('opencluster_buckets', own?.backups ?? 0, { role: 'backup' })
  set.set('opencluster_buckets_lost', buckets.filter(({ state }) => state === 'lost').length)
  set.set('opencluster_buckets_without_backup', status.withoutBackup)
  set.set('opencluster_moves_active', status.ring.stage === 'rest' ? 0 : 1)
  // Every copy of a ring is as good as any other.
  set.set('opencluster_items', inspection?.items ?? 0, { role: 'primary' })
  set.set('opencluster_item_bytes', inspection?.usedBytes ?? 0, { role: 'primary' })
  set.set('opencluster_shipped_items_total', inspection?.received ?? 0)
  set.set('opencluster_held_clients', inspection?.pending ?? 0)
  for (const [peer, bytes] of inspection?.unacknowledged ?? []) {
    set.set('opencluster_replication_unacknowledged_bytes', bytes, { peer })
  }
  for (const [family, count] of Object.entries(inspection?.requests ?? {})) {
    set.set('opencluster_operations_total', count, { family })
  }
  const { get, put, delete: deletions } = inspection?.requests ?? { get: 0, put: 0, delete: 0 }
  set.set('opencluster_requests_total', get + put + deletions)
  for (const [kind, count] of Object.entries(node.connections())) {
    set.set('opencluster_connections', count, { kind })
  }
  set.set('opencluster_uptime_seconds', Math.max(0, node.now() - node.life) / 1000)
  set.setProcess()
}
