/**
 * Three nodes with two copies: through a client that knows who holds what, against three Redis primaries of one copy; through one
 * node that passes on what it does not hold, against a Redis alone, since theirs would send the client away; and against one
 * node of ours, which shows what a node more costs. A node that is never idle finds more to do in each turn than three that are, so
 * their processor time is also compared with that of one which is asked for as much as each of them.
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
    await measureAsBusy(bench, { what, mix, startThree, startOne })
  }
  const labels = ['opencluster', 'redis cluster', 'one redis', 'one opencluster']
  await bench.release(...labels.map(nameOf))
}

interface AsBusy {
  readonly what: string
  readonly mix: 'get' | 'set'
  readonly startThree: () => Promise<Server>
  readonly startOne: () => Promise<Server>
}

async function measureAsBusy(
  bench: Bench,
  { what, mix, startThree, startOne }: AsBusy
): Promise<void> {
  const three = { label: 'opencluster', start: startThree, routed: true, mix }
  const one = { label: 'one opencluster', start: startOne, routed: false, mix }
  const name = `${what}, processor time of three nodes against one as busy as each of them`
  let eachPerSecond = 1
  await bench.measure({ group: GROUP, unit: 'µs/op', better: 'less', name }, [
    {
      label: three.label,
      prepare: () => load(bench, three, true),
      take: async () => {
        const { value, cpuUs = 0 } = await load(bench, three, false)
        eachPerSecond = value / NODES
        return { value: cpuUs }
      }
    },
    {
      label: one.label,
      prepare: () => load(bench, one, true),
      take: async () => {
        const asked = { ...one, ratePerSecond: eachPerSecond }
        const { cpuUs = 0 } = await load(bench, asked, false)
        return { value: cpuUs }
      }
    }
  ])
}

interface LoadOptions {
  readonly label: string
  readonly start: () => Promise<Server>
  readonly routed: boolean
  readonly mix: 'get' | 'set'
  /** Instead of as fast as they can. */
  readonly ratePerSecond?: number
}

async function load(bench: Bench, options: LoadOptions, warms: true): Promise<void>
async function load(
  bench: Bench,
  options: LoadOptions,
  warms: false
): Promise<ReturnType<typeof toSample>>
async function load(bench: Bench, options: LoadOptions, warms: boolean): Promise<unknown> {
  const { label, start, routed, mix, ratePerSecond } = options
  const server = await bench.use(nameOf(label), start)
  const { warmupMs, durationMs, keys } = bench.sizes
  const ports = routed ? server.ports : server.ports.slice(0, 1)
  const target = { ports, protocol: server.protocol, pids: pidsOf(server) }
  const shape = { connections: CONNECTIONS, pipeline: PIPELINE, keys, valueBytes: 64 }
  const job = { ...target, ...shape, warmupMs, durationMs }
  // Routed keys are drawn from what each node owns, so writing for a while fills most of them.
  if (!warms) {
    const rate = ratePerSecond === undefined ? {} : { ratePerSecond }
    return toSample(await bench.generator.run({ ...job, mix, ...rate }))
  }
  if (!routed) await bench.generator.run(fillJob(target, { keys, valueBytes: 64 }))
  await bench.generator.run({ ...job, mix: 'set', durationMs: durationMs * 2 })
  return undefined
}

function nameOf(label: string): string {
  return `${GROUP}: ${label}`
}
