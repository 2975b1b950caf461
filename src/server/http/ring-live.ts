/**
 * `/` and `/api/live` of a node of a ring: the same page, fed with arcs instead of buckets. All nodes know the whole
 * configuration, so nobody has to be asked; a picture a second also tells the page that this node lives.
 */
import type { FastifyInstance } from 'fastify'
import type { RingAccess } from '../../runtime/ring-node.js'
import type { RingStatus } from '../../runtime/ring-status.js'
import type { LiveRow, LiveState } from '../live/protocol.js'
import { addDashboard, describePolicy } from './dashboard.js'
import { EventStreams } from './event-stream.js'
import type { Permissions } from './origin.js'

const PICTURE_MS = 1000

export interface RingLiveOptions {
  readonly permissions: Permissions
  /** Where this door listens. */
  readonly host: string
}

/** Returns what ends the streams. */
export function addRingLive(
  app: FastifyInstance,
  node: RingAccess,
  { permissions, host }: RingLiveOptions
): () => void {
  const streams = new EventStreams()
  addDashboard(app, () => describePolicy(host, doorsOf(node)))
  app.get('/api/live', (request, reply) => {
    permissions.admit(request, reply)
    const stream = streams.open(reply, () => clearInterval(timer))
    if (stream === undefined) return reply
    let shown = ''
    const tell = (): void => {
      const status = node.status()
      const rows = describeArcs(status)
      const text = JSON.stringify(rows)
      if (text !== shown) stream.tell('table', { rows })
      shown = text
      stream.tell('state', describeState(status))
    }
    tell()
    const timer = setInterval(tell, PICTURE_MS)
    timer.unref()
    return reply
  })
  // Whatever changes a ring is asked for at its own routes, so the page may only look.
  app.get('/api/session', (request, reply) => {
    permissions.admit(request, reply)
    void reply.header('cache-control', 'no-store')
    return reply.send({ node: node.name, mayAct: false, token: null })
  })
  return () => streams.close()
}

export function doorsOf(node: RingAccess): string[] {
  return node.status().nodes.flatMap(({ http }) => (http === null ? [] : [http]))
}

function describeArcs({ buckets }: RingStatus): LiveRow[] {
  return buckets.map(({ id, primary, backups }) => [id, primary, ...backups])
}

function describeState(status: RingStatus): LiveState {
  const { node, version, cluster, copies, policy, balanced, lost, ring } = status
  const nodes = status.nodes.map((one) => ({ ...one, plan: '' }))
  return { node, version, cluster, copies, policy, balanced, lost, nodes, moves: [], ring }
}
