/** What the parts of a ring's node share. */
import type { RingConfiguration } from '../../core/placement/ring-configuration.js'
import type { Ring } from '../../core/placement/ring.js'
import type { Random } from '../../core/random.js'
import type { HybridClock } from '../../store/clock.js'
import type { RingMessage } from '../../wire/peer/ring.js'
import type { Peer, Peers } from '../peers.js'
import type { RingNodeConfig } from './config.js'
import type { RingRecords } from './records.js'
import type { RingOutbox } from './outbox.js'

export interface RingCluster {
  readonly config: RingNodeConfig
  readonly outbox: RingOutbox
  readonly random: Random
  readonly clock: HybridClock
  readonly records: RingRecords
  readonly peers: Peers
  readonly now: number
  readonly configuration: RingConfiguration
  /** By `positions`, and by `wanted`; the same ring at rest. */
  readonly current: Ring
  readonly wanted: Ring
  /** The life of the process whose memory this one has; `life` in the configuration. */
  readonly memory: number
  /** The same of another node; 0 while it has not said. */
  memoryOf(name: string): number
  /** Part of the configuration, with its present memory. */
  readonly joined: boolean
  readonly isHollow: boolean
  isHollowMember(name: string): boolean
  /** Nothing that it should have is missing or still on its way. */
  readonly mayRead: boolean
  /** Whether another node can be asked something now. */
  isUp(name: string): boolean
  /** For how long nothing was heard of it; Infinity for one that was given up by hand or never heard. */
  silentMs(name: string): number
  /** Tells it the configuration first if it may not know it; false if it cannot be told anything. */
  send(name: string, message: RingMessage): boolean
  reply(peer: Peer, message: RingMessage): void
}
