/** What one node knows when it decides: the arrangement, and itself. */
import { NOBODY, type NodeIndex } from '../ids.js'
import { MASK_SPLIT_MAX } from '../mask.js'
import type { Table } from '../table.js'
import type { Arrangement } from './arrangement.js'
import type { Roster } from './roster.js'
import type { Shares } from './shares.js'

/** The answer to "how much load do you have?". */
export interface LoadLevel {
  readonly node: NodeIndex
  readonly primaries: number
  readonly backups: number
  /** It is sending or receiving a bucket right now. */
  readonly transferring: boolean
}

export interface ViewOptions {
  readonly arrangement: Arrangement
  readonly self: NodeIndex
  /** Split when the ideal falls to this; 0 never splits. */
  readonly splitAt?: number
  readonly splitMaskMax?: number
}

export class View {
  readonly arrangement: Arrangement
  readonly self: NodeIndex
  readonly splitAt: number
  readonly splitMaskMax: number
  /** This node is sending or receiving a bucket. */
  transferring = false
  /** The bucket that arrived last; the documents mark it with a star and do not send it on at once. */
  lastTransfer = -1

  constructor(options: ViewOptions) {
    this.arrangement = options.arrangement
    this.self = options.self
    this.splitAt = options.splitAt ?? 0
    this.splitMaskMax = options.splitMaskMax ?? MASK_SPLIT_MAX
  }

  get table(): Table {
    return this.arrangement.table
  }

  get roster(): Roster {
    return this.arrangement.roster
  }

  get shares(): Shares {
    return this.arrangement.shares
  }

  quotaOf(node: NodeIndex): number {
    return this.arrangement.quotaOf(node)
  }

  /** The documents' ideal: `floor(buckets * copies / nodes)`, whatever the weights. */
  get ideal(): number {
    const nodes = this.roster.staying.length
    if (nodes === 0) return 0
    const copies = this.roster.copiesPossible(this.arrangement.copies)
    return Math.floor((this.table.size * copies) / nodes)
  }

  levelOf(node: NodeIndex): LoadLevel {
    const primaries = this.table.primariesOf(node)
    return {
      node,
      primaries,
      backups: this.table.totalOf(node) - primaries,
      transferring: node === this.self && this.transferring
    }
  }

  get own(): LoadLevel {
    return this.levelOf(this.self)
  }

  nameOf(node: NodeIndex): string {
    return node === NOBODY ? 'nobody' : this.table.nameOf(node)
  }
}
