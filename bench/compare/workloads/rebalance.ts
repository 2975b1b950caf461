/**
 * A second node joins one that holds everything, with one copy of each key on both sides, and half of the keys move: how many a
 * second, and what clients feel meanwhile. Theirs is `redis-cli --cluster rebalance` on the same keys, as it comes and with a
 * pipeline of 1000.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Report } from '../../../src/runtime/report.js'
import { withConnection } from '../../../src/runtime/resp-connection.js'
import type { Bench } from '../bench.js'
import { probe } from '../cluster-caller.js'
import { fillJob } from '../generator.js'
import type { Latency } from '../histogram.js'
import { median, type Sample, type Side } from '../measure.js'
import { startNode, startOpenCluster, untilBalanced } from '../peers/opencluster.js'
import { startRedisCluster, type RedisProgram } from '../peers/redis.js'
import { stopServer, targetOf, type Server } from '../peers/server.js'
import { runProgram, until } from '../processes.js'
import { formatKeys } from './memory.js'

export const GROUP = 'rebalance'
const MOVE_MS_MAX = 180_000
const REST_MS = 1500
const WORKERS = 4
/** A key and its value. */
const ITEM_BYTES = 20 + 64

interface Moved {
  readonly keysPerSecond: number
  readonly before: Latency | undefined
  readonly during: Latency | undefined
}

export async function run(bench: Bench): Promise<void> {
  if (!bench.wants(GROUP)) return
  const { redis } = bench
  const { redisCli } = bench.tools
  const peer = redis !== undefined && redisCli !== undefined ? { redis, redisCli } : undefined
  const rounds = bench.sizes.quick ? 1 : 3
  const [most] = bench.sizes.keysMoved.slice(-1)
  for (const keys of bench.sizes.keysMoved) {
    // Its pipeline is a matter of the largest only.
    for (const pipeline of keys === most ? [undefined, 1000] : [undefined]) {
      const how = pipeline === undefined ? 'as it comes' : `pipeline ${pipeline}`
      const at = { series: 'rebalance, keys/s over keys', x: keys }
      const figure = { group: GROUP, unit: 'keys/s', better: 'more' } as const
      const place = pipeline === undefined ? { at } : {}
      const name = `rebalance of ${formatKeys(keys)} keys, idle, theirs ${how}`
      const take = async (moved: Promise<Moved>): Promise<Sample> => ({
        value: (await moved).keysPerSecond
      })
      await bench.measure(
        { ...figure, ...place, name },
        sidesOf({
          ours: () => take(moveOurs(bench, { keys, probed: false })),
          theirs:
            peer && (() => take(moveRedis(bench, { ...peer, pipeline, keys, probed: false }))),
          label: peer?.redis.label
        }),
        rounds
      )
    }
  }
  const keys = most
  const size = formatKeys(keys)
  const rates = { group: GROUP, better: 'more' } as const
  const seen = new Map<string, Moved[]>([
    ['ours', []],
    ['theirs', []]
  ])
  const keep = async (whose: string, moved: Promise<Moved>): Promise<Moved> => {
    const result = await moved
    seen.get(whose)?.push(result)
    return result
  }
  const figure = { group: GROUP, unit: '×', better: 'less' } as const
  const grown = async (moved: Promise<Moved>): Promise<Sample> => {
    const { before, during } = await moved
    if (before === undefined || during === undefined) throw new Error('no client was measured')
    return { value: during.p99 / before.p99, latency: during }
  }
  await bench.measure(
    { ...figure, name: "clients' p99 during a rebalance, against their p99 at rest" },
    sidesOf({
      ours: () => grown(keep('ours', moveOurs(bench, { keys, probed: true }))),
      theirs:
        peer &&
        (() =>
          grown(
            keep('theirs', moveRedis(bench, { ...peer, keys, pipeline: undefined, probed: true }))
          )),
      label: peer?.redis.label
    }),
    rounds
  )
  // The other figures of the same moves.
  const figures = [
    { unit: 'keys/s', of: ({ keysPerSecond }: Moved) => keysPerSecond },
    { unit: 'MB/s', of: ({ keysPerSecond }: Moved) => (keysPerSecond * ITEM_BYTES) / 1e6 }
  ]
  for (const { unit, of } of figures) {
    const again =
      (whose: string): Side['take'] =>
      () =>
        Promise.resolve({ value: median((seen.get(whose) ?? []).map(of)) })
    await bench.measure(
      { ...rates, unit, name: `rebalance of ${size} keys under load, ${unit}` },
      sidesOf({
        ours: again('ours'),
        theirs: peer && again('theirs'),
        label: peer?.redis.label
      }),
      1
    )
  }
}

