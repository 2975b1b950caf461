/**
 * `/v0/entities?start=&end=`: the records from `start` (inclusive) to `end` (exclusive; to the last if it is not given)
 * in the order of their keys, of this node, or with `scope=cluster` of all nodes, merged. One record is one chunk: the
 * key, a line feed, the value. Nothing but a batch is ever in memory: the next is read when the client has taken the
 * one before.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'
import { compareBytes } from '../../core/bytes.js'
import { refuse } from './context.js'
import { refuseOtherMethods } from './entity.js'
import type { Entity, EntityRange, EntityStore } from './entity-store.js'
import { parseQuery, QueryError, type Query } from './query.js'

const PATH = '/v0/entities'
const KNOWN = ['start', 'end', 'scope']
const LINE_FEED = Buffer.from('\n')

export function addEntities(app: FastifyInstance, store: EntityStore): void {
  app.get(PATH, { exposeHeadRoute: false }, async (request, reply) => {
    let range: EntityRange
    try {
      range = readRange(parseQuery(request.raw.url ?? ''))
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message: error.message })
    }
    await stream(reply, store.scan(range))
    return reply
  })
  refuseOtherMethods(app, PATH, ['PUT', 'DELETE', 'POST', 'PATCH', 'HEAD', 'OPTIONS'])
}

function readRange(query: Query): EntityRange {
  for (const name of query.keys()) {
    if (!KNOWN.includes(name)) throw new QueryError(`${name.slice(0, 50)} is no parameter`)
  }
  const start = query.get('start')
  const end = query.get('end')
  if (start === undefined || start.length === 0) throw new QueryError('start is missing or empty')
  if (end?.length === 0) throw new QueryError('end is empty')
  if (end !== undefined && compareBytes(start, end) > 0) throw new QueryError('end is before start')
  const scope = Buffer.from(query.get('scope') ?? Buffer.from('node')).toString('latin1')
  if (scope !== 'node' && scope !== 'cluster') throw new QueryError('scope is node or cluster')
  return { start, end: end ?? new Uint8Array(0), scope }
}

/** Past the framework, which would put several records into one chunk. */
async function stream(reply: FastifyReply, entities: AsyncIterable<Entity>): Promise<void> {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'application/octet-stream',
    'transfer-encoding': 'chunked'
  })
  raw.on('error', () => raw.destroy())
  try {
    for await (const { key, value } of entities) {
      if (raw.destroyed) return
      if (raw.write(Buffer.concat([key, LINE_FEED, value]))) continue
      await drained(raw)
    }
    raw.end()
  } catch {
    // The client sees an answer without its end, which is what it is.
    raw.destroy()
  }
}

/** The client has taken what was written, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end)
      response.off('close', end)
      resolve()
    }
    response.on('drain', end)
    response.on('close', end)
  })
}
