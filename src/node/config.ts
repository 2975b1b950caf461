/** What one node is told at its start; every tunable with its unit and what follows from it. */
import type { EvictionPolicy } from '../core/eviction-policy.js'
import type { NodeName } from '../core/ids.js'
import type { PlacementHashName } from '../core/hash/placement-hash.js'
import type { Policy } from '../core/membership/voters.js'

export type Acks = 'all' | 'primary'

export interface NodeConfig {
  readonly name: NodeName
  /** Where the others reach it; any text the driver understands. */
  readonly address: string
  /** Where its backups answer reads; empty: nowhere. */
  readonly replicaAddress: string
  /** When this process began, in milliseconds: larger than that of any earlier life of the same name. */
  readonly life: number
  /** For everything drawn by chance, and for the store's hash. Different on every node. */
  readonly seed: number
  /** Addresses of nodes to join; none makes it the first node of a cluster of its own. */
  readonly join: readonly string[]
  readonly copies: number
  /** 16, 256, 4096; the first node's counts. */
  readonly buckets: number
  readonly splitAt: number
  /** A bucket this many times larger than the mean of the others makes all split; 0 never. */
  readonly splitFactor: number
  /** Below this size no bucket is too large, whatever the others have. */
  readonly splitBytesMin: number
  readonly hash: PlacementHashName
  readonly acks: Acks
  readonly weight: number
  readonly zone: string
  /** Each node tells each other that it lives this often. */
  readonly heartbeatMs: number
  /** A node that was silent for so long is dead to this one: its backups take over. */
  readonly deadAfterMs: number
  /** Who decides that a row changes; the first node's counts. */
  readonly policy: Policy
  /** Under `majority`, how long a primary serves after it was last heard by a majority of the voters. */
  readonly leaseMs: number
  /** By how much two clocks may run differently, as a part of the time that passes. */
  readonly driftMax: number
  /** A voter that was silent for so long is replaced, if enough others remain. */
  readonly voterDropMs: number
  /** A backup that acknowledges nothing for so long leaves the rows, although it can be heard. */
  readonly ackTimeoutMs: number
  /** A bucket of which no holder can be heard starts empty after this. */
  readonly lostAfterMs: number
  /** Load-level events while there is something to balance, and at rest. */
  readonly askFastMs: number
  readonly askSlowMs: number
  /** An unacknowledged frame goes again after this. 0: the link is reliable, only a new link sends again. */
  readonly retransmitMs: number
  /** A move is cut into batches of about this size... */
  readonly copyBatchBytes: number
  /**
   * ...of which at most so much is on its way at a time. All of it may arrive in one turn of the target, whose clients
   * wait that long: about 3 ms for 128 KB of small items.
   */
  readonly copyWindowBytes: number
  /** How much of the time the batches of a move may be on their way while there are clients. */
  readonly moveShare: number
  /** Writes wait when a backup owes acknowledgements for this much. */
  readonly streamWindowBytes: number
  /** A hand-over that takes longer is given up. */
  readonly handOverMs: number
  /** A move that made no progress for so long is given up. */
  readonly moveStallMs: number
  /** A request that could not be served for so long gets an error. */
  readonly holdMs: number
  readonly maxRequestBytes: number
  /** What the requests of all clients that could not be executed yet may take. */
  readonly maxInputBytes: number
  /** What items may take here, in bytes, and which of them go when it is not enough; 0: no limit. */
  readonly maxMemory: number
  readonly eviction: EvictionPolicy
  /** The longest reply to one command; a client that asks for more gets an error. */
  readonly maxReplyBytes: number
  /** Only the simulator's own tests set this: which promise to break. */
  readonly sabotage?: Sabotage
}

/** Planted defects: each must be seen by a checker, or the checker is worth nothing. */
export type Sabotage =
  /** Count a write as acknowledged although the backup has not answered. */
  | 'reply-before-backup'
  /** Do not forward writes behind an open copy. */
  | 'skip-forward'
  /** Leave nothing where a key was deleted, so that reads see deletions that are not everywhere yet. */
  | 'forget-tombstone'
  /** Acknowledge a batch but do not apply it. */
  | 'drop-batch'
  /** Let reads see writes that are not acknowledged. */
  | 'read-uncommitted'
  /** Keep serving a bucket after it was handed over. */
  | 'serve-after-hand-over'
  /** Refuse instead of holding during a hand-over. */
  | 'refuse-during-hand-over'
  /** Take the backup into the row before it has everything. */
  | 'early-in-sync'
  /** Never send the last message of a move. */
  | 'forget-to-finish'
  /** Move buckets for ever. */
  | 'restless'
  /** Do not tell again, after a fail-over, what watchers may not have been told. */
  | 'lose-event'
  /** Confirm a watch that not every node knows. */
  | 'early-watch'
  /** Stop waiting for a backup that is behind although its row still names it, so that it can be promoted. */
  | 'promote-out-of-sync'
  /** Serve although no majority has been heard, and take over from one that was. */
  | 'skip-lease'
  /** Take one voter's answer for a majority's. */
  | 'skip-majority'
  /** Propose two values in one ballot. */
  | 'reuse-ballot'
  /** Accept less than was promised. */
  | 'forget-promise'
  /** Execute a write that is sent again although it was executed. */
  | 'forget-forwarded'

export const NODE_DEFAULTS = {
  replicaAddress: '',
  copies: 2,
  buckets: 256,
  splitAt: 6,
  splitFactor: 20,
  splitBytesMin: 64 * 1024 * 1024,
  hash: 'redis',
  acks: 'all',
  weight: 1,
  zone: '',
  policy: 'auto',
  maxMemory: 0,
  eviction: 'noeviction',
  heartbeatMs: 150,
  deadAfterMs: 900,
  leaseMs: 700,
  driftMax: 0.01,
  voterDropMs: 10_000,
  ackTimeoutMs: 3000,
  lostAfterMs: 300_000,
  askFastMs: 20,
  askSlowMs: 1000,
  retransmitMs: 150,
  copyBatchBytes: 16 * 1024,
  copyWindowBytes: 128 * 1024,
  moveShare: 0.2,
  streamWindowBytes: 16 * 1024 * 1024,
  handOverMs: 500,
  moveStallMs: 5000,
  holdMs: 10_000,
  maxRequestBytes: 512 * 1024 * 1024,
  maxInputBytes: 2 * 1024 * 1024 * 1024,
  maxReplyBytes: 1024 * 1024 * 1024,
  join: []
} as const satisfies Partial<NodeConfig>
