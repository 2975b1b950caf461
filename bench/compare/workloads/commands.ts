/** One node alone against one server: the commands at three depths of the pipeline and several sizes of values. */
import { empty, type Bench, type Peer } from '../bench.js'
import { fillJob } from '../generator.js'
import type { LoadResult, Mix } from '../job.js'
import { toSample, type Side } from '../measure.js'
import { startOpenCluster } from '../peers/opencluster.js'
import { targetOf, type Server } from '../peers/server.js'
import { canAsk } from '../request-template.js'

export const GROUP = 'commands'
const CONNECTIONS = 50
const PIPELINES = [1, 16, 64]
/** Values in all take no more than this. */
const DATA_BYTES_MAX = 200e6
const SMALL_VALUE_BYTES = 64
const LARGE_VALUE_BYTES = 4096

interface Spec {
  readonly title: string
  readonly mix: Mix
  /** Fewer keys, where each holds many values. */
  readonly keysMax: number
  readonly filled: boolean
}

const STRING = { keysMax: Infinity, filled: true }
const COLLECTION = { keysMax: 1000, filled: false }
const SPECS: readonly Spec[] = [
  { title: 'GET', mix: 'get', ...STRING },
  { title: 'SET', mix: 'set', ...STRING },
  { title: 'INCR', mix: 'incr', ...STRING, filled: false },
  { title: 'GET 90 % SET 10 %', mix: 'mixed', ...STRING },
  { title: 'MGET of 10', mix: 'mget', ...STRING },
  { title: 'HSET/HGET', mix: 'hash', ...COLLECTION },
  { title: 'HSET/HGET of small hashes', mix: 'entity', ...STRING, filled: false },
  { title: 'LPUSH/LPOP', mix: 'list', ...COLLECTION },
  { title: 'ZADD/ZRANGE of 10', mix: 'zset', ...COLLECTION }
]

/** The size of the values that a server has been filled with. */
const filled = new WeakMap<Server, number>()

export async function run(bench: Bench): Promise<void> {
  // The deepest pipeline is asked for with two sizes only.
  const deepSizes = bench.sizes.quick ? [SMALL_VALUE_BYTES] : [SMALL_VALUE_BYTES, LARGE_VALUE_BYTES]
  for (const valueBytes of bench.sizes.valueBytes) {
    for (const spec of SPECS) {
      // What only other sizes of values would tell is told by GET and SET.
      const plain = spec.mix === 'get' || spec.mix === 'set'
      if (valueBytes !== SMALL_VALUE_BYTES && !plain) continue
      for (const pipeline of PIPELINES) {
        if (pipeline === 64 && !deepSizes.includes(valueBytes)) continue
        await measureOne(bench, spec, { valueBytes, pipeline })
      }
    }
    for (const server of await runningServers(bench)) {
      await empty(server).catch(() => undefined)
      filled.delete(server)
    }
  }
  await bench.release(...[{ label: 'opencluster' }, ...bench.peers].map(serverName))
}

async function measureOne(
  bench: Bench,
  spec: Spec,
  { valueBytes, pipeline }: { valueBytes: number; pipeline: number }
): Promise<void> {
  const size = formatSize(valueBytes)
  const name = `${spec.title} P${pipeline} ${size}`
  if (!bench.wants(GROUP, name)) return
  const { warmupMs, durationMs } = bench.sizes
  const keys = Math.min(bench.sizes.keys, spec.keysMax, Math.floor(DATA_BYTES_MAX / valueBytes))
  const load = (server: Server, warmMs: number): Promise<LoadResult> => {
    const times = { warmupMs: warmMs, durationMs }
    const shape = { mix: spec.mix, connections: CONNECTIONS, pipeline, keys, valueBytes }
    return bench.generator.run({ ...targetOf(server), ...shape, ...times })
  }
  const createSide = (label: string, start: () => Promise<Server>): Side => {
    let server: Server | undefined
    return {
      label,
      prepare: async () => {
        server = await bench.use(serverName({ label }), start)
        if (spec.filled && filled.get(server) !== valueBytes) {
          await bench.generator.run(fillJob(targetOf(server), { keys, valueBytes }))
          filled.set(server, valueBytes)
        }
        // A server runs for days and compiles its code once: that is no part of a round.
        await load(server, durationMs)
      },
      take: async () => {
        if (server === undefined) throw new Error('not started')
        return toSample(await load(server, warmupMs))
      }
    }
  }
  const peers = bench.peers.filter((peer) => canAsk(protocolOf(peer), spec.mix))
  const at = { series: `${spec.title} P${pipeline}, op/s over bytes of a value`, x: valueBytes }
  const figure = { group: GROUP, name, unit: 'op/s', better: 'more', at } as const
  await bench.measure(figure, [
    createSide('opencluster', () => startAlone(bench)),
    ...peers.map(({ label, start }) => createSide(label, start))
  ])
}

function protocolOf({ redis }: Peer): 'resp' | 'memcached' {
  return redis === undefined ? 'memcached' : 'resp'
}

function startAlone(bench: Bench): Promise<Server> {
  return startOpenCluster(bench.processes, { nodes: 1, copies: 2 })
}

async function runningServers(bench: Bench): Promise<Server[]> {
  const servers: Server[] = []
  const missing = (): Promise<Server> => Promise.reject(new Error('not running'))
  for (const { label } of [{ label: 'opencluster' }, ...bench.peers]) {
    const server = await bench.use(serverName({ label }), missing).catch(() => undefined)
    if (server !== undefined) servers.push(server)
  }
  return servers
}

function serverName({ label }: { label: string }): string {
  return `alone: ${label}`
}

export function formatSize(bytes: number): string {
  return bytes >= 1024 ? `${bytes / 1024} KB` : `${bytes} B`
}
