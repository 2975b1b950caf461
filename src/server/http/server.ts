/**
 * The HTTP door of a node. Everything about a request that is no business of a route is decided here: who may ask at
 * all, how large and how slow a request may be, and the one form of an error. The routes are in groups, one file
 * each, in the list below.
 *
 * Who may ask: the door listens where the node does, so beyond this machine only with a secret (config/load). A page
 * of some website cannot ask either, although it runs in a browser on this machine: it has to call the door by an
 * address, and a name that leads here but is not this machine's is refused.
 */
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import type { ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { isIP } from 'node:net'
import { formatAddress, isLoopback, isWildcard, parseAddress } from '../../config/address.js'
import type { PortChoice } from '../../config/option.js'
import { HTTP_PORT } from '../../config/options.js'
import type { Door, NodeAccess } from '../../runtime/access.js'
import { ClusterFeed } from '../live/cluster-feed.js'
import { actions } from './actions.js'
import { cluster } from './cluster.js'
import { refuse, type HttpContext, type RouteGroup } from './context.js'
import { dashboard } from './dashboard.js'
import { elastic } from './elastic.js'
import { entities } from './entity-group.js'
import { events } from './events.js'
import { health } from './health.js'
import { live } from './live.js'
import { metrics } from './metrics.js'
import { Permissions } from './origin.js'

const GROUPS: readonly RouteGroup[] = [
  health,
  cluster,
  events,
  metrics,
  live,
  actions,
  elastic,
  entities,
  dashboard
]

const BODY_BYTES_MAX = 1024 * 1024
const HEADER_BYTES_MAX = 16 * 1024
const CONNECTIONS_MAX = 4096
const REQUESTS_A_CONNECTION_MAX = 1_000_000
/** From the first byte of a request to the last of its headers, and to its end. */
const HEADERS_MS_MAX = 10_000
const REQUEST_MS_MAX = 60_000
/** Without a byte in either direction. */
const IDLE_MS_MAX = 60_000
const KEEP_ALIVE_MS = 30_000

export interface HttpOptions {
  readonly node: NodeAccess
  /** Where to listen. */
  readonly host: string
  /** A port that was not given may be another one than usual. */
  readonly port: Exclude<PortChoice, 'off'>
}

export async function startHttp({ node, host, port }: HttpOptions): Promise<Door> {
  const closing: (() => void)[] = []
  let address = ''
  const feed = new ClusterFeed(node)
  closing.push(() => feed.close())
  const context: HttpContext = {
    node,
    feed,
    permissions: new Permissions(() => feed.doors),
    address: () => address,
    onClose: (act) => closing.push(act)
  }
  const app = createApp(node, host)
  for (const group of GROUPS) {
    app.register((scope, _options, done) => {
      group(scope, context)
      done()
    })
  }
  await app.ready()
  app.server.maxConnections = CONNECTIONS_MAX
  app.server.maxRequestsPerSocket = REQUESTS_A_CONNECTION_MAX
  const bound = await listen(app, isWildcard(host) ? '' : host, port)
  // Whoever reaches the node under a name reaches its doors under the same.
  const reached = parseAddress(node.address)?.host ?? host
  address = formatAddress({ host: reached, port: bound })
  return {
    address,
    close: async () => {
      for (const act of closing) act()
      await app.close()
    }
  }
}

export function createApp(node: Pick<NodeAccess, 'log'>, host: string): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    connectionTimeout: IDLE_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_MS_MAX,
    forceCloseConnections: true,
    // Without one the server would answer 400 and say nothing.
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS_MAX,
      requireHostHeader: false
    },
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy()
        return
      }
      const large = error.code === 'HPE_HEADER_OVERFLOW'
      // An id is part of the head of a request: one that is too long is answered as a value that is too long.
      const status = large ? '413 Content Too Large' : '400 Bad Request'
      const code = large ? 'OC_TOO_LARGE' : 'OC_BAD_REQUEST'
      const message = large ? `headers may have ${HEADER_BYTES_MAX} bytes` : 'this is not HTTP/1.1'
      const body = JSON.stringify({ code, message })
      const head = `content-type: application/json\r\ncontent-length: ${body.length}`
      socket.end(`HTTP/1.1 ${status}\r\n${head}\r\nconnection: close\r\n\r\n${body}`)
    }
  })
  app.server.on('checkExpectation', (_request, response: ServerResponse) => {
    const message = 'only 100-continue can be expected'
    response.writeHead(400, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify({ code: 'OC_BAD_REQUEST', message }))
  })
  const loopback = isLoopback(host)
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin'
    })
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      refuse(reply, 400, { code: 'OC_BAD_REQUEST', message: 'the host header is missing' })
      return
    }
    if (loopback && !isOwnName(request.headers.host)) {
      const message = `this node is not known as ${String(request.headers.host).slice(0, 100)}`
      refuse(reply, 403, { code: 'OC_FORBIDDEN', message })
      return
    }
    done()
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0].slice(0, 200)
    const message = `${request.method} ${path} is nothing this node knows`
    if (path.startsWith('/api/')) return refuse(reply, 404, { code: 'OC_NOT_FOUND', message })
    return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message })
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500
    if (status === 413) {
      return refuse(reply, 413, { code: 'OC_TOO_LARGE', message: error.message })
    }
    // A body of no type: what is wrong with the request is the same, whatever a route makes of bodies.
    if (status === 415 && !request.url.startsWith('/api/')) {
      return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message: error.message })
    }
    if (status >= 400 && status < 500) {
      return refuse(reply, status, { code: 'OC_BAD_REQUEST', message: error.message })
    }
    const where = `${request.method} ${request.url.slice(0, 200)}`
    node.log.error('a request met a defect', { where, error: error.stack ?? error.message })
    return refuse(reply, 500, { code: 'OC_INTERNAL', message: 'a defect; the log says more' })
  })
  return app
}

/** An address, this machine's name, or none at all (HTTP/1.0). */
function isOwnName(header: string | undefined): boolean {
  if (header === undefined) return true
  const name = header
    .replace(/:\d{1,5}$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  // The name is asked of the system each time, so last.
  return name === 'localhost' || isIP(name) !== 0 || name === hostname().toLowerCase()
}

/** Resolves with the port. The usual one is only a wish: the second node on a machine takes any free one. */
export async function listen(
  app: FastifyInstance,
  host: string,
  port: Exclude<PortChoice, 'off'>
): Promise<number> {
  try {
    return await bind(app, host, port ?? HTTP_PORT)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' && port === undefined) return bind(app, host, 0)
    const reason =
      code === 'EADDRINUSE'
        ? 'is taken by another process; give another one, 0 for any free one, or off'
        : String(error)
    throw new Error(`--http-port ${port ?? HTTP_PORT} ${reason}`, { cause: error })
  }
}

/** By the server itself: `app.listen` may be called once only, whatever came of it. */
function bind(app: FastifyInstance, host: string, port: number): Promise<number> {
  const { server } = app
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(host === '' ? { port } : { host, port }, () => {
      server.removeListener('error', reject)
      const bound = server.address()
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
    })
  })
}
