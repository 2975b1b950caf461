/**
 * The table: for every bucket its epoch, its primary and its backups. Every node and every smart
 * client holds a whole one. Two rules keep all of them right without a leader: a row is only ever
 * replaced by a row with a higher epoch, and a larger mask expands the array by
 * `new[i] = old[i & oldMask]` (document 002), so a table with the old mask stays correct.
 *
 * Rows live in flat arrays (holders[bucket * MAX_COPIES], primary first), and the number of
 * primaries and copies of every node is kept with every change: balancing asks for them all the
 * time, and a count over 4096 rows for each question would be most of its cost.
 */
import { assert, fail } from './assert.js'
import { isMask } from './mask.js'
import { NOBODY, type NodeIndex, type NodeName } from './ids.js'

/** Copies a bucket can have, primary included. */
export const MAX_COPIES = 4

export interface Row {
  readonly epoch: number
  readonly primary: NodeName | null
  readonly backups: readonly NodeName[]
}

/** What is known of a table, short: of every bucket only how new its row is. */
export interface TableOutline {
  readonly mask: number
  readonly digest: number
  readonly epochs: readonly number[]
}

export class Table {
  #mask: number
  #epochs: Float64Array
  #holders: Int16Array
  #rowHashes: Uint32Array
  readonly #names: NodeName[] = []
  readonly #indexes = new Map<string, NodeIndex>()
  readonly #nameHashes: number[] = []
  readonly #primaries: number[] = []
  readonly #totals: number[] = []
  /** How many rows have 0, 1, 2… holders. */
  readonly #filled = new Int32Array(MAX_COPIES + 1)
  #digest = 0
  #version = 0

  constructor(mask: number) {
    assert(isMask(mask), `not a mask: ${mask}`)
    this.#mask = mask
    this.#epochs = new Float64Array(mask + 1)
    this.#holders = new Int16Array((mask + 1) * MAX_COPIES).fill(NOBODY)
    this.#rowHashes = new Uint32Array(mask + 1)
    this.#filled[0] = mask + 1
  }

  get mask(): number {
    return this.#mask
  }

  get size(): number {
    return this.#mask + 1
  }

  /** Grows with every change; what was computed from the table is fresh while this is the same. */
  get version(): number {
    return this.#version
  }

  /** Names in the order in which this table met them; two equal tables may differ in it. */
  get names(): readonly NodeName[] {
    return this.#names
  }

  /** The index of a name, entered if it is new. */
  intern(name: NodeName): NodeIndex {
    const known = this.#indexes.get(name)
    if (known !== undefined) return known
    const index = this.#names.length
    assert(index < 0x7fff, 'more than 32767 node names in one table')
    this.#names.push(name)
    this.#nameHashes.push(hashText(name))
    this.#indexes.set(name, index)
    this.#primaries.push(0)
    this.#totals.push(0)
    return index
  }

  indexOf(name: string): NodeIndex {
    return this.#indexes.get(name) ?? NOBODY
  }

