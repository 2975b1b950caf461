/** The same by the generator that others know: redis-benchmark, GET and SET. It gives no p99.9. */
import type { Bench } from '../bench.js'
import type { Sample, Side } from '../measure.js'
import { startOpenCluster } from '../peers/opencluster.js'
import { pidsOf, type Server } from '../peers/server.js'
import { readCpuUs, sum } from '../proc.js'
import { runProgram } from '../processes.js'

export const GROUP = 'redis-benchmark'
const TIMEOUT_MS = 120_000

export async function run(bench: Bench): Promise<void> {
  const program = bench.tools.redisBenchmark
  if (program === undefined || !bench.wants(GROUP)) return
  const peers = bench.peers.filter(({ redis }) => redis !== undefined)
  for (const command of ['GET', 'SET']) {
    for (const pipeline of [1, 16, 64]) {
      const name = `${command} P${pipeline} 64 B, redis-benchmark`
      const createSide = (label: string, start: () => Promise<Server>): Side => {
        const use = (): Promise<Server> => bench.use(`${GROUP}: ${label}`, start)
        const plan = { program, pipeline, keys: bench.sizes.keys }
        return {
          label,
          prepare: async () => {
            const operations = bench.sizes.keys * 2
            const fill = { program, pipeline: 64, keys: bench.sizes.keys, command: 'SET' }
            await runOnce(bench, await use(), { ...fill, operations })
          },
          take: async () => {
            const perMs = pipeline === 1 ? 50 : 300
            const operations = perMs * bench.sizes.durationMs
            return runOnce(bench, await use(), { ...plan, command, operations })
          }
        }
      }
      const start = (): Promise<Server> =>
        startOpenCluster(bench.processes, { nodes: 1, copies: 2 })
      const figure = { group: GROUP, name, unit: 'op/s', better: 'more' } as const
      await bench.measure(figure, [
        createSide('opencluster', start),
        ...peers.map((peer) => createSide(peer.label, peer.start))
      ])
    }
  }
  await bench.release(...['opencluster', ...peers.map(({ label }) => label)].map(nameOf))
}

function nameOf(label: string): string {
  return `${GROUP}: ${label}`
}

interface Plan {
  readonly program: string
  readonly command: string
  readonly pipeline: number
  readonly operations: number
  readonly keys: number
}

async function runOnce(bench: Bench, server: Server, plan: Plan): Promise<Sample> {
  const { program, command, pipeline, operations, keys } = plan
  const place = ['-h', '127.0.0.1', '-p', String(server.ports[0]), '-c', '50', '-d', '64', '--csv']
  const amount = ['-n', String(operations), '-r', String(keys), '-P', String(pipeline)]
  const before = sum(pidsOf(server).map(readCpuUs))
  const words = [program, ...place, ...amount, '-t', command.toLowerCase()] as const
  const text = await runProgram(bench.processes, words, TIMEOUT_MS)
  const cpuUs = (sum(pidsOf(server).map(readCpuUs)) - before) / operations
  const line = text.split('\n').find((each) => each.startsWith(`"${command}"`))
  const [, perSecond, , , p50, , p99, max] = (line ?? '').replaceAll('"', '').split(',').map(Number)
  if (!(perSecond > 0)) throw new Error(`redis-benchmark said: ${text.trim().slice(-100)}`)
  return { value: perSecond, cpuUs, latency: { p50, p99, p999: NaN, max } }
}
