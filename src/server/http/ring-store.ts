/** The routes' store over a node of a ring. */
import { ByteReader, compareBytes } from '../../core/bytes.js'
import type { RingAnswer } from '../../node/ring/outbox.js'
import { decodeRecord, type RecordForm } from '../../node/ring/records.js'
import type { RingAccess } from '../../runtime/ring-node.js'
import type { Entity, EntityAnswer, EntityRange, EntityStore } from './entity-store.js'

const BATCH_BYTES = 256 * 1024

export function createRingStore(node: RingAccess): EntityStore {
  return {
    get fromMax() {
      return node.size
    },
    get: async (key, quorum) => entityAnswer(await node.request({ kind: 'get', key, ...quorum })),
    put: async (key, value, { quorum, ttlMs }) => {
      const ttl = ttlMs === undefined ? {} : { ttlMs }
      return entityAnswer(await node.request({ kind: 'put', key, value, ...ttl, ...quorum }))
    },
    delete: async (key, quorum) =>
      entityAnswer(await node.request({ kind: 'delete', key, ...quorum })),
    scan: (range) => scan(node, range)
  }
}

function entityAnswer(answer: RingAnswer): EntityAnswer {
  return answer
}

async function* scan(node: RingAccess, range: EntityRange): AsyncGenerator<Entity> {
  for await (const { key, value } of mergeNewest(sourcesOf(node, range))) {
    if (value !== undefined) yield { key, value }
  }
}

function sourcesOf(node: RingAccess, range: EntityRange): AsyncGenerator<RecordForm>[] {
  if (range.scope === 'node') return [readNode(node, node.name, range)]
  const members = node.inspect()?.members ?? []
  return members.filter(({ up }) => up).map(({ name }) => readNode(node, name, range))
}

/** One node's records, batch after batch. */
async function* readNode(
  node: RingAccess,
  name: string,
  range: EntityRange
): AsyncGenerator<RecordForm> {
  let [start, inclusive] = [range.start, true]
  for (;;) {
    const { end } = range
    const batch = await node.scan({ node: name, start, inclusive, end, limitBytes: BATCH_BYTES })
    // One that died has its records elsewhere.
    if (batch === undefined) return
    for (const record of decodeAll(batch.payload)) {
      start = record.key
      inclusive = false
      yield record
    }
    if (batch.done) return
  }
}

function* decodeAll(payload: Uint8Array): Generator<RecordForm> {
  const reader = ByteReader.over(payload)
  while (reader.remaining > 0) {
    const at = reader.offset
    const length = reader.u32() + 4
    reader.skip(length - 4)
    yield decodeRecord(payload.subarray(at, at + length))
  }
}

/** Several sorted sources as one: each key once, in its newest form. Holds one record of each source. */
export async function* mergeNewest(
  sources: readonly AsyncGenerator<RecordForm>[]
): AsyncGenerator<RecordForm> {
  const heads = await Promise.all(
    sources.map(async (source) => ({ source, next: await source.next() }))
  )
  for (;;) {
    let first: RecordForm | undefined
    for (const { next } of heads) {
      if (next.done === true) continue
      const order = first === undefined ? -1 : compareBytes(next.value.key, first.key)
      if (first === undefined || order < 0) first = next.value
      else if (order === 0 && next.value.version > first.version) first = next.value
    }
    if (first === undefined) return
    const { key } = first
    for (const head of heads) {
      if (head.next.done === true || compareBytes(head.next.value.key, key) !== 0) continue
      head.next = await head.source.next()
    }
    yield first
  }
}