  nameOf(index: NodeIndex): NodeName {
    if (!(index >= 0 && index < this.#names.length)) fail(`no node with index ${index}`)
    return this.#names[index]
  }

  /** A hash of the name: the same in every table, so that all nodes break ties alike. */
  rankOf(index: NodeIndex): number {
    return this.#nameHashes[index] ?? 0
  }

  epochOf(bucket: number): number {
    return this.#epochs[bucket]
  }

  primaryOf(bucket: number): NodeIndex {
    return this.#holders[bucket * MAX_COPIES]
  }

  /** The holder at a place of the row: 0 is the primary, then the backups, then NOBODY. */
  holderAt(bucket: number, place: number): NodeIndex {
    return this.#holders[bucket * MAX_COPIES + place]
  }

  /** All rows one after another, MAX_COPIES places each, for loops over the whole table. */
  get holders(): Int16Array {
    return this.#holders
  }

  isHolder(bucket: number, node: NodeIndex): boolean {
    const at = bucket * MAX_COPIES
    const holders = this.#holders
    return (
      holders[at] === node ||
      holders[at + 1] === node ||
      holders[at + 2] === node ||
      holders[at + 3] === node
    )
  }

  copiesOf(bucket: number): number {
    const at = bucket * MAX_COPIES
    let count = this.#holders[at] === NOBODY ? 0 : 1
    while (count < MAX_COPIES && this.#holders[at + count] !== NOBODY) count++
    return count
  }

  primariesOf(node: NodeIndex): number {
    return this.#primaries[node] ?? 0
  }

  totalOf(node: NodeIndex): number {
    return this.#totals[node] ?? 0
  }

  backupsOf(node: NodeIndex): number {
    return this.totalOf(node) - this.primariesOf(node)
  }

  /** How many rows have fewer than `copies` holders. */
  rowsBelow(copies: number): number {
    let count = 0
    for (let have = 0; have < copies; have++) count += this.#filled[have]
    return count
  }

  outline(): TableOutline {
    return { mask: this.#mask, digest: this.digest(), epochs: Array.from(this.#epochs) }
  }

  /**
   * The buckets of which somebody with that table should be told: those whose row is newer here. All of them if the masks
   * differ, or if each row is equally new there and the tables differ all the same (two sides of a cut decided alone).
   */
  newerThan({ mask, digest, epochs }: TableOutline): number[] {
    const all = Array.from(this.#epochs.keys())
    if (mask !== this.#mask) return all
    const newer = all.filter((bucket) => this.#epochs[bucket] > epochs[bucket])
    const isConflict = digest !== this.digest() && epochs.every((it, i) => it === this.#epochs[i])
    return isConflict ? all : newer
  }

  row(bucket: number): Row {
    const at = bucket * MAX_COPIES
    const backups: NodeName[] = []
    for (let place = 1; place < MAX_COPIES; place++) {
      const holder = this.#holders[at + place]
      if (holder !== NOBODY) backups.push(this.nameOf(holder))
    }
    const primary = this.#holders[at]
    return {
      epoch: this.#epochs[bucket],
      primary: primary === NOBODY ? null : this.nameOf(primary),
      backups
    }
  }

  /** Replaces the row if its epoch is higher than the one held; says whether it did. */
  offer(bucket: number, row: Row): boolean {
    if (row.epoch <= this.#epochs[bucket]) return false
    assert(row.backups.length < MAX_COPIES, 'a row with too many backups')
    const holders = [row.primary === null ? NOBODY : this.intern(row.primary)]
    for (const backup of row.backups) holders.push(this.intern(backup))
    this.replace(bucket, row.epoch, holders)
    return true
  }

  /** Replaces the row by indexes, primary first. The epoch must be higher than the one held. */
  replace(bucket: number, epoch: number, holders: readonly NodeIndex[]): void {
    if (!(bucket >= 0 && bucket <= this.#mask)) fail(`no bucket ${bucket}`)
    if (!(epoch > this.#epochs[bucket])) {
      fail(`epoch ${epoch} is not above ${this.#epochs[bucket]}`)
    }
    assert(new Set(holders).size === holders.length, 'two copies of a bucket on one node')
    assert(holders.length <= MAX_COPIES, 'a row with too many holders')
    const at = bucket * MAX_COPIES
    this.#count(bucket, -1)
    for (let place = 0; place < MAX_COPIES; place++) {
      this.#holders[at + place] = holders[place] ?? NOBODY
    }
    this.#epochs[bucket] = epoch
    this.#count(bucket, 1)
    this.#rehash(bucket)
    this.#version++
  }

  /** Takes a larger mask; rows keep their holders and epochs. Never shrinks. */
  expand(mask: number): void {
    assert(isMask(mask) && mask >= this.#mask, `cannot go from mask ${this.#mask} to ${mask}`)
    if (mask === this.#mask) return
    const [oldMask, oldEpochs, oldHolders] = [this.#mask, this.#epochs, this.#holders]
    const times = (mask + 1) / (oldMask + 1)
    this.#mask = mask
    this.#epochs = new Float64Array(mask + 1)
    this.#holders = new Int16Array((mask + 1) * MAX_COPIES)
    this.#rowHashes = new Uint32Array(mask + 1)
    this.#digest = 0
    for (let bucket = 0; bucket <= mask; bucket++) {
      const old = bucket & oldMask
      this.#epochs[bucket] = oldEpochs[old]
      for (let place = 0; place < MAX_COPIES; place++) {
        this.#holders[bucket * MAX_COPIES + place] = oldHolders[old * MAX_COPIES + place]
      }
      this.#rehash(bucket)
    }
    for (let node = 0; node < this.#names.length; node++) {
      this.#primaries[node] *= times
      this.#totals[node] *= times
    }
    for (let have = 0; have <= MAX_COPIES; have++) this.#filled[have] *= times
    this.#version++
  }

  /** Equal for tables with the same mask and rows, whatever the order of names or of changes. */
  digest(): number {
    return mix(this.#digest ^ this.#mask) >>> 0
  }

  clone(): Table {
    const copy = new Table(this.#mask)
    for (const name of this.#names) copy.intern(name)
    for (let bucket = 0; bucket <= this.#mask; bucket++) {
      if (this.#epochs[bucket] > 0) copy.offer(bucket, this.row(bucket))
    }
    return copy
  }

  #count(bucket: number, sign: 1 | -1): void {
    const at = bucket * MAX_COPIES
    let copies = 0
    for (let place = 0; place < MAX_COPIES; place++) {
      const holder = this.#holders[at + place]
      if (holder === NOBODY) continue
      copies++
      this.#totals[holder] += sign
      if (place === 0) this.#primaries[holder] += sign
    }
    this.#filled[copies] += sign
  }

  #rehash(bucket: number): void {
    let hash = mix(bucket ^ 0x5bd1e995)
    hash = mix(hash ^ (this.#epochs[bucket] >>> 0))
    hash = mix(hash ^ Math.floor(this.#epochs[bucket] / 0x1_0000_0000))
    const at = bucket * MAX_COPIES
    for (let place = 0; place < MAX_COPIES; place++) {
      const holder = this.#holders[at + place]
      hash = mix(hash ^ (holder === NOBODY ? 0 : this.#nameHashes[holder]))
    }
    // A row that was never written is no part of the digest, however large the table has become.
    if (this.#epochs[bucket] === 0) hash = 0
    this.#digest = (this.#digest ^ this.#rowHashes[bucket] ^ hash) >>> 0
    this.#rowHashes[bucket] = hash
  }
}

/** A good 32-bit scramble of a 32-bit number. */
export function mix(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** FNV-1a over the UTF-16 units, scrambled: names are short and this is not on the data path. */
export function hashText(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return mix(h)
}
