/**
 * The network between nodes: envelopes as datagrams over directed links. A link delays what it carries by
 * a base and some jitter and keeps its order; faults make it lose, double or overtake some of it, slow it down, or
 * cut it in one direction or both. All of that is switched on and off by the fault plan while the run goes on.
 *
 * A network may promise that nobody who speaks is silent to anybody for long (`silenceMsMax`): whatever
 * would keep a link silent for longer than that lets one envelope pass. Without the promise a run of bad luck would
 * look like a death, and what two nodes that take each other for dead must do is another promise.
 */
import type { Random } from '../src/core/random.js'
import type { EventQueue } from './event-queue.js'

export interface LinkQuality {
  readonly delayMs: number
  readonly jitterMs: number
  readonly loss: number
  readonly duplication: number
  readonly reordering: number
}

export const GOOD_LINK: LinkQuality = {
  delayMs: 0.3,
  jitterMs: 0.2,
  loss: 0,
  duplication: 0,
  reordering: 0
}

export interface NetworkOptions {
  readonly queue: EventQueue
  readonly random: Random
  readonly quality: LinkQuality
  /** Infinity: no promise. */
  readonly silenceMsMax: number
  readonly deliver: (from: string, to: string, envelope: Uint8Array) => void
}

interface Link {
  readonly from: string
  readonly to: string
  quality: LinkQuality
  /** Cuts upon it: partitions may overlap. */
  cuts: number
  /** When the last envelope came or comes through. */
  lastMs: number
  /** Raised when everything on its way is lost. */
  generation: number
}

/** An envelope that is overtaken comes this much later than it would have. */
const OVERTAKEN_MS_MAX = 30

export class Network {
  sent = 0
  lost = 0
  readonly #options: NetworkOptions
  readonly #links = new Map<string, Map<string, Link>>()
  #usual: LinkQuality

  constructor(options: NetworkOptions) {
    this.#options = options
    this.#usual = options.quality
  }

  send(from: string, to: string, envelope: Uint8Array): void {
    const { random, queue, silenceMsMax } = this.#options
    const link = this.#link(from, to)
    const { quality } = link
    this.sent++
    const isLost = link.cuts > 0 || (quality.loss > 0 && random.chance(quality.loss))
    if (isLost && queue.now - link.lastMs < silenceMsMax) {
      this.lost++
      return
    }
    this.#carry(link, envelope)
    const isDoubled = quality.duplication > 0 && random.chance(quality.duplication)
    if (isDoubled) this.#carry(link, envelope.slice())
  }

  /** Changes what the link from one to the other is like. */
  setQuality(from: string, to: string, quality: LinkQuality): void {
    this.#link(from, to).quality = quality
  }

  /** Changes all links, those to come included. */
  setQualityOfAll(quality: LinkQuality): void {
    this.#usual = quality
    for (const links of this.#links.values()) {
      for (const link of links.values()) link.quality = quality
    }
  }

  cut(from: string, to: string): void {
    this.#link(from, to).cuts++
  }

  mend(from: string, to: string): void {
    const link = this.#link(from, to)
    if (link.cuts > 0) link.cuts--
  }

  isOpen(from: string, to: string): boolean {
    return this.#link(from, to).cuts === 0
  }

  /** What this node has sent and nobody has got yet never arrives: it was still in its machine. */
  loseOnTheWay(from: string): void {
    for (const link of this.#links.get(from)?.values() ?? []) {
      link.generation++
      link.lastMs = Math.min(link.lastMs, this.#options.queue.now)
    }
  }

  /** Every link as good as new. */
  heal(): void {
    this.setQualityOfAll(this.#options.quality)
    for (const links of this.#links.values()) {
      for (const link of links.values()) link.cuts = 0
    }
  }

  #carry(link: Link, envelope: Uint8Array): void {
    const { random, queue, deliver } = this.#options
    const { quality } = link
    let arrival = queue.now + quality.delayMs + random.fraction() * quality.jitterMs
    if (quality.reordering > 0 && random.chance(quality.reordering)) {
      arrival += random.fraction() * OVERTAKEN_MS_MAX
    } else {
      arrival = Math.max(arrival, link.lastMs)
      link.lastMs = arrival
    }
    const { generation } = link
    queue.at(arrival, () => {
      if (link.generation === generation) deliver(link.from, link.to, envelope)
    })
  }

  #link(from: string, to: string): Link {
    let links = this.#links.get(from)
    if (links === undefined) {
      links = new Map()
      this.#links.set(from, links)
    }
    let link = links.get(to)
    if (link === undefined) {
      link = { from, to, quality: this.#usual, cuts: 0, lastMs: 0, generation: 0 }
      links.set(to, link)
    }
    return link
  }
}
