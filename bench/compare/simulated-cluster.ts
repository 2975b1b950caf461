/**
 * Many nodes in one process, wired to each other through the real codec on a clock of their own, to count what they say:
 * envelopes and bytes. Every envelope takes one step; nothing is lost.
 */
import { nodeName } from '../../src/core/ids.js'
import { NODE_DEFAULTS } from '../../src/node/config.js'
import { Node } from '../../src/node/node.js'

const STEP_MS = 5
const START_MS = 1_000_000

export interface Traffic {
  readonly messages: number
  readonly bytes: number
  readonly ms: number
}

export class SimulatedCluster {
  readonly #nodes = new Map<string, Node>()
  #inFlight: { readonly to: string; readonly envelope: Uint8Array }[] = []
  #nowMs = START_MS
  #messages = 0
  #bytes = 0

  get size(): number {
    return this.#nodes.size
  }

  /** One more node, which joins the first. */
  add(): void {
    const number = this.#nodes.size + 1
    const name = `n${number}`
    const join = number === 1 ? [] : ['n1']
    const own = { name: nodeName(name), address: name, life: this.#nowMs, seed: number, join }
    const node = new Node(
      { ...NODE_DEFAULTS, ...own },
      {
        send: (to, envelope) => {
          this.#messages++
          this.#bytes += envelope.length
          this.#inFlight.push({ to, envelope: envelope.slice() })
        },
        output: () => undefined,
        hangUp: () => undefined,
        event: () => undefined
      }
    )
    this.#nodes.set(name, node)
    node.start(this.#nowMs)
    node.flush(this.#nowMs)
  }

  /** Lets time pass until it is at rest for a second; throws if that takes too long. */
  settle(limitMs: number): Traffic {
    const REST_MS = 1000
    let restedMs = 0
    return this.#count(() => {
      const endMs = this.#nowMs + limitMs
      while (restedMs < REST_MS) {
        if (this.#nowMs > endMs) throw new Error(`not at rest after ${limitMs} ms`)
        this.#step()
        restedMs = this.#isBalanced() ? restedMs + STEP_MS : 0
      }
    })
  }

  rest(ms: number): Traffic {
    return this.#count(() => {
      for (const endMs = this.#nowMs + ms; this.#nowMs < endMs;) this.#step()
    })
  }

  #count(act: () => void): Traffic {
    const [messages, bytes, startMs] = [this.#messages, this.#bytes, this.#nowMs]
    act()
    const ms = this.#nowMs - startMs
    return { messages: this.#messages - messages, bytes: this.#bytes - bytes, ms }
  }

  #step(): void {
    this.#nowMs += STEP_MS
    const arrived = this.#inFlight
    this.#inFlight = []
    for (const { to, envelope } of arrived) this.#nodes.get(to)?.receive(envelope, this.#nowMs)
    for (const node of this.#nodes.values()) {
      if (node.deadline <= this.#nowMs) node.tick(this.#nowMs)
      node.flush(this.#nowMs)
    }
  }

  /** By the first node's table: everybody has its share, and nobody gives anything away. */
  #isBalanced(): boolean {
    const first = this.#nodes.get('n1')
    if (first?.joined !== true || first.view.roster.staying.length < this.size) return false
    const { table } = first
    let [least, most] = [Infinity, 0]
    for (const name of this.#nodes.keys()) {
      const index = table.indexOf(nodeName(name))
      const total = index < 0 ? 0 : table.totalOf(index)
      least = Math.min(least, total)
      most = Math.max(most, total)
    }
    return most - least <= 1
  }
}
