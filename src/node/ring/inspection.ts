/** What a node of a ring looks like from outside: for status, for the configuration it shows, and for checkers. */
import type { RingConfiguration } from '../../core/placement/ring-configuration.js'
import type { RingCluster } from './cluster.js'
import { SLICES } from '../../wire/peer/ring.js'
import type { RingRequest } from './outbox.js'
import type { MemberStatus } from './steward.js'

export interface RingInspection {
  readonly name: string
  readonly joined: boolean
  readonly configuration: RingConfiguration
  readonly members: readonly RingMemberInspection[]
  /** Deletions included. */
  readonly records: number
  readonly items: number
  /** Records here that are to have more copies than there are nodes. */
  readonly underReplicated: number
  /** Where this node wants to stand, whether it does already or not. */
  readonly wanted: readonly number[]
  readonly usedBytes: number
  /** Kept for nodes that are away. */
  readonly hints: number
  /** Copies that did not belong here and were deleted. */
  readonly removed: number
  readonly filled: boolean
  /** Records that came while filling up. */
  readonly received: number
  /** Requests under way. */
  readonly pending: number
  readonly queuedBytes: number
  /** By node: sent to it and not yet processed there. */
  readonly unacknowledged: ReadonlyMap<string, number>
  /** Of clients, since the start. */
  readonly requests: Readonly<Record<RingRequest['kind'], number>>
  /** Every record; computed when called. */
  readonly held: () => readonly HeldRecord[]
}

export interface RingMemberInspection {
  readonly name: string
  readonly url: string
  readonly up: boolean
  readonly hollow: boolean
  readonly leaving: boolean
  readonly share: number
  readonly records: number
}

export interface HeldRecord {
  readonly key: Uint8Array
  readonly position: number
  readonly version: number
  readonly from: number
  readonly deleted: boolean
  readonly digest: string
}

export function describeRing(
  cluster: RingCluster,
  more: Pick<
    RingInspection,
    'hints' | 'removed' | 'filled' | 'received' | 'pending' | 'requests' | 'wanted'
  > & {
    readonly statusOf: (name: string) => MemberStatus | undefined
  }
): RingInspection {
  const { config, configuration, records, current, now } = cluster
  const { statusOf, ...counts } = more
  return {
    ...counts,
    name: config.name,
    joined: cluster.joined,
    configuration,
    members: configuration.members.map(({ name, url, hollow, leaving }) => ({
      name,
      url,
      hollow,
      leaving,
      up: name === config.name || cluster.isUp(name),
      share: current.shareOf(name),
      records: name === config.name ? records.count : (statusOf(name)?.records ?? 0)
    })),
    records: records.count,
    items: records.items,
    underReplicated: records.countAbove(current.size),
    usedBytes: records.usedBytes,
    queuedBytes: cluster.peers.queuedBytes,
    unacknowledged: new Map(
      [...cluster.peers.all()].map(({ name, stream }) => [name, stream.unackedBytes])
    ),
    held: () => {
      const held: HeldRecord[] = []
      for (let slice = 0; slice < SLICES; slice++) {
        records.walk(slice, 0, now, (record) => {
          const { first, second } = records.digestOf(record.key, now)
          held.push({ ...record, digest: `${first}:${second}` })
          return true
        })
      }
      return held
    }
  }
}
