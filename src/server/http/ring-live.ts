/** `/` and `/api/live` of a node of a ring: the same page, fed with arcs instead of buckets. */
import type { FastifyInstance } from 'fastify'
import type { RingAccess } from '../../runtime/ring-node.js'
import { RingFeed } from '../live/ring-feed.js'
import { addDashboard, describePolicy } from './dashboard.js'
import { EventStreams } from './event-stream.js'
import { addSession } from './live.js'
import type { Permissions } from './origin.js'

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
  const feed = new RingFeed(node)
  addDashboard(app, () => describePolicy(host, doorsOf(node)))
  app.get('/api/live', (request, reply) => {
    permissions.admit(request, reply)
    let leave: (() => void) | undefined
    const stream = streams.open(reply, () => leave?.())
    if (stream !== undefined) leave = feed.listen((kind, data) => stream.tell(kind, data))
    return reply
  })
  addSession(app, { node, permissions })
  return () => {
    streams.close()
    feed.close()
  }
}

export function doorsOf(node: RingAccess): string[] {
  return node.status().nodes.flatMap(({ http }) => (http === null ? [] : [http]))
}
