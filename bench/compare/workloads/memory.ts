/**
 * Bytes a key as the kernel counts them: the resident memory of a server that was just started, subtracted from what it has with
 * the keys in it. Then half of the keys are deleted and as many others written, which shows what is lost between records.
 */
import type { Bench } from '../bench.js'
import { fillJob } from '../generator.js'
import type { Sample, Side } from '../measure.js'
import { startOpenCluster } from '../peers/opencluster.js'
import { pidsOf, targetOf, type Server } from '../peers/server.js'
import { readRssBytes, sum } from '../proc.js'

export const GROUP = 'memory'
const VALUE_BYTES = 64
const REINSERTED_VALUE_BYTES = 80

export async function run(bench: Bench): Promise<void> {
  if (!bench.wants(GROUP)) return
  for (const keys of bench.sizes.keysLarge) await measureKeys(bench, keys)
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
  await bench.measure(
    { ...bytes, name: `memory per key of 20 + 64 bytes, ${size} keys` },
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
