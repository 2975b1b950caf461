/**
 * Bytes a key as the kernel counts them: the resident memory of a server that was just started, subtracted from what it has with
 * the keys in it. Then half of the keys are deleted and as many others written, which shows what is lost between records; and
 * once more the most it has while all buckets are split.
 */
import { fetchClusterStatus } from '../../../src/runtime/cluster-status.js'
import type { Bench } from '../bench.js'
import { fillJob } from '../generator.js'
import type { LoadResult } from '../job.js'
import { toSample, type Sample, type Side } from '../measure.js'
import { startNode, startOpenCluster } from '../peers/opencluster.js'
import { pidsOf, targetOf, type Server } from '../peers/server.js'
import { readRssBytes, sum } from '../proc.js'
import { until } from '../processes.js'

export const GROUP = 'memory'
const VALUE_BYTES = 64
const REINSERTED_VALUE_BYTES = 80
const SPLIT_MS_MAX = 300_000

export async function run(bench: Bench): Promise<void> {
  if (!bench.wants(GROUP)) return
  for (const keys of bench.sizes.keysLarge) await measureKeys(bench, keys)
  await measureSplit(bench, bench.sizes.keysLarge.at(-1) ?? 0)
}

async function measureKeys(bench: Bench, keys: number): Promise<void> {
  const size = formatKeys(keys)
  const bases = new Map<string, number>()
  const rates = new Map<string, number>()
  const createSides = (
    take: (server: Server, label: string) => Promise<Sample>
  ): [Side, ...Side[]] => {
    const createSide = (label: string, start: () => Promise<Server>): Side => ({
      label,
      take: async () => take(await bench.use(largeName(label), start), label)
    })
    return [
      createSide('opencluster', () => startLarge(bench)),
      // Their protocols have no keys one by one to delete.
      ...bench.peers
        .filter(({ redis }) => redis !== undefined)
        .map(({ label, start }) => createSide(label, start))
    ]
  }
  const labels = ['opencluster', ...bench.peers.map(({ label }) => label)]
  await bench.release(...labels.map(largeName))
  const perKey = (server: Server, label: string): number =>
    (rssOf(server) - (bases.get(label) ?? 0)) / keys
  const bytes = { group: GROUP, unit: 'B/key', better: 'less' } as const
  const at = { series: 'memory of 20 + 64 bytes, B/key over keys', x: keys }
  await bench.measure(
    { ...bytes, at, name: `memory per key of 20 + 64 bytes, ${size} keys` },
    createSides(async (server, label) => {
      bases.set(label, rssOf(server))
      const job = fillJob(targetOf(server), { keys, valueBytes: VALUE_BYTES })
      rates.set(label, (await bench.generator.run(job)).perSecond)
      return { value: perKey(server, label) }
    }),
    1
  )
  await bench.measure(
    { group: GROUP, unit: 'keys/s', better: 'more', name: `filling ${size} keys, P64` },
    createSides((_, label) => Promise.resolve({ value: rates.get(label) ?? NaN })),
    1
  )
  await measureMany(bench, keys, createSides)
  const half = keys >> 1
  await bench.measure(
    { ...bytes, name: `memory per key after half was deleted and replaced, ${size} keys` },
    createSides(async (server, label) => {
      const target = targetOf(server)
      const deleted = fillJob(target, { keys: half, valueBytes: 1, mix: 'del' })
      await bench.generator.run(deleted)
      const others = { keys: half, from: keys, valueBytes: REINSERTED_VALUE_BYTES }
      await bench.generator.run(fillJob(target, others))
      return { value: perKey(server, label) }
    }),
    1
  )
}

/** Commands on so many keys: by now they are in no cache any more. */
async function measureMany(
  bench: Bench,
  keys: number,
  createSides: (take: (server: Server) => Promise<Sample>) => [Side, ...Side[]]
): Promise<void> {
  const { warmupMs, durationMs } = bench.sizes
  for (const mix of ['get', 'set'] as const) {
    const name = `${mix.toUpperCase()} P16 64 B on ${formatKeys(keys)} keys`
    const load = (server: Server): Promise<LoadResult> => {
      const shape = { mix, connections: 50, pipeline: 16, keys, valueBytes: VALUE_BYTES } as const
      return bench.generator.run({ ...targetOf(server), ...shape, warmupMs, durationMs })
    }
    const sides = createSides(async (server) => toSample(await load(server)))
    const [own, ...others] = sides.map((side) => ({ ...side, prepare: () => warm(side) }))
    await bench.measure({ group: GROUP, name, unit: 'op/s', better: 'more' }, [own, ...others])
  }
}

async function warm({ take }: Side): Promise<void> {
  await take()
}

/**
 * The most that two nodes have together while the second joins, half of the keys move and all buckets are split. A Redis has
 * nothing to split.
 */
async function measureSplit(bench: Bench, keys: number): Promise<void> {
  const { processes, generator } = bench
  const take = async (): Promise<Sample> => {
    const flags = ['--copies', '1', '--buckets', '16', '--split-at', '8', '--http-port', 'off']
    const first = await startNode(processes, undefined, [...flags, '--name', 'node-1'])
    const nodes = [first.started]
    try {
      const base = readRssBytes(first.started.pid)
      const target = { ports: [first.port], protocol: 'resp', pids: [first.started.pid] } as const
      await generator.run(fillJob(target, { keys, valueBytes: VALUE_BYTES }))
      const joining = startNode(processes, first.port, [...flags, '--name', 'node-2'])
      nodes.push((await joining).started)
      let most = 0
      await until(
        'two nodes with split buckets in balance',
        async () => {
          most = Math.max(most, sum(nodes.map(({ pid }) => readRssBytes(pid))))
          const status = await fetchClusterStatus(`127.0.0.1:${first.port}`)
          return status.buckets.length > 16 && status.balanced && status.moves.length === 0
        },
        SPLIT_MS_MAX
      )
      return { value: (most - 2 * base) / keys }
    } finally {
      await Promise.all(nodes.map((node) => processes.stop(node)))
    }
  }
  const name = `memory per key at most while all buckets are split, ${formatKeys(keys)} keys`
  const figure = { group: GROUP, name, unit: 'B/key', better: 'less' } as const
  await bench.measure(figure, [{ label: 'opencluster', take }], 1)
}

/** One copy would be kept anyway: a node alone has nobody for the second. */
export function startLarge(bench: Bench): Promise<Server> {
  return startOpenCluster(bench.processes, { nodes: 1, copies: 2 })
}

export function largeName(label: string): string {
  return `large: ${label}`
}

export function formatKeys(keys: number): string {
  return keys >= 1e6 ? `${keys / 1e6} M` : `${keys / 1000} k`
}

function rssOf(server: Server): number {
  return sum(pidsOf(server).map(readRssBytes))
}
