/** What a node offers to the doors of its process besides the Redis protocol: HTTP, the dashboard, metrics. */
import type { Settings } from '../config/options.js'
import type { Node } from '../node/node.js'
import type { NodeEvent } from '../node/outbox.js'
import type { LocalClient } from './local-clients.js'
import type { Log } from './log.js'
import type { Latency } from './latency.js'
import type { Recorder } from './recorder.js'
import type { Report, Since } from './report.js'
import type { Status } from './status.js'
import type { Totals } from './totals.js'

/** How a node left. */
export interface Departure {
  /** Everything is elsewhere; otherwise the time was up. */
  readonly left: boolean
  /** What was still here. */
  readonly copies: number
}

export interface Health {
  readonly serving: boolean
  readonly state: 'serving' | 'joining' | 'leaving' | 'isolated'
  readonly reason: string
}

export interface NodeAccess {
  readonly name: string
  /** Where clients and other nodes reach it. */
  readonly address: string
  readonly version: string
  readonly settings: Settings
  readonly log: Log
  /** The node's clock, in milliseconds. */
  now(): number
  status(): Status
  /** The same without the buckets. */
  brief(): Omit<Status, 'buckets'>
  health(): Health
  /** What is new with this node, for a picture of the whole cluster. */
  report(since: Since): Report
  readonly observation: Observation
  /** Acts on the node inside a turn, at whose end it says what it has to say; undefined when it has stopped. */
  perform<T>(act: (node: Node, now: number) => T): T | undefined
  /** A client of this node without a connection. */
  connect(): LocalClient
  /** Everything the node reports, until the returned function is called. */
  onEvent(listener: (event: NodeEvent) => void): () => void
  leave(): Promise<Departure>
  /** Strikes a node that will not come back; says why not, if it cannot be. */
  forget(name: string): string | undefined
}

/** What is measured besides what the node counts itself. */
export interface Observation {
  readonly latency: Latency
  readonly totals: Totals
  readonly recorder: Recorder
  readonly connections: () => Readonly<Record<'client' | 'node' | 'other', number>>
}

/** A door that was opened beside the node's own port. It ends with the node. */
export interface Door {
  /** `HOST:PORT`. */
  readonly address: string
  close(): Promise<void>
}
