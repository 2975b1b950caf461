/**
 * Requests of clients, by whichever node they came to: every replica is asked at once, and the client is answered as
 * soon as `ack` of them have answered. While the ring changes, a write needs `ack` on the old ring and on the new one;
 * reads go by the one that has everything. When the configuration changes, what is under way begins anew by it, since
 * replicas refuse what was planned by an older one.
 *
 * A write gets its version here. If a replica holds a newer one the write is given a still newer version and sent
 * again: otherwise it would be acknowledged and lost at once where two coordinators' clocks differ.
 *
 * After the answer an operation lives on until everyone has answered or time is up: a reader's answers that differ
 * are mended, and a write that somebody has not taken is kept for it.
 */
import { ByteReader, ByteWriter, compareBytes, NO_BYTES } from '../../core/bytes.js'
import { positionOfKey } from '../../core/placement/ring.js'
import { decodeItem, Item } from '../../store/item.js'
import { TYPE_TOMBSTONE } from '../../store/value-type.js'
import type { RingMessage } from '../../wire/peer/ring.js'
import type { Peer } from '../peers.js'
import type { RingCluster } from './cluster.js'
import type { Hints } from './hints.js'
import type { RingAnswer, RingRequest } from './outbox.js'
import { encodeRecord } from './records.js'

/** A request waits once more for every so many bytes of its value, since nobody knows how fast the way to a replica is. */
const TERM_BYTES = 4 * 1024 * 1024

interface Operation {
  readonly request: RingRequest
  readonly position: number
  readonly isWrite: boolean
  readonly ack: number
  readonly from: number
  /** Absolute, 0 for none. */
  readonly expiry: number
  deadlineMs: number
  /** How many times it is given as long again. */
  terms: number
  /** Names this plan of it on the wire. */
  wire: number
  version: number
  /** The record to write. */
  record: Uint8Array
  /** Each of these sets needs `ack` answers. */
  sets: readonly (readonly string[])[]
  targets: readonly string[]
  /** What a reader got; for a write, that it is there. */
  readonly answers: Map<string, Uint8Array>
  readonly failed: Set<string>
  replied: boolean
}

export class Coordinator {
  readonly #cluster: RingCluster
  readonly #hints: Hints
  /** By the name of their present plan. */
  readonly #operations = new Map<number, Operation>()
  /** In the order in which their time is up. */
  readonly #all = new Set<Operation>()
  readonly #writer = new ByteWriter(1024)
  #lastWire = 0
  readonly requests = { get: 0, put: 0, delete: 0 }

  constructor(cluster: RingCluster, hints: Hints) {
    this.#cluster = cluster
    this.#hints = hints
  }

  get pending(): number {
    return this.#all.size
  }

  get deadline(): number {
    for (const { deadlineMs } of this.#all) return deadlineMs
    return Infinity
  }

  /**
   * `from` and `ack` as they are when a client does not say. A record remembers the copies it should have, also if there
   * are fewer nodes today: when nodes come, it gets them.
   */
  get #defaults(): { ack: number; from: number } {
    const from = this.#cluster.configuration.copies
    return { from, ack: Math.floor(Math.min(this.size, from) / 2) + 1 }
  }

  /** How many nodes can hold a record. */
  get size(): number {
    const { configuration, current, wanted } = this.#cluster
    return (configuration.stage === 'switched' ? wanted : current).size
  }

  begin(request: RingRequest): void {
    const { config, outbox, now, configuration } = this.#cluster
    this.requests[request.kind]++
    if (configuration.version === 0) {
      outbox.answer(request.id, { status: 504, reason: 'the node is not part of a ring yet' })
      return
    }
    const quorum = pickQuorum(request)
    const { from, ack } = quorum ?? this.#defaults
    if (quorum !== undefined && (from > this.size || ack > from || ack < 1)) {
      const reason = `ack=${ack} from=${from} of ${this.size} nodes`
      outbox.answer(request.id, { status: 400, reason })
      return
    }
    const { kind, key, ttlMs } = request
    const operation: Operation = {
      request,
      position: positionOfKey(key),
      isWrite: kind !== 'get',
      ack,
      from,
      expiry: ttlMs === undefined || config.sabotage === 'forget-ttl' ? 0 : Math.ceil(now + ttlMs),
      deadlineMs: now + config.requestMs,
      terms: termsOf(request.value ?? NO_BYTES),
      wire: 0,
      version: 0,
      record: NO_BYTES,
      sets: [],
      targets: [],
      answers: new Map(),
      failed: new Set(),
      replied: false
    }
    if (operation.isWrite) this.#giveVersion(operation)
    this.#all.add(operation)
    this.#plan(operation)
  }

