/**
 * A ring in the words of the status that buckets have: an arc is a bucket, its first replica the primary and the
 * others (of as many copies as a record gets by default) the backups. What only a ring has stands beside it.
 */
import type { RingInspection } from '../node/ring/inspection.js'
import { ringOf } from '../core/placement/ring-configuration.js'
import type { Ring } from '../core/placement/ring.js'
import type { BucketStatus, NodeStatus, Status } from './status.js'

export interface RingStatus extends Status {
  readonly placement: 'ring'
  readonly ring: {
    readonly version: number
    readonly stage: string
    /** There are fewer nodes than a record is to have copies if its writer does not say. */
    readonly underReplicated: boolean
    /** Records of this node that are to have more copies than there are nodes, by what their writers said. */
    readonly underReplicatedRecords: number
    readonly hints: number
    /** Surplus copies that were deleted, and records that came while filling up. */
    readonly removed: number
    readonly received: number
    readonly pending: number
    readonly nodes: readonly {
      readonly name: string
      readonly url: string
      readonly share: number
      readonly records: number
      readonly positions: readonly number[]
    }[]
  }
}

export interface RingStatusExtras {
  readonly version: string
  readonly http: string | null
  readonly cluster: number
}

export function describeRingStatus(
  inspection: RingInspection,
  extras: RingStatusExtras
): RingStatus {
  const { configuration, members } = inspection
  const { copies, version, stage } = configuration
  const ring = ringOf(configuration, 'positions')
  const living = new Set(members.filter(({ up }) => up).map(({ name }) => name))
  const buckets = ring.positions.map((_, id) => describeArc(ring, id, { copies, version, living }))
  const count = (state: BucketStatus['state']): number =>
    buckets.filter((bucket) => bucket.state === state).length
  const underReplicated = ring.size < copies
  return {
    node: inspection.name,
    version: extras.version,
    cluster: extras.cluster.toString(16).padStart(8, '0'),
    mask: 'ring',
    copies,
    splitAt: 0,
    policy: 'quorum',
    balanced: stage === 'rest' && !members.some(({ hollow, up }) => hollow || !up),
    serving: true,
    withoutBackup: copies === 1 ? 0 : count('without-backup'),
    lost: count('lost'),
    nodes: configuration.members.map((member): NodeStatus => {
      const { name, address, zone, leaving } = member
      const isOwn = name === inspection.name
      const seen = members.find((other) => other.name === name)
      return {
        name,
        resp: address,
        http: member.url.replace(/^http:\/\//, ''),
        state: !living.has(name) ? 'dead' : leaving ? 'leaving' : 'alive',
        primaries: buckets.filter(({ primary }) => primary === name).length,
        backups: buckets.filter(({ backups }) => backups.includes(name)).length,
        items: isOwn ? inspection.items : (seen?.records ?? null),
        bytes: isOwn ? inspection.usedBytes : null,
        weight: 1,
        zone
      }
    }),
    buckets,
    moves: [],
    placement: 'ring',
    ring: {
      version,
      stage,
      underReplicated,
      underReplicatedRecords: inspection.underReplicated,
      hints: inspection.hints,
      removed: inspection.removed,
      received: inspection.received,
      pending: inspection.pending,
      nodes: members.map(({ name, url, share, records }, index) => {
        const { positions } = configuration.members[index]
        return { name, url, share, records, positions }
      })
    }
  }
}

function describeArc(
  ring: Ring,
  id: number,
  { copies, version, living }: { copies: number; version: number; living: ReadonlySet<string> }
): BucketStatus {
  const [primary, ...backups] = ring.replicas(ring.positions[id], copies)
  const alive = [primary, ...backups].filter((name) => living.has(name)).length
  const wanted = Math.min(copies, ring.size)
  const state = alive === 0 ? 'lost' : alive === 1 && wanted > 1 ? 'without-backup' : 'ok'
  return { id, primary, backups, epoch: version, state, items: null }
}
