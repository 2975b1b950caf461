/** Records in the order of keys, of this node or of another one, a batch at a time: nobody holds a whole range. */
import { ByteWriter } from '../../core/bytes.js'
import type { RingMessage } from '../../wire/peer/ring.js'
import type { Peer } from '../peers.js'
import type { RingCluster } from './cluster.js'

export interface ScanRequest {
  /** Whose records. */
  readonly node: string
  readonly start: Uint8Array
  readonly inclusive: boolean
  /** Exclusive; empty: to the last key. */
  readonly end: Uint8Array
  readonly limitBytes: number
  /** Undefined: the node could not be asked. */
  readonly onBatch: (batch: { payload: Uint8Array; done: boolean } | undefined) => void
}

const LIMIT_BYTES_MAX = 1024 * 1024

interface Open {
  readonly request: ScanRequest
  readonly deadlineMs: number
}

export class Scans {
  readonly #cluster: RingCluster
  readonly #open = new Map<number, Open>()
  readonly #writer = new ByteWriter(4096)
  #lastId = 0

  constructor(cluster: RingCluster) {
    this.#cluster = cluster
  }

  get deadline(): number {
    for (const { deadlineMs } of this.#open.values()) return deadlineMs
    return Infinity
  }

  begin(request: ScanRequest): void {
    const { config, now } = this.#cluster
    const { node, start, inclusive, end, limitBytes } = request
    if (node === config.name) {
      request.onBatch(this.#read({ start, inclusive, end, limit: limitBytes }))
      return
    }
    const id = ++this.#lastId
    this.#open.set(id, { request, deadlineMs: now + config.requestMs })
    const limit = limitBytes
    const message = { kind: 'ringScan', id, start, inclusive, end, limit } as const
    if (this.#cluster.isUp(node) && this.#cluster.send(node, message)) return
    this.#open.delete(id)
    request.onBatch(undefined)
  }

  onScan(peer: Peer, message: Extract<RingMessage, { kind: 'ringScan' }>): void {
    this.#cluster.reply(peer, { kind: 'ringScanned', id: message.id, ...this.#read(message) })
  }

  onScanned(peer: Peer, message: Extract<RingMessage, { kind: 'ringScanned' }>): void {
    const open = this.#open.get(message.id)
    if (open?.request.node !== peer.name) return
    this.#open.delete(message.id)
    open.request.onBatch({ payload: message.payload, done: message.done })
  }

  tick(): void {
    const { now } = this.#cluster
    for (const [id, { request, deadlineMs }] of this.#open) {
      if (deadlineMs > now) break
      this.#open.delete(id)
      request.onBatch(undefined)
    }
  }

  #read(range: { start: Uint8Array; inclusive: boolean; end: Uint8Array; limit: number }): {
    payload: Uint8Array
    done: boolean
  } {
    const { records, now } = this.#cluster
    this.#writer.reset()
    const limitBytes = Math.min(range.limit, LIMIT_BYTES_MAX)
    const done = records.scan({ ...range, limitBytes, now, into: this.#writer })
    return { payload: this.#writer.copy(), done }
  }
}
