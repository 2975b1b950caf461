/** The samples of all nodes on one axis of whole seconds, and what they are together. */
import type { Sample } from '../../src/runtime/sample.js'

export interface Series {
  /** Seconds since 1970, one a second without holes. */
  readonly times: number[]
  readonly total: (number | null)[]
  /** A second line of the whole, where there is one. */
  readonly upper: (number | null)[] | undefined
  readonly byNode: ReadonlyMap<string, (number | null)[]>
}

export interface Measure {
  readonly read: (sample: Sample) => number
  /** How the nodes' values become one. */
  readonly join: 'sum' | 'max' | 'mean'
  readonly upper?: (sample: Sample) => number
}

/** What is plotted: at most, and at least although there is less. */
const WINDOW_S = 180
const WINDOW_S_MIN = 45
/** A node that has said nothing for longer is not there. */
const LATE_S = 2

export function arrange(
  samples: ReadonlyMap<string, readonly Sample[]>,
  { read, join, upper }: Measure
): Series {
  let [begin, last] = [Infinity, 0]
  for (const list of samples.values()) {
    begin = Math.min(begin, secondOf(list.at(0)))
    last = Math.max(last, secondOf(list.at(-1)))
  }
  const length = Math.min(WINDOW_S, Math.max(WINDOW_S_MIN, last - begin + 1))
  const first = last - length + 1
  const times = Array.from({ length }, (_, place) => first + place)
  const byNode = new Map<string, (number | null)[]>()
  const uppers: (number | null)[][] = []
  for (const [name, list] of samples) {
    byNode.set(name, spread(list, times, read))
    if (upper !== undefined) uppers.push(spread(list, times, upper))
  }
  const total = times.map((_, place) => joinAt([...byNode.values()], place, join))
  const most =
    upper === undefined ? undefined : times.map((_, place) => joinAt(uppers, place, 'max'))
  return { times, total, upper: most, byNode }
}

function secondOf(sample: Sample | undefined): number {
  return sample === undefined ? 0 : Math.floor(sample.timeMs / 1000)
}

function spread(
  list: readonly Sample[],
  times: readonly number[],
  read: (sample: Sample) => number
): (number | null)[] {
  const [{ length }, first] = [times, times[0]]
  const values = new Array<number | null>(length).fill(null)
  for (const sample of list) {
    const place = secondOf(sample) - first
    if (place >= 0 && place < length) values[place] = read(sample)
  }
  // Two samples may fall into one second and none into the next: that is no hole.
  for (let place = 1; place < length - 1; place++) {
    if (values[place] === null && values[place + 1] !== null) values[place] = values[place - 1]
  }
  // Nodes sample at different moments: whoever is only late is where it was.
  for (let place = Math.max(1, length - LATE_S); place < length; place++)
    values[place] ??= values[place - 1]
  return values
}

function joinAt(
  columns: readonly (readonly (number | null)[])[],
  place: number,
  join: Measure['join']
): number | null {
  let [sum, most, count] = [0, 0, 0]
  for (const column of columns) {
    const value = column[place]
    if (value === null) continue
    sum += value
    most = Math.max(most, value)
    count++
  }
  if (count === 0) return null
  return join === 'sum' ? sum : join === 'max' ? most : sum / count
}
