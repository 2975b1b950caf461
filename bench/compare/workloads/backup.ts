/**
 * Writes that a second process has before they are answered: two nodes with two copies and `acks=all` against a primary with a
 * replica and `WAIT 1` behind each batch. First as Redis does it: one of the two takes all writes, for keys that are its own, and
 * the other has the copies. Then both take writes and are each other's backup, which Redis cannot do with two processes.
 */
import type { Bench } from '../bench.js'
import { toSample, type Sample, type Side } from '../measure.js'
import { startOpenCluster } from '../peers/opencluster.js'
import { startReplicated } from '../peers/redis.js'
import { pidsOf, type Server } from '../peers/server.js'

export const GROUP = 'backup'
const CONNECTIONS = 50

export async function run(bench: Bench): Promise<void> {
  if (!bench.wants(GROUP)) return
  for (const both of [false, true]) {
    for (const pipeline of [1, 16]) await measureOne(bench, pipeline, both)
  }
  await bench.release(nameOf('opencluster'), ...bench.peers.map(({ label }) => nameOf(label)))
}

async function measureOne(bench: Bench, pipeline: number, both: boolean): Promise<void> {
  const { warmupMs, durationMs, keys } = bench.sizes
  const shape = { mix: 'set', connections: CONNECTIONS, pipeline, keys, valueBytes: 64 } as const
  const createSide = (label: string, start: () => Promise<Server>, isOurs: boolean): Side => {
    const take = async (): Promise<Sample> => {
      const server = await bench.use(nameOf(label), start)
      const { protocol } = server
      const [first] = server.ports
      const ours = both ? { ports: server.ports } : { ports: [first], cluster: server.ports }
      const way = isOurs ? ours : { ports: [first], wait: 1 }
      const job = { ...shape, ...way, protocol, pids: pidsOf(server), warmupMs, durationMs }
      return toSample(await bench.generator.run(job))
    }
    // Once without counting: the code of both ends is compiled by then.
    const prepare = async (): Promise<void> => {
      await take()
    }
    return { label, prepare, take }
  }
  const start = (): Promise<Server> => startOpenCluster(bench.processes, { nodes: 2, copies: 2 })
  const how = both ? 'on both nodes, each with a backup' : 'with a backup'
  const name = `SET P${pipeline} ${how}, acks=all against WAIT 1`
  await bench.measure({ group: GROUP, name, unit: 'op/s', better: 'more' }, [
    createSide('opencluster', start, true),
    ...bench.peers.flatMap(({ label, redis }) =>
      redis === undefined
        ? []
        : [createSide(label, () => startReplicated(bench.processes, redis), false)]
    )
  ])
}

function nameOf(label: string): string {
  return `${GROUP}: ${label}`
}
