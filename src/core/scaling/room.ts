/**
 * Room for jobs: a bin for each host (or host to come) with what is free on it, and a shape for each
 * distinct thing jobs ask for. Ten thousand jobs are mostly a few shapes, and whether a shape matches
 * a kind of host is worked out once, so that packing a long queue on many hosts stays cheap. What is
 * free only shrinks while packing, which is why a shape that found a bin too full need not look at
 * that bin again.
 */
import type { HostTemplate } from './config.js'
import type { HostFacts, JobFacts, Resources } from './facts.js'
import { findUnmet, formatResources } from './resources.js'

export interface Shape {
  readonly id: number
  /** Slots of a whole task. */
  readonly slots: number
  /** What must be on one host: all slots, or for a spread job a fixed part, or one slot. */
  readonly unit: number
  readonly span: 'host' | 'hosts'
  /** Undefined: any queue. */
  readonly queues: readonly string[] | undefined
  readonly resources: Resources
  /** By kind of host: 1 matches, 0 does not, undefined not looked at yet. */
  readonly matches: (0 | 1 | undefined)[]
}

export interface Bin {
  readonly host: string
  readonly kind: number
  free: number
  /** Empty: the host takes jobs of any queue. */
  readonly queues: readonly string[]
  readonly queueFree: number[]
  /** What is left of the things that jobs use up. */
  readonly left: Map<string, number> | undefined
}

interface Offer {
  readonly resources: Resources
  readonly queues: readonly string[]
}

export interface RoomOptions {
  /** Empty: all. */
  readonly queues: readonly string[]
  readonly hosts: readonly HostFacts[]
  readonly template: HostTemplate | undefined
}

export class Room {
  readonly #shapes = new Map<string, Shape>()
  readonly #kinds = new Map<string, number>()
  readonly #offers: Offer[] = []
  readonly #balanced: ReadonlySet<string>
  /** Requests that somebody offers; the others say nothing about hosts. */
  readonly #known = new Set<string>()
  /** Resources that jobs use up, on any host. */
  readonly #usedUp = new Set<string>()

  constructor({ queues, hosts, template }: RoomOptions) {
    this.#balanced = new Set(queues)
    // Nobody has slots, so nobody can say what a new host would offer: requests mean nothing yet.
    if (template === undefined) return
    for (const host of hosts) {
      for (const name of Object.keys(host.resources ?? {})) this.#known.add(name)
      for (const name of Object.keys(host.resourcesUsed ?? {})) this.#usedUp.add(name)
    }
    for (const name of Object.keys(template.resources ?? {})) this.#known.add(name)
  }

  /** Whether a queue takes part; with no list all do. */
  isBalanced(queue: string): boolean {
    return this.#balanced.size === 0 || this.#balanced.has(queue)
  }

  shapeOf(job: JobFacts): Shape {
    const span = job.span ?? 'host'
    const unit = span === 'host' ? job.slots : (job.slotsPerHost ?? 1)
    const resources = this.#knownOf(job.resources)
    const queues = job.queues?.filter((queue) => this.isBalanced(queue))
    const wanted = resources === NOTHING ? '' : formatResources(resources)
    const key = `${job.slots} ${span} ${unit} ${queues?.join(',') ?? '*'} ${wanted}`
    let shape = this.#shapes.get(key)
    if (shape === undefined) {
      const id = this.#shapes.size
      shape = { id, slots: job.slots, unit, span, queues, resources, matches: [] }
      this.#shapes.set(key, shape)
    }
    return shape
  }

