/**
 * What a user sees of a node from outside: its events as they come, its metrics, and where a status
 * says that keys are.
 */
import { latin1Bytes } from '../../src/core/bytes.js'
import { redisHash } from '../../src/core/hash/placement-hash.js'
import type { Status } from '../../src/index.js'
import type { NodeProcess } from './process.js'

export interface Told {
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Listens to `/api/events` until the node ends. */
export class EventFeed {
  readonly told: Told[] = []

  static async open(node: NodeProcess): Promise<EventFeed> {
    const response = await fetch(`http://${node.http}/api/events`)
    const { body } = response
    if (!response.ok || body === null) throw new Error(`${node.http} tells no events`)
    const feed = new EventFeed()
    // It ends with the node, in the middle of a line perhaps.
    void feed.#read(body).catch(() => undefined)
    return feed
  }

  of(kind: string): Told['data'][] {
    return this.told.filter((told) => told.kind === kind).map(({ data }) => data)
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = ''
    for await (const piece of body.pipeThrough(new TextDecoderStream())) {
      text += piece
      const messages = text.split('\n\n')
      text = messages.pop() ?? ''
      for (const message of messages) {
        // Between events there are lines that only keep the connection open.
        const found = /^event: (\S+)\ndata: (.*)$/.exec(message)
        if (found === null) continue
        this.told.push({ kind: found[1], data: JSON.parse(found[2]) as Told['data'] })
      }
    }
  }
}

/** One number of `/metrics`, without labels. */
export async function readMetric(node: NodeProcess, name: string): Promise<number> {
  const text = await (await fetch(`http://${node.http}/metrics`)).text()
  const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
  if (found === undefined) throw new Error(`${node.http} has no metric ${name}`)
  return Number(found)
}

/** That number of all of them together. */
export async function sumMetric(nodes: readonly NodeProcess[], name: string): Promise<number> {
  const numbers = await Promise.all(nodes.map((node) => readMetric(node, name)))
  return numbers.reduce((sum, number) => sum + number, 0)
}

export function bucketOf(key: string, mask: number): number {
  const bytes = latin1Bytes(key)
  return redisHash.hash(bytes, 0, bytes.length) & mask
}

/** So many keys, each of another bucket whose primary is that node. */
export function keysOn({ buckets }: Status, primary: string, count: number): string[] {
  const keys = new Map<number, string>()
  for (let i = 0; keys.size < count; i++) {
    const key = `key:${i}`
    const bucket = bucketOf(key, buckets.length - 1)
    if (buckets[bucket].primary === primary) keys.set(bucket, key)
  }
  return [...keys.values()]
}
