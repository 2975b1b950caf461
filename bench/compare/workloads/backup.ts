/**
 * Writes that a second process has before they are answered: two nodes with two copies and `acks=all`, each taking the writes
 * of its own keys, against a primary with a replica and `WAIT 1` behind each batch.
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
  const { warmupMs, durationMs, keys } = bench.sizes
  for (const pipeline of [1, 16]) {
    const shape = { mix: 'set', connections: CONNECTIONS, pipeline, keys, valueBytes: 64 } as const
    const createSide = (label: string, start: () => Promise<Server>, isOurs: boolean): Side => {
      const take = async (): Promise<Sample> => {
        const server = await bench.use(nameOf(label), start)
        const { ports, protocol } = server
        const way = isOurs ? { ports } : { ports: ports.slice(0, 1), wait: 1 }
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
    const name = `SET P${pipeline} with a backup, acks=all against WAIT 1`
    await bench.measure({ group: GROUP, name, unit: 'op/s', better: 'more' }, [
      createSide('opencluster', start, true),
      ...bench.peers.flatMap(({ label, redis }) =>
        redis === undefined
          ? []
          : [createSide(label, () => startReplicated(bench.processes, redis), false)]
      )
    ])
  }
  await bench.release(nameOf('opencluster'), ...bench.peers.map(({ label }) => nameOf(label)))
}

function nameOf(label: string): string {
  return `${GROUP}: ${label}`
}