  onValue(peer: Peer, message: Extract<RingMessage, { kind: 'ringValue' }>): void {
    const operation = this.#operations.get(message.id)
    if (operation === undefined || operation.isWrite) return
    if (message.status === 'ok') this.#answered(operation, peer.name, message.payload)
    else if (message.status === 'hollow') this.#failed(operation, peer.name)
  }

  onWritten(peer: Peer, message: Extract<RingMessage, { kind: 'ringWritten' }>): void {
    const operation = this.#operations.get(message.id)
    if (operation?.isWrite !== true) return
    if (message.status === 'ok') this.#answered(operation, peer.name, NO_BYTES)
    else if (message.status === 'newer') this.#outdo(operation, peer.name, message.number)
  }

  /** The ring is another one. */
  adopted(): void {
    for (const operation of [...this.#all]) {
      if (operation.replied) this.#end(operation)
      else this.#plan(operation)
    }
  }

  /** It will not answer what it was asked. */
  peerGone(name: string): void {
    for (const operation of [...this.#all]) {
      if (!operation.targets.includes(name) || operation.answers.has(name)) continue
      this.#failed(operation, name)
    }
  }

  tick(): void {
    const { now, config } = this.#cluster
    for (const operation of this.#all) {
      if (operation.deadlineMs > now) break
      if (operation.terms > 0) {
        operation.terms--
        operation.deadlineMs = now + config.requestMs
        // Behind all others, where those stand whose time has just begun.
        this.#all.delete(operation)
        this.#all.add(operation)
      } else this.#end(operation)
    }
  }

  #giveVersion(operation: Operation): void {
    const { clock, now } = this.#cluster
    const { request, from, expiry } = operation
    const { kind, key } = request
    operation.version = clock.next(now)
    const value = kind === 'delete' ? undefined : (request.value ?? NO_BYTES)
    this.#writer.reset()
    encodeRecord({ key, version: operation.version, from, expiry, value }, this.#writer)
    operation.record = this.#writer.copy()
  }

  #plan(operation: Operation): void {
    const { configuration, current, wanted, config } = this.#cluster
    const { position, from, isWrite } = operation
    const { stage } = configuration
    this.#operations.delete(operation.wire)
    operation.wire = ++this.#lastWire
    this.#operations.set(operation.wire, operation)
    const copies = config.sabotage === 'one-more-copy' && isWrite ? from + 1 : from
    const now = current.replicas(position, copies)
    const soon = wanted.replicas(position, copies)
    if (isWrite && stage !== 'rest' && config.sabotage !== 'skip-newcomer') {
      operation.sets = [now, soon]
    } else operation.sets = [stage === 'switched' && !isWrite ? soon : now]
    operation.targets = [...new Set(operation.sets.flat())]
    operation.answers.clear()
    operation.failed.clear()
    this.#ask(operation)
  }

  #ask(operation: Operation): void {
    const { config, configuration } = this.#cluster
    const { wire, isWrite, targets, request, record } = operation
    const { version } = configuration
    const servesHollow = config.sabotage === 'serve-hollow'
    const message: RingMessage = isWrite
      ? { kind: 'ringWrite', id: wire, version, payload: record }
      : { kind: 'ringRead', id: wire, version, payload: request.key }
    // The own copy last: an answer may end the operation.
    for (const name of targets) {
      if (name === config.name) continue
      const isAsked = isWrite || !this.#cluster.isHollowMember(name) || servesHollow
      if (!isAsked || !this.#cluster.isUp(name) || !this.#cluster.send(name, message))
        operation.failed.add(name)
    }
    if (targets.includes(config.name)) this.#askSelf(operation)
    this.#settle(operation)
  }

  #askSelf(operation: Operation): void {
    const { config, records, now, mayRead } = this.#cluster
    const { isWrite, request, record, answers, failed, version } = operation
    if (!isWrite) {
      if (!mayRead && config.sabotage !== 'serve-hollow') failed.add(config.name)
      else this.#note(operation, config.name, records.encode(request.key, now))
      return
    }
    const held = records.apply(record, now, config.sabotage === 'overwrite-newer')
    if (held > version) this.#outdo(operation, config.name, held)
    else answers.set(config.name, NO_BYTES)
  }

