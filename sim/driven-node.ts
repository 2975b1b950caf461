/**
 * What the simulator drives and what it may look at: the node's inputs, its deadline, and an inspection for
 * the checkers. It is an interface, so that the simulator's own tests can drive something smaller.
 */
import type { NodeConfig } from '../src/node/config.js'
import type { Outbox } from '../src/node/outbox.js'

export interface DrivenNode {
  start(now: number): void
  receive(envelope: Uint8Array, now: number): void
  /** The link to that node broke. */
  linkDown(address: string, now: number): void
  open(session: number, now: number): void
  request(session: number, bytes: Uint8Array, now: number): void
  close(session: number, now: number): void
  leave(now: number): void
  tick(now: number): void
  /** The end of a turn: what the turn's inputs led to goes out now. */
  flush(now: number): void
  /** When `tick` must be called next, by the node's own clock. */
  readonly deadline: number
  /** It has more to say, and lets others go first: another turn follows at once. */
  readonly unfinished?: boolean
  inspect(): Inspection
}

export interface Inspection {
  readonly name: string
  readonly mask: number
  /** Of the table. */
  readonly digest: number
  readonly members: readonly { name: string; state: string; dead: boolean }[]
  readonly rows: readonly InspectedRow[]
  readonly held: readonly InspectedCopy[]
  readonly moves: readonly { bucket: number; to: string; stage: string }[]
  /** All queues of the node together. */
  readonly queuedBytes: number
  /** Copies it began to ship so far. */
  readonly shipped: number
  /** Changes of rows whose outcome it does not know yet. */
  readonly deciding?: number
  /** Who decides, as far as it knows; absent in nodes that do not vote. */
  readonly voters?: {
    readonly version: number
    readonly byMajority: boolean
    /** Its lease has not run out. */
    readonly mayServe: boolean
    readonly voters: readonly { readonly name: string; readonly life: number }[]
  }
}

export interface InspectedRow {
  readonly bucket: number
  readonly epoch: number
  readonly primary: string | null
  readonly backups: readonly string[]
}

export interface InspectedCopy {
  readonly bucket: number
  readonly role: 'primary' | 'backup' | 'incoming' | 'merging'
  readonly epoch: number
  readonly seq: number
  readonly items: number
  /** Of the contents, without tombstones. */
  readonly digest: string
}

export type CreateNode = (config: NodeConfig, outbox: Outbox) => DrivenNode
