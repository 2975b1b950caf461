/**
 * What follows from a table and a roster alone: shares, quotas, how many copies are missing, and
 * whether the totals are fair. Each is computed at most once per change of either, since every
 * load-level answer asks for them; nodes that share a table in one process share this as well.
 */
import { NOBODY, type NodeIndex } from '../ids.js'
import { MAX_COPIES, type Table } from '../table.js'
import { assignHomes, type Homes } from './homes.js'
import { computeQuotas } from './quotas.js'
import type { Roster } from './roster.js'
import { computeShares, type Shares } from './shares.js'

/** How many missing copies are looked up at a time; the rest comes with the next question. */
const HOMELESS_MAX = 64

export class Arrangement {
  readonly table: Table
  readonly copies: number
  #roster: Roster
  #shares: Shares | undefined
  #mask = -1
  #version = -1
  #quotas: Int32Array = new Int32Array(0)
  #missing = 0
  #surplus = 0
  #goneHolds = false
  #fair = false
  #homes: Homes | undefined
  #homesVersion = -1

  constructor(table: Table, roster: Roster, copies: number) {
    this.table = table
    this.#roster = roster
    this.copies = copies
  }

  get roster(): Roster {
    return this.#roster
  }

  set roster(roster: Roster) {
    this.#roster = roster
    this.#shares = undefined
    this.#version = -1
    this.#homes = undefined
  }

  get shares(): Shares {
    if (this.#shares === undefined || this.#mask !== this.table.mask) {
      this.#shares = computeShares(this.#roster, this.table.size, this.copies)
      this.#mask = this.table.mask
      this.#version = -1
      this.#homes = undefined
    }
    return this.#shares
  }

  /** What each node should hold in the end. */
  quotaOf(node: NodeIndex): number {
    this.#refresh()
    return this.#quotas[node] ?? 0
  }

  /** Buckets with fewer copies on staying members than there could be. */
  get missing(): number {
    this.#refresh()
    return this.#missing
  }

  /** Buckets with a copy too many. */
  get surplus(): number {
    this.#refresh()
    return this.#surplus
  }

  /** Some copy is on a node that leaves or is gone. */
  get goneHolds(): boolean {
    this.#refresh()
    return this.#goneHolds
  }

  /** Every total is inside its share. */
  get fair(): boolean {
    this.#refresh()
    return this.#fair
  }

  /** Whether a missing copy of the bucket should go to this node. */
  isHome(bucket: number, node: NodeIndex): boolean {
    const isAssigned = (): boolean => this.#currentHomes().get(bucket)?.includes(node) === true
    if (isAssigned()) return true
    // Whoever asks may have made the assignment anew, and both would keep their own for ever.
    this.#homes = undefined
    return isAssigned()
  }

  /**
   * The missing copies that this primary should make, the most endangered first, with their homes.
   * The assignment is kept while copies are made, since they do not change it; once a home turns out
   * to be full or taken, it is made anew.
   */
  homeless(primary: NodeIndex): { bucket: number; to: NodeIndex }[] {
    const { table } = this
    // By how many copies there are. Asked after every load level, and of a dead node's hundreds only the first are wanted.
    const found: { bucket: number; to: NodeIndex }[][] = []
    for (const fresh of [false, true]) {
      if (fresh) this.#homes = undefined
      let own = false
      for (const [bucket, nodes] of this.#currentHomes()) {
        if (table.primaryOf(bucket) !== primary) continue
        own = true
        const list = (found[this.countStaying(bucket)] ??= [])
        if (list.length >= HOMELESS_MAX) continue
        for (const to of nodes) {
          // A fresh assignment goes beyond a quota only where there is no other place.
          const room = fresh || table.totalOf(to) < this.quotaOf(to)
          if (room && !table.isHolder(bucket, to)) list.push({ bucket, to })
        }
      }
      if (!own || found.some((list) => list.length > 0)) break
    }
    return found.flat().slice(0, HOMELESS_MAX)
  }

  /** Copies of the bucket on members that stay. */
  countStaying(bucket: number): number {
    let count = 0
    for (let place = 0; place < MAX_COPIES; place++) {
      if (this.#roster.isStaying(this.table.holderAt(bucket, place))) count++
    }
    return count
  }

  #refresh(): void {
    const { table } = this
    const shares = this.shares
    if (this.#version === table.version) return
    this.#version = table.version
    this.#quotas = computeQuotas(table, this.#roster, shares)
    this.#goneHolds = false
    for (let node = 0; node < table.names.length; node++) {
      if (table.totalOf(node) > 0 && !this.#roster.isStaying(node)) this.#goneHolds = true
    }
    this.#count(shares.copies)
    this.#fair = this.#roster.staying.every(({ node }) => {
      const total = table.totalOf(node)
      return total >= shares.low[node] && total <= shares.high[node]
    })
  }

  #currentHomes(): Homes {
    this.#refresh()
    if (this.#homes !== undefined && this.#homesVersion !== this.table.version) {
      for (const bucket of this.#homes.keys()) {
        if (this.countStaying(bucket) >= this.shares.copies) this.#homes.delete(bucket)
      }
      // Buckets that lack a copy since then have no home yet.
      if (this.#homes.size !== this.#missing) this.#homes = undefined
    }
    this.#homes ??= assignHomes(this)
    this.#homesVersion = this.table.version
    return this.#homes
  }

  #count(copies: number): void {
    const { table } = this
    this.#missing = table.rowsBelow(copies) - table.rowsBelow(1)
    this.#surplus = table.size - table.rowsBelow(copies + 1)
    if (!this.#goneHolds) return
    // Copies on nodes that go do not count, so every row has to be looked at.
    this.#missing = 0
    this.#surplus = 0
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      if (table.primaryOf(bucket) === NOBODY) continue
      const staying = this.countStaying(bucket)
      if (staying < copies) this.#missing++
      else if (table.copiesOf(bucket) > copies) this.#surplus++
    }
  }
}
