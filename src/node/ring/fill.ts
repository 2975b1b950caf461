/**
 * How a node gets what it should have: after a change of the ring the pieces it gains, and after a restart everything.
 * It asks one node after the other, batch by batch; whoever is asked keeps no state, since each question says where
 * to go on, so a crash of either side costs nothing but the question. Whole records come from the first; the others
 * only tell keys and versions, and of those the missing are fetched: what one copy missed another has.
 *
 * Only the slices of the circle that hold something it gains are looked at.
 */
import { ByteReader, ByteWriter } from '../../core/bytes.js'
import { findMember, placementOf } from '../../core/placement/ring-configuration.js'
import { POSITION_MIN, type Ring } from '../../core/placement/ring.js'
import { SLICES, type OfferEntry, type RingMessage } from '../../wire/peer/ring.js'
import { entries as entriesPart } from '../../wire/peer/ring-parts.js'
import type { Peer } from '../peers.js'
import type { RingCluster } from './cluster.js'
import { sliceOf, type RingRecords } from './records.js'

/** A question that was not answered is asked again after this. */
const RETRY_MS = 700
const SLICE_LENGTH = 0x1_0000_0000 / SLICES

export class Fill {
  readonly #cluster: RingCluster
  readonly #filled: () => void
  readonly #gains = new Map<string, Uint8Array>()
  #gainsVersion = 0
  #placement = ''
  #sources: string[] = []
  #whole = true
  #slice = 0
  #position = 0
  #askedMs = 0
  /** Records that came so far. */
  received = 0
  /** Everything that the configuration gives this node is here. */
  done = true

  constructor(cluster: RingCluster, filled: () => void) {
    this.#cluster = cluster
    this.#filled = filled
  }

  get deadline(): number {
    return this.done ? Infinity : this.#askedMs + RETRY_MS
  }

