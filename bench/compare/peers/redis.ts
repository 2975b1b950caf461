/** redis-server, and whatever takes its flags and speaks its protocol: Valkey, KeyDB. Nothing is written to disk. */
import { RespConnection, withConnection } from '../../../src/runtime/resp-connection.js'
import { SLOTS } from '../../../src/core/hash/slot.js'
import { findFreePort, runProgram, until, type Processes, type Started } from '../processes.js'
import type { Server } from './server.js'

const HOST = '127.0.0.1'
const BUS_OFFSET = 10_000

export interface RedisProgram {
  readonly label: string
  readonly path: string
}

export async function startRedis(
  processes: Processes,
  { label, path }: RedisProgram,
  flags: readonly string[] = []
): Promise<Server> {
  const { started, port } = await startProcess(processes, path, flags)
  return { label, protocol: 'resp', ports: [port], httpPort: undefined, nodes: [started] }
}

/** A primary and one replica that is in step; the primary's port is the first. */
export async function startReplicated(
  processes: Processes,
  program: RedisProgram
): Promise<Server> {
  const primary = await startProcess(processes, program.path, ['--repl-diskless-sync-delay', '0'])
  const follow = ['--replicaof', HOST, String(primary.port)]
  const replica = await startProcess(processes, program.path, follow)
  await until('a replica in step', () =>
    ask(replica.port, ['INFO', 'replication'], (text) => text.includes('master_link_status:up'))
  )
  // It may be up and not yet acknowledge: until then every WAIT takes its whole time.
  await until('a replica that acknowledges', async () => {
    const address = `${HOST}:${primary.port}`
    const acknowledged = withConnection(address, async (connection) => {
      await connection.call('SET', 'in step', 'yes')
      return connection.call('WAIT', '1', '200')
    })
    return acknowledged.then(
      (count) => count === 1,
      () => false
    )
  })
  const nodes = [primary.started, replica.started]
  const ports = [primary.port, replica.port]
  return { label: program.label, protocol: 'resp', ports, httpPort: undefined, nodes }
}

export interface RedisClusterOptions {
  /** How many nodes have slots, evenly; the nodes after those have none. */
  readonly owners: number
  readonly empty?: number
  /** Each owner has one; they come behind all others. */
  readonly replicas?: boolean
  readonly nodeTimeoutMs?: number
}

/** A Redis Cluster put together by hand, which takes a second where `redis-cli --cluster create` takes several. */
export async function startRedisCluster(
  processes: Processes,
  program: RedisProgram,
  options: RedisClusterOptions
): Promise<Server> {
  const { owners, empty = 0, replicas = false, nodeTimeoutMs = 15_000 } = options
  const flags = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(nodeTimeoutMs)]
  const count = owners + empty + (replicas ? owners : 0)
  const started: { started: Started; port: number }[] = []
  for (let index = 0; index < count; index++) {
    started.push(await startProcess(processes, program.path, flags))
  }
  const ports = started.map(({ port }) => port)
  for (let index = 0; index < owners; index++) {
    const first = Math.floor((SLOTS * index) / owners)
    const last = Math.floor((SLOTS * (index + 1)) / owners) - 1
    await call(ports[index], 'CLUSTER', 'ADDSLOTSRANGE', String(first), String(last))
    await call(ports[index], 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
  }
  for (const port of ports.slice(1)) await call(ports[0], 'CLUSTER', 'MEET', HOST, String(port))
  await until('a cluster that knows all its nodes', () => allKnow(ports, count))
  if (replicas) {
    for (let index = 0; index < owners; index++) {
      const id = String(await call(ports[index], 'CLUSTER', 'MYID'))
      await call(ports[count - owners + index], 'CLUSTER', 'REPLICATE', id)
    }
    await until('replicas in step', () =>
      allAnswer(ports.slice(count - owners), ['INFO', 'replication'], (text) =>
        text.includes('master_link_status:up')
      )
    )
  }
  const nodes = started.map((each) => each.started)
  return { label: program.label, protocol: 'resp', ports, httpPort: undefined, nodes }
}

function allKnow(ports: readonly number[], count: number): Promise<boolean> {
  return allAnswer(
    ports,
    ['CLUSTER', 'INFO'],
    (text) => text.includes('cluster_state:ok') && text.includes(`cluster_known_nodes:${count}`)
  )
}

async function allAnswer(
  ports: readonly number[],
  words: readonly string[],
  judge: (text: string) => boolean
): Promise<boolean> {
  const answers = await Promise.all(ports.map((port) => ask(port, words, judge)))
  return answers.every((answer) => answer)
}

function call(port: number, ...words: string[]): Promise<unknown> {
  return withConnection(`${HOST}:${port}`, (connection) => connection.call(...words))
}

/** False as well while it cannot be reached. */
async function ask(
  port: number,
  words: readonly string[],
  judge: (text: string) => boolean
): Promise<boolean> {
  try {
    return judge(String(await call(port, ...words)))
  } catch {
    return false
  }
}

async function startProcess(
  processes: Processes,
  path: string,
  flags: readonly string[]
): Promise<{ started: Started; port: number }> {
  const port = await findFreePort((free) => free + BUS_OFFSET)
  const quiet = ['--save', '', '--appendonly', 'no', '--protected-mode', 'no']
  const place = ['--bind', HOST, '--port', String(port), '--dir', processes.createFolder()]
  const started = processes.start(path, [...place, ...quiet, ...flags])
  await until(`${path} that is ready`, async () => {
    if (!started.isRunning()) throw new Error(`${path} did not start: ${await started.ended}`)
    try {
      const connection = await RespConnection.open(`${HOST}:${port}`)
      connection.close()
      return true
    } catch {
      return false
    }
  })
  return { started, port }
}

/** Its version in a few words, such as `7.0.15`. */
export async function readVersion(processes: Processes, path: string): Promise<string> {
  const text = await runProgram(processes, [path, '--version'], 5000)
  return /\d+\.\d+\.\d+/.exec(text)?.[0] ?? 'unknown'
}
