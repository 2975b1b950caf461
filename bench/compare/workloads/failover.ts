/**
 * From kill -9 of the node that holds a key to the first write of it that is answered, tried all the time. Theirs has three
 * primaries with a replica each, at its default of 15 s and at 1 s, about the least that a busy machine does not trip over.
 */
import { fetchClusterStatus } from '../../../src/runtime/cluster-status.js'
import { bucketOf, redisHash } from '../../../src/core/hash/placement-hash.js'
import type { Bench } from '../bench.js'
import { ClusterCaller } from '../cluster-caller.js'
import type { Side } from '../measure.js'
import { startOpenCluster } from '../peers/opencluster.js'
import { startRedisCluster, type RedisProgram } from '../peers/redis.js'
import { stopServer, type Server } from '../peers/server.js'
import { keySlot, SLOTS } from '../../../src/core/hash/slot.js'

export const GROUP = 'failover'
const KEY = 'key:failover'
const WRITE_MS_MAX = 60_000
const NODES = 3

export async function run(bench: Bench): Promise<void> {
  if (!bench.wants(GROUP)) return
  const { redis } = bench
  const rounds = bench.sizes.quick ? 1 : 3
  for (const timeoutMs of [15_000, 1000]) {
    const name = `kill -9 to the first write, their timeout ${timeoutMs / 1000} s`
    const own: Side = { label: 'opencluster', take: () => killOurs(bench) }
    const sides: [Side, ...Side[]] = [own]
    if (redis !== undefined) {
      sides.push({ label: redis.label, take: () => killRedis(bench, redis, timeoutMs) })
    }
    await bench.measure({ group: GROUP, name, unit: 's', better: 'less' }, sides, rounds)
  }
}

async function killOurs(bench: Bench): Promise<{ value: number }> {
  const server = await startOpenCluster(bench.processes, { nodes: NODES, copies: 2 })
  const status = await fetchClusterStatus(`127.0.0.1:${server.ports[0]}`)
  const bytes = Buffer.from(KEY)
  const bucket = bucketOf(redisHash.hash(bytes, 0, bytes.length), status.buckets.length - 1)
  const primary = status.buckets.find(({ id }) => id === bucket)?.primary
  const index = Number((primary ?? '').replace('node-', '')) - 1
  return kill(bench, server, index)
}

async function killRedis(
  bench: Bench,
  redis: RedisProgram,
  nodeTimeoutMs: number
): Promise<{ value: number }> {
  const options = { owners: NODES, replicas: true, nodeTimeoutMs }
  const server = await startRedisCluster(bench.processes, redis, options)
  const bytes = Buffer.from(KEY)
  const slot = keySlot(bytes, 0, bytes.length)
  return kill(bench, server, Math.floor(((slot + 1) * NODES - 1) / SLOTS))
}

/** The caller knows the nodes that stay; one that it is sent to may be the dead one. */
async function kill(bench: Bench, server: Server, index: number): Promise<{ value: number }> {
  const victim = server.nodes.at(index)
  const caller = new ClusterCaller(server.ports.filter((_, other) => other !== index))
  try {
    if (victim === undefined || index < 0) throw new Error('nobody holds the key')
    await caller.call(['SET', KEY, 'before'], WRITE_MS_MAX)
    const startMs = performance.now()
    await bench.processes.stop(victim)
    await caller.call(['SET', KEY, 'after'], WRITE_MS_MAX)
    return { value: (performance.now() - startMs) / 1000 }
  } finally {
    caller.close()
    await stopServer(bench.processes, server)
  }
}
