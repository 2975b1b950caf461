/** The status of a cluster: asked of one node, and completed by the others with what only they know. */
import { RespConnection, withConnection } from './resp-connection.js'
import { countLost, type BucketStatus, type NodeStatus, type Status } from './status.js'

/** How long a node other than the one that was named may take. */
const OTHERS_MS_MAX = 1000

export async function fetchStatus(address: string): Promise<Status> {
  return withConnection(address, readStatus)
}

/** The same with the items, bytes and moves that each node knows of itself. */
export async function fetchClusterStatus(address: string): Promise<Status> {
  return completeStatus(await fetchStatus(address))
}

/** What one node says, completed by the others; one that does not answer in time is left out. */
export async function completeStatus(status: Status): Promise<Status> {
  const others = status.nodes.filter(
    ({ name, state }) => name !== status.node && (state === 'alive' || state === 'leaving')
  )
  const answers = await Promise.all(others.map(({ resp }) => fetchOther(resp)))
  return mergeStatus(
    status,
    answers.filter((answer) => answer !== undefined)
  )
}

async function readStatus(connection: RespConnection): Promise<Status> {
  const reply = await connection.call('OC.STATUS')
  if (typeof reply !== 'string') throw new Error(`${connection.address}: not a node`)
  return JSON.parse(reply) as Status
}

async function fetchOther(address: string): Promise<Status | undefined> {
  let connection: RespConnection | undefined
  const timer = setTimeout(() => connection?.close(), OTHERS_MS_MAX)
  try {
    connection = await RespConnection.open(address, OTHERS_MS_MAX)
    return await readStatus(connection)
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
    connection?.close()
  }
}

/** Of the rows all know the same; which buckets started empty each counts for itself. */
export function mergeStatus(status: Status, others: readonly Status[]): Status {
  const byNode = new Map(others.map((other) => [other.node, other]))
  const nodes = status.nodes.map((node): NodeStatus => {
    const own = byNode.get(node.name)?.nodes.find(({ name }) => name === node.name)
    if (own === undefined) return node
    return { ...node, http: own.http, items: own.items, bytes: own.bytes }
  })
  const buckets = status.buckets.map((bucket): BucketStatus => {
    const items = byNode.get(bucket.primary ?? '')?.buckets.at(bucket.id)?.items
    return items === undefined || items === null ? bucket : { ...bucket, items }
  })
  return {
    ...status,
    balanced: status.balanced && others.every(({ balanced }) => balanced),
    lost: others.reduce((sum, other) => sum + other.lost - countLost(other.buckets), status.lost),
    nodes,
    buckets,
    moves: [...status.moves, ...others.flatMap(({ moves }) => moves)]
  }
}
