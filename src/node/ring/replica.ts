/**
 * One copy's part in a request: it answers with what it holds, and takes what is newer. Whoever plans by an older
 * configuration is refused and told the new one. So a write that was acknowledged by an old ring is in the copies
 * from which a new one is filled, and none comes afterwards.
 */
import { NO_BYTES } from '../../core/bytes.js'
import type { RingMessage } from '../../wire/peer/ring.js'
import type { Peer } from '../peers.js'
import type { RingCluster } from './cluster.js'
import { ByteReader } from '../../core/bytes.js'
import { decodeItem, Item } from '../../store/item.js'

export class Replica {
  readonly #cluster: RingCluster
  readonly #item = new Item()

  constructor(cluster: RingCluster) {
    this.#cluster = cluster
  }

  onRead(peer: Peer, message: Extract<RingMessage, { kind: 'ringRead' }>): void {
    const { records, now, mayRead, config } = this.#cluster
    const { id, version } = message
    if (this.#isStale(version)) {
      this.#cluster.reply(peer, { kind: 'ringValue', id, status: 'stale', payload: NO_BYTES })
      return
    }
    if (!mayRead && config.sabotage !== 'serve-hollow') {
      this.#cluster.reply(peer, { kind: 'ringValue', id, status: 'hollow', payload: NO_BYTES })
      return
    }
    const payload = records.encode(message.payload, now)
    this.#cluster.reply(peer, { kind: 'ringValue', id, status: 'ok', payload })
  }

  onWrite(peer: Peer, message: Extract<RingMessage, { kind: 'ringWrite' }>): void {
    const { records, now, clock, config } = this.#cluster
    const { id, payload } = message
    if (this.#isStale(message.version)) {
      this.#cluster.reply(peer, { kind: 'ringWritten', id, status: 'stale', number: 0 })
      return
    }
    const { version } = decodeItem(ByteReader.over(payload), this.#item)
    clock.observe(version)
    const held = records.apply(payload, now, config.sabotage === 'overwrite-newer')
    const status = held > version ? 'newer' : 'ok'
    this.#cluster.reply(peer, { kind: 'ringWritten', id, status, number: held })
  }

  #isStale(version: number): boolean {
    const { configuration } = this.#cluster
    return version !== configuration.version
  }
}
