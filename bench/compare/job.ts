/** What the generator is asked to do, and what it says afterwards; both cross a process boundary as JSON. */
import type { Latency } from './histogram.js'
import type { Protocol } from './reply-counter.js'

export const MIXES = [
  'get',
  'set',
  'incr',
  'mixed',
  'mget',
  'hash',
  'entity',
  'list',
  'zset',
  'del'
] as const
export type Mix = (typeof MIXES)[number]

export interface Job {
  /** Ports on loopback. With more than one, each key goes to the node that owns its slot. */
  readonly ports: readonly number[]
  /** All nodes of the cluster, where only some of them are asked, for keys that are theirs. */
  readonly cluster?: readonly number[]
  readonly protocol: Protocol
  readonly mix: Mix
  readonly connections: number
  readonly pipeline: number
  readonly keys: number
  /** The first key's number: keys are `from` to `from + keys - 1`. */
  readonly from?: number
  readonly valueBytes: number
  /** Left out of the figures: compilers, caches and windows of TCP get warm. */
  readonly warmupMs: number
  readonly durationMs: number
  /** Instead of a duration: every key once, in order. */
  readonly eachOnce?: boolean
  /** Operations a second over all connections, sent when they are due and not when the last was answered. */
  readonly ratePerSecond?: number
  /** After each batch, `WAIT n`: replicas that must have it. */
  readonly wait?: number
  /** Processes whose processor time counts as the server's. */
  readonly pids: readonly number[]
}

export interface LoadResult {
  readonly operations: number
  readonly seconds: number
  readonly perSecond: number
  /** In milliseconds. */
  readonly latency: Latency
  /** Processor time of the servers, over all their threads. */
  readonly serverUsPerOperation: number
  /** Parts of one processor that the servers and the generator used. */
  readonly serverShare: number
  readonly generatorShare: number
}