function sidesOf(sides: {
  ours: Side['take']
  theirs: Side['take'] | undefined
  label: string | undefined
}): [Side, ...Side[]] {
  const { ours, theirs, label = 'redis' } = sides
  const own = { label: 'opencluster', take: ours }
  return theirs === undefined ? [own] : [own, { label, take: theirs }]
}

async function moveOurs(bench: Bench, { keys, probed }: Clients): Promise<Moved> {
  const { processes } = bench
  const first = await startOpenCluster(processes, { nodes: 1, copies: 1 })
  let server: Server = first
  try {
    const [port] = first.ports
    const address = `127.0.0.1:${port}`
    let joining: ReturnType<typeof startNode> | undefined
    const start = async (): Promise<void> => {
      const flags = ['--copies', '1', '--http-port', 'off', '--name', 'node-2']
      joining = startNode(processes, port, flags)
      joining.catch(() => undefined)
      await withConnection(address, (connection) =>
        until('the second node', async () => {
          const info = await connection.call('CLUSTER', 'INFO')
          return typeof info === 'string' && info.includes('known_nodes:2')
        })
      )
    }
    const move = async (): Promise<{ moved: number; seconds: number }> => {
      const startMs = performance.now()
      const joined = await joining
      if (joined !== undefined) server = { ...first, nodes: [...first.nodes, joined.started] }
      await untilAtRest(address, MOVE_MS_MAX)
      await untilBalanced(port, 2, MOVE_MS_MAX)
      const seconds = (performance.now() - startMs) / 1000
      return { moved: keys / 2, seconds }
    }
    return await timeMove(bench, { server, keys, probed, ports: first.ports }, { start, move })
  } finally {
    await stopServer(processes, server)
  }
}

interface Clients {
  readonly keys: number
  readonly probed: boolean
}

interface RedisMove extends Clients {
  readonly redis: RedisProgram
  readonly redisCli: string
  readonly pipeline: number | undefined
}

async function moveRedis(bench: Bench, options: RedisMove): Promise<Moved> {
  const { redis, redisCli, pipeline, keys, probed } = options
  const { processes } = bench
  const server = await startRedisCluster(processes, redis, { owners: 1, empty: 1 })
  try {
    const [first, second] = server.ports
    const move = async (): Promise<{ moved: number; seconds: number }> => {
      const more = pipeline === undefined ? [] : ['--cluster-pipeline', String(pipeline)]
      const place = ['--cluster', 'rebalance', `127.0.0.1:${first}`, '--cluster-use-empty-masters']
      const startMs = performance.now()
      await runProgram(processes, [redisCli, ...place, ...more], MOVE_MS_MAX)
      const seconds = (performance.now() - startMs) / 1000
      const moved = Number(await call(second, 'DBSIZE'))
      if (!(moved > 0)) throw new Error('redis-cli moved nothing')
      return { moved, seconds }
    }
    return await timeMove(bench, { server, keys, probed, ports: [first, second] }, { move })
  } finally {
    await stopServer(processes, server)
  }
}

interface Steps {
  /** A process that starts is not a move: clock and clients begin when the first node knows the second. */
  readonly start?: () => Promise<void>
  readonly move: () => Promise<{ moved: number; seconds: number }>
}

/** Fills, lets clients run at rest and during the move if they are wanted, and times the move. */
async function timeMove(
  bench: Bench,
  options: Clients & { server: Server; ports: readonly number[] },
  { start, move }: Steps
): Promise<Moved> {
  const { server, keys, probed, ports } = options
  await bench.generator.run(fillJob(targetOf(server), { keys, valueBytes: 64 }))
  const clients = { workers: WORKERS, keys }
  const before = probed ? await probe(ports, clients, sleep(REST_MS)) : undefined
  await start?.()
  const moving = move()
  const during = probed ? await probe(ports, clients, moving) : undefined
  const { moved, seconds } = await moving
  return { keysPerSecond: moved / seconds, before, during }
}

/** Asked in few words: the whole status of all buckets, asked for all the time, would be felt by the clients. */
async function untilAtRest(address: string, timeoutMs: number): Promise<void> {
  await withConnection(address, (connection) =>
    until(
      'no more moves',
      async () => {
        const reply = await connection.call('OC.REPORT', 'Infinity', 'Infinity')
        if (typeof reply !== 'string') throw new Error('not a report')
        const { balanced, moves } = JSON.parse(reply) as Report
        return balanced && moves.length === 0
      },
      timeoutMs
    )
  )
}

function call(port: number, ...words: string[]): Promise<unknown> {
  return withConnection(`127.0.0.1:${port}`, (connection) => connection.call(...words))
}
