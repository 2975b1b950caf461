/** One run from the choice of peers to the report. Whatever it starts is gone when it returns or throws. */
import { accessSync, constants } from 'node:fs'
import { loadavg } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Bench, type Peer, type Sizes } from './bench.js'
import { Generator } from './generator.js'
import { startMemcached } from './peers/memcached.js'
import { readVersion, startRedis } from './peers/redis.js'
import { Processes } from './processes.js'
import { describeMachine, readCommit, type Report } from './report.js'
import type { Row } from './row.js'
import * as backup from './workloads/backup.js'
import * as commands from './workloads/commands.js'
import * as failover from './workloads/failover.js'
import * as http from './workloads/http.js'
import * as memory from './workloads/memory.js'
import * as pauses from './workloads/pauses.js'
import * as rebalance from './workloads/rebalance.js'
import * as redisBenchmark from './workloads/redis-benchmark.js'
import * as ring from './workloads/ring.js'
import * as scale from './workloads/scale.js'
import * as threeNodes from './workloads/three-nodes.js'

export const PEERS = ['redis', 'valkey', 'keydb', 'memcached'] as const
export type PeerName = (typeof PEERS)[number]

const PROGRAMS: Readonly<Record<PeerName, string>> = {
  redis: 'redis-server',
  valkey: 'valkey-server',
  keydb: 'keydb-server',
  memcached: 'memcached'
}

const WORKLOADS = [
  commands,
  redisBenchmark,
  backup,
  threeNodes,
  http,
  ring,
  rebalance,
  failover,
  memory,
  pauses,
  scale
]
export const GROUPS: readonly string[] = WORKLOADS.map(({ GROUP }) => GROUP)

const QUICK: Sizes = {
  rounds: 3,
  warmupMs: 150,
  durationMs: 350,
  keys: 100_000,
  keysLarge: [250_000, 1_000_000],
  keysMoved: [60_000],
  nodes: [4, 16],
  valueBytes: [64, 4096],
  quick: true
}
const WHOLE: Sizes = {
  rounds: 5,
  warmupMs: 300,
  durationMs: 1000,
  keys: 1_000_000,
  keysLarge: [250_000, 1_000_000, 5_000_000],
  keysMoved: [40_000, 333_000, 1_000_000],
  nodes: [4, 16, 64, 128, 256],
  valueBytes: [64, 16, 256, 1024, 4096, 16_384],
  quick: false
}

export interface RunOptions {
  readonly quick: boolean
  readonly rounds: number | undefined
  readonly against: readonly PeerName[]
  /** Where a program is, if not on the path. */
  readonly paths: Readonly<Partial<Record<PeerName, string>>>
  /** Parts of names of rows; empty for all. */
  readonly only: readonly string[]
  readonly onRow: (row: Row) => void
  readonly onNotice: (text: string) => void
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

/** The rows so far are in the report even if the run was aborted. */
export async function runBench(options: RunOptions): Promise<Report> {
  const { quick, rounds, only, signal, onNotice } = options
  const processes = new Processes()
  const close = (): void => void processes.close()
  signal.addEventListener('abort', close, { once: true })
  const machine = describeMachine(loadavg()[0])
  try {
    const { peers, described } = await findPeers(processes, options)
    const tools = {
      redisBenchmark: findProgram('redis-benchmark'),
      redisCli: findProgram('redis-cli'),
      wrk: findProgram('wrk')
    }
    if (tools.redisBenchmark === undefined) {
      onNotice('redis-benchmark: not found; its rows are left out (apt-get install redis-tools)')
    }
    const base = quick ? QUICK : WHOLE
    const bench = new Bench({
      processes,
      generator: new Generator(processes),
      sizes: { ...base, rounds: rounds ?? base.rounds },
      peers,
      tools,
      // A workload asks with its group alone before it knows its rows.
      wants: (name) =>
        !signal.aborted &&
        (only.length === 0 || name.endsWith(': ') || only.some((part) => name.includes(part))),
      onRow: (row) => {
        if (!signal.aborted) options.onRow(row)
      }
    })
    for (const { run, GROUP } of WORKLOADS) {
      if (isAborted(signal)) break
      if (!mayHaveRows(GROUP, only)) continue
      try {
        await run(bench)
      } catch (error) {
        if (!isAborted(signal)) onNotice(`${GROUP}: ${String(error)}; its other rows are left out`)
      }
    }
    const commit = readCommit(fileURLToPath(new URL('.', import.meta.url)))
    const date = new Date().toISOString()
    return { date, commit, machine, peers: described, quick, rows: bench.rows }
  } finally {
    signal.removeEventListener('abort', close)
    await processes.close()
  }
}

function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}

/** With `--only`, a group is run if it is named, or if no group is and its rows may match. */
function mayHaveRows(group: string, only: readonly string[]): boolean {
  if (only.length === 0) return true
  const groups = only.map((part) =>
    GROUPS.find((known) => part.startsWith(`${known}:`) || part === known)
  )
  return groups.includes(undefined) || groups.includes(group)
}

async function findPeers(
  processes: Processes,
  { against, paths, onNotice }: RunOptions
): Promise<{ peers: Peer[]; described: string[] }> {
  const peers: Peer[] = []
  const described: string[] = []
  for (const name of against) {
    const path = findProgram(paths[name] ?? PROGRAMS[name])
    if (path === undefined) {
      onNotice(`${explainMissing(name, paths[name])}; what can be run without it is run`)
      continue
    }
    const version = await readVersion(processes, path).catch(() => 'unknown')
    described.push(`${name} ${version}`)
    const redis = name === 'memcached' ? undefined : { label: name, path }
    const start: Peer['start'] = () =>
      redis === undefined ? startMemcached(processes, path) : startRedis(processes, redis)
    peers.push({ label: name, redis, start })
  }
  return { peers, described }
}

function explainMissing(name: PeerName, path: string | undefined): string {
  if (path !== undefined) return `${name}: ${path} is no program`
  const program = PROGRAMS[name]
  const how = `--${name} PATH names one that is elsewhere`
  return name === 'redis' || name === 'memcached'
    ? `${program}: not found; apt-get install ${program} (Debian, Ubuntu), or ${how}`
    : `${program}: not found; ${how}`
}

export function findProgram(name: string): string | undefined {
  const places = name.includes('/')
    ? [name]
    : (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name))
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