  /** Somebody holds a newer version: this write, which is the later one, gets a newer one still. */
  #outdo(operation: Operation, name: string, held: number): void {
    const { clock } = this.#cluster
    if (operation.replied) {
      // It was done; what came after it may stay.
      this.#answered(operation, name, NO_BYTES)
      return
    }
    clock.observe(held)
    this.#giveVersion(operation)
    this.#plan(operation)
  }

  #answered(operation: Operation, name: string, payload: Uint8Array): void {
    if (!operation.targets.includes(name)) return
    operation.failed.delete(name)
    this.#note(operation, name, payload)
    this.#settle(operation)
  }

  /** The others' answers to a reader will be as large as the first. */
  #note(operation: Operation, name: string, payload: Uint8Array): void {
    if (!operation.isWrite && operation.answers.size === 0) operation.terms = termsOf(payload)
    operation.answers.set(name, payload)
  }

  #failed(operation: Operation, name: string): void {
    operation.failed.add(name)
    this.#settle(operation)
  }

  #settle(operation: Operation): void {
    const { answers, failed, targets } = operation
    if (this.#operations.get(operation.wire) !== operation) return
    if (!operation.replied) {
      if (operation.sets.every((set) => this.#hasAcks(operation, set))) this.#reply(operation)
      else if (operation.sets.some((set) => this.#cannot(operation, set))) {
        this.#end(operation)
        return
      }
    }
    const isComplete = targets.every((name) => answers.has(name) || failed.has(name))
    if (operation.replied && isComplete) this.#end(operation)
  }

  #need(operation: Operation, set: readonly string[]): number {
    const need = Math.min(operation.ack, set.length)
    return this.#cluster.config.sabotage === 'ack-early' ? Math.max(1, need - 1) : need
  }

  #hasAcks(operation: Operation, set: readonly string[]): boolean {
    const { answers } = operation
    return set.filter((name) => answers.has(name)).length >= this.#need(operation, set)
  }

  /** Too many have failed already. */
  #cannot(operation: Operation, set: readonly string[]): boolean {
    const possible = set.filter((name) => !operation.failed.has(name)).length
    return possible < this.#need(operation, set)
  }

  #reply(operation: Operation): void {
    const { request, version } = operation
    operation.replied = true
    this.#cluster.outbox.answer(request.id, this.#answerOf(operation, version))
  }

  #answerOf(operation: Operation, version: number): RingAnswer {
    const { kind } = operation.request
    if (kind === 'put') return { status: 201, version }
    if (kind === 'delete') return { status: 202, version }
    const newest = newestOf([...operation.answers.values()])
    if (newest === undefined) return { status: 404, version: 0 }
    const item = decodeItem(ByteReader.over(newest), new Item())
    if (item.type === TYPE_TOMBSTONE) return { status: 404, version: item.version }
    return { status: 200, value: item.value.copy(), version: item.version }
  }

  /** Nothing more is waited for. */
  #end(operation: Operation): void {
    const { request, answers, targets, ack } = operation
    this.#operations.delete(operation.wire)
    this.#all.delete(operation)
    if (!operation.replied) {
      operation.replied = true
      const reason = `Not Enough Replicas: ${answers.size} of ${targets.length} answered, ${ack} wanted`
      this.#cluster.outbox.answer(request.id, { status: 504, reason })
    }
    if (operation.isWrite) {
      for (const name of targets) {
        if (!answers.has(name)) this.#hints.add(name, operation.record)
      }
    } else this.#mend(operation)
  }

  /** Those who answered with less than the newest get it, if they are to have it. */
  #mend(operation: Operation): void {
    const { config, records, now } = this.#cluster
    const newest = newestOf([...operation.answers.values()])
    if (newest === undefined || config.sabotage === 'never-heal') return
    const item = decodeItem(ByteReader.over(newest), new Item())
    const ring = this.#cluster.configuration.stage === 'switched' ? 'wanted' : 'current'
    for (const [name, answer] of operation.answers) {
      if (compareRecords(answer, newest) >= 0) continue
      if (!this.#cluster[ring].isReplica(name, operation.position, item.placementHash)) continue
      if (name === config.name) records.applyAll(newest, now)
      else this.#cluster.send(name, { kind: 'ringItems', payload: newest })
    }
  }
}

function termsOf(value: Uint8Array): number {
  return Math.floor(value.length / TERM_BYTES)
}

function pickQuorum({ ack, from }: RingRequest): { ack: number; from: number } | undefined {
  return ack === undefined || from === undefined ? undefined : { ack, from }
}

function newestOf(answers: readonly Uint8Array[]): Uint8Array | undefined {
  let newest: Uint8Array | undefined
  for (const answer of answers) {
    if (answer.length === 0) continue
    if (newest === undefined || compareRecords(answer, newest) > 0) newest = answer
  }
  return newest
}

/** By version; what is alike in that, as the store would decide. */
function compareRecords(a: Uint8Array, b: Uint8Array): number {
  if (a.length === 0 || b.length === 0) return a.length - b.length
  const [x, y] = [new Item(), new Item()]
  decodeItem(ByteReader.over(a), x)
  decodeItem(ByteReader.over(b), y)
  if (x.version !== y.version) return x.version - y.version
  if (x.type !== y.type) return x.type - y.type
  if (x.expiry !== y.expiry) return x.expiry - y.expiry
  return compareBytes(x.value.copy(), y.value.copy())
}
