/**
 * The routes' store where the placement is buckets: a write is an ordinary one, acknowledged by every copy that is in
 * sync, so any `ack` up to the number of copies is honoured by it, and a read is the primary's.
 */
import type { NodeAccess } from '../../runtime/access.js'
import { RespError, type ReplyValue } from '../../wire/resp/reply-value.js'
import type { LocalClient } from '../../runtime/local-clients.js'
import { scanBuckets } from './bucket-range.js'
import type { EntityAnswer, EntityStore } from './entity-store.js'

export function createBucketStore(node: NodeAccess): EntityStore {
  let client: LocalClient | undefined
  const call = async (...words: (string | Uint8Array)[]): Promise<ReplyValue> => {
    client ??= node.connect()
    try {
      return await client.call(...words)
    } catch (error) {
      client = undefined
      throw error
    }
  }
  return {
    get fromMax() {
      const { nodes, copies } = node.brief()
      return Math.max(1, Math.min(copies, nodes.filter(({ state }) => state === 'alive').length))
    },
    get: (key) =>
      answer(call('GET', key), (reply) =>
        reply instanceof Uint8Array ? { status: 200, value: reply } : { status: 404 }
      ),
    put: (key, value, { ttlMs }) =>
      answer(
        ttlMs === undefined ? call('SET', key, value) : call('SET', key, value, 'PX', `${ttlMs}`),
        () => ({ status: 201 })
      ),
    delete: (key) => answer(call('DEL', key), () => ({ status: 202 })),
    scan: (range) => scanBuckets(node, range)
  }
}

/** What a node refuses for now is `Not Enough Replicas`; what it refuses for good, the request's fault. */
async function answer(
  replied: Promise<ReplyValue>,
  done: (reply: ReplyValue) => EntityAnswer
): Promise<EntityAnswer> {
  let reply: ReplyValue
  try {
    reply = await replied
  } catch (error) {
    return { status: 504, reason: error instanceof Error ? error.message : String(error) }
  }
  if (!(reply instanceof RespError)) return done(reply)
  const isLasting = reply.code === 'WRONGTYPE' || reply.code === 'OOM'
  return { status: isLasting ? 400 : 504, reason: reply.text }
}
