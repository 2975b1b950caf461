/** What one node of a ring is told at its start; every tunable with its unit and what follows from it. */
import type { NodeName } from '../../core/ids.js'

export interface RingNodeConfig {
  readonly name: NodeName
  /** Where other nodes reach it; any text the driver understands. */
  readonly address: string
  /** Where clients reach it. */
  readonly url: string
  /** When this process began, in milliseconds: larger than that of any earlier life of the same name. */
  readonly life: number
  readonly seed: number
  /** Addresses of nodes to join; none makes it the first node of a ring of its own. */
  readonly join: readonly string[]
  readonly zone: string
  readonly positions: readonly number[]
  /** How many copies a record gets if its writer does not say; the first node's counts. */
  readonly copies: number
  readonly heartbeatMs: number
  /** A node that was silent for so long is not asked any more until it is heard again. */
  readonly deadAfterMs: number
  /** As in NodeConfig. */
  readonly retransmitMs: number
  /** A request that too few replicas have answered by then gets 504. */
  readonly requestMs: number
  /**
   * A change of the ring waits so long for a node that cannot be heard. One that is cut off for longer and yet serves
   * clients may give them old answers for what has moved meanwhile.
   */
  readonly patienceMs: number
  /** A newcomer that is silent for so long is given up. */
  readonly joinPatienceMs: number
  /** What is kept for nodes that are away; more is left to the comparison of copies. */
  readonly hintBytesMax: number
  /** Deletions are remembered for so long: longer than any node is away and comes back with its memory. */
  readonly tombstoneMs: number
  /** Copies are compared in steps: one each so often, of so many slices or records. */
  readonly sweepMs: number
  readonly sweepSlices: number
  readonly sweepRecords: number
  /** What is surplus is looked for this often, besides after every change. */
  readonly surplusMs: number
  /** A batch of a transfer. */
  readonly pullBatchBytes: number
  /** Nothing more is asked of a node that owes so much. */
  readonly streamWindowBytes: number
  readonly sabotage?: RingSabotage
}

/** Planted defects: each must be seen by a checker. */
export const RING_SABOTAGES = [
  /** Take a write that is older than what is held. */
  'overwrite-newer',
  /** Answer when one replica fewer than `ack` has. */
  'ack-early',
  /** Answer reads while something may be missing. */
  'serve-hollow',
  /** Do not write to those who are about to hold the key. */
  'skip-newcomer',
  /** Say that everything has arrived before it has. */
  'skip-fill',
  /** Leave copies where they do not belong. */
  'keep-surplus',
  /** Leave nothing where a key was deleted. */
  'forget-tombstone',
  /** Never compare copies, and keep nothing for those who are away. */
  'never-heal',
  /** Write to one node more than `from` says. */
  'one-more-copy',
  /** Delete what will not belong here before anybody has taken it. */
  'drop-unasked',
  /** Keep what has a time limit for ever. */
  'forget-ttl',
  /** Put no record on the disk, and believe after a restart that nothing was forgotten. */
  'forget-disk'
] as const
export type RingSabotage = (typeof RING_SABOTAGES)[number]

export const RING_DEFAULTS = {
  join: [],
  zone: '',
  copies: 3,
  heartbeatMs: 150,
  deadAfterMs: 900,
  retransmitMs: 150,
  requestMs: 2000,
  patienceMs: 30_000,
  joinPatienceMs: 5000,
  hintBytesMax: 64 * 1024 * 1024,
  tombstoneMs: 24 * 3_600_000,
  sweepMs: 100,
  sweepSlices: 64,
  sweepRecords: 2000,
  surplusMs: 10_000,
  pullBatchBytes: 128 * 1024,
  streamWindowBytes: 64 * 1024 * 1024
} as const satisfies Partial<RingNodeConfig>
