/** Ten thousand keys, and loops that read them all the time and count what they do not get. */
import { expect } from 'vitest'
import type { NodeProcess } from '../integration/process.js'
import { call } from './ring-process.js'

export const KEYS = 10_000
const READERS = 8
const AT_ONCE = 64

export async function writeKeys(node: NodeProcess): Promise<void> {
  for (let i = 0; i < KEYS; i += AT_ONCE) {
    const puts = Array.from({ length: Math.min(AT_ONCE, KEYS - i) }, (_, j) =>
      call(node, 'PUT', `/v0/entity?id=key${i + j}`, { body: `value${i + j}` })
    )
    for (const { status } of await Promise.all(puts)) expect(status).toBe(201)
  }
}

export class Readers {
  reads = 0
  readonly failures: string[] = []
  #running = true
  readonly #done: Promise<unknown>

  constructor(nodes: () => readonly NodeProcess[]) {
    this.#done = Promise.all(
      Array.from({ length: READERS }, async (_, reader) => {
        for (let i = reader; this.#running; i = (i + READERS) % KEYS) {
          const all = nodes()
          const node = all[i % all.length]
          const askedMs = performance.now()
          const { status, body } = await call(node, 'GET', `/v0/entity?id=key${i}`)
          this.reads++
          if (status !== 200 || body.toString() !== `value${i}`) {
            const ms = Math.round(performance.now() - askedMs)
            const said = body.toString().slice(0, 200)
            this.failures.push(`key${i} at ${node.http} after ${ms} ms: ${status} ${said}`)
          }
        }
      })
    )
  }

  async stop(): Promise<void> {
    this.#running = false
    await this.#done
  }
}
