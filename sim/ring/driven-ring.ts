/**
 * A ring's node as the simulator drives nodes: clients' requests and answers are lines of JSON here, since what
 * stands between a client and a ring is HTTP, which is not simulated.
 */
import { latin1Bytes, latin1String } from '../../src/core/bytes.js'
import { virtualPositions } from '../../src/core/placement/ring.js'
import type { NodeConfig } from '../../src/node/config.js'
import type { Outbox } from '../../src/node/outbox.js'
import { RING_DEFAULTS, type RingNodeConfig } from '../../src/node/ring/config.js'
import { SNAPSHOT_PARTS } from '../../src/node/ring/snapshot.js'
import { RingNode } from '../../src/node/ring/node.js'
import type { RingAnswer } from '../../src/node/ring/outbox.js'
import type { DrivenNode, Inspection } from '../driven-node.js'

/** What a client sends. */
export interface RingCall {
  readonly kind: 'get' | 'put' | 'delete'
  readonly key: string
  readonly value: string
  readonly ack: number
  readonly from: number
  /** 0: for ever. */
  readonly ttlMs: number
}

/** What it gets. */
export interface RingReply {
  readonly status: number
  readonly version: number
  readonly value: string | null
}

/** What a node has put down; it outlives the node. */
export class SimulatedDisk {
  entries: Uint8Array[] = []
}

/** So many entries are written anew as what they come to. */
const ENTRIES_MAX = 2000

export type RingOverrides = Partial<RingNodeConfig> & { readonly vnodes?: number }

export class DrivenRing implements DrivenNode {
  readonly node: RingNode
  readonly #outbox: Outbox
  readonly #isHealthy: () => boolean
  readonly #sessions = new Map<number, number>()
  readonly #disk: SimulatedDisk | undefined
  /** Of this turn: neither is to be seen outside before all of it is on the disk. */
  #unwritten: Uint8Array[] = []
  #unsaid: (() => void)[] = []
  #requests = 0

  constructor(
    config: NodeConfig,
    outbox: Outbox,
    options: {
      readonly overrides: RingOverrides
      readonly isHealthy: () => boolean
      readonly disk: SimulatedDisk | undefined
    }
  ) {
    this.#outbox = outbox
    this.#isHealthy = options.isHealthy
    this.#disk = options.disk
    const { vnodes = 4, ...overrides } = options.overrides
    const { name, address, life, seed, join, heartbeatMs, deadAfterMs, retransmitMs } = config
    const url = `http://${name}`
    const ring: RingNodeConfig = {
      ...RING_DEFAULTS,
      ...{ name, address, life, seed, join, heartbeatMs, deadAfterMs, retransmitMs, url },
      positions: virtualPositions(url, vnodes),
      ...overrides
    }
    this.node = this.#recall(ring)
  }

  start(now: number): void {
    this.node.start(now)
  }

  receive(envelope: Uint8Array, now: number): void {
    this.node.receive(envelope, now)
  }

  linkDown(address: string, now: number): void {
    this.node.linkDown(address, now)
  }

  open(): void {
    // Nothing is kept of a connection.
  }

  request(session: number, bytes: Uint8Array, now: number): void {
    const call = JSON.parse(latin1String(bytes, 0, bytes.length)) as RingCall
    const id = ++this.#requests
    this.#sessions.set(id, session)
    const { kind, key, value, ack, from, ttlMs } = call
    const request = { id, kind, key: latin1Bytes(key), value: latin1Bytes(value), ack, from }
    this.node.request({ ...request, ...(ttlMs > 0 ? { ttlMs } : {}) }, now)
  }

  close(): void {
    // An answer to nobody goes nowhere.
  }

  leave(now: number): void {
    this.node.leave(now)
  }

  tick(now: number): void {
    this.node.tick(now)
  }

  flush(now: number): void {
    this.#commit()
    const unsaid = this.#unsaid
    this.#unsaid = []
    for (const say of unsaid) say()
    this.node.flush(now)
  }

  get deadline(): number {
    return this.node.deadline
  }

  /**
   * As much as the fault plan asks: one bucket that all nodes hold, and that has no primary while a crash could take
   * the last copy of something.
   */
  inspect(): Inspection {
    const { name } = this.node.config
    const names = this.node.configuration.members.map((member) => member.name as string)
    const primary = this.#isHealthy() ? (names[0] ?? null) : null
    const backups = primary === null ? [] : names.slice(1)
    const { queuedBytes } = this.node.peers
    return {
      ...{ name, mask: 0, digest: 0, members: [], moves: [], shipped: 0, queuedBytes },
      rows: [{ bucket: 0, epoch: this.node.configuration.version, primary, backups }],
      // Whether it has ever met a ring; how a ring decides is its own business.
      voters: {
        version: this.node.configuration.version,
        byMajority: false,
        mayServe: true,
        voters: []
      },
      held: [{ bucket: 0, role: 'backup', epoch: 1, seq: 0, items: 0, digest: '' }]
    }
  }

  #answer(id: number, answer: RingAnswer): void {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    if (session === undefined) return
    const { status } = answer
    const version = 'version' in answer ? answer.version : 0
    const value = status === 200 ? latin1String(answer.value, 0, answer.value.length) : null
    const reply: RingReply = { status, version, value }
    this.#unsaid.push(() => this.#outbox.output(session, latin1Bytes(JSON.stringify(reply))))
  }

  /** With what an earlier process put down, if that is of any use. */
  #recall(config: RingNodeConfig): RingNode {
    const node = this.#create(config)
    const entries = this.#disk?.entries ?? []
    for (const entry of entries) node.recall(entry, config.life)
    this.#unwritten = []
    if (entries.length === 0 || node.remembers) return node
    if (this.#disk !== undefined) this.#disk.entries = []
    return this.#create(config)
  }

  #create(config: RingNodeConfig): RingNode {
    return new RingNode(config, {
      send: (to, envelope) => this.#outbox.send(to, envelope),
      answer: (id, answer) => this.#answer(id, answer),
      event: (event) => {
        if (event.kind === 'ring' || event.kind === 'filled' || event.kind === 'recalled') {
          const { version } = event
          const reason = 'stage' in event ? `${event.stage} ${event.members.join()}` : event.kind
          const [settled, voters] = [true, [] as const]
          this.#outbox.event({ kind: 'voters', version, settled, voters, reason })
        } else this.#outbox.event(event)
      },
      ...(this.#disk === undefined ? {} : { keep: (entry) => this.#unwritten.push(entry) })
    })
  }

  #commit(): void {
    const disk = this.#disk
    if (disk === undefined || this.#unwritten.length === 0) return
    disk.entries.push(...this.#unwritten)
    this.#unwritten = []
    if (disk.entries.length <= ENTRIES_MAX) return
    const entries: Uint8Array[] = []
    for (let part = 0; part < SNAPSHOT_PARTS; part++) {
      this.node.snapshot(part, (entry) => entries.push(entry))
    }
    disk.entries = entries
  }
}
