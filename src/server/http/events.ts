/**
 * `/api/events`: server-sent events, one for each thing the node reports: `row` (a line of the table changed), `stage`
 * (a move went on), `joined`, `leaving`, `left`, `died`, `returned`, `isolated`, `serving`, `promoted`, `split`, `lost`, `conflict`, `voters`.
 */
import type { RouteGroup } from './context.js'
import { EventStreams } from './event-stream.js'

export const events: RouteGroup = (app, context) => {
  const { node, permissions } = context
  const streams = new EventStreams()
  const stop = node.onEvent((event) => {
    if (event.kind !== 'mayGo') streams.tell(event.kind, { timeMs: node.now(), ...event })
  })
  context.onClose(() => {
    stop()
    streams.close()
  })
  app.get('/api/events', (request, reply) => {
    permissions.admit(request, reply)
    streams.open(reply)?.tell('hello', { node: node.name, version: node.version })
    return reply
  })
}
