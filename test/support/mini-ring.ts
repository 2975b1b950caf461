/** A few nodes of a ring in one process with virtual time. Messages arrive with the next step, unless a node is cut off. */
import { latin1Bytes, latin1String } from '../../src/core/bytes.js'
import { nodeName } from '../../src/core/ids.js'
import { virtualPositions } from '../../src/core/placement/ring.js'
import { RING_DEFAULTS, type RingNodeConfig } from '../../src/node/ring/config.js'
import { RingNode } from '../../src/node/ring/node.js'
import type { RingAnswer, RingRequest } from '../../src/node/ring/outbox.js'

const STEP_MS = 5
const WAIT_MS_MAX = 60_000

export type RingSettings = Partial<Omit<RingNodeConfig, 'name' | 'address' | 'url'>>

export class MiniRing {
  readonly nodes = new Map<string, RingNode>()
  /** Nothing comes to these, and nothing comes from them. */
  readonly cut = new Set<string>()
  now = 1_780_000_000_000
  readonly #settings: RingSettings
  readonly #answers = new Map<number, RingAnswer>()
  #mail: { from: string; to: string; envelope: Uint8Array }[] = []
  #lastId = 0

  constructor(names: readonly string[], settings: RingSettings = {}) {
    this.#settings = settings
    for (const name of names) this.start(name, name === names[0] ? [] : [names[0]])
    this.until(() => this.isAtRest)
  }

  start(name: string, join: readonly string[]): RingNode {
    const url = `http://${name}`
    const own = { name: nodeName(name), address: name, url, join, life: this.now, seed: 7 }
    const positions = virtualPositions(url, 4)
    const node = new RingNode(
      { ...RING_DEFAULTS, ...own, positions, ...this.#settings },
      {
        send: (to, envelope) => this.#mail.push({ from: name, to, envelope: envelope.slice() }),
        answer: (id, answer) => this.#answers.set(id, answer),
        event: () => undefined
      }
    )
    this.nodes.set(name, node)
    node.start(this.now)
    return node
  }

  get isAtRest(): boolean {
    return [...this.nodes.values()].every(
      ({ configuration, joined }) =>
        joined && configuration.stage === 'rest' && configuration.members.length === this.nodes.size
    )
  }

  node(name: string): RingNode {
    return this.nodes.get(name)!
  }

  run(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.now += STEP_MS) {
      const mail = this.#mail
      this.#mail = []
      for (const { from, to, envelope } of mail) {
        if (!this.cut.has(from) && !this.cut.has(to))
          this.nodes.get(to)?.receive(envelope, this.now)
      }
      for (const node of this.nodes.values()) {
        node.tick(this.now)
        node.flush(this.now)
      }
    }
  }

  until(condition: () => boolean): void {
    const end = this.now + WAIT_MS_MAX
    while (!condition()) {
      if (this.now > end) throw new Error(`waited in vain for ${String(condition)}`)
      this.run(STEP_MS)
    }
  }

  ask(name: string, kind: RingRequest['kind'], key: string, more: Partial<Asked> = {}): RingAnswer {
    return this.end(this.begin(name, kind, key, more))
  }

  begin(name: string, kind: RingRequest['kind'], key: string, more: Partial<Asked> = {}): number {
    const id = ++this.#lastId
    const { value, ...quorum } = more
    const text = value === undefined ? {} : { value: latin1Bytes(value) }
    this.node(name).request({ id, kind, key: latin1Bytes(key), ...text, ...quorum }, this.now)
    return id
  }

  end(id: number): RingAnswer {
    this.until(() => this.#answers.has(id))
    return this.#answers.get(id)!
  }

  /** What a node holds of its own: keys that are not deleted. */
  keysOf(name: string): string[] {
    const held = this.node(name).inspect().held()
    return held.flatMap(({ key, deleted }) => (deleted ? [] : [latin1String(key, 0, key.length)]))
  }

  versionOf(name: string, key: string): number {
    return this.node(name).records.versionOf(latin1Bytes(key))
  }
}

interface Asked {
  readonly value: string
  readonly ack: number
  readonly from: number
  readonly ttlMs: number
}
