/** What `opencluster status --json` says, as far as one node knows it. The names are relied on by programs. */
import { formatMask } from '../core/mask.js'
import type { Node } from '../node/node.js'
import type { MoveDescription } from '../node/inspection.js'

export interface NodeStatus {
  readonly name: string
  readonly resp: string
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

export interface BucketStatus {
  readonly id: number
  readonly primary: string | null
  readonly backups: readonly string[]
  readonly epoch: number
  readonly state: 'ok' | 'without-backup' | 'lost'
  readonly items: number | null
}

export interface MoveStatus {
  readonly bucket: number
  readonly from: string
  readonly to: string
  readonly kind: string | null
  readonly stage: string
  readonly sent: number
  readonly total: number
  readonly reason: string
}

export interface Status {
  /** The node that says this. */
  readonly node: string
  readonly version: string
  readonly cluster: string
  readonly mask: string
  readonly copies: number
  readonly policy: string
  readonly balanced: boolean
  readonly withoutBackup: number
  readonly lost: number
  readonly nodes: readonly NodeStatus[]
  readonly buckets: readonly BucketStatus[]
  readonly moves: readonly MoveStatus[]
}

/** What the runtime knows and the node does not. */
export interface StatusExtras {
  readonly version: string
  /** Buckets this node saw start empty. */
  readonly lostSeen: number
  readonly moveKinds: ReadonlyMap<number, string>
}

export function describeStatus(node: Node, extras: StatusExtras): Status {
  const { table, view, config, peers } = node
  const inspection = node.inspect()
  const living = new Set<string>([config.name])
  for (const { name, state, dead } of inspection.members) {
    if (!dead && state !== 'left') living.add(name)
  }
  const buckets = inspection.rows.map(({ bucket, epoch, primary, backups }) => {
    const held = node.buckets[bucket]
    const alive = [primary, ...backups].filter((name) => name !== null && living.has(name))
    const state: BucketStatus['state'] =
      alive.length === 0 ? 'lost' : alive.length === 1 ? 'without-backup' : 'ok'
    const items = held?.role === 'primary' ? held.items.items : null
    return { id: bucket, primary, backups, epoch, state, items }
  })
  const count = (state: BucketStatus['state']): number =>
    buckets.filter((bucket) => bucket.state === state).length
  const moves = inspection.moves.map((move) => describeMove(node, move, extras))
  return {
    node: config.name,
    version: extras.version,
    cluster: peers.cluster.toString(16).padStart(8, '0'),
    mask: formatMask(table.mask),
    copies: view.arrangement.copies,
    policy: inspection.voters.byMajority ? 'majority' : 'available',
    balanced: moves.length === 0 && isBalanced(node),
    withoutBackup: view.arrangement.copies === 1 ? 0 : count('without-backup'),
    lost: node.joined ? count('lost') + extras.lostSeen : 0,
    nodes: describeNodes(node),
    buckets,
    moves
  }
}

function describeNodes(node: Node): NodeStatus[] {
  const { table, config, members, peers } = node
  return members.all().map(({ name, address, state, weight, zone }) => {
    const index = table.indexOf(name)
    const own = name === config.name
    const dead = state !== 'left' && peers.get(name)?.dead === true
    return {
      name,
      resp: address,
      http: null,
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

function describeMove(node: Node, move: MoveDescription, extras: StatusExtras): MoveStatus {
  const { bucket, to, stage, sent, reason } = move
  return {
    bucket,
    from: node.config.name,
    to,
    kind: extras.moveKinds.get(bucket) ?? null,
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
