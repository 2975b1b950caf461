/** `/api/cluster`: what `opencluster status --json` prints, with what the other nodes know. */
import { completeStatus } from '../../runtime/cluster-status.js'
import type { Status } from '../../runtime/status.js'
import type { FastifyInstance } from 'fastify'
import type { NodeAccess } from '../../runtime/access.js'
import type { HttpContext } from './context.js'

/** Whoever asks within this time of another gets the same answer: each one costs a question to every node. */
const FRESH_MS = 200

export function cluster(
  app: FastifyInstance,
  {
    node,
    permissions
  }: Pick<HttpContext, 'permissions'> & { readonly node: Pick<NodeAccess, 'now' | 'status'> }
): void {
  let last: { readonly atMs: number; readonly status: Promise<Status> } | undefined
  app.get('/api/cluster', async (request, reply) => {
    permissions.admit(request, reply)
    const atMs = node.now()
    if (last === undefined || atMs - last.atMs > FRESH_MS) {
      last = { atMs, status: completeStatus(node.status()) }
    }
    const status = await last.status
    return reply.header('cache-control', 'no-store').send(status)
  })
}