  /** A host with what is free on it now, or with `empty` as if nothing ran there. */
  binOf(host: HostFacts, empty = false): Bin {
    const queues = host.queues.filter(({ queue }) => this.isBalanced(queue))
    const closed = host.queues.length > 0 && queues.length === 0
    return {
      host: host.name,
      kind: this.#kindOf({
        resources: host.resources ?? NOTHING,
        queues: queues.map(({ queue }) => queue)
      }),
      free: closed ? 0 : Math.max(0, empty ? host.slots : host.slots - host.used),
      queues: queues.map(({ queue }) => queue),
      queueFree: queues.map(({ slots, used }) => Math.max(0, empty ? slots : slots - used)),
      left: this.#leftOf(host.resources ?? NOTHING, empty ? {} : (host.resourcesUsed ?? {}))
    }
  }

  binOfTemplate(template: HostTemplate, name: string): Bin {
    const queues = template.queues.map(({ queue }) => queue)
    const resources = template.resources ?? NOTHING
    return {
      host: name,
      kind: this.#kindOf({ resources, queues }),
      free: template.slots,
      queues,
      queueFree: template.queues.map(({ slots }) => slots),
      left: this.#leftOf(resources, {})
    }
  }

  /** Whether the kind of host has a queue and the resources that are asked for, full or not. */
  matches(shape: Shape, bin: Bin): boolean {
    let match = shape.matches[bin.kind]
    if (match === undefined) {
      const { resources, queues } = this.#offers[bin.kind]
      const { queues: wanted } = shape
      const open =
        wanted === undefined ||
        queues.length === 0 ||
        queues.some((queue) => wanted.includes(queue))
      match = open && findUnmet(resources, shape.resources) === undefined ? 1 : 0
      shape.matches[bin.kind] = match
    }
    return match === 1
  }

  /** How many units of the shape go into the bin. */
  fit(shape: Shape, bin: Bin): number {
    if (bin.free < shape.unit || !this.matches(shape, bin)) return 0
    let slots = 0
    if (bin.queues.length === 0) slots = bin.free
    else {
      for (let i = 0; i < bin.queues.length; i++) {
        if (shape.queues !== undefined && !shape.queues.includes(bin.queues[i])) continue
        // Whole units only: a task does not straddle two queues.
        slots += Math.floor(bin.queueFree[i] / shape.unit) * shape.unit
      }
      slots = Math.min(slots, bin.free)
    }
    let units = Math.floor(slots / shape.unit)
    if (bin.left !== undefined) {
      for (const [name, left] of bin.left) {
        const wanted = Number(shape.resources[name] ?? 0)
        if (wanted > 0) units = Math.min(units, Math.floor(left / wanted))
      }
    }
    return units
  }

  take(shape: Shape, bin: Bin, units: number): void {
    this.#change(shape, bin, units)
  }

  give(shape: Shape, bin: Bin, units: number): void {
    this.#change(shape, bin, -units)
  }

  #change(shape: Shape, bin: Bin, units: number): void {
    bin.free -= units * shape.unit
    let rest = units
    for (let i = 0; i < bin.queues.length && rest !== 0; i++) {
      if (shape.queues !== undefined && !shape.queues.includes(bin.queues[i])) continue
      // Given back: to the first queue that may have had it, which is exact where a host has one.
      const part = rest < 0 ? rest : Math.min(rest, Math.floor(bin.queueFree[i] / shape.unit))
      bin.queueFree[i] -= part * shape.unit
      rest -= part
    }
    if (bin.left === undefined) return
    for (const [name, left] of bin.left) {
      bin.left.set(name, left - units * Number(shape.resources[name] ?? 0))
    }
  }

  #knownOf(resources: Resources | undefined): Resources {
    if (resources === undefined) return NOTHING
    const names = Object.keys(resources).filter((name) => this.#known.has(name))
    if (names.length === 0) return NOTHING
    return Object.fromEntries(names.map((name) => [name, resources[name]]))
  }

  #leftOf(
    resources: Resources,
    used: Readonly<Record<string, number>>
  ): Map<string, number> | undefined {
    if (this.#usedUp.size === 0) return undefined
    const left = new Map<string, number>()
    for (const name of this.#usedUp) {
      left.set(name, Number(resources[name] ?? 0) - (used[name] ?? 0))
    }
    return left
  }

  #kindOf(offer: Offer): number {
    const key = `${offer.queues.join(',')} ${formatResources(offer.resources)}`
    let kind = this.#kinds.get(key)
    if (kind === undefined) {
      kind = this.#offers.length
      this.#kinds.set(key, kind)
      this.#offers.push(offer)
    }
    return kind
  }
}

const NOTHING: Resources = {}
