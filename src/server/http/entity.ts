/**
 * `/v0/entity` of document 003:
 *
 *   GET     200 and the value, 404     PUT  201     DELETE  202, also for a key that is not there
 *   400     a parameter that is missing or wrong     405  any other method     413  too large a value
 *   504     `Not Enough Replicas`: fewer than `ack` of `from` have answered in time
 *
 * `id` is the key; `ack` and `from` are given both or neither; `ttl` (of a PUT) is in milliseconds.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from './context.js'
import type { EntityAnswer, EntityStore, Quorum } from './entity-store.js'
import { parseQuery, QueryError, readNumber, type Query } from './query.js'

export const VALUE_BYTES_MAX = 32 * 1024 * 1024
const KEY_BYTES_MAX = 8192
const TTL_MS_MAX = 1e14
const PATH = '/v0/entity'
const BYTES = 'application/octet-stream'
const KNOWN = ['id', 'ack', 'from', 'ttl']

interface Call {
  readonly key: Uint8Array
  readonly quorum: Quorum | undefined
  readonly ttlMs: number | undefined
}

export function addEntity(app: FastifyInstance, store: EntityStore): void {
  acceptAnyBody(app)
  app.get(PATH, { exposeHeadRoute: false }, (request, reply) =>
    perform(request, reply, store, ({ key, quorum }) => store.get(key, quorum))
  )
  app.put(PATH, { bodyLimit: VALUE_BYTES_MAX }, (request, reply) =>
    perform(request, reply, store, ({ key, quorum, ttlMs }) =>
      store.put(key, bodyOf(request), { quorum, ttlMs })
    )
  )
  app.delete(PATH, (request, reply) =>
    perform(request, reply, store, ({ key, quorum }) => store.delete(key, quorum))
  )
  refuseOtherMethods(app, PATH, ['POST', 'PATCH', 'HEAD', 'OPTIONS'])
}

/** A value is bytes, whatever a client calls it. */
export function acceptAnyBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Also what is no type at all.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['content-type'] !== undefined) request.headers['content-type'] = BYTES
    done()
  })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  method: ('GET' | 'PUT' | 'DELETE' | 'POST' | 'PATCH' | 'HEAD' | 'OPTIONS')[]
): void {
  app.route({
    method,
    url,
    handler: (request, reply) => {
      const message = `${request.method} is not a method of ${url}`
      return refuse(reply, 405, { code: 'OC_BAD_REQUEST', message })
    }
  })
}

async function perform(
  request: FastifyRequest,
  reply: FastifyReply,
  store: EntityStore,
  act: (call: Call) => Promise<EntityAnswer>
): Promise<FastifyReply> {
  let call: Call
  try {
    call = readCall(parseQuery(request.raw.url ?? ''), request.method, store)
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message: error.message })
  }
  return answer(reply, await act(call))
}

function readCall(query: Query, method: string, store: Pick<EntityStore, 'fromMax'>): Call {
  for (const name of query.keys()) {
    if (!KNOWN.includes(name)) throw new QueryError(`${name.slice(0, 50)} is no parameter`)
  }
  const key = query.get('id')
  if (key === undefined || key.length === 0) throw new QueryError('id is missing or empty')
  if (key.length > KEY_BYTES_MAX) throw new QueryError(`id has more than ${KEY_BYTES_MAX} bytes`)
  // Most requests give neither, and to know how many there can be a store looks at the whole cluster.
  const fromMax = (query.get('from') ?? query.get('ack')) ? store.fromMax : 1
  const from = readNumber(query, 'from', { min: 1, max: Math.max(1, fromMax) })
  const ack = readNumber(query, 'ack', { min: 1, max: from ?? Math.max(1, fromMax) })
  if ((ack === undefined) !== (from === undefined)) throw new QueryError('ack and from go together')
  const ttlMs = readNumber(query, 'ttl', { min: 1, max: TTL_MS_MAX })
  if (ttlMs !== undefined && method !== 'PUT') throw new QueryError('ttl is for PUT')
  const quorum = ack === undefined || from === undefined ? undefined : { ack, from }
  return { key, quorum, ttlMs }
}

function bodyOf({ body }: FastifyRequest): Uint8Array {
  return body instanceof Uint8Array ? body : new Uint8Array(0)
}

function answer(reply: FastifyReply, result: EntityAnswer): FastifyReply {
  switch (result.status) {
    case 200: {
      const { buffer, byteOffset, length } = result.value
      return reply
        .code(200)
        .type('application/octet-stream')
        .send(Buffer.from(buffer, byteOffset, length))
    }
    case 201:
    case 202:
    case 404:
      return reply.code(result.status).send()
    case 400:
      return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message: result.reason })
    case 504:
      reply.raw.statusMessage = 'Not Enough Replicas'
      return refuse(reply, 504, { code: 'OC_TIMEOUT', message: result.reason })
  }
}
