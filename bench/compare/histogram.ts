/**
 * Latencies in buckets whose width grows with the value (within 1.6 %), so that adding one costs the same whatever it is
 * and a pause of seconds is kept beside replies of microseconds.
 */
const SUB_BITS = 6
const SUBS = 1 << SUB_BITS
/** Up to 2^31 µs, which is half an hour. */
const BUCKETS = (31 - SUB_BITS + 1) * SUBS

export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export class Histogram {
  readonly #counts = new Float64Array(BUCKETS)
  #total = 0
  #max = 0

  /** `count` operations that took `us` microseconds each. */
  add(us: number, count: number): void {
    const whole = Math.min(Math.max(0, Math.round(us)), 0x7fffffff)
    this.#counts[indexOf(whole)] += count
    this.#total += count
    if (us > this.#max) this.#max = us
  }

  /** In milliseconds. */
  summarize(): Latency {
    return {
      p50: this.#percentile(0.5),
      p99: this.#percentile(0.99),
      p999: this.#percentile(0.999),
      max: this.#max / 1000
    }
  }

  #percentile(share: number): number {
    const wanted = share * this.#total
    let seen = 0
    for (let index = 0; index < BUCKETS; index++) {
      seen += this.#counts[index]
      if (seen > 0 && seen >= wanted) return Math.min(valueOf(index), this.#max) / 1000
    }
    return this.#max / 1000
  }
}

function indexOf(us: number): number {
  if (us < SUBS) return us
  const power = 31 - Math.clz32(us) - SUB_BITS
  return (power + 1) * SUBS + ((us >> power) - SUBS)
}

/** The largest value of a bucket. */
function valueOf(index: number): number {
  if (index < SUBS) return index
  const power = Math.floor(index / SUBS) - 1
  return ((index % SUBS) + SUBS + 1) * 2 ** power - 1
}
