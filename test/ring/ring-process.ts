/** Nodes of a ring as real processes, and what a client does with them. */
import { request as httpRequest, Agent } from 'node:http'
import { until, type NodeProcess, type Processes } from '../integration/process.js'

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export interface Answer {
  readonly status: number
  readonly reason: string
  readonly body: Buffer
}

export function call(
  node: NodeProcess,
  method: string,
  path: string,
  options: { body?: Uint8Array | string; headers?: Record<string, string> } = {}
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = options.headers ?? {}
    const request = httpRequest(
      `http://${node.http}${path}`,
      { method, headers, agent },
      (reply) => {
        const parts: Buffer[] = []
        reply.on('data', (part: Buffer) => parts.push(part))
        reply.on('end', () => {
          const { statusCode: status = 0, statusMessage: reason = '' } = reply
          resolve({ status, reason, body: Buffer.concat(parts) })
        })
        reply.on('error', reject)
      }
    )
    request.on('error', reject)
    request.end(options.body)
  })
}

export interface ClusterConfig {
  readonly urlToHash: Readonly<Record<string, number[]>>
  readonly stage: string
  readonly copies: number
  readonly underReplicated: boolean
  readonly underReplicatedRecords: number
  readonly progress: { readonly hints: number; readonly records: number }
  readonly nodes: readonly { name: string; state: string; records: number; share: number }[]
}

export async function configOf(node: NodeProcess): Promise<ClusterConfig> {
  const { body } = await call(node, 'GET', '/v0/cluster-config')
  return JSON.parse(body.toString()) as ClusterConfig
}

/** Every one of them sees so many nodes, all there, and nothing in progress. */
export async function untilSettled(
  nodes: readonly NodeProcess[],
  size = nodes.length
): Promise<void> {
  let seen: unknown
  await until(
    () => `a ring of ${size} at rest, not ${JSON.stringify(seen)}`,
    async () => {
      for (const node of nodes) {
        const config = await configOf(node)
        seen = config
        if (config.stage !== 'rest' || config.nodes.length !== size) return false
        if (config.nodes.some(({ state }) => state !== 'alive')) return false
      }
      return true
    }
  )
}

export async function startRing(
  processes: Processes,
  names: readonly string[],
  ...args: string[]
): Promise<NodeProcess[]> {
  const ring = ['--placement', 'ring', ...args]
  const first = await processes.start(names[0], ...ring)
  const nodes = [first]
  for (const name of names.slice(1)) {
    nodes.push(await processes.start(name, ...ring, '--join', first.address))
  }
  await untilSettled(nodes)
  return nodes
}
