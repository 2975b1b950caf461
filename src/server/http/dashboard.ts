/**
 * `/`: the dashboard, bundled at build (web/, scripts/build-web.mjs) and kept in memory with its compressed forms. The
 * page may load nothing but this node's own files and talk to nobody but the nodes of the cluster.
 */
import type { FastifyInstance } from 'fastify'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isLoopback, parseAddress } from '../../config/address.js'
import { refuse, type RouteGroup } from './context.js'

interface WebFile {
  readonly path: string
  readonly type: string
  readonly etag: string
  /** It has its contents in its name. */
  readonly fixed: boolean
}

interface LoadedFile extends WebFile {
  readonly plain: Buffer
  readonly gzip: Buffer
  readonly brotli: Buffer
}

/** From dist/src/server/http, and from the sources under the tests. */
const FOLDERS = ['../../../web/', '../../../dist/web/'].map(
  (path) => new URL(path, import.meta.url)
)
const YEAR_S = 31_536_000

export const dashboard: RouteGroup = (app, { node, feed }) => {
  addDashboard(app, () => describePolicy(parseAddress(node.address)?.host ?? '', feed.doors))
}

/** `policy` says what the page may load and whom it may talk to, asked whenever somebody opens it. */
export function addDashboard(app: FastifyInstance, policy: () => string): void {
  const files = load()
  if (files.length === 0) {
    app.get('/', (_request, reply) => {
      const message = 'the dashboard was not built: npm run build'
      return refuse(reply, 404, { code: 'OC_NOT_FOUND', message })
    })
    return
  }
  for (const file of files) {
    app.get(file.path, (request, reply) => {
      const accepted = request.headers['accept-encoding'] ?? ''
      const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : ''
      void reply.headers({
        etag: file.etag,
        vary: 'accept-encoding',
        'cache-control': file.fixed ? `public, max-age=${YEAR_S}, immutable` : 'no-cache'
      })
      if (file.path === '/') void reply.header('content-security-policy', policy())
      if (request.headers['if-none-match'] === file.etag) return reply.code(304).send()
      void reply.type(file.type)
      if (encoding === '') return reply.send(file.plain)
      void reply.header('content-encoding', encoding)
      return reply.send(encoding === 'br' ? file.brotli : file.gzip)
    })
  }
}

function load(): LoadedFile[] {
  const folder = FOLDERS.find((one) => existsSync(new URL('manifest.json', one)))
  if (folder === undefined) return []
  const read = (name: string): Buffer => readFileSync(fileURLToPath(new URL(name, folder)))
  const list = JSON.parse(read('manifest.json').toString()) as WebFile[]
  return list.map((file) => {
    const name = file.path === '/' ? 'index.html' : file.path.slice(1)
    return { ...file, plain: read(name), gzip: read(`${name}.gz`), brotli: read(`${name}.br`) }
  })
}

/** The page talks to this node, and to the others when this one dies. */
export function describePolicy(here: string, doors: readonly string[]): string {
  const others = doors.map((door) => `http://${door}`)
  // Nodes that join later on this machine have ports that nobody knows yet.
  if (isLoopback(here)) others.push('http://127.0.0.1:*', 'http://localhost:*')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${others.join(' ')}`.trim(),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join('; ')
}
