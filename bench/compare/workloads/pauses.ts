/**
 * How long a server with many keys stands still under writes. They are sent at a fixed rate and timed from when they were due, so
 * that one pause is seen by all who would have waited. The generator's own pauses are in the figures of both.
 */
import type { Bench } from '../bench.js'
import { fillJob } from '../generator.js'
import type { Latency } from '../histogram.js'
import type { Side } from '../measure.js'
import { targetOf, type Server } from '../peers/server.js'
import { formatKeys, largeName, startLarge } from './memory.js'

export const GROUP = 'pauses'
const RATE_PER_SECOND = 50_000
const CONNECTIONS = 50
const PIPELINE = 10

export async function run(bench: Bench): Promise<void> {
  const keys = bench.sizes.keysLarge.at(-1) ?? 0
  const labels = ['opencluster', ...bench.peers.map(({ label }) => label)]
  if (bench.wants(GROUP)) {
    const title = `${RATE_PER_SECOND / 1000} k SET/s on ${formatKeys(keys)} keys`
    const figure = { group: GROUP, unit: 'ms', better: 'less' } as const
    const seen = new Map<string, Latency[]>(labels.map((label) => [label, []]))
    await bench.measure({ ...figure, name: `longest wait, ${title}` }, sidesOf(bench, keys, seen))
    // The other figure of the same rounds.
    const again = [...seen].flatMap(([label, all]) => (all.length === 0 ? [] : [{ label, all }]))
    const [own, ...others] = again.map(({ label, all }): Side => {
      const left = [...all]
      return { label, take: () => Promise.resolve({ value: left.shift()?.p999 ?? NaN }) }
    })
    if (again.length > 0) {
      const rounds = Math.min(...again.map(({ all }) => all.length))
      await bench.measure({ ...figure, name: `p99.9, ${title}` }, [own, ...others], rounds)
    }
  }
  await bench.release(...labels.map(largeName))
}

function sidesOf(bench: Bench, keys: number, seen: Map<string, Latency[]>): [Side, ...Side[]] {
  const createSide = (label: string, start: () => Promise<Server>): Side => {
    const begin = async (): Promise<Server> => {
      const server = await start()
      await bench.generator.run(fillJob(targetOf(server), { keys, valueBytes: 64 }))
      return server
    }
    return {
      label,
      prepare: async () => {
        await bench.use(largeName(label), begin)
      },
      take: async () => {
        const server = await bench.use(largeName(label), begin)
        const shape = { mix: 'set', connections: CONNECTIONS, pipeline: PIPELINE, keys } as const
        const times = { warmupMs: 500, durationMs: Math.max(2000, bench.sizes.durationMs) }
        const rate = { ratePerSecond: RATE_PER_SECOND, valueBytes: 64 }
        const job = { ...targetOf(server), ...shape, ...times, ...rate }
        const { latency } = await bench.generator.run(job)
        return { value: latency.max, latency }
      },
      kept: ({ latency }) => {
        if (latency !== undefined) seen.get(label)?.push(latency)
      }
    }
  }
  return [
    createSide('opencluster', () => startLarge(bench)),
    ...bench.peers
      .filter(({ redis }) => redis !== undefined)
      .map(({ label, start }) => createSide(label, start))
  ]
}
