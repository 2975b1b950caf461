/** Ours: nodes started by the command a user types, with every feature as it comes. */
import { fileURLToPath } from 'node:url'
import { fetchClusterStatus } from '../../../src/runtime/cluster-status.js'
import { findFreePort, until, type Processes, type Started } from '../processes.js'
import type { Server } from './server.js'

/** From dist/bench/compare/peers. */
const COMMAND = fileURLToPath(new URL('../../../../bin/opencluster', import.meta.url))
const READY = /^opencluster ready .*\bresp=\S+:(\d+) http=(?:\S+:)?(\w+)/m

export interface OpenClusterOptions {
  readonly nodes: number
  readonly copies: number
  readonly http?: boolean
}

export async function startOpenCluster(
  processes: Processes,
  { nodes: count, copies, http = false }: OpenClusterOptions
): Promise<Server> {
  const nodes: Started[] = []
  const ports: number[] = []
  let httpPort: number | undefined
  for (let number = 1; number <= count; number++) {
    const flags = ['--copies', String(copies), '--http-port', http && number === 1 ? '0' : 'off']
    const node = await startNode(processes, ports.at(0), [...flags, '--name', `node-${number}`])
    nodes.push(node.started)
    ports.push(node.port)
    httpPort ??= node.httpPort
  }
  if (count > 1) await untilBalanced(ports[0], count)
  return { label: 'opencluster', protocol: 'resp', ports, httpPort, nodes }
}

/** One more node for a cluster that runs. */
export async function startNode(
  processes: Processes,
  join: number | undefined,
  flags: readonly string[]
): Promise<{ started: Started; port: number; httpPort: number | undefined }> {
  const port = await findFreePort()
  const args = [COMMAND, 'start', '--port', String(port), '--log-level', 'warn', ...flags]
  if (join !== undefined) args.push('--join', `127.0.0.1:${join}`)
  const started = processes.start(process.execPath, args, { OPENCLUSTER_TIED: '1' })
  let found: RegExpExecArray | null = null
  await until('a node that is ready', async () => {
    if (!started.isRunning()) throw new Error(`a node did not start: ${await started.ended}`)
    found = READY.exec(started.stdout())
    return found !== null
  })
  const http = Number(found?.[2])
  return { started, port, httpPort: http > 0 ? http : undefined }
}

export async function untilBalanced(
  port: number,
  nodes: number,
  timeoutMs = 60_000
): Promise<void> {
  await until(
    `${nodes} nodes in balance`,
    async () => {
      const status = await fetchClusterStatus(`127.0.0.1:${port}`)
      const members = status.nodes.filter(({ primaries }) => primaries > 0)
      return status.balanced && members.length === nodes && status.moves.length === 0
    },
    timeoutMs
  )
}
