/**
 * The step of document 004's diagram that was never coded: will the present hosts have started
 * everything before a new one is up? Running jobs are expected to end, and waiting ones to last, as
 * their like did; hosts that boot join when they should. Played forward job by job until the moment
 * a host asked for now would be up. What still waits then is what a new host is for.
 *
 * Spread jobs are not played: they wait for several hosts at once, and a guess about each would
 * multiply. They count as still waiting, which errs towards adding.
 */
import type { Durations } from './durations.js'
import type { Facts } from './facts.js'
import { pack, type Item } from './packing.js'
import type { Bin, Room, Shape } from './room.js'
import type { Waiting } from './demand.js'

/** Placements tried before the forecast gives up: some tenths of a second. */
const STEPS_MAX = 500_000

export interface ForecastOptions {
  readonly facts: Facts
  readonly now: number
  /** When a host asked for now would be up. */
  readonly until: number
  readonly durations: Durations
  readonly room: Room
  readonly waiting: readonly Waiting[]
  /** What is free on the usable hosts. */
  readonly bins: readonly Bin[]
  readonly booting: readonly { readonly bin: Bin; readonly at: number }[]
  readonly create: (index: number) => Bin
  readonly createMax: number
  readonly workPerHostMs: number
  /** Slots of the usable and the booting hosts. */
  readonly presentSlots: number
  /** Slots that new jobs will take. */
  readonly sustainedSlots: number
}

export interface Forecast {
  /** Tasks that wait now, and those that still will when a new host is up. */
  readonly tasks: number
  readonly left: number
  /** Slot-milliseconds of the latter. */
  readonly leftWorkMs: number
  /** Hosts that are worth adding for them. */
  readonly needed: number
}

/** Undefined when the queue is too varied to be played in the time there is. */
export function forecast(options: ForecastOptions): Forecast | undefined {
  const left = options.waiting.map(({ tasks }) => tasks)
  if (!play(options, left)) return undefined
  const { waiting, durations, room, create, createMax } = options
  let [tasks, rest, leftWorkMs] = [0, 0, 0]
  const items: Item[] = []
  for (const [index, { job, shape, tasks: all }] of waiting.entries()) {
    tasks += all
    if (left[index] === 0) continue
    rest += left[index]
    leftWorkMs += left[index] * shape.slots * durations.expect(job)
    items.push({ shape, tasks: left[index] })
  }
  const packed = pack({ room, items, bins: [], create, createMax })
  const needed = Math.min(packed.needed, countWorthwhile(options, leftWorkMs))
  return { tasks, left: rest, leftWorkMs, needed }
}

/** So many that each, beside the present hosts, gets `workPerHostMs` of work. */
function countWorthwhile(options: ForecastOptions, leftWorkMs: number): number {
  const { workPerHostMs, create, presentSlots, sustainedSlots } = options
  if (workPerHostMs <= 0) return Infinity
  const missing = leftWorkMs / workPerHostMs + sustainedSlots - presentSlots
  return Math.max(0, Math.ceil(missing / Math.max(1, create(0).free)))
}

interface Release {
  readonly at: number
  readonly bin: Bin
  /** What was started in the play itself; undefined for a job that runs now, or a host that comes up. */
  readonly waiting: Waiting | undefined
  readonly slots: number
  readonly queue: string | undefined
}

/** Lines that ask for the same, oldest first. */
interface Group {
  readonly indexes: number[]
  /** Lines before it have all started. */
  head: number
}

/**
 * Starts what can be started up to the end; false if that takes too many steps. A host that comes free
 * is offered to each thing asked for in turn, the one of the oldest job first, not to each of ten
 * thousand jobs.
 */
