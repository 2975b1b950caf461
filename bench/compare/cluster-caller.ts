/**
 * The least a client of a Redis Cluster must do: go where a reply sends it, and try again while nobody can answer. Ours never
 * sends anyone anywhere, so the same code serves both; latencies include all detours, as a user would feel them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { keySlot } from '../../src/core/hash/slot.js'
import { RespConnection } from '../../src/runtime/resp-connection.js'
import { Histogram, type Latency } from './histogram.js'
import { keyText } from './request-template.js'

const RETRY_MS = 5
const ANSWER_MS_MAX = 500
const DETOURS_MAX = 10

export class ClusterCaller {
  readonly #ports: readonly number[]
  readonly #connections = new Map<number, Promise<RespConnection>>()
  readonly #owners = new Map<number, number>()
  #next = 0

  constructor(ports: readonly number[]) {
    this.#ports = ports
  }

  /** Tries until it is done or the time is over. */
  async call(words: readonly [string, string, ...string[]], timeoutMs: number): Promise<void> {
    const endMs = performance.now() + timeoutMs
    const bytes = Buffer.from(words[1], 'latin1')
    const slot = keySlot(bytes, 0, bytes.length)
    for (;;) {
      const port = this.#owners.get(slot) ?? this.#ports[this.#next++ % this.#ports.length]
      const failure = await this.#attempt(slot, port, words)
      if (failure === undefined) return
      if (performance.now() > endMs) throw new Error(`not done in ${timeoutMs} ms: ${failure}`)
      this.#owners.delete(slot)
      await sleep(RETRY_MS)
    }
  }

  /** What went wrong, if something did. */
  async #attempt(
    slot: number,
    first: number,
    words: readonly string[]
  ): Promise<string | undefined> {
    let [port, asking] = [first, false]
    for (let detour = 0; detour < DETOURS_MAX; detour++) {
      try {
        const connection = await this.#open(port)
        if (asking) void connection.call('ASKING').catch(() => undefined)
        await answerInTime(connection.call(...words))
        if (!asking) this.#owners.set(slot, port)
        return undefined
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        const found = /^(MOVED|ASK) \d+ \S*:(\d+)$/.exec(text)
        if (found === null) {
          this.#drop(port)
          return text
        }
        asking = found[1] === 'ASK'
        port = Number(found[2])
      }
    }
    return 'sent around in circles'
  }

  #open(port: number): Promise<RespConnection> {
    let opened = this.#connections.get(port)
    if (opened === undefined) {
      opened = openAware(port)
      opened.catch(() => this.#connections.delete(port))
      this.#connections.set(port, opened)
    }
    return opened
  }

  #drop(port: number): void {
    const opened = this.#connections.get(port)
    this.#connections.delete(port)
    opened?.then(
      (connection) => connection.close(),
      () => undefined
    )
  }

  close(): void {
    for (const port of [...this.#connections.keys()]) this.#drop(port)
  }
}

/** Whoever has asked for the slots is told where to go; ours would pass its requests on otherwise. */
async function openAware(port: number): Promise<RespConnection> {
  const connection = await RespConnection.open(`127.0.0.1:${port}`, ANSWER_MS_MAX)
  await connection.call('CLUSTER', 'SLOTS')
  return connection
}

/** A node that stopped says nothing: whoever waits for it would wait for ever. */
async function answerInTime(reply: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  reply.catch(() => undefined)
  try {
    await Promise.race([
      reply,
      sleep(ANSWER_MS_MAX, undefined, { signal: timer.signal }).then(() => {
        throw new Error('no answer')
      })
    ])
  } finally {
    timer.abort()
  }
}

export interface ProbeOptions {
  readonly workers: number
  readonly keys: number
}

/** A few clients that read and write by turns until they are told to stop; the latencies they saw. */
export async function probe(
  ports: readonly number[],
  { workers, keys }: ProbeOptions,
  stopped: Promise<unknown>
): Promise<Latency> {
  const histogram = new Histogram()
  let running = true
  const isRunning = (): boolean => running
  const work = async (): Promise<void> => {
    const caller = new ClusterCaller(ports)
    try {
      for (let turn = 0; isRunning(); turn++) {
        const key = keyText('key:', Math.floor(Math.random() * keys))
        const startMs = performance.now()
        await caller.call(turn % 2 === 0 ? ['GET', key] : ['SET', key, 'probed'], 30_000)
        histogram.add((performance.now() - startMs) * 1000, 1)
        // Clients at rest, not a load: what is looked for is what the move does to them.
        await sleep(1)
      }
    } finally {
      caller.close()
    }
  }
  const all = Promise.all(Array.from({ length: workers }, work))
  const ended = stopped.finally(() => (running = false))
  await Promise.all([all, ended])
  return histogram.summarize()
}
