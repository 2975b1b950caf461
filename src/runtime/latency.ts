/**
 * How long requests take, from the bytes of a request to the turn's end at which its reply is written: what the node
 * adds, replication included. One request in a few is timed and at most one at a time, so the others pay for a
 * countdown. Durations are counted in buckets that grow by an eighth of an octave: good for percentiles of any second.
 */
const STEPS_AN_OCTAVE = 8
/** Microseconds up to about a minute. */
const BUCKETS = 26 * STEPS_AN_OCTAVE
/** Whoever has not answered by then is not waited for any more. */
const TIMED_MS_MAX = 10_000
/** One request in this many is timed under load; more of them when there are few. */
const EVERY_MAX = 64
const SAMPLES_A_SECOND = 200

export interface Percentiles {
  /** Microseconds; 0 when nothing was timed. */
  readonly p50: number
  readonly p99: number
}

export class Latency {
  /** The session whose request is timed, 0 for none. */
  session = 0
  requests = 0
  /** Called with each duration, in milliseconds. */
  onTimed: ((ms: number) => void) | undefined
  readonly #now: () => number
  #counts = new Float64Array(BUCKETS)
  #every = 1
  #countdown = 1
  #startedMs = 0
  #answered = false
  #requestsBefore = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Bytes of this session came. */
  asked(session: number): void {
    this.requests++
    if (--this.#countdown > 0) return
    this.#countdown = this.#every
    if (this.session !== 0 && this.#now() - this.#startedMs < TIMED_MS_MAX) return
    this.session = session
    this.#answered = false
    this.#startedMs = this.#now()
  }

  /** The timed session was given a reply, which goes out at the end of the turn. */
  answered(): void {
    this.#answered = true
  }

  /** The turn is over and everything is written. */
  written(): void {
    if (!this.#answered) return
    this.#answered = false
    this.session = 0
    const ms = this.#now() - this.#startedMs
    this.#counts[bucketOf(ms * 1000)]++
    this.onTimed?.(ms)
  }

  /** The session is gone; whatever it asked is not timed. */
  closed(session: number): void {
    if (session === this.session) this.session = 0
  }

  /** Of everything since the last call, which is to come about once a second. */
  take(): Percentiles {
    const counts = this.#counts
    this.#counts = new Float64Array(BUCKETS)
    const requests = this.requests - this.#requestsBefore
    this.#requestsBefore = this.requests
    this.#every = Math.min(EVERY_MAX, Math.max(1, Math.round(requests / SAMPLES_A_SECOND)))
    return { p50: percentile(counts, 0.5), p99: percentile(counts, 0.99) }
  }
}

function bucketOf(us: number): number {
  const place = Math.floor(Math.log2(Math.max(us, 1)) * STEPS_AN_OCTAVE)
  return Math.min(place, BUCKETS - 1)
}

function percentile(counts: Float64Array, part: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return 0
  let left = total * part
  for (let place = 0; place < counts.length; place++) {
    left -= counts[place]
    // The middle of the bucket, as the ear would have it.
    if (left <= 0) return 2 ** ((place + 0.5) / STEPS_AN_OCTAVE)
  }
  return 2 ** (counts.length / STEPS_AN_OCTAVE)
}
