/** A group of processes that together are one service: what all workloads know of ours and of a peer. */
import type { Protocol } from '../reply-counter.js'
import type { Processes, Started } from '../processes.js'

export interface Server {
  /** How the rows call it. */
  readonly label: string
  readonly protocol: Protocol
  /** One for each node. */
  readonly ports: readonly number[]
  /** The port of its HTTP door, if it has one. */
  readonly httpPort: number | undefined
  readonly nodes: readonly Started[]
}

export function pidsOf({ nodes }: Server): number[] {
  return nodes.map(({ pid }) => pid)
}

export function isRunning({ nodes }: Server): boolean {
  return nodes.every((node) => node.isRunning())
}

export async function stopServer(processes: Processes, { nodes }: Server): Promise<void> {
  await Promise.all(nodes.map((node) => processes.stop(node)))
}

/** What the generator needs of it: by default all keys go to the first node. */
export function targetOf(server: Server): Pick<TargetFields, 'ports' | 'protocol' | 'pids'> {
  return { ports: server.ports.slice(0, 1), protocol: server.protocol, pids: pidsOf(server) }
}

interface TargetFields {
  readonly ports: readonly number[]
  readonly protocol: Protocol
  readonly pids: readonly number[]
}
