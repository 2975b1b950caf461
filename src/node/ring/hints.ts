/**
 * Writes for nodes that did not take them, kept until they can be heard again, and sent before anything else is asked
 * of them. There is a limit; what does not fit is found later by comparing copies. With a disk they outlive the process.
 */
import { ByteWriter } from '../../core/bytes.js'
import type { RingCluster } from './cluster.js'
import type { Memory } from './memory.js'

const BATCH_BYTES = 64 * 1024

export class Hints {
  readonly #cluster: RingCluster
  readonly #memory: Memory
  readonly #byNode = new Map<string, Uint8Array[]>()
  bytes = 0
  /** Did not fit. */
  dropped = 0

  constructor(cluster: RingCluster, memory: Memory) {
    this.#cluster = cluster
    this.#memory = memory
  }

  add(name: string, record: Uint8Array): void {
    const { config } = this.#cluster
    if (config.sabotage === 'never-heal') return
    if (this.bytes + record.length > config.hintBytesMax) {
      this.dropped++
      return
    }
    this.recall(name, record)
    if (this.#memory.isKept) this.#memory.note({ kind: 'hint', name, payload: record })
  }

  /** What an earlier process kept. */
  recall(name: string, record: Uint8Array): void {
    let list = this.#byNode.get(name)
    if (list === undefined) {
      list = []
      this.#byNode.set(name, list)
    }
    list.push(record)
    this.bytes += record.length
  }

  countOf(name: string): number {
    return this.#byNode.get(name)?.length ?? 0
  }

  get size(): number {
    let size = 0
    for (const list of this.#byNode.values()) size += list.length
    return size
  }

  forEach(visit: (name: string, record: Uint8Array) => void): void {
    for (const [name, list] of this.#byNode) for (const record of list) visit(name, record)
  }

  deliver(name: string): void {
    const list = this.#byNode.get(name)
    if (list === undefined || !this.#cluster.isUp(name)) return
    this.drop(name)
    const writer = new ByteWriter(BATCH_BYTES)
    const flush = (): void => {
      if (writer.length > 0) this.#cluster.send(name, { kind: 'ringItems', payload: writer.copy() })
      writer.reset()
    }
    for (const record of list) {
      writer.raw(record)
      if (writer.length >= BATCH_BYTES) flush()
    }
    flush()
  }

  deliverAll(): void {
    for (const name of [...this.#byNode.keys()]) this.deliver(name)
  }

  /** Whoever is on the ring no more needs nothing. */
  adopted(): void {
    const names = new Set<string>(this.#cluster.configuration.members.map(({ name }) => name))
    for (const name of [...this.#byNode.keys()]) if (!names.has(name)) this.drop(name)
  }

  drop(name: string): void {
    for (const record of this.#byNode.get(name) ?? []) this.bytes -= record.length
    if (this.#byNode.delete(name)) this.#memory.note({ kind: 'hintsGone', name })
  }
}