function play(options: ForecastOptions, left: number[]): boolean {
  const { now, until, durations, waiting, room } = options
  const releases = new ReleaseHeap()
  const groups = groupByShape(waiting)
  let [steps, smallest] = [0, Infinity]
  for (const shape of groups.keys()) smallest = Math.min(smallest, shape.unit)

  const refill = (bin: Bin, at: number): void => {
    for (const [shape, group] of groups) {
      if (bin.free < smallest) return
      steps++
      let units = room.fit(shape, bin)
      while (units > 0 && group.head < group.indexes.length) {
        steps++
        const index = group.indexes[group.head]
        const taken = Math.min(left[index], units)
        left[index] -= taken
        units -= taken
        if (left[index] === 0) group.head++
        room.take(shape, bin, taken)
        // A second at least, or jobs of no length would be played for ever.
        const end = at + Math.max(1000, durations.expect(waiting[index].job))
        const slots = taken * shape.unit
        if (end < until) {
          releases.push({ at: end, bin, waiting: waiting[index], slots, queue: undefined })
        }
      }
      if (group.head === group.indexes.length) groups.delete(shape)
    }
  }

  for (const bin of options.bins) refill(bin, now)
  pushRunning(options, releases)
  for (const { bin, at } of options.booting) {
    if (at < until) releases.push({ at, bin, waiting: undefined, slots: 0, queue: undefined })
  }
  while (steps < STEPS_MAX) {
    const release = releases.pop()
    if (release === undefined) return true
    const { bin, waiting: entry, slots } = release
    steps++
    if (entry !== undefined) room.give(entry.shape, bin, slots / entry.shape.unit)
    else if (slots > 0) freeSlots(bin, slots, release.queue)
    refill(bin, release.at)
  }
  return false
}

function groupByShape(waiting: readonly Waiting[]): Map<Shape, Group> {
  const groups = new Map<Shape, Group>()
  for (const [index, { shape }] of waiting.entries()) {
    if (shape.span === 'hosts') continue
    const group = groups.get(shape)
    if (group === undefined) groups.set(shape, { indexes: [index], head: 0 })
    else group.indexes.push(index)
  }
  return groups
}

function pushRunning(options: ForecastOptions, releases: ReleaseHeap): void {
  const { facts, now, until, durations } = options
  const bins = new Map(options.bins.map((bin) => [bin.host, bin]))
  for (const job of facts.jobs) {
    if (job.state !== 'running') continue
    const end = now + durations.remaining(job, now)
    if (end >= until) continue
    for (const { host, slots, queue } of job.hosts ?? []) {
      const bin = bins.get(host)
      if (bin !== undefined) releases.push({ at: end, bin, waiting: undefined, slots, queue })
    }
  }
}

/** Where it is not known by which queue a job came in, the first is taken. */
function freeSlots(bin: Bin, slots: number, queue: string | undefined): void {
  bin.free += slots
  const index = queue === undefined ? 0 : bin.queues.indexOf(queue)
  if (index >= 0 && index < bin.queueFree.length) bin.queueFree[index] += slots
}

/** A binary heap: the earliest release first, the first pushed first among equals. */
class ReleaseHeap {
  readonly #items: { release: Release; order: number }[] = []
  #order = 0

  push(release: Release): void {
    const items = this.#items
    let index = items.push({ release, order: this.#order++ }) - 1
    while (index > 0) {
      const parent = (index - 1) >>> 1
      if (!this.#before(index, parent)) break
      this.#swap(index, parent)
      index = parent
    }
  }

  pop(): Release | undefined {
    const items = this.#items
    if (items.length === 0) return undefined
    this.#swap(0, items.length - 1)
    const top = items.pop()
    let index = 0
    for (;;) {
      const [left, right] = [2 * index + 1, 2 * index + 2]
      let least = index
      if (left < items.length && this.#before(left, least)) least = left
      if (right < items.length && this.#before(right, least)) least = right
      if (least === index) return top?.release
      this.#swap(index, least)
      index = least
    }
  }

  #before(a: number, b: number): boolean {
    const [first, second] = [this.#items[a], this.#items[b]]
    if (first.release.at !== second.release.at) return first.release.at < second.release.at
    return first.order < second.order
  }

  #swap(a: number, b: number): void {
    const item = this.#items[a]
    this.#items[a] = this.#items[b]
    this.#items[b] = item
  }
}
