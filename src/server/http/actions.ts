/**
 * What the dashboard can do: let a node go, strike a dead one, and, where there are buckets, look a key up. All of it
 * takes a permission.
 */
import type { FastifyInstance } from 'fastify'
import type { Log } from '../../runtime/log.js'
import type { NodeStatus } from '../../runtime/status.js'
import { RespError, type ReplyValue } from '../../wire/resp/reply-value.js'
import { withConnection } from '../../runtime/resp-connection.js'
import { latin1String } from '../../core/bytes.js'
import { bucketOf, placementHash } from '../../core/hash/placement-hash.js'
import type { LocalClient } from '../../runtime/local-clients.js'
import { refuse, type HttpContext, type RouteGroup } from './context.js'
import type { Permissions } from './origin.js'

const KEY_BYTES_MAX = 4096
/** Of a string, and of the members of anything else. */
const PREVIEW_BYTES = 400
const PREVIEW_MEMBERS = 12

interface NodeParams {
  readonly name: string
}

/** What a node of either placement can be asked for. */
interface Removable {
  readonly name: string
  readonly log: Log
  leave(): Promise<unknown>
  forget(name: string): string | undefined
}

export const actions: RouteGroup = (app, context) => {
  const { node, permissions } = context
  addNodeActions(app, { node, permissions, nodes: () => node.brief().nodes })

  app.post<{ Body: unknown }>('/api/key', async (request, reply) => {
    const { body } = request
    const key = typeof body === 'object' && body !== null && 'key' in body ? body.key : undefined
    if (typeof key !== 'string' || key === '' || Buffer.byteLength(key) > KEY_BYTES_MAX) {
      const message = `key must be a text of 1 to ${KEY_BYTES_MAX} bytes`
      return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message })
    }
    return reply.send(await lookUp(context, key))
  })
}

export interface NodeActionOptions {
  readonly node: Removable
  readonly permissions: Permissions
  readonly nodes: () => readonly Pick<NodeStatus, 'name' | 'state' | 'resp'>[]
}

/** On a scope of its own: whatever else is added there takes the same permission. */
export function addNodeActions(
  app: FastifyInstance,
  { node, permissions, nodes }: NodeActionOptions
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const admitted = permissions.admit(request, reply)
    const problem = admitted ? permissions.judge(request) : 'this page is not of this cluster'
    if (problem === undefined) done()
    else refuse(reply, 403, { code: 'OC_FORBIDDEN', message: problem })
  })

  app.post<{ Params: NodeParams }>('/api/nodes/:name/leave', async (request, reply) => {
    const { name } = request.params
    const target = nodes().find((one) => one.name === name)
    if (target === undefined || target.state !== 'alive') {
      const message = `there is no node named ${name} that could leave`
      return refuse(reply, 404, { code: 'OC_NOT_FOUND', message })
    }
    node.log.info('asked to let a node leave', { name, from: request.ip })
    if (name === node.name) void node.leave()
    else await askToLeave(target.resp, (reason) => node.log.warn('leave', { name, reason }))
    return reply.code(202).send({ name, state: 'leaving' })
  })

  app.post<{ Params: NodeParams }>('/api/nodes/:name/forget', (request, reply) => {
    const { name } = request.params
    node.log.info('asked to forget a node', { name, from: request.ip })
    const message = node.forget(name)
    if (message === undefined) return reply.send({ name, state: 'left' })
    return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message })
  })
}

/** A node answers when it has left; whoever clicked only wants to know that it was told. */
async function askToLeave(address: string, onProblem: (reason: string) => void): Promise<void> {
  const TOLD_MS = 300
  const left = withConnection(address, (connection) => connection.call('OC.LEAVE'))
  left.catch((error: unknown) => onProblem(String(error)))
  await Promise.race([left, new Promise((resolve) => setTimeout(resolve, TOLD_MS))])
}

async function lookUp({ node }: HttpContext, key: string): Promise<object> {
  const bytes = Buffer.from(key, 'utf8')
  const place = node.perform(({ config, table }) => {
    const bucket = bucketOf(placementHash(config.hash).hash(bytes, 0, bytes.length), table.mask)
    return { bucket, ...table.row(bucket) }
  })
  const client = node.connect()
  try {
    const type = textOf(await client.call('TYPE', bytes))
    if (type === 'none') return { key, ...place, type: null }
    const [ttl, preview] = await Promise.all([
      client.call('PTTL', bytes),
      show(client, type, bytes)
    ])
    return { key, ...place, type, ttlMs: typeof ttl === 'number' && ttl >= 0 ? ttl : null, preview }
  } finally {
    client.close()
  }
}

/** A few lines of text, whatever it is; never more than the limits. */
async function show(client: LocalClient, type: string, key: Uint8Array): Promise<string[]> {
  const last = String(PREVIEW_MEMBERS - 1)
  const count = String(PREVIEW_MEMBERS)
  switch (type) {
    case 'string':
      return [textOf(await client.call('GETRANGE', key, '0', String(PREVIEW_BYTES - 1)))]
    case 'list':
      return lines(await client.call('LRANGE', key, '0', last), 1)
    case 'set':
      return lines(scanned(await client.call('SSCAN', key, '0', 'COUNT', count)), 1)
    case 'hash':
      return lines(scanned(await client.call('HSCAN', key, '0', 'COUNT', count)), 2)
    case 'zset':
      return lines(await client.call('ZRANGE', key, '0', last, 'WITHSCORES'), 2)
    default:
      return []
  }
}

function scanned(reply: ReplyValue): ReplyValue {
  return Array.isArray(reply) ? reply[1] : reply
}

function lines(reply: ReplyValue, group: number): string[] {
  if (!Array.isArray(reply)) return [textOf(reply)]
  const all: string[] = []
  for (let at = 0; at < reply.length && all.length < PREVIEW_MEMBERS; at += group) {
    all.push(
      reply
        .slice(at, at + group)
        .map(textOf)
        .join('  ')
    )
  }
  return all
}

/** Text where it is text, and every other byte by its number. */
function textOf(value: ReplyValue): string {
  if (value instanceof RespError) return value.text
  if (!(value instanceof Uint8Array)) return typeof value === 'object' ? '' : String(value)
  const bytes = value.subarray(0, PREVIEW_BYTES)
  const text = Buffer.from(bytes).toString('utf8')
  if (!text.includes('\ufffd')) return text
  return latin1String(bytes, 0, bytes.length).replace(
    /[^\x20-\x7e]/g,
    (letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}`
  )
}
