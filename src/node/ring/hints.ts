/**
 * Writes for nodes that did not take them, kept until they can be heard again, sent before anything else is asked of them,
 * and forgotten when they have them: a node that dies between the two gets them again. There is a limit; what does not fit
 * is found later by comparing copies. With a disk they outlive the process.
 */
import { ByteWriter } from '../../core/bytes.js'
import type { NodeName } from '../../core/ids.js'
import type { RingCluster } from './cluster.js'
import type { Memory } from './memory.js'

const BATCH_BYTES = 64 * 1024

interface Parcel {
  waiting: Uint8Array[]
  /** On their way, up to this frame of the stream. */
  sent: Uint8Array[]
  frame: number
}

export class Hints {
  readonly #cluster: RingCluster
  readonly #memory: Memory
  readonly #parcels = new Map<string, Parcel>()
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
    let parcel = this.#parcels.get(name)
    if (parcel === undefined) {
      parcel = { waiting: [], sent: [], frame: 0 }
      this.#parcels.set(name, parcel)
    }
    parcel.waiting.push(record)
    this.bytes += record.length
  }

  get size(): number {
    let size = 0
    for (const { waiting, sent } of this.#parcels.values()) size += waiting.length + sent.length
    return size
  }

  forEach(visit: (name: string, record: Uint8Array) => void): void {
    for (const [name, { waiting, sent }] of this.#parcels) {
      for (const record of [...sent, ...waiting]) visit(name, record)
    }
  }

  /** Its process is another one: what was on its way did not arrive. */
  restarted(name: string): void {
    const parcel = this.#parcels.get(name)
    if (parcel === undefined) return
    parcel.waiting = [...parcel.sent, ...parcel.waiting]
    parcel.sent = []
  }

  deliver(name: string): void {
    const parcel = this.#parcels.get(name)
    const peer = this.#cluster.peers.get(name as NodeName)
    if (parcel === undefined || peer === undefined || !this.#cluster.isUp(name)) return
    if (parcel.sent.length > 0) {
      if (peer.stream.acked < parcel.frame) return
      this.#forget(name, parcel)
    }
    if (parcel.waiting.length === 0) return
    parcel.sent = parcel.waiting
    parcel.waiting = []
    this.#send(name, parcel.sent)
    parcel.frame = peer.stream.sent
  }

  deliverAll(): void {
    for (const name of [...this.#parcels.keys()]) this.deliver(name)
  }

  /** Whoever is on the ring no more needs nothing. */
  adopted(): void {
    const names = new Set<string>(this.#cluster.configuration.members.map(({ name }) => name))
    for (const name of [...this.#parcels.keys()]) if (!names.has(name)) this.drop(name)
  }

  drop(name: string): void {
    const parcel = this.#parcels.get(name)
    if (parcel === undefined) return
    for (const record of [...parcel.sent, ...parcel.waiting]) this.bytes -= record.length
    this.#parcels.delete(name)
    this.#memory.note({ kind: 'hintsGone', name })
  }

  /** What was sent has arrived. */
  #forget(name: string, parcel: Parcel): void {
    const { waiting } = parcel
    this.drop(name)
    for (const record of waiting) this.add(name, record)
    parcel.sent = []
    parcel.waiting = waiting
    if (waiting.length > 0) this.#parcels.set(name, parcel)
  }

  #send(name: string, records: readonly Uint8Array[]): void {
    const writer = new ByteWriter(BATCH_BYTES)
    const flush = (): void => {
      if (writer.length > 0) this.#cluster.send(name, { kind: 'ringItems', payload: writer.copy() })
      writer.reset()
    }
    for (const record of records) {
      writer.raw(record)
      if (writer.length >= BATCH_BYTES) flush()
    }
    flush()
  }
}
