/**
 * Three nodes with two copies: through a client that knows who holds what, against three Redis primaries of one copy; through one
 * node that passes on what it does not hold, against a Redis alone, since theirs would send the client away; and against one
 * node of ours, which shows what a node more costs.
 */
import type { Bench } from '../bench.js'
import { fillJob } from '../generator.js'
import { toSample, type Side } from '../measure.js'
import { startOpenCluster } from '../peers/opencluster.js'
import { startRedis, startRedisCluster } from '../peers/redis.js'
import { pidsOf, type Server } from '../peers/server.js'

export const GROUP = 'three nodes'
const PIPELINE = 16
const CONNECTIONS = 48
const NODES = 3

export async function run(bench: Bench): Promise<void> {
  if (!bench.wants(GROUP)) return
  const { processes, redis } = bench
  const startThree = (): Promise<Server> => startOpenCluster(processes, { nodes: NODES, copies: 2 })
  const startOne = (): Promise<Server> => startOpenCluster(processes, { nodes: 1, copies: 2 })
  for (const mix of ['get', 'set'] as const) {
    const side = (label: string, start: () => Promise<Server>, routed: boolean): Side => ({
      label,
      prepare: () => load(bench, { label, start, routed, mix }, true),
      take: () => load(bench, { label, start, routed, mix }, false)
    })
    const what = `${mix.toUpperCase()} P${PIPELINE}`
    const figure = { group: GROUP, unit: 'op/s', better: 'more' } as const
    await bench.measure({ ...figure, name: `${what}, three nodes, cluster client` }, [
      side('opencluster', startThree, true),
      ...(redis === undefined
        ? []
        : [
            side(
              'redis cluster',
              () => startRedisCluster(processes, redis, { owners: NODES }),
              true
            )
          ])
    ])
    await bench.measure({ ...figure, name: `${what}, three nodes, plain client on one` }, [
      side('opencluster', startThree, false),
      ...(redis === undefined ? [] : [side('one redis', () => startRedis(processes, redis), false)])
    ])
    await bench.measure({ ...figure, name: `${what}, three nodes against one of ours` }, [
      side('opencluster', startThree, true),
      side('one opencluster', startOne, false)
    ])
  }
  const labels = ['opencluster', 'redis cluster', 'one redis', 'one opencluster']
  await bench.release(...labels.map(nameOf))
}

interface LoadOptions {
  readonly label: string
  readonly start: () => Promise<Server>
  readonly routed: boolean
  readonly mix: 'get' | 'set'
}

async function load(bench: Bench, options: LoadOptions, warms: true): Promise<void>
async function load(
  bench: Bench,
  options: LoadOptions,
  warms: false
): Promise<ReturnType<typeof toSample>>
async function load(bench: Bench, options: LoadOptions, warms: boolean): Promise<unknown> {
  const { label, start, routed, mix } = options
  const server = await bench.use(nameOf(label), start)
  const { warmupMs, durationMs, keys } = bench.sizes
  const ports = routed ? server.ports : server.ports.slice(0, 1)
  const target = { ports, protocol: server.protocol, pids: pidsOf(server) }
  const shape = { connections: CONNECTIONS, pipeline: PIPELINE, keys, valueBytes: 64 }
  const job = { ...target, ...shape, warmupMs, durationMs }
  // Routed keys are drawn from what each node owns, so writing for a while fills most of them.
  if (!warms) return toSample(await bench.generator.run({ ...job, mix }))
  if (!routed) await bench.generator.run(fillJob(target, { keys, valueBytes: 64 }))
  await bench.generator.run({ ...job, mix: 'set', durationMs: durationMs * 2 })
  return undefined
}

function nameOf(label: string): string {
  return `${GROUP}: ${label}`
}
