/**
 * What the client knows of the cluster: the table, and where each node is reached. It learns from `OC.TABLE` replies and
 * pushes (src/node/table-feed.ts has their form), keeps the higher epoch of every row, and expands by itself when it hears
 * of a larger mask, so messages of several nodes can come in any order. Another cluster at the same address (all nodes
 * were started anew) begins a new table, or the old one's epochs would win for ever.
 */
import { placementHash, type PlacementHash } from '../core/hash/placement-hash.js'
import { isNodeName, NOBODY, type NodeIndex, type NodeName } from '../core/ids.js'
import { isMask } from '../core/mask.js'
import { MAX_COPIES, Table } from '../core/table.js'
import { RespProtocolError, type ReplyValue } from '../wire/resp/reply-value.js'
import { parseTarget } from './address.js'
import { asText } from './reply.js'

interface TableMessage {
  readonly cluster: string
  readonly hash: 'redis' | 'md5'
  readonly mask: number
  readonly nodes: readonly { readonly name: NodeName; readonly address: string }[]
  readonly rows: readonly (readonly number[])[]
}

export class Topology {
  #cluster = ''
  #hash: PlacementHash = placementHash('redis')
  #table: Table | undefined
  readonly #addresses = new Map<string, string>()

  get known(): boolean {
    return this.#table !== undefined
  }

  get cluster(): string {
    return this.#cluster
  }

  get mask(): number | undefined {
    return this.#table?.mask
  }

  /** Of all nodes that were ever named, holders or not. */
  get addresses(): Iterable<string> {
    return this.#addresses.values()
  }

  /** Where the primaries and backups are. */
  get holders(): Set<string> {
    const found = new Set<string>()
    const table = this.#table
    if (table === undefined) return found
    for (const name of table.names) {
      const address = this.#addresses.get(name)
      if (address !== undefined && table.totalOf(table.indexOf(name)) > 0) found.add(address)
    }
    return found
  }

  /** -1 while nothing is known. */
  bucketOf(bytes: Uint8Array, offset: number, length: number): number {
    if (this.#table === undefined) return -1
    return this.#hash.hash(bytes, offset, length) & this.#table.mask
  }

  epochOf(bucket: number): number {
    return this.#table?.epochOf(bucket) ?? 0
  }

  /** The holder at a place of the row, primary first: a small number for `addressOf`, or NOBODY. */
  holderAt(bucket: number, place: number): NodeIndex {
    if (this.#table === undefined || place >= MAX_COPIES) return NOBODY
    return this.#table.holderAt(bucket, place)
  }

  addressOf(node: NodeIndex): string | undefined {
    if (this.#table === undefined || node === NOBODY) return undefined
    return this.#addresses.get(this.#table.nameOf(node))
  }

  /** Takes a reply or push in; gives the buckets whose row is another one now. Throws `RespProtocolError` if it is none. */
  learn(items: readonly ReplyValue[]): readonly number[] {
    const message = readMessage(items)
    // A node that is not in a cluster yet knows nothing.
    if (message.rows.length === 0 && this.#table === undefined) return []
    if (message.cluster !== this.#cluster || this.#table === undefined) {
      if (message.rows.length === 0) return []
      this.#cluster = message.cluster
      this.#hash = placementHash(message.hash)
      this.#table = new Table(message.mask)
      this.#addresses.clear()
    }
    const table = this.#table
    if (message.mask > table.mask) table.expand(message.mask)
    const changed: number[] = []
    for (const [bucket, epoch, ...places] of message.rows) {
      const [primary = null, ...others] = places.map((at) =>
        at < 0 ? null : message.nodes[at].name
      )
      const backups = others.filter((name) => name !== null)
      // A row of a smaller mask speaks for all the buckets it was cut into.
      for (let child = bucket; child <= table.mask; child += message.mask + 1) {
        if (table.offer(child, { epoch, primary, backups })) changed.push(child)
      }
    }
    this.#learnAddresses(message, changed.length > 0 || message.rows.length === 0)
    return changed
  }

  /** A late message of a node that lags behind must not bring an old address back. */
  #learnAddresses(message: TableMessage, fresh: boolean): void {
    for (const { name, address } of message.nodes) {
      if (address === '' || parseTarget(address) === undefined) continue
      if (fresh || !this.#addresses.has(name)) this.#addresses.set(name, address)
    }
  }
}

function readMessage(items: readonly ReplyValue[]): TableMessage {
  const [, cluster, hash, mask, names, rows] = items
  if (!Array.isArray(names) || !Array.isArray(rows) || typeof mask !== 'number' || !isMask(mask)) {
    return fail()
  }
  const placement = asText(hash)
  if (placement !== 'redis' && placement !== 'md5') return fail()
  const nodes = []
  for (let i = 0; i + 1 < names.length; i += 2) {
    const name = asText(names[i])
    if (!isNodeName(name)) return fail()
    nodes.push({ name, address: asText(names[i + 1]) })
  }
  return {
    cluster: asText(cluster),
    hash: placement,
    mask,
    nodes,
    rows: rows.map((row) => readRow(row, mask, nodes.length))
  }
}

function readRow(row: ReplyValue, mask: number, nodes: number): number[] {
  if (!Array.isArray(row) || row.length < 3 || row.length > 2 + MAX_COPIES) return fail()
  const numbers = row.filter((item) => typeof item === 'number')
  const [bucket, epoch, ...places] = numbers
  if (numbers.length !== row.length || bucket < 0 || bucket > mask || epoch < 0) return fail()
  if (places.some((place) => place < -1 || place >= nodes)) return fail()
  if (new Set(places).size !== places.length) return fail()
  return numbers
}

function fail(): never {
  throw new RespProtocolError('not a table')
}
