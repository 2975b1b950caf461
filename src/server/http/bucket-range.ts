/**
 * Ranges of keys where the placement is buckets. Keys have no order there, since a bucket is found by hash, and keeping one
 * would cost every write for the sake of a rare question. So the order is made when it is asked for: one walk over all
 * keys keeps the next few thousand behind the last one given out, and those are read and sent; then the next walk. What is
 * in memory is one such batch of keys and a few values, however long the range is. The price is one walk a batch: good
 * for tens of thousands of keys; whoever lives on ranges takes the ring, which has an index.
 */
import { compareBytes } from '../../core/bytes.js'
import type { NodeAccess } from '../../runtime/access.js'
import type { LocalClient } from '../../runtime/local-clients.js'
import type { ReplyValue } from '../../wire/resp/reply-value.js'
import type { Entity, EntityRange } from './entity-store.js'
import { SmallestKeys } from './smallest-keys.js'

const BATCH_KEYS = 8192
const BATCH_BYTES = 1024 * 1024
/** How many keys are looked at in one go: clients' requests come in between. */
const STEP_KEYS = 2000
const VALUES_AHEAD = 8

export async function* scanBuckets(node: NodeAccess, range: EntityRange): AsyncGenerator<Entity> {
  const client = node.connect()
  try {
    let [start, inclusive] = [range.start, true]
    for (;;) {
      const keys = await nextKeys(node, client, { ...range, start, inclusive })
      yield* readValues(client, keys.list)
      const last = keys.list.at(-1)
      if (last === undefined || keys.isAll) return
      start = last
      inclusive = false
    }
  } finally {
    client.close()
  }
}

async function nextKeys(
  node: NodeAccess,
  client: LocalClient,
  range: EntityRange & { readonly inclusive: boolean }
): Promise<{ list: Uint8Array[]; isAll: boolean }> {
  const smallest = new SmallestKeys({ keys: BATCH_KEYS, bytes: BATCH_BYTES })
  const { start, end, inclusive } = range
  const batches = range.scope === 'node' ? ownKeys(node) : allKeys(client)
  for await (const batch of batches) {
    for (const key of batch) {
      const order = compareBytes(key, start)
      if (order < 0 || (order === 0 && !inclusive)) continue
      if (end.length > 0 && compareBytes(key, end) >= 0) continue
      smallest.add(key)
    }
  }
  return { list: smallest.sorted(), isAll: !smallest.dropped }
}

/** Of the buckets that this node is the primary of. */
async function* ownKeys(node: NodeAccess): AsyncGenerator<Uint8Array[]> {
  for (let [bucket, cursor, size] = [0, 0, -1]; ;) {
    const step = node.perform(({ buckets, table }, now) => {
      // A split puts keys elsewhere: what was passed by then is looked at again.
      if (table.size !== size) [bucket, cursor, size] = [0, 0, table.size]
      const state = buckets[bucket]
      const keys: Uint8Array[] = []
      if (state?.role !== 'primary') return { keys, cursor: 0 }
      const { items } = state
      const next = items.scan(cursor, STEP_KEYS, now, (ref) => {
        if (items.isString(ref)) keys.push(items.keyBytes(ref))
      })
      return { keys, cursor: next }
    })
    if (step === undefined) throw new Error('the node has stopped')
    if (step.keys.length > 0) yield step.keys
    cursor = step.cursor
    if (cursor === 0) bucket++
    if (bucket >= size) return
    if (step.keys.length > 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

async function* allKeys(client: LocalClient): AsyncGenerator<Uint8Array[]> {
  let cursor: string | Uint8Array = '0'
  do {
    const reply: ReplyValue = await client.call(
      'SCAN',
      cursor,
      'COUNT',
      `${STEP_KEYS}`,
      'TYPE',
      'string'
    )
    if (!Array.isArray(reply)) throw new Error('the cluster cannot be walked over now')
    const [next, keys] = reply as [Uint8Array, Uint8Array[]]
    yield keys
    cursor = next
  } while (Buffer.from(cursor).toString('latin1') !== '0')
}

/** A few at a time: what has gone or changed its kind meanwhile is left out. */
async function* readValues(client: LocalClient, keys: Uint8Array[]): AsyncGenerator<Entity> {
  const ahead: { key: Uint8Array; reply: Promise<ReplyValue> }[] = []
  for (let at = 0; at < keys.length || ahead.length > 0;) {
    while (at < keys.length && ahead.length < VALUES_AHEAD) {
      const key = keys[at++]
      const reply = client.call('GET', key)
      // Whoever stops reading leaves some of them to nobody.
      reply.catch(() => undefined)
      ahead.push({ key, reply })
    }
    const first = ahead.shift()
    const value = await first?.reply
    if (first !== undefined && value instanceof Uint8Array) yield { key: first.key, value }
  }
}
