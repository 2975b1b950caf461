/** What every workload gets: the sizes of this run, the peers that are there, and servers that live from row to row. */
import { withConnection } from '../../src/runtime/resp-connection.js'
import type { Generator } from './generator.js'
import { compare, type Figure, type Side } from './measure.js'
import { isRunning, stopServer, type Server } from './peers/server.js'
import type { RedisProgram } from './peers/redis.js'
import type { Processes } from './processes.js'
import type { Row } from './row.js'

export interface Sizes {
  readonly rounds: number
  readonly warmupMs: number
  readonly durationMs: number
  /** Keys of the throughput rows, of the rows about memory, and of a rebalance. */
  readonly keys: number
  readonly keysLarge: readonly number[]
  readonly keysMoved: readonly number[]
  /** How many nodes a simulated cluster has. */
  readonly nodes: readonly number[]
  readonly valueBytes: readonly number[]
  readonly quick: boolean
}

export interface Peer {
  readonly label: string
  /** Undefined where a peer has no Redis protocol. */
  readonly redis: RedisProgram | undefined
  readonly start: () => Promise<Server>
}

export interface BenchParts {
  readonly processes: Processes
  readonly generator: Generator
  readonly sizes: Sizes
  readonly peers: readonly Peer[]
  /** Programs beside the servers, where they are installed. */
  readonly tools: Readonly<Record<'redisBenchmark' | 'redisCli' | 'wrk', string | undefined>>
  readonly wants: (name: string) => boolean
  readonly onRow: (row: Row) => void
}

export class Bench {
  readonly processes: Processes
  readonly generator: Generator
  readonly sizes: Sizes
  readonly peers: readonly Peer[]
  readonly tools: BenchParts['tools']
  readonly rows: Row[] = []
  readonly #parts: BenchParts
  readonly #servers = new Map<string, Server>()

  constructor(parts: BenchParts) {
    this.#parts = parts
    this.processes = parts.processes
    this.generator = parts.generator
    this.sizes = parts.sizes
    this.peers = parts.peers
    this.tools = parts.tools
  }

  /** The one that stands for all where only a Redis will do. */
  get redis(): RedisProgram | undefined {
    return this.peers.find(({ redis }) => redis !== undefined)?.redis
  }

  /** Whether the user asked for a row; a workload asks before it starts anything. */
  wants(group: string, name = ''): boolean {
    return this.#parts.wants(`${group}: ${name}`)
  }

  async measure(
    figure: Figure,
    sides: readonly [Side, ...Side[]],
    rounds = this.sizes.rounds
  ): Promise<void> {
    if (!this.wants(figure.group, figure.name)) return
    for (const row of await compare(figure, sides, rounds)) this.add(row)
  }

  add(row: Row): void {
    this.rows.push(row)
    this.#parts.onRow(row)
  }

  /** The server of that name, started anew if it is not there or has died. */
  async use(name: string, start: () => Promise<Server>): Promise<Server> {
    const known = this.#servers.get(name)
    if (known !== undefined && isRunning(known)) return known
    if (known !== undefined) await stopServer(this.processes, known)
    const server = await start()
    this.#servers.set(name, server)
    return server
  }

  async release(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const server = this.#servers.get(name)
      this.#servers.delete(name)
      if (server !== undefined) await stopServer(this.processes, server)
    }
  }
}

/** Whatever a server of the Redis protocol holds goes. */
export async function empty({ ports, protocol }: Server): Promise<void> {
  if (protocol !== 'resp') return
  await withConnection(`127.0.0.1:${ports[0]}`, (connection) => connection.call('FLUSHALL'))
}
