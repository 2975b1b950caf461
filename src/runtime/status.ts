/** What `opencluster status --json` says, as far as one node knows it. The names are relied on by programs. */
import { formatMask } from '../core/mask.js'
import type { Node } from '../node/node.js'
import type { MoveDescription } from '../node/inspection.js'

/** A node of the cluster. */
export interface NodeStatus {
  readonly name: string
  readonly resp: string
  /** Null where there is none, or where another node has to be asked. */
  readonly http: string | null
  readonly state: 'alive' | 'leaving' | 'left' | 'dead'
  readonly primaries: number
  readonly backups: number
  /** Null where another node has to be asked. */
  readonly items: number | null
  readonly bytes: number | null
  readonly weight: number
  readonly zone: string
}

/** A bucket: who holds it, and whether it is well. */
export interface BucketStatus {
  readonly id: number
  readonly primary: string | null
  readonly backups: readonly string[]
  readonly epoch: number
  /** `pending`: this node does not hear the primary, which is not dead yet. */
  readonly state: 'ok' | 'pending' | 'without-backup' | 'lost'
  readonly items: number | null
}

/** A copy, or a role, on its way. */
export interface MoveStatus {
  readonly bucket: number
  readonly from: string
  readonly to: string
  /** `primary` or `backup`; `role` where only the roles change and nothing is shipped. */
  readonly kind: 'primary' | 'backup' | 'role'
  readonly stage: string
  readonly sent: number
  readonly total: number
  readonly reason: string
}

/** A cluster as one of its nodes sees it. */
export interface Status {
  /** The node that says this. */
  readonly node: string
  readonly version: string
  readonly cluster: string
  readonly mask: string
  readonly copies: number
  /** Buckets are cut in 16 when a node's ideal falls to this; 0 never. */
  readonly splitAt: number
  readonly policy: string
  readonly balanced: boolean
  /** False while the node that says this hears no majority: it serves nothing. */
  readonly serving: boolean
  readonly withoutBackup: number
  readonly lost: number
  readonly nodes: readonly NodeStatus[]
  readonly buckets: readonly BucketStatus[]
  readonly moves: readonly MoveStatus[]
}

/** What the runtime knows and the node does not. */
export interface StatusExtras {
  readonly version: string
  /** Where this node's HTTP door is. */
  readonly http: string | null
  /** Buckets this node saw start empty. */
  readonly lostSeen: number
}

export function describeStatus(node: Node, extras: StatusExtras): Status {
  const buckets = describeBuckets(node)
  const alone = buckets.filter(({ state }) => state === 'without-backup').length
  return {
    ...describeBriefly(node, extras),
    withoutBackup: node.view.arrangement.copies === 1 ? 0 : alone,
    lost: node.joined ? countLost(buckets) + extras.lostSeen : 0,
    buckets
  }
}

/** Those that nobody holds now; one that started empty is held again. */
export function countLost(buckets: readonly BucketStatus[]): number {
  return buckets.filter(({ state }) => state === 'lost').length
}

export function describeBuckets(node: Node): BucketStatus[] {
  const { config } = node
  const inspection = node.inspect()
  const living = new Set<string>([config.name])
  for (const { name, state, dead } of inspection.members) {
    if (!dead && state !== 'left') living.add(name)
  }
  return inspection.rows.map(({ bucket, epoch, primary, backups }) => {
    const held = node.buckets[bucket]
    const alive = [primary, ...backups].filter((name) => name !== null && living.has(name))
    const peer = primary === null ? undefined : node.peerOf(node.table.primaryOf(bucket))
    const pending = peer !== undefined && node.isPending(peer)
    const state: BucketStatus['state'] =
      alive.length === 0
        ? 'lost'
        : pending
          ? 'pending'
          : alive.length === 1
            ? 'without-backup'
            : 'ok'
    const items = held?.role === 'primary' ? held.items.items : null
    return { id: bucket, primary, backups, epoch, state, items }
  })
}

/** Without what takes a look at every bucket. */
export function describeBriefly(node: Node, extras: StatusExtras): Omit<Status, 'buckets'> {
  const { table, view, config, peers } = node
  const inspection = node.inspect()
  const moves = inspection.moves.map((move) => describeMove(node, move))
  return {
    node: config.name,
    version: extras.version,
    cluster: peers.cluster.toString(16).padStart(8, '0'),
    mask: formatMask(table.mask),
    copies: view.arrangement.copies,
    splitAt: view.splitAt,
    policy: inspection.voters.byMajority ? 'majority' : 'available',
    balanced: moves.length === 0 && isBalanced(node),
    serving: node.joined && node.mayServe(),
    withoutBackup: 0,
    lost: extras.lostSeen,
    nodes: describeNodes(node, extras.http),
    moves
  }
}

function describeNodes(node: Node, http: string | null): NodeStatus[] {
  const { table, config, members, peers } = node
  return members.all().map(({ name, address, state, weight, zone }) => {
    const index = table.indexOf(name)
    const own = name === config.name
    const dead = state !== 'left' && peers.get(name)?.dead === true
    return {
      name,
      resp: address,
      http: own ? http : null,
      state: dead ? 'dead' : state,
      primaries: table.primariesOf(index),
      backups: table.backupsOf(index),
      items: own ? node.store.items : null,
      bytes: own ? node.store.bytes : null,
      weight,
      zone
    }
  })
}

function describeMove(node: Node, move: MoveDescription): MoveStatus {
  const { bucket, to, role, stage, sent, isSwitch, reason } = move
  return {
    bucket,
    from: node.config.name,
    to,
    kind: isSwitch ? 'role' : role,
    stage,
    sent,
    total: node.buckets[bucket]?.items.items ?? 0,
    reason
  }
}

/** At rest by the contract: every copy there, totals and primaries inside their shares. */
function isBalanced(node: Node): boolean {
  if (!node.joined) return false
  const { arrangement, roster, shares } = node.view
  const { table } = node
  return (
    table.version > 0 &&
    arrangement.fair &&
    arrangement.missing === 0 &&
    arrangement.surplus === 0 &&
    !arrangement.goneHolds &&
    roster.staying.every(({ node: index }) => {
      const primaries = table.primariesOf(index)
      return primaries >= shares.primaryLow[index] && primaries <= shares.primaryHigh[index]
    })
  )
}
