/**
 * The items of a bucket that have an expiry, so that the expired ones are found without looking at
 * the others. A radix heap over ticks of 16 ms, its lists linked through the records: an item lies in
 * list 0 when its tick is at or before `base`, else in list `k + 1` where k is the highest bit in
 * which its tick differs from `base`. `base` only moves forward, into the lowest list that has items and
 * no further than to the last tick that is over; then only that list has to be dealt out again, to lower
 * ones. Each item so steps down at most once a bit, in single steps that a budget can interrupt; one that
 * was put in when `base` was far behind steps down once to where it belongs. Sampling (as Redis does) was rejected: it finds
 * few expired items among many that are not.
 *
 * The first record of a list has `-1 - list` as its previous, so any record can leave its list without
 * knowing which it is in.
 */
import type { Records } from './records.js'

const TICK_MS = 16
const LISTS = 54
/** The list being dealt out again. */
const DEALING = LISTS
const TWO_32 = 0x1_0000_0000

export class ExpiryQueue {
  readonly #records: Records
  readonly #lists = new Int32Array(LISTS + 1)
  #base = 0

  constructor(records: Records) {
    this.#records = records
  }

  add(ref: number): void {
    const list = listOf(this.#base, tickOf(this.#records.linkedExpiry(ref)))
    const records = this.#records
    const next = this.#lists[list]
    records.setPrevious(ref, -1 - list)
    records.setNext(ref, next)
    if (next !== 0) records.setPrevious(next, ref)
    this.#lists[list] = ref
  }

  remove(ref: number): void {
    const records = this.#records
    const previous = records.previousOf(ref)
    const next = records.nextOf(ref)
    if (previous < 0) this.#lists[-1 - previous] = next
    else records.setNext(previous, next)
    if (next !== 0) records.setPrevious(next, previous)
  }

  /**
   * Calls `onExpired` for expired records, which must take them out of the queue (by deleting them or
   * changing their expiry), at most `budget` steps. An expired record is found at the latest one tick
   * after its time. Returns how many steps of the budget are left.
   */
  take(now: number, budget: number, onExpired: (ref: number) => void): number {
    const nowTick = tickOf(now)
    const lists = this.#lists
    for (; budget > 0; budget--) {
      const dealt = lists[DEALING]
      if (dealt !== 0) {
        this.remove(dealt)
        this.add(dealt)
        continue
      }
      if (this.#base >= nowTick) return budget
      const due = lists[0]
      if (due !== 0) {
        onExpired(due)
        if (lists[0] === due) return budget
        continue
      }
      let list = 1
      while (list < LISTS && lists[list] === 0) list++
      const start = list < LISTS ? startOf(this.#base, list) : Infinity
      if (start > nowTick) {
        this.#base = nowTick
        return budget
      }
      const last = start + 2 ** (list - 1) - 1
      this.#base = Math.max(start, Math.min(last, nowTick - 1))
      this.#deal(list)
    }
    return 0
  }

  #deal(list: number): void {
    const first = this.#lists[list]
    this.#lists[list] = 0
    this.#lists[DEALING] = first
    this.#records.setPrevious(first, -1 - DEALING)
  }
}

function tickOf(ms: number): number {
  return Math.max(0, Math.floor(ms / TICK_MS))
}

function listOf(base: number, tick: number): number {
  if (tick <= base) return 0
  const high = Math.floor(tick / TWO_32) ^ Math.floor(base / TWO_32)
  if (high !== 0) return 64 - Math.clz32(high)
  return 32 - Math.clz32((tick >>> 0) ^ (base >>> 0))
}

/** The lowest tick that lies in `list`: the bits of `base` above, a one, zeros. */
function startOf(base: number, list: number): number {
  const size = 2 ** (list - 1)
  return (Math.floor(base / size) + 1) * size
}
