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
  /** Part of the configuration, in its present life. */
  readonly joined: boolean
  readonly isHollow: boolean
  isHollowMember(name: string): boolean
  /** Whether another node can be asked something now. */
  isUp(name: string): boolean
  /** For how long nothing was heard of it; Infinity for one that was given up by hand or never heard. */
  silentMs(name: string): number
  /** Tells it the configuration first if it may not know it; false if it cannot be told anything. */
  send(name: string, message: RingMessage): boolean
  reply(peer: Peer, message: RingMessage): void
}
