/**
 * What a node knows of the cluster as a whole: the table, who may hold what by it, and its own view. It is
 * replaced as a whole in the one moment in which a newcomer learns how the cluster was set up.
 */
import type { NodeIndex, NodeName } from '../core/ids.js'
import { Arrangement } from '../core/placement/arrangement.js'
import { Roster } from '../core/placement/roster.js'
import { View } from '../core/placement/view.js'
import { NOBODY } from '../core/ids.js'
import { MAX_COPIES, Table } from '../core/table.js'
import type { Peer } from './peers.js'

export class Knowledge {
  readonly table: Table
  readonly arrangement: Arrangement
  readonly view: View
  /** The nodes by their indexes in this table, as far as they were looked up. */
  readonly peers: (Peer | undefined)[] = []

  constructor(options: { name: NodeName; mask: number; copies: number; splitAt: number }) {
    this.table = new Table(options.mask)
    this.arrangement = new Arrangement(this.table, new Roster([]), options.copies)
    const self = this.table.intern(options.name)
    this.view = new View({ arrangement: this.arrangement, self, splitAt: options.splitAt })
  }
}

/** The holders of a bucket, primary first. */
export function holdersOf(table: Table, bucket: number): NodeIndex[] {
  const holders: NodeIndex[] = []
  for (let place = 0; place < MAX_COPIES; place++) {
    const holder = table.holderAt(bucket, place)
    if (holder !== NOBODY) holders.push(holder)
  }
  return holders
}