  /** The slice that is being asked for, of 4096, and how many nodes are still to be asked. */
  get progress(): { slice: number; sources: number } {
    return { slice: this.#slice, sources: this.#sources.length }
  }

  adopted(): void {
    const { configuration, config, isHollow, joined } = this.#cluster
    if (!joined) {
      // What it fetched before it belongs to the ring would not be complete: writes do not come yet.
      this.#placement = ''
      this.done = true
      return
    }
    const placement = `${placementOf(configuration)} ${isHollow}`
    if (placement === this.#placement) {
      if (!this.done) this.#ask()
      return
    }
    this.#placement = placement
    const gains = gainedSlices(this.#cluster, config.name)
    this.done = configuration.stage !== 'filling' && !isHollow
    this.done ||= gains.every((gained) => gained === 0)
    this.done ||= config.sabotage === 'skip-fill'
    if (this.done) return
    this.#whole = true
    this.#sources = configuration.members
      .filter(({ name, positions }) => name !== config.name && positions.length > 0)
      .map(({ name }) => name)
    this.#restart()
    this.#ask()
  }

  tick(): void {
    if (!this.done && this.#cluster.now >= this.deadline) this.#ask()
  }

  onPulled(peer: Peer, message: Extract<RingMessage, { kind: 'ringPulled' }>): void {
    const { configuration, records, now, clock } = this.#cluster
    if (this.done || message.version !== configuration.version) return
    if (peer.name !== this.#sources[0] || message.whole !== this.#whole) return
    // The answer to a question that was asked twice.
    if (message.slice < this.#slice) return
    if (message.slice === this.#slice && message.position <= this.#position && !message.done) return
    let lacking = 0
    if (message.whole) {
      const before = records.count
      clock.observe(records.applyAll(message.payload, now))
      this.received += records.count - before
    } else lacking = this.#fetch(peer, entriesPart.read(ByteReader.over(message.payload)))
    this.#slice = message.slice
    this.#position = message.position
    // What was fetched comes before the answer to the next question: the last one is asked twice.
    if (message.done && lacking === 0) this.#next()
    else this.#ask()
  }

  /** Somebody fills up: from a place on, what it should have and may not have. */
  onPull(peer: Peer, message: Extract<RingMessage, { kind: 'ringPull' }>): void {
    const { configuration, records } = this.#cluster
    if (message.version !== configuration.version) return
    const member = findMember(configuration, peer.name)
    if (member === undefined) return
    const gains = this.#gainsOf(peer.name)
    const batch = new Batch(this.#cluster, message.whole)
    let { slice, position } = message
    for (; slice < SLICES && !batch.isFull; slice++, position = 0) {
      if (gains[slice] === 0 || records.sizeOf(slice) === 0) continue
      const stopped = records.walk(slice, position, this.#cluster.now, (record) => {
        if (gainsRecord(this.#cluster, peer.name, record)) batch.add(record.key)
        return !batch.isFull
      })
      if (stopped === undefined) continue
      position = stopped
      break
    }
    if (slice >= SLICES) position = 0
    const done = slice >= SLICES
    const payload = batch.payload()
    const { version, whole } = message
    this.#cluster.reply(peer, {
      kind: 'ringPulled',
      version,
      slice,
      position,
      whole,
      done,
      payload
    })
  }

  onFetch(peer: Peer, keys: readonly Uint8Array[]): void {
    sendRecords(this.#cluster, peer.name, keys)
  }

  #fetch(peer: Peer, entries: readonly OfferEntry[]): number {
    const { records, now } = this.#cluster
    const lacking = entries.filter((entry) => records.lacks(entry, now))
    if (lacking.length === 0) return 0
    this.received += lacking.length
    const keys = lacking.map(({ key }) => key)
    this.#cluster.reply(peer, { kind: 'ringFetch', keys })
    return lacking.length
  }

  #restart(): void {
    this.#slice = 0
    this.#position = 0
  }

  /** Asks the first source, or goes on to the next if that one has been silent for too long. */
  #ask(): void {
    const { configuration, config, now } = this.#cluster
    const { version } = configuration
    // A source that is away is asked last.
    for (let i = this.#sources.length; i > 1 && !this.#isOpen(this.#sources[0]); i--) {
      this.#sources.push(...this.#sources.splice(0, 1))
      this.#restart()
    }
    this.#askedMs = now
    while (this.#sources.length > 0 && !this.#isOpen(this.#sources[0])) {
      const [source] = this.#sources
      if (this.#cluster.silentMs(source) <= config.patienceMs) return
      this.#sources.shift()
      this.#restart()
    }
    if (this.#sources.length === 0) {
      this.#finish()
      return
    }
    const [slice, position, whole] = [this.#slice, this.#position, this.#whole]
    this.#cluster.send(this.#sources[0], { kind: 'ringPull', version, slice, position, whole })
  }

  #isOpen(source: string): boolean {
    return this.#cluster.isUp(source)
  }

  #next(): void {
    this.#sources.shift()
    this.#whole = false
    this.#restart()
    this.#ask()
  }

  #finish(): void {
    this.done = true
    this.#filled()
  }

  #gainsOf(name: string): Uint8Array {
    const { version } = this.#cluster.configuration
    if (version !== this.#gainsVersion) this.#gains.clear()
    this.#gainsVersion = version
    let gains = this.#gains.get(name)
    if (gains === undefined) {
      gains = gainedSlices(this.#cluster, name)
      this.#gains.set(name, gains)
    }
    return gains
  }
}

/** Keys with their versions, or whole records, up to the size of a batch. */
class Batch {
  readonly #cluster: RingCluster
  readonly #records: RingRecords
  readonly #whole: boolean
  readonly #writer = new ByteWriter(4096)
  readonly #entries: OfferEntry[] = []
  #bytes = 0

  constructor(cluster: RingCluster, whole: boolean) {
    this.#cluster = cluster
    this.#records = cluster.records
    this.#whole = whole
  }

  get isFull(): boolean {
    return this.#bytes >= this.#cluster.config.pullBatchBytes
  }

  add(key: Uint8Array): void {
    const { now } = this.#cluster
    if (this.#whole) {
      this.#writer.raw(this.#records.encode(key, now))
      this.#bytes = this.#writer.length
      return
    }
    const entry = this.#records.entryOf(key, now)
    if (entry === undefined) return
    this.#entries.push(entry)
    this.#bytes += key.length + 16
  }

  payload(): Uint8Array {
    if (!this.#whole) entriesPart.write(this.#entries, this.#writer)
    return this.#writer.copy()
  }
}

/** Records as they are here now, in batches. */
export function sendRecords(cluster: RingCluster, name: string, keys: readonly Uint8Array[]): void {
  const writer = new ByteWriter(4096)
  const flush = (): void => {
    if (writer.length > 0) cluster.send(name, { kind: 'ringItems', payload: writer.copy() })
    writer.reset()
  }
  for (const key of keys) {
    writer.raw(cluster.records.encode(key, cluster.now))
    if (writer.length >= cluster.config.pullBatchBytes) flush()
  }
  flush()
}

/** Whether a record is among those a node fills up with. */
function gainsRecord(
  cluster: RingCluster,
  name: string,
  { position, from }: { position: number; from: number }
): boolean {
  const { current, wanted } = cluster
  const isOld = current.isReplica(name, position, from)
  const isNew = wanted.isReplica(name, position, from)
  return cluster.isHollowMember(name) ? isOld || isNew : isNew && !isOld
}

/** 1 for every slice in which a node gains something, whatever the `from`. */
export function gainedSlices(cluster: RingCluster, name: string): Uint8Array {
  const { current, wanted } = cluster
  const gains = new Uint8Array(SLICES)
  const isHollow = cluster.isHollowMember(name)
  const borders = [...new Set([...current.positions, ...wanted.positions])].sort((a, b) => a - b)
  borders.forEach((upTo, index) => {
    if (!isGain(upTo)) return
    const after = borders[index === 0 ? borders.length - 1 : index - 1]
    markSlices(gains, after, upTo)
  })
  return gains

  function isGain(position: number): boolean {
    const [was, is] = [rank(current, position), rank(wanted, position)]
    return isHollow ? Math.min(was, is) < Infinity : is < was
  }

  function rank(ring: Ring, position: number): number {
    return ring.rankOf(name, position)
  }
}

function markSlices(gains: Uint8Array, after: number, upTo: number): void {
  const length = after < upTo ? upTo - after : 0x1_0000_0000 - (after - upTo)
  const first = after + 1
  for (let offset = 0; offset < length; offset += SLICE_LENGTH) {
    gains[sliceOf(((first + offset - POSITION_MIN) % 0x1_0000_0000) + POSITION_MIN)] = 1
  }
  gains[sliceOf(upTo)] = 1
}
