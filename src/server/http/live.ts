/** `/api/live`: the feed of the dashboard, as server-sent events (live/protocol.ts), and the token its actions need. */
import type { FastifyInstance } from 'fastify'
import type { RouteGroup } from './context.js'
import { EventStreams } from './event-stream.js'
import type { Permissions } from './origin.js'

export const live: RouteGroup = (app, context) => {
  const { node, feed, permissions } = context
  const streams = new EventStreams()
  context.onClose(() => streams.close())
  app.get('/api/live', (request, reply) => {
    permissions.admit(request, reply)
    let leave: (() => void) | undefined
    const stream = streams.open(reply, () => leave?.())
    if (stream !== undefined) leave = feed.listen((kind, data) => stream.tell(kind, data))
    return reply
  })
  addSession(app, { node, permissions })
}

/** Who may act, and with what token; and what a page of another node is told before it asks. */
export function addSession(
  app: FastifyInstance,
  { node, permissions }: { node: { readonly name: string }; permissions: Permissions }
): void {
  app.options('/api/*', (request, reply) => {
    permissions.admit(request, reply)
    return reply.code(204).send()
  })
  app.get('/api/session', (request, reply) => {
    const mayAct = permissions.admit(request, reply) && permissions.isNear(request)
    void reply.header('cache-control', 'no-store')
    return reply.send({ node: node.name, mayAct, token: mayAct ? permissions.token : null })
  })
}
