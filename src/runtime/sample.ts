/** A node's figures of one second. */
export interface Sample {
  readonly id: number
  readonly timeMs: number
  /** A second, executed here. */
  readonly operations: number
  /** Microseconds. */
  readonly p50: number
  readonly p99: number
  readonly heapBytes: number
  readonly storeBytes: number
  readonly items: number
  /** Not acknowledged by the slowest peer, and for how long it has said nothing. */
  readonly lagBytes: number
  readonly lagMs: number
  readonly held: number
  /** Copies of buckets shipped a second. */
  readonly shipped: number
  /** The longest delay of the event loop. */
  readonly loopMs: number
}
