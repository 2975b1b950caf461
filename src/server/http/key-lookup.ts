/**
 * Where a key is and what it looks like, for the dashboard. A preview is text and short, whatever the value is; bytes that
 * are no text are shown by their numbers.
 */
import type { FastifyInstance } from 'fastify'
import { latin1String } from '../../core/bytes.js'
import { bucketOf, placementHash } from '../../core/hash/placement-hash.js'
import { positionOfKey, Ring } from '../../core/placement/ring.js'
import type { NodeAccess } from '../../runtime/access.js'
import type { LocalClient } from '../../runtime/local-clients.js'
import type { RingAccess } from '../../runtime/ring-node.js'
import { RespError, type ReplyValue } from '../../wire/resp/reply-value.js'
import type { FoundKey } from '../live/protocol.js'
import { refuse } from './context.js'

const KEY_BYTES_MAX = 4096
/** Of a string, and of the members of anything else. */
const PREVIEW_BYTES = 400
const PREVIEW_MEMBERS = 12

/** Too few nodes answered. */
class Unanswered extends Error {}

/** Where everything takes a permission already. */
export function addKeyLookup(
  app: FastifyInstance,
  find: (key: Uint8Array) => Promise<Omit<FoundKey, 'key'>>
): void {
  app.post<{ Body: unknown }>('/api/key', async (request, reply) => {
    const { body } = request
    const key = typeof body === 'object' && body !== null && 'key' in body ? body.key : undefined
    if (typeof key !== 'string' || key === '' || Buffer.byteLength(key) > KEY_BYTES_MAX) {
      const message = `key must be a text of 1 to ${KEY_BYTES_MAX} bytes`
      return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message })
    }
    try {
      return await reply.send({ key, ...(await find(Buffer.from(key, 'utf8'))) })
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      return refuse(reply, 503, { code: 'OC_NOT_SERVING', message: error.message })
    }
  })
}

/** In the cluster that this node of it knows, whichever node has the key. */
export async function findInBuckets(
  node: NodeAccess,
  bytes: Uint8Array
): Promise<Omit<FoundKey, 'key'>> {
  const place = node.perform(({ config, table }) => {
    const bucket = bucketOf(placementHash(config.hash).hash(bytes, 0, bytes.length), table.mask)
    return { bucket, ...table.row(bucket) }
  })
  if (place === undefined) throw new Unanswered('the node is closing')
  const client = node.connect()
  try {
    const type = textOf(await client.call('TYPE', bytes))
    if (type === 'none') return { ...place, type: null }
    const [ttl, preview] = await Promise.all([
      client.call('PTTL', bytes),
      show(client, type, bytes)
    ])
    return { ...place, type, ttlMs: typeof ttl === 'number' && ttl >= 0 ? ttl : null, preview }
  } finally {
    client.close()
  }
}

/** By the positions of now, and with as many replicas as records have that do not say otherwise. */
export async function findInRing(
  node: RingAccess,
  bytes: Uint8Array
): Promise<Omit<FoundKey, 'key'>> {
  const { ring, buckets: arcs } = node.status()
  const position = positionOfKey(bytes)
  const members = ring.nodes.map(({ name, positions }) => ({ name, positions, zone: '' }))
  const arc = arcs.at(new Ring(members).arcIndexOf(position))
  const place = {
    bucket: arc?.id ?? 0,
    position,
    primary: arc?.primary ?? null,
    backups: arc?.backups ?? []
  }
  const answer = await node.request({ kind: 'get', key: bytes })
  if ('reason' in answer) throw new Unanswered(answer.reason)
  if (!('value' in answer)) return { ...place, type: null }
  return { ...place, type: 'value', preview: [textOf(answer.value)] }
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
